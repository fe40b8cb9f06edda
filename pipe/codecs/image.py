"""Whole images: bytes to `[..., 4]` colours and back, compressed formats included."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..formats import Format
from .blocks import decode_blocks
from .depth import pack_depth, pack_stencil
from .encode import block_codes, encode_blocks
from .plain import pack_planes, pack_texel, texel_layout, unpack_planes

Array = npt.NDArray[Any]
Bytes = npt.NDArray[np.uint8]


def texels(format: Format, data: Bytes) -> Array:
    """Bytes `[..., row bytes]` as raw texels `[..., n]` (or `[..., n, words]`), as a view if
    possible.

    In a compressed format the items are whole blocks.
    """
    word, count = texel_layout(format)
    if data.strides[-1] != 1:
        data = np.ascontiguousarray(data)
    view = data.view(word)
    return view if count == 1 else view.reshape(*data.shape[:-1], -1, count)


def texel_bytes(format: Format, raw: Array) -> Bytes:
    """Raw texels as bytes: the inverse of `texels`."""
    flat = np.ascontiguousarray(raw)
    if texel_layout(format)[1] != 1:
        flat = flat.reshape(*raw.shape[:-2], -1)
    return flat.view(np.uint8)


def unpack(format: Format, data: Bytes) -> Array:
    """Colours `[..., n, 4]` of bytes `[..., row bytes]`.

    Of a compressed format, `[..., rows of blocks, row bytes]` yields `[..., height, width, 4]` with
    both rounded up to whole blocks.
    """
    if format.is_compressed:
        return decode_blocks(format, data)
    raw = texels(format, data)
    planes = unpack_planes(format, raw)
    shape = raw.shape if texel_layout(format)[1] == 1 else raw.shape[:-1]
    out = np.empty((*shape, 4), format.rgba_dtype)
    for i, plane in enumerate(planes):
        out[..., i] = plane
    return out


def pack(format: Format, rgba: Array) -> Bytes:
    """Bytes `[..., row bytes]` of colours `[..., n, 4]`.

    Of compressed formats that have an encoder, rows of blocks of `[..., height, width, 4]`.
    """
    if format.is_compressed:
        return encode_blocks(format, block_codes(format, rgba))
    return texel_bytes(format, pack_planes(format, [rgba[..., i] for i in range(4)]))


def clear_texel(
    format: Format, color: Sequence[float | int] = (), depth: float = 0.0, stencil: int = 0
) -> Array:
    """One raw texel of a clear value: a colour, or depth and stencil. The array is shared; do not
    write to it.
    """
    # Equal numbers may have different bits, such as 0.0 and -0.0, or 1 and 1.0.
    return _clear_texel(format, repr((*color, depth)), tuple(color), depth, stencil)


@functools.lru_cache(maxsize=4096)
def _clear_texel(
    format: Format, told: str, color: tuple[float | int, ...], depth: float, stencil: int
) -> Array:
    word, _ = texel_layout(format)
    if not format.is_depth_stencil:
        if any(c.type == "UNORM" and c.bits % 8 for c in format.channels):
            # Half a step is rounded up, as in llvmpipe's clears (but not in its draws).
            above = np.nextafter(np.asarray(color, np.float32), np.float32(np.inf))
            color = tuple(above.tolist())
        found = pack_texel(format, color)
    else:
        raw: Array = np.zeros(1, word)
        if format.has_depth:
            raw = pack_depth(format, raw, np.asarray([depth], np.float32))
        if format.has_stencil:
            raw = pack_stencil(format, raw, np.asarray([stencil]))
        found = np.asarray(raw[0])
    found.flags.writeable = False
    return found
