"""The accumulation buffer: glAccum and glClearAccum.

A window's accumulation buffer is an array of floats, made when it is first used; framebuffer
objects have none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.pipe import codecs
from gallette.pipe.enums import MapFlags
from gallette.pipe.state import BlitInfo, Box, ScissorState
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing.validate import validate
from gallette.state_tracker.drawing.viewports import scissor_states
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_framebuffer,
    invalid_operation,
)
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.getters import gets
from gallette.state_tracker.pixel_data.convert import from_pipe
from gallette.state_tracker.pixel_data.readback import read_box, read_source, resolved
from gallette.state_tracker.targets.clears import clears
from gallette.state_tracker.texturing.texture_formats import linear_format

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

Array = npt.NDArray[np.float32]


class AccumulationBuffer:
    """The values, `[height, width, 4]`, and the clear value."""

    def __init__(self, ctx: Context) -> None:
        self.clear_value = (0.0, 0.0, 0.0, 0.0)
        self._values: Array | None = None

    def values(self, ctx: Context) -> Array:
        width, height = ctx.framebuffers.window.size
        if self._values is None or self._values.shape[:2] != (height, width):
            self._values = np.zeros((height, width, 4), np.float32)
        return self._values


def _area(ctx: Context) -> tuple[slice, slice, ScissorState]:
    scissor = scissor_states(ctx)[0]
    return slice(scissor.miny, scissor.maxy), slice(scissor.minx, scissor.maxx), scissor


def clear_accumulation(ctx: Context) -> None:
    """Clear for glClear's GL_ACCUM_BUFFER_BIT."""
    if ctx.framebuffers.draw.is_window:
        rows, columns, _ = _area(ctx)
        ctx.accumulation.values(ctx)[rows, columns] = ctx.accumulation.clear_value


clears(GL.ACCUM_BUFFER_BIT, clear_accumulation)


def _colors(ctx: Context, scissor: ScissorState) -> Array:
    """The read buffer's colours inside the scissor."""
    found = read_source(ctx, GL.RGBA)
    place = found.place()
    assert place is not None
    width, height = scissor.maxx - scissor.minx, scissor.maxy - scissor.miny
    rows = read_box(
        ctx, place[0], place[1], Box(scissor.minx, scissor.miny, place[2], width, height, 1)
    )
    return np.asarray(from_pipe(found.format, rows)[0], np.float32)


def _return(ctx: Context, values: Array, scissor: ScissorState) -> None:
    """Write colours to every sample of the window's draw buffer, under the colour mask."""
    validate(ctx, Dirty.FRAMEBUFFER)
    width, height = scissor.maxx - scissor.minx, scissor.maxy - scissor.miny
    draw = ctx.framebuffers.draw
    for index, surface in enumerate(ctx.pipe_framebuffer.cbufs):
        if surface is None:
            continue
        mask = ctx.fragment.blend[index].mask
        box = Box(scissor.minx, scissor.miny, surface.first_layer, width, height, 1)
        flags = MapFlags.READ | MapFlags.WRITE
        source, format = surface.resource, linear_format(surface.format)
        if draw.samples > 1:  # transfers have no samples
            place = resolved(ctx, draw.attachments[0]).place()
            assert place is not None
            source = place[0]
        transfer = ctx.pipe.transfer_map(source, surface.level, flags, box)
        rgba = codecs.unpack(format, np.ascontiguousarray(transfer.data)).copy()
        for channel in range(4):
            if mask[channel]:
                rgba[0, ..., channel] = np.clip(values[..., channel], 0.0, 1.0)
        transfer.data[...] = codecs.pack(format, rgba).reshape(transfer.data.shape)
        ctx.pipe.transfer_unmap(transfer)
        if source is not surface.resource:
            letters = "".join(letter for letter, on in zip("rgba", mask, strict=True) if on)
            ctx.pipe.blit(
                BlitInfo(surface.resource, 0, box, format, source, 0, box, format, letters)
            )


@entry
def accum(ctx: Context, op: int, value: float) -> None:
    if op not in (GL.ACCUM, GL.LOAD, GL.RETURN, GL.MULT, GL.ADD):
        raise invalid_enum(op, "accumulation")
    draw = ctx.framebuffers.draw
    if ctx.immediate.active or not draw.is_window or draw is not ctx.framebuffers.read:
        raise invalid_operation("there is no accumulation buffer here")
    if draw.status(ctx) != GL.FRAMEBUFFER_COMPLETE:
        raise invalid_framebuffer("the draw framebuffer is not complete")
    rows, columns, scissor = _area(ctx)
    buffer = ctx.accumulation.values(ctx)[rows, columns]
    if not buffer.size:
        return
    if op == GL.ACCUM:
        buffer += _colors(ctx, scissor) * value
    elif op == GL.LOAD:
        buffer[...] = _colors(ctx, scissor) * value
    elif op == GL.ADD:
        buffer += value
    elif op == GL.MULT:
        buffer *= value
    else:
        _return(ctx, buffer * np.float32(value), scissor)


@entry
def clear_accum(ctx: Context, red: float, green: float, blue: float, alpha: float) -> None:
    clamped: list[Any] = [min(max(float(v), -1.0), 1.0) for v in (red, green, blue, alpha)]
    ctx.accumulation.clear_value = (clamped[0], clamped[1], clamped[2], clamped[3])


def _bits(ctx: Context) -> int:
    draw = ctx.framebuffers.draw
    return 16 if draw.is_window and draw.attachments else 0


gets(
    {f"ACCUM_{name}_BITS": _bits for name in ("RED", "GREEN", "BLUE", "ALPHA")},
    profiles="compat",
)
