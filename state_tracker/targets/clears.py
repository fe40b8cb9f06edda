"""glClear, glClearBuffer*, and clearing of buffers and textures by value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.pipe.enums import ClearFlags
from gallette.pipe.state import ClearCall, ScissorState
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing.validate import validate
from gallette.state_tracker.drawing.viewports import scissor_states
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    GLError,
    invalid_enum,
    invalid_framebuffer,
    invalid_value,
)
from gallette.state_tracker.entry_points.memory import Pointer, read_array
from gallette.state_tracker.entry_points.registry import entry, register

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context


@entry
def clear_color(ctx: Context, red: float, green: float, blue: float, alpha: float) -> None:
    ctx.fragment.clear_color = (float(red), float(green), float(blue), float(alpha))


@contextmanager
def _named(ctx: Context, name: int) -> Iterator[None]:
    """Bind another framebuffer temporarily, for calls that name one."""
    state = ctx.framebuffers
    found = state.names.require(name) if name else state.window
    saved = state.draw.retain()
    state.bind(found, True, False)
    try:
        yield
    finally:
        state.bind(saved, True, False)
        saved.release()


def _check_complete(ctx: Context) -> None:
    if ctx.framebuffers.draw.status(ctx) != GL.FRAMEBUFFER_COMPLETE:
        raise invalid_framebuffer("the draw framebuffer is not complete")


def _begin(ctx: Context) -> ScissorState | bool | None:
    """Prepare to clear: returns the scissor, None for "everything", False for "nothing to do"."""
    _check_complete(ctx)
    validate(ctx, Dirty.FRAMEBUFFER)
    if ctx.raster.discard:
        return False
    if not ctx.raster.scissor_enabled[0]:
        return None
    scissor = scissor_states(ctx)[0]
    return scissor if scissor.maxx > scissor.minx and scissor.maxy > scissor.miny else False


def _clear_color_buffer(ctx: Context, index: int, color: Any, scissor: ScissorState | None) -> None:
    buffers = ctx.pipe_framebuffer.cbufs
    surface = buffers[index] if index < len(buffers) else None
    mask = ctx.fragment.blend[index].mask
    if surface is not None and any(mask):
        if surface.format.is_pure_integer:
            color = _as_integers(color)
        flags = ClearFlags(ClearFlags.COLOR0 << index)
        ctx.pipe.clear(flags, color, 0.0, 0, scissor, color_mask=mask)


def _clear_depth_stencil(
    ctx: Context, depth: float | None, stencil: int | None, scissor: ScissorState | None
) -> None:
    draw = ctx.framebuffers.draw
    flags = ClearFlags.NONE
    if depth is not None and draw.has("Z") and ctx.fragment.depth_mask:
        flags |= ClearFlags.DEPTH
    mask = ctx.fragment.stencil[0].write_mask & 0xFF
    if stencil is not None and draw.has("S") and mask:
        flags |= ClearFlags.STENCIL
    if flags:
        color = (0.0, 0.0, 0.0, 0.0)
        ctx.pipe.clear(
            flags, color, depth or 0.0, (stencil or 0) & 0xFF, scissor, stencil_mask=mask
        )


def _as_integers(color: tuple[Any, ...]) -> list[int]:
    """The clear colour for an integer buffer.

    OpenGL leaves the result of a float colour undefined; other drivers store its bits.
    """
    if all(isinstance(channel, int) for channel in color):
        return [int(channel) for channel in color]
    bits: list[int] = np.array(color, np.float32).view(np.int32).tolist()
    return bits


def clear_call(ctx: Context, buffers: int) -> ClearCall | None:
    """glClear as a single call to the driver; None if it takes several or none."""
    try:
        scissor = _begin(ctx)
    except GLError:
        return None
    flags, by_itself, stencil = _attachments(ctx, buffers)
    if scissor is False or not flags or by_itself or stencil:
        return None
    state = ctx.fragment
    area = scissor if isinstance(scissor, ScissorState) else None
    color, depth, mask = state.clear_color, state.clear_depth, state.clear_stencil & 0xFF
    return ClearCall(ctx.pipe_framebuffer, flags, color, depth, mask, area)


def _attachments(ctx: Context, buffers: int) -> tuple[ClearFlags, list[int], bool]:
    """The attachments that are cleared at once, the colour buffers that are cleared one by one, and
    whether stencil is cleared separately.
    """
    state, draw = ctx.fragment, ctx.framebuffers.draw
    flags, by_itself, stencil = ClearFlags.NONE, list[int](), False
    if buffers & GL.COLOR_BUFFER_BIT:
        for index, surface in enumerate(ctx.pipe_framebuffer.cbufs):
            if surface is None:
                continue
            if surface.format.is_pure_integer or not all(state.blend[index].mask):
                by_itself.append(index)
            else:
                flags |= ClearFlags(ClearFlags.COLOR0 << index)
    if buffers & GL.DEPTH_BUFFER_BIT and state.depth_mask and draw.has("Z"):
        flags |= ClearFlags.DEPTH
    if buffers & GL.STENCIL_BUFFER_BIT and draw.has("S"):
        stencil = state.stencil[0].write_mask & 0xFF != 0xFF
        if not stencil:
            flags |= ClearFlags.STENCIL
    return flags, by_itself, stencil


_CLEARS: dict[int, Callable[[Context], None]] = {}
"""buffers of the compatibility profile that no driver knows"""


def clears(bit: int, clear_buffer: Callable[[Context], None]) -> None:
    """Decorator: registers the function that clears a buffer of the compatibility profile in
    glClear.
    """
    _CLEARS[bit] = clear_buffer


@entry
def clear(ctx: Context, mask: int) -> None:
    known = GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT
    if ctx.is_compat:
        known |= sum(_CLEARS)
    if mask & ~known:
        raise invalid_value("unknown buffers to clear")
    scissor = _begin(ctx)
    if scissor is False or not mask:
        return
    area = scissor if isinstance(scissor, ScissorState) else None
    state = ctx.fragment
    for bit, clear_buffer in _CLEARS.items():
        if mask & bit:
            clear_buffer(ctx)
    flags, by_itself, some_bits = _attachments(ctx, mask)
    for index in by_itself:
        _clear_color_buffer(ctx, index, state.clear_color, area)
    if some_bits:
        _clear_depth_stencil(ctx, None, state.clear_stencil, area)
    if flags:
        stencil = state.clear_stencil & 0xFF
        ctx.pipe.clear(flags, state.clear_color, state.clear_depth, stencil, area)


def _check_draw_buffer(ctx: Context, index: int) -> None:
    if not 0 <= index < ctx.caps.max_render_targets:
        raise invalid_value(f"there is no draw buffer {index}")


def _clear_buffer(suffix: str, gl_type: str) -> Any:
    def call(ctx: Context, buffer: int, drawbuffer: int, value: Pointer) -> None:
        _check_complete(ctx)
        if buffer == GL.COLOR:
            _check_draw_buffer(ctx, drawbuffer)
        elif (buffer == GL.DEPTH and suffix == "fv") or (buffer == GL.STENCIL and suffix == "iv"):
            if drawbuffer:
                raise invalid_value("there is one depth and one stencil buffer")
        else:
            raise invalid_enum(buffer, "buffer to clear")
        scissor = _begin(ctx)
        if scissor is False:
            return
        area = scissor if isinstance(scissor, ScissorState) else None
        if buffer == GL.COLOR:
            color = tuple(v.item() for v in read_array(value, gl_type, 4))
            _clear_color_buffer(ctx, drawbuffer, color, area)
        elif buffer == GL.DEPTH:
            depth = float(read_array(value, gl_type, 1)[0])
            _clear_depth_stencil(ctx, min(max(0.0, depth), 1.0), None, area)
        else:
            _clear_depth_stencil(ctx, None, int(read_array(value, gl_type, 1)[0]), area)

    return call


for _suffix, _gl_type in (("fv", "float"), ("iv", "int"), ("uiv", "uint")):
    _bound_form = _clear_buffer(_suffix, _gl_type)
    register(f"clear_buffer{_suffix}", _bound_form)

    def _named_form(ctx: Context, framebuffer: int, *args: Any, form: Any = _bound_form) -> None:
        with _named(ctx, framebuffer):
            form(ctx, *args)

    register(f"clear_named_framebuffer{_suffix}", _named_form)


@entry
def clear_bufferfi(ctx: Context, buffer: int, drawbuffer: int, depth: float, stencil: int) -> None:
    if buffer != GL.DEPTH_STENCIL:
        raise invalid_enum(buffer, "buffer to clear")
    if drawbuffer:
        raise invalid_value("there is one depth-stencil buffer")
    scissor = _begin(ctx)
    if scissor is not False:
        area = scissor if isinstance(scissor, ScissorState) else None
        _clear_depth_stencil(ctx, min(max(0.0, depth), 1.0), stencil, area)


@entry
def clear_named_framebufferfi(
    ctx: Context, framebuffer: int, buffer: int, drawbuffer: int, depth: float, stencil: int
) -> None:
    with _named(ctx, framebuffer):
        clear_bufferfi(ctx, buffer, drawbuffer, depth, stencil)
