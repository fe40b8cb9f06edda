"""A fast path for repeated glReadPixels of stored bytes, all or some of them.

Programs that read back small parts of a picture do so repeatedly, with one format and from one
framebuffer. The first read whose result is the stored bytes (all of them, or by `byte_order`)
caches their location in the framebuffer (`remember`); the entry is valid until an image is attached
or gets other storage. Unusual cases (a pixel buffer, gaps between rows, pixels outside) take the
general path.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.pipe import codecs
from gallette.pipe.enums import MapFlags
from gallette.pipe.formats import Channel, Format
from gallette.pipe.resource import Resource
from gallette.pipe.state import Box
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.memory import write_bytes
from gallette.state_tracker.pixel_data.pixels import COMPONENTS

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.pixel_data.pixels import PackState
    from gallette.state_tracker.targets.framebuffers import Framebuffer

Bytes = npt.NDArray[np.uint8]
Order = tuple[Channel | int, ...]
_FEW = 10
"""Up to so many bits of a channel are rounded by integers to what their floats are rounded to."""
_BASES = ("R", "RG", "RGB", "RGBA")


@functools.cache
def byte_order(stored: Format, base: str, format: int, type: int) -> Order | None:
    """For each byte of a client pixel, the channel of the stored texel, or the value that all have;
    None if they do not correspond.

    `base` are the components of the image; of missing components, alpha is 1 and others are 0.
    """
    letters = COMPONENTS[format]
    if type != GL.UNSIGNED_BYTE or base not in _BASES or not {*letters} <= {*"RGBA"}:
        return None
    few = stored.block_bytes <= 4 and all(c.bits <= _FEW for c in stored.channels)
    fits = all(c.bits == 8 for c in stored.channels) if stored.is_array else few
    if not fits or any(c.type != "UNORM" for c in stored.channels):
        return None
    place = {c.name: c for c in stored.channels if c.name in base}
    return tuple([place.get(letter, 255 * (letter == "A")) for letter in letters])


def in_order(rows: Bytes, stored: Format, order: Order) -> Bytes:
    """The bytes of client pixels from rows of texels."""
    texels = (
        rows.reshape(*rows.shape[:-1], -1, stored.block_bytes)
        if stored.is_array
        else codecs.texels(stored, rows).astype(np.uint32, copy=False)
    )
    shape = texels.shape[:-1] if stored.is_array else texels.shape
    out = np.empty((*shape, len(order)), np.uint8)
    for place, channel in enumerate(order):
        if isinstance(channel, int):
            out[..., place] = channel
        elif stored.is_array:
            out[..., place] = texels[..., channel.shift // 8]
        else:  # rounded to the nearest byte: half of a step does not occur, since `top` is odd
            top = np.uint32((1 << channel.bits) - 1)
            bits = texels >> np.uint32(channel.shift) & top
            out[..., place] = (bits * np.uint32(510) + top) // (top + top)
    return out


@lazy_dataclass(frozen=True)
class PlainRead:
    """The location of texels that are read unchanged, and the parameters of that read."""

    key: tuple[Any, ...]
    resource: Resource
    level: int
    layer: int
    size: tuple[int, int]
    pixel: int  # bytes
    order: Order | None  # of the bytes, if not all are read
    stored: Format


def _key(ctx: Context, framebuffer: Framebuffer, format: int, type: int) -> tuple[Any, ...]:
    """The state that determines the source of texels and their conversion."""
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
    order: Order | None,
    stored: Format,
) -> None:
    """Cache a read of one sample per pixel whose result is the stored bytes."""
    if not ctx.is_compat and framebuffer.samples <= 1:  # otherwise more state affects it
        key = _key(ctx, framebuffer, format, type)
        framebuffer.plain_read = PlainRead(key, *place, size, pixel, order, stored)


def read_again(
    ctx: Context, x: int, y: int, width: int, height: int, format: int, type: int, pixels: Any
) -> bool:
    """Repeat a cached read; false, with nothing done, if the general path is needed."""
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
        data = transfer.data
        if known.order is not None:
            data = in_order(data, known.stored, known.order)
        write_bytes(pixels, data)
    finally:
        ctx.pipe.transfer_unmap(transfer)
    return True


def _is_tight(state: PackState, width: int, row: int) -> bool:
    """Whether client rows are adjacent, like the stored ones."""
    return (
        not row % state.alignment
        and state.row_length in (0, width)
        and not (state.skip_rows or state.skip_pixels or state.swap_bytes or state.invert)
    )
