"""glReadPixels of texels just as they are stored, asked for again: nothing is looked up twice.

Programs that read back small parts of a picture do it again and again with the same format, from
the same framebuffer. The first read that finds stored texels to be what the caller wants leaves
with the framebuffer where they are (`remember`); it is good until an image is attached or gets
other storage. Whatever is out of the ordinary (a pixel buffer, gaps between rows, pixels outside)
is left to the long way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gallette.pipe.enums import MapFlags
from gallette.pipe.resource import Resource
from gallette.pipe.state import Box
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.memory import write_bytes

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.pixel_data.pixels import PackState
    from gallette.state_tracker.targets.framebuffers import Framebuffer

__all__ = ["PlainRead", "read_again", "remember"]


@dataclass(frozen=True, slots=True)
class PlainRead:
    """Where texels are that are read as they are, and how they were asked for."""

    key: tuple[Any, ...]
    resource: Resource
    level: int
    layer: int
    size: tuple[int, int]
    pixel: int  # bytes


def _key(ctx: Context, framebuffer: Framebuffer, format: int, type: int) -> tuple[Any, ...]:
    """What decides where texels come from, and whether they are changed on their way."""
    clamp = ctx.fragment.clamp_read_color
    return ctx.group.images, framebuffer.read_buffer, format, type, clamp


def remember(
    ctx: Context,
    framebuffer: Framebuffer,
    format: int,
    type: int,
    place: tuple[Resource, int, int],
    size: tuple[int, int],
    pixel: int,
) -> None:
    """A read of one sample per pixel found texels that are what the caller wants."""
    if not ctx.is_compat and framebuffer.samples <= 1:  # else more has a say in it
        key = _key(ctx, framebuffer, format, type)
        framebuffer.plain_read = PlainRead(key, *place, size, pixel)


def read_again(
    ctx: Context, x: int, y: int, width: int, height: int, format: int, type: int, pixels: Any
) -> bool:
    """Read like before; false, and nothing is done, if that needs a closer look."""
    framebuffer = ctx.framebuffers.read
    known = framebuffer.plain_read
    if known is None or known.key != _key(ctx, framebuffer, format, type):
        return False
    right, bottom = known.size
    if (
        pixels.__class__ is not int
        or x < 0
        or y < 0
        or width <= 0
        or height <= 0
        or x + width > right
        or y + height > bottom
        or ctx.buffers.bound[GL.PIXEL_PACK_BUFFER] is not None
        or not _is_tight(ctx.pack, width, width * known.pixel)
    ):
        return False
    box = Box(x, y, known.layer, width, height, 1)
    transfer = ctx.pipe.transfer_map(known.resource, known.level, MapFlags.READ, box)
    try:
        write_bytes(pixels, transfer.data)
    finally:
        ctx.pipe.transfer_unmap(transfer)
    return True


def _is_tight(state: PackState, width: int, row: int) -> bool:
    """Do rows follow each other, as they are stored?"""
    return (
        not row % state.alignment
        and state.row_length in (0, width)
        and not (state.skip_rows or state.skip_pixels or state.swap_bytes or state.invert)
    )
