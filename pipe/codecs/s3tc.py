"""S3TC (BC1-3) and RGTC (BC4, BC5) decoding, all blocks at once.

Colour blocks have two RGB565 end points and sixteen 2-bit selectors; alpha and RGTC blocks two
8-bit end points and sixteen 3-bit selectors. Values between the end points use weights in 256ths,
rounded down, as in llvmpipe: at most one code from the exact quotient.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Bytes = npt.NDArray[np.uint8]

_TEXELS = np.arange(16)


def expand565(color: Array) -> Array:
    """RGB565 end points [n] to 8-bit channels [n, 3]."""
    r, g, b = color >> 11, (color >> 5) & 63, color & 31
    return np.stack([(r << 3) | (r >> 2), (g << 2) | (g >> 4), (b << 3) | (b >> 2)], axis=-1)


def _colors(block: Bytes, punch_through: bool = False, always_four: bool = False) -> Bytes:
    """Texels [n, 4, 4, 4] of 8-byte colour blocks [n, 8]."""
    words = np.ascontiguousarray(block).view("<u2").astype(np.int32)
    c0, c1 = expand565(words[:, 0]), expand565(words[:, 1])
    palette = np.full((len(block), 4, 4), 255, np.int32)
    palette[:, 0, :3] = c0
    palette[:, 1, :3] = c1
    palette[:, 2, :3] = c0 + (((c1 - c0) * 85) >> 8)
    palette[:, 3, :3] = c1 + (((c0 - c1) * 86) >> 8)
    if not always_four:
        three = words[:, 0] <= words[:, 1]
        palette[three, 2, :3] = ((c0 + c1 + 1) >> 1)[three]
        palette[three, 3, :3] = 0
        if punch_through:
            palette[three, 3, 3] = 0
    bits = np.ascontiguousarray(block[:, 4:8]).view("<u4")
    selector = (bits >> (2 * _TEXELS).astype(np.uint32)) & np.uint32(3)
    texels = np.take_along_axis(palette, selector.astype(np.intp)[:, :, None], axis=1)
    return texels.reshape(-1, 4, 4, 4).astype(np.uint8)


def _between(e0: Array, e1: Array, steps: int) -> Array:
    """The values that divide e0..e1 in equal steps, without the ends."""
    weight = np.arange(1, steps) * 255 // steps
    return np.asarray(e0 + (((e1 - e0) * weight) >> 8))


def _ramp(block: Bytes, signed: bool) -> Array:
    """Codes [n, 16] of 8-byte single-channel blocks."""
    ends = np.ascontiguousarray(block[:, :2])
    pair = (ends.view(np.int8) if signed else ends).astype(np.int32)
    e0, e1 = pair[:, :1], pair[:, 1:]
    low, high = (-127, 127) if signed else (0, 255)
    fixed = np.broadcast_to(np.array([low, high], np.int32), (len(block), 2))
    six = np.concatenate([_between(e0, e1, 5), fixed], axis=1)
    inner = np.where(e0 > e1, _between(e0, e1, 7), six)
    palette = np.concatenate([pair, inner], axis=1)
    wide = np.zeros((len(block), 8), np.uint8)
    wide[:, :6] = block[:, 2:8]
    bits = wide.view("<u8")
    selector = (bits >> (3 * _TEXELS).astype(np.uint64)) & np.uint64(7)
    return np.take_along_axis(palette, selector.astype(np.intp), axis=1)


def _bc2(block: Bytes) -> Bytes:
    """DXT3: four bits of alpha per texel."""
    texels = _colors(block[:, 8:], always_four=True)
    alpha = np.stack([block[:, :8] & 15, block[:, :8] >> 4], axis=-1)
    texels[..., 3] = alpha.reshape(-1, 4, 4) * np.uint8(17)
    return texels


def _bc3(block: Bytes) -> Bytes:
    """DXT5: interpolated alpha."""
    texels = _colors(block[:, 8:], always_four=True)
    texels[..., 3] = _ramp(block[:, :8], False).reshape(-1, 4, 4)
    return texels


def plane_texels(decode: Callable[[Bytes], Array], channels: int, blocks: Bytes) -> Array:
    """Colours of blocks whose channels follow each other, each in eight bytes."""
    texels = np.zeros((len(blocks), 4, 4, 4), np.float32)
    texels[..., 3] = 1.0
    for i in range(channels):
        texels[..., i] = decode(blocks[:, 8 * i : 8 * i + 8])
    return texels


def _rgtc(block: Bytes, signed: bool) -> Array:
    """One channel."""
    scale = np.float32(127.0 if signed else 255.0)
    values = np.maximum(_ramp(block, signed) / scale, np.float32(-1.0))
    return values.reshape(-1, 4, 4)


_UNSIGNED, _SIGNED = (partial(_rgtc, signed=signed) for signed in (False, True))
DECODERS: dict[str, Callable[[Bytes], Array]] = {
    "bc1": _colors,  # the fourth colour of a three-colour block is opaque black
    "bc1a": partial(_colors, punch_through=True),
    "bc2": _bc2,
    "bc3": _bc3,
    "bc4": partial(plane_texels, _UNSIGNED, 1),
    "bc4s": partial(plane_texels, _SIGNED, 1),
    "bc5": partial(plane_texels, _UNSIGNED, 2),
    "bc5s": partial(plane_texels, _SIGNED, 2),
}
