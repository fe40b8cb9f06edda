"""Bitmaps in the application's memory: one bit per pixel, in rows of whole bytes; polygon
stipple.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.dispatch import OMITTED
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_operation
from gallette.state_tracker.entry_points.memory import Pointer, write_bytes, wrote_in_place
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.pixel_data.pixel_store import client_image, present
from gallette.state_tracker.pixel_data.pixels import PackState

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

Bits = npt.NDArray[np.uint8]
_SIDE = 32
LETTER = 64
"""Pixels: larger bitmaps are not letters, as a rule."""


def bitmap_layout(state: PackState, width: int, height: int) -> tuple[int, int, int]:
    """First byte, row stride, and total size of a bitmap in client memory."""
    length = state.row_length or width
    stride = -(-length // 8)
    stride = -(-stride // state.alignment) * state.alignment
    start = state.skip_rows * stride
    last_bits = state.skip_pixels + width
    end = start + (height - 1) * stride + -(-last_bits // 8) if width and height else start
    return start, stride, end


def read_bitmap(ctx: Context, pointer: Pointer, width: int, height: int) -> Bits | None:
    """Ones and zeros `[height, width]`; None for a null pointer."""
    raw = client_image(ctx, pointer, bitmap_layout(ctx.unpack, width, height)[2])
    return None if raw is None else _pixels(ctx.unpack, raw, width, height).copy()


class Letter(NamedTuple):
    """A decoded bitmap, which display lists hold instead of its bytes."""

    pixels: Any


def read_letter(ctx: Context, pointer: Pointer | Letter, width: int, height: int) -> Any:
    """The bitmap as float pixels `[height, width, 1]`, one array for the same small bytes; None if
    no bit is set.
    """
    if isinstance(pointer, Letter):
        return pointer.pixels
    raw = client_image(ctx, pointer, bitmap_layout(ctx.unpack, width, height)[2])
    if raw is None:
        return None
    decode = decode_letter if max(width, height) <= LETTER else _letter
    return decode(raw.tobytes(), ctx.unpack, width, height)


def _letter(raw: bytes, state: PackState, width: int, height: int) -> Any:
    bits = _pixels(state, np.frombuffer(raw, np.uint8), width, height)
    return bits[..., None].astype(np.float32) if bits.any() else None


decode_letter = lru_cache(maxsize=256)(_letter)


def _pixels(state: PackState, raw: Bits, width: int, height: int) -> Bits:
    """The pixels of a bitmap, without skipped bits."""
    start, stride, end = bitmap_layout(state, width, height)
    if not width or not height:
        return np.zeros((height, width), np.uint8)
    if raw.size < end:  # missing bytes are 0
        raw = np.concatenate((raw, np.zeros(end - raw.size, np.uint8)))
    skipped, skip = divmod(state.skip_pixels, 8)
    shape = (height, -(-(skip + width) // 8))  # rows may overlap, or lie gigabytes apart
    rows = np.lib.stride_tricks.as_strided(raw[start + skipped :], shape, (stride, 1))
    bits: Bits = np.unpackbits(np.ascontiguousarray(rows), axis=1, bitorder=_order(state))
    return bits[:, skip : skip + width]


def _order(state: PackState) -> Literal["big", "little"]:
    return "little" if state.lsb_first else "big"


# -- polygon stipple -------------------------------------------------------------------------------


@entry
def polygon_stipple(ctx: Context, mask: Pointer) -> None:
    bits = read_bitmap(ctx, mask, _SIDE, _SIDE)
    if bits is None:
        return
    rows = np.packbits(bits, axis=1)
    ctx.raster.stipple = tuple(int.from_bytes(row.tobytes(), "big") for row in rows)
    ctx.dirty |= Dirty.STIPPLE


def _get(ctx: Context, room: int, pattern: Any) -> bytes | None:
    """The pattern in the layout of the pack state; bits outside it are preserved."""
    rows = np.array(ctx.raster.stipple, ">u4").view(np.uint8).reshape(_SIDE, 4)
    state = ctx.pack
    if pattern is OMITTED:
        return np.packbits(np.unpackbits(rows, axis=1), axis=1, bitorder=_order(state)).tobytes()
    start, stride, size = bitmap_layout(state, _SIDE, _SIDE)
    if size > room:
        raise invalid_operation(f"{room} bytes are too few for a stipple pattern")
    buffer = ctx.buffers.bound[GL.PIXEL_PACK_BUFFER]
    offset = int(pattern or 0) if buffer is not None else 0
    outside = buffer is not None and (offset < 0 or offset + size > buffer.size)
    if buffer is not None and (buffer.blocked or outside):
        raise invalid_operation("the pixel pack buffer is mapped or too small")
    if buffer is None and pattern is None:
        return None
    raw = present(pattern, buffer, offset, size)
    skipped, skip = divmod(state.skip_pixels, 8)
    for y, row in enumerate(np.unpackbits(rows, axis=1)):
        first = start + y * stride + skipped
        part = raw[first : first + -(-(skip + _SIDE) // 8)]
        bits = np.unpackbits(part, bitorder=_order(state))
        bits[skip : skip + _SIDE] = row
        part[:] = np.packbits(bits, bitorder=_order(state))
    if buffer is not None:
        buffer.write(offset, raw)
    elif type(pattern) is int:
        wrote_in_place(pattern, raw)
    else:
        write_bytes(pattern, raw)
    return None


@entry
def get_polygon_stipple(ctx: Context, mask: Any) -> bytes | None:
    return _get(ctx, 1 << 40, mask)


@entry
def getn_polygon_stipple(ctx: Context, room: int, pattern: Any) -> bytes | None:
    return _get(ctx, room, pattern)
