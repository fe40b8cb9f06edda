"""Rendering to other targets than the window: `fb ...` and `blit ...`."""

from __future__ import annotations

import numpy as np

from gallette.piglit_subset.commands.registry import command
from gallette.piglit_subset.commands.textures import target_of
from gallette.piglit_subset.session import Failure, Session
from gallette.piglit_subset.text import Words
from gallette.state_tracker.entry_points.enums import GL


def _heads(what: str) -> list[str]:
    return [f"fb {which}{what}" for which in ("", "draw ", "read ")]


def _bind(session: Session, name: int) -> int:
    """Bind as the command's head says, draw, read or both; returns the target to attach to."""
    head = session.head
    draw, read = session.draw_framebuffer, session.read_framebuffer
    session.bind_framebuffers(draw if "read" in head else name, read if "draw" in head else name)
    return GL.READ_FRAMEBUFFER if "read" in head else GL.DRAW_FRAMEBUFFER


def _new_framebuffer(session: Session) -> int:
    return _bind(session, session.gl.gen_framebuffers(1)[0])


def _finish(session: Session, target: int, count: int = 1) -> None:
    gl = session.gl
    if target == GL.DRAW_FRAMEBUFFER:
        buffers = np.array([GL.COLOR_ATTACHMENT0 + i for i in range(count)], np.uint32)
        gl.draw_buffers(count, buffers)
    status = gl.check_framebuffer_status(target)
    if status != GL.FRAMEBUFFER_COMPLETE:
        raise Failure(f"the framebuffer is not complete: {GL.name_of(status)}")


def _resize(session: Session, width: int, height: int) -> None:
    """Record the size of the framebuffer for drawing, reading or both. The viewport does not
    change, because tests set it.
    """
    if "read" not in session.head:
        session.draw_size = width, height
    if "draw" not in session.head:
        session.read_size = width, height


def _resize_to(session: Session, unit: int, level: int = 0) -> None:
    width, height = session.texture_sizes[unit]
    _resize(session, max(width >> level, 1), max(height >> level, 1))


@command(*_heads("tex 2d"), reads="* integer a texture unit")
def fb_tex_2d(session: Session, *units: int) -> None:
    """fb [draw|read] tex 2d UNIT...: a framebuffer of the textures on these units; -1 is none"""
    if not units:
        raise session.line.error("expected at least one texture unit")
    target = _new_framebuffer(session)
    for i, unit in enumerate(units):
        name = 0 if unit == -1 else session.texture(unit)
        session.gl.framebuffer_texture2d(target, GL.COLOR_ATTACHMENT0 + i, GL.TEXTURE_2D, name, 0)
    _finish(session, target, len(units))
    for unit in units:
        if unit != -1:
            _resize_to(session, unit)


@command(*_heads("tex slice"))
def fb_tex_slice(session: Session, words: Words) -> None:
    """fb [draw|read] tex slice TARGET UNIT LEVEL LAYER"""
    kind, texture_target = words.peek(), target_of(words)
    unit, level, layer = words.integers(3, "an integer")
    words.end()
    gl, name = session.gl, session.texture(unit)
    target = _new_framebuffer(session)
    attach = (target, GL.COLOR_ATTACHMENT0)
    if kind == "1D":
        gl.framebuffer_texture1d(*attach, texture_target, name, level)
    elif kind in ("2D", "Rect", "2DMS"):
        gl.framebuffer_texture2d(*attach, texture_target, name, level)
    elif kind == "Cube":
        side = GL.TEXTURE_CUBE_MAP_POSITIVE_X + layer
        gl.framebuffer_texture2d(*attach, side, name, level)
    elif kind == "3D" and not session.is_es:
        gl.framebuffer_texture3d(*attach, texture_target, name, level, layer)
    else:
        gl.framebuffer_texture_layer(*attach, name, level, layer)
    _finish(session, target)
    _resize_to(session, unit, level)


@command(*_heads("tex layered"), reads="integer a texture unit")
def fb_tex_layered(session: Session, unit: int) -> None:
    """fb [draw|read] tex layered UNIT: all layers of the texture on that unit"""
    name = session.texture(unit)
    target = _new_framebuffer(session)
    session.gl.framebuffer_texture(target, GL.COLOR_ATTACHMENT0, name, 0)
    _finish(session, target)
    _resize_to(session, unit)


@command(*_heads("ms"), reads="enum a format, 3 size a size")
def fb_multisample(session: Session, form: int, width: int, height: int, samples: int) -> None:
    """fb [draw|read] ms GL_FORMAT W H SAMPLES: a multisampled renderbuffer"""
    gl = session.gl
    target = _new_framebuffer(session)
    (name,) = gl.gen_renderbuffers(1)
    gl.bind_renderbuffer(GL.RENDERBUFFER, name)
    gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, samples, form, width, height)
    gl.framebuffer_renderbuffer(target, GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, name)
    _finish(session, target)
    _resize(session, width, height)


@command(*_heads("winsys"), reads="")
def fb_window(session: Session) -> None:
    """fb [draw|read] winsys: back to the window"""
    _bind(session, session.window)
    _resize(session, *session.needs.size)


@command(
    "blit",
    reads="color=COLOR_BUFFER_BIT|depth=DEPTH_BUFFER_BIT|stencil=STENCIL_BUFFER_BIT a buffer, "
    "nearest=NEAREST|linear=LINEAR a filter",
)
def blit(session: Session, bit: int, name: int) -> None:
    """blit color|depth|stencil nearest|linear: the read framebuffer to the draw framebuffer"""
    sizes = (0, 0, *session.read_size, 0, 0, *session.draw_size)
    session.gl.blit_framebuffer(*sizes, bit, name)
