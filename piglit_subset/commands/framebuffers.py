"""Rendering elsewhere than the window: `fb ...` and `blit ...`."""

from __future__ import annotations

import numpy as np

from gallette.piglit_subset.commands.registry import command
from gallette.piglit_subset.commands.textures import target_of, texture_on
from gallette.piglit_subset.session import Failure, Session, enum
from gallette.piglit_subset.text import Line, Words
from gallette.state_tracker.entry_points.enums import GL

__all__: list[str] = []


def _points(words: Words) -> str:
    """Which binding the command is about, by its head: draw, read or both."""
    head = words.texts[: words.at]
    return "draw" if "draw" in head else "read" if "read" in head else "both"


def _bind(session: Session, name: int, which: str) -> None:
    draw = session.draw_framebuffer if which == "read" else name
    read = session.read_framebuffer if which == "draw" else name
    session.bind_framebuffers(draw, read)


def _new_framebuffer(session: Session, which: str) -> int:
    (name,) = session.gl.gen_framebuffers(1)
    _bind(session, name, which)
    return GL.READ_FRAMEBUFFER if which == "read" else GL.DRAW_FRAMEBUFFER


def _finish(session: Session, target: int, count: int, which: str) -> None:
    gl = session.gl
    if which != "read" and count:
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
    if target == GL.TEXTURE_1D_ARRAY:  # its height are layers
        height = 1
    return width, max(height, 1)


def _resize(session: Session, target: int, unit: int, level: int = 0) -> None:
    """Draw and probe in the size of what was attached."""
    session.gl.active_texture(GL.TEXTURE0 + unit)
    gl = session.gl
    version = (gl.get_integerv(GL.MAJOR_VERSION)[0], gl.get_integerv(GL.MINOR_VERSION)[0])
    if not session.is_es or version >= (3, 1):
        session.set_size(*_texture_size(session, target, level))


@command("fb tex 2d", "fb draw tex 2d", "fb read tex 2d")
def fb_tex_2d(session: Session, line: Line, words: Words) -> None:
    """fb [draw|read] tex 2d UNIT...: a framebuffer of the textures on these units"""
    which = _points(words)
    units = words.integers(len(words), "a texture unit")
    if not units:
        raise line.error("expected at least one texture unit")
    target = _new_framebuffer(session, which)
    for i, unit in enumerate(units):
        name = texture_on(session, line, unit)
        session.gl.framebuffer_texture2d(target, GL.COLOR_ATTACHMENT0 + i, GL.TEXTURE_2D, name, 0)
    _finish(session, target, len(units), which)
    _resize(session, GL.TEXTURE_2D, units[0])


@command("fb tex slice", "fb draw tex slice", "fb read tex slice")
def fb_tex_slice(session: Session, line: Line, words: Words) -> None:
    """fb [draw|read] tex slice TARGET UNIT LEVEL LAYER"""
    which = _points(words)
    kind = words.peek()
    texture_target = target_of(words)
    unit, level, layer = words.integers(3, "an integer")
    words.end()
    gl, name = session.gl, texture_on(session, line, unit)
    target = _new_framebuffer(session, which)
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
    _finish(session, target, 1, which)
    _resize(session, texture_target, unit, level)


@command("fb tex layered", "fb draw tex layered", "fb read tex layered")
def fb_tex_layered(session: Session, line: Line, words: Words) -> None:
    """fb [draw|read] tex layered UNIT: all layers of the texture on that unit"""
    which = _points(words)
    unit = words.integer("a texture unit")
    words.end()
    name = texture_on(session, line, unit)
    target = _new_framebuffer(session, which)
    session.gl.framebuffer_texture(target, GL.COLOR_ATTACHMENT0, name, 0)
    _finish(session, target, 1, which)
    kind = session.uniform_cache[f"texture target {unit}"]
    _resize(session, kind, unit)


@command("fb ms", "fb draw ms", "fb read ms")
def fb_multisample(session: Session, line: Line, words: Words) -> None:
    """fb [draw|read] ms GL_FORMAT W H SAMPLES: a multisampled renderbuffer"""
    which = _points(words)
    form = enum(line, words.word("a format"))
    width, height, samples = words.sizes(3)
    words.end()
    gl = session.gl
    target = _new_framebuffer(session, which)
    (name,) = gl.gen_renderbuffers(1)
    gl.bind_renderbuffer(GL.RENDERBUFFER, name)
    gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, samples, form, width, height)
    gl.framebuffer_renderbuffer(target, GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, name)
    _finish(session, target, 1, which)
    session.set_size(width, height)


@command("fb winsys", "fb draw winsys", "fb read winsys")
def fb_window(session: Session, line: Line, words: Words) -> None:
    """fb [draw|read] winsys: back to the window"""
    which = _points(words)
    words.end()
    _bind(session, session.window, which)
    session.set_size(*session.needs.size)


@command("blit color", "blit depth")
def blit(session: Session, line: Line, words: Words) -> None:
    """blit color|depth nearest|linear: the read framebuffer to the draw framebuffer"""
    bit = GL.COLOR_BUFFER_BIT if "color" in words.texts else GL.DEPTH_BUFFER_BIT
    name = words.choice("a filter", "nearest", "linear")
    words.end()
    box = (0, 0, session.width, session.height)
    session.gl.blit_framebuffer(*box, *box, bit, GL.LINEAR if name == "linear" else GL.NEAREST)
