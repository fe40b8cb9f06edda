"""Rendering to other targets than the window: `fb ...` and `blit ...`."""

from __future__ import annotations

import numpy as np

from gallette.piglit_subset.commands.registry import command
from gallette.piglit_subset.commands.textures import target_of
from gallette.piglit_subset.session import Failure, Session
from gallette.piglit_subset.text import Words
from gallette.state_tracker.entry_points.enums import GL


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


def _texture_size(session: Session, target: int, level: int) -> tuple[int, int]:
    gl = session.gl
    side = GL.TEXTURE_CUBE_MAP_POSITIVE_X if target == GL.TEXTURE_CUBE_MAP else target
    width = int(gl.get_tex_level_parameteriv(side, level, GL.TEXTURE_WIDTH)[0])
    height = int(gl.get_tex_level_parameteriv(side, level, GL.TEXTURE_HEIGHT)[0])
    if target == GL.TEXTURE_1D_ARRAY:  # its height is the number of layers
        height = 1
    return width, max(height, 1)


def _resize(session: Session, target: int, unit: int, level: int = 0) -> None:
    """Set the size for drawing and probing to that of the attachment."""
    session.gl.active_texture(GL.TEXTURE0 + unit)
    gl = session.gl
    version = (gl.get_integerv(GL.MAJOR_VERSION)[0], gl.get_integerv(GL.MINOR_VERSION)[0])
    if not session.is_es or version >= (3, 1):
        session.set_size(*_texture_size(session, target, level))


@command("fb tex 2d", "fb draw tex 2d", "fb read tex 2d", reads="* integer a texture unit")
def fb_tex_2d(session: Session, *units: int) -> None:
    """fb [draw|read] tex 2d UNIT...: a framebuffer of the textures on these units"""
    if not units:
        raise session.line.error("expected at least one texture unit")
    target = _new_framebuffer(session)
    for i, unit in enumerate(units):
        session.gl.framebuffer_texture2d(
            target, GL.COLOR_ATTACHMENT0 + i, GL.TEXTURE_2D, session.texture(unit), 0
        )
    _finish(session, target, len(units))
    _resize(session, GL.TEXTURE_2D, units[0])


@command("fb tex slice", "fb draw tex slice", "fb read tex slice")
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
    _resize(session, texture_target, unit, level)


@command(
    "fb tex layered", "fb draw tex layered", "fb read tex layered", reads="integer a texture unit"
)
def fb_tex_layered(session: Session, unit: int) -> None:
    """fb [draw|read] tex layered UNIT: all layers of the texture on that unit"""
    name = session.texture(unit)
    target = _new_framebuffer(session)
    session.gl.framebuffer_texture(target, GL.COLOR_ATTACHMENT0, name, 0)
    _finish(session, target)
    _resize(session, session.uniform_cache[f"texture target {unit}"], unit)


@command("fb ms", "fb draw ms", "fb read ms", reads="enum a format, 3 size a size")
def fb_multisample(session: Session, form: int, width: int, height: int, samples: int) -> None:
    """fb [draw|read] ms GL_FORMAT W H SAMPLES: a multisampled renderbuffer"""
    gl = session.gl
    target = _new_framebuffer(session)
    (name,) = gl.gen_renderbuffers(1)
    gl.bind_renderbuffer(GL.RENDERBUFFER, name)
    gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, samples, form, width, height)
    gl.framebuffer_renderbuffer(target, GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, name)
    _finish(session, target)
    session.set_size(width, height)


@command("fb winsys", "fb draw winsys", "fb read winsys", reads="")
def fb_window(session: Session) -> None:
    """fb [draw|read] winsys: back to the window"""
    _bind(session, session.window)
    session.set_size(*session.needs.size)


@command("blit color", "blit depth")
def blit(session: Session, words: Words) -> None:
    """blit color|depth nearest|linear: the read framebuffer to the draw framebuffer"""
    bit = GL.COLOR_BUFFER_BIT if "color" in session.head else GL.DEPTH_BUFFER_BIT
    name = words.choice("a filter", "nearest", "linear")
    words.end()
    box = (0, 0, session.width, session.height)
    session.gl.blit_framebuffer(*box, *box, bit, GL.LINEAR if name == "linear" else GL.NEAREST)
