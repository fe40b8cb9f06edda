"""Texels into blocks: what a texture kept in plain texels gives away as S3TC, RGTC or LATC.

Nothing here is stored: a driver keeps an image that came uncompressed as it came, at a quality no
block has. Only who asks for its compressed bytes gets these. End points are the corners of the
texels' bounding box, the diagonal chosen by how the channels go together; each texel then takes
the nearest colour of the palette the decoder makes of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.pipe.formats import Format

from .blocks import block_decoder

__all__ = ["can_encode", "encode_blocks"]

Ints = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Encoder = Callable[[Format, Ints], Bytes]

_SHIFTS = np.arange(16)


def _to565(color: Ints) -> Ints:
    """8-bit channels [n, 3] as RGB565, to nearest."""
    r, g, b = (color[:, i] for i in range(3))
    whole: Ints = (r * 31 + 127) // 255 << 11 | (g * 63 + 127) // 255 << 5 | (b * 31 + 127) // 255
    return whole


def _ends(texels: Ints, counted: npt.NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """The corners of each block's bounding box that lie along its longest direction."""
    mask = counted[:, :, None]
    low = np.where(mask, texels, 255).min(axis=1)
    high = np.where(mask, texels, 0).max(axis=1)
    low = np.minimum(low, high)
    centred = np.where(mask, texels - (low + high)[:, None, :] / 2.0, 0.0)
    main = (high - low).argmax(axis=1)
    along = np.take_along_axis(centred, main[:, None, None], axis=2)
    against = (centred * along).sum(axis=1) < 0
    return np.where(against, high, low), np.where(against, low, high)


def _select(block: Bytes, decode: Callable[[Bytes], Any], palette: int, wanted: Ints) -> Ints:
    """For each texel the palette entry nearest to it: found by decoding every one of them."""
    errors = []
    for index in range(palette):
        block[:, 4:8] = 0x55 * index
        color = decode(block).reshape(len(block), 16, 4)[:, :1, : wanted.shape[2]].astype(np.int32)
        errors.append(((color - wanted) ** 2).sum(axis=2))
    nearest: Ints = np.argmin(np.stack(errors), axis=0).astype(np.int32)
    return nearest


def _color_blocks(
    decode: Callable[[Bytes], Any], texels: Ints, opaque: Any, always4: bool
) -> Bytes:
    """8-byte colour blocks of texels [n, 16, 3]; those not opaque get the transparent entry."""
    counted = np.broadcast_to(opaque, texels.shape[:2])
    low, high = _ends(texels, counted)
    c0, c1 = _to565(high), _to565(low)
    c0, c1 = np.maximum(c0, c1), np.minimum(c0, c1)
    three: npt.NDArray[np.bool_] = np.zeros(len(texels), np.bool_)
    if not always4:
        three = np.logical_not(counted.all(axis=1))
    c0, c1 = np.where(three, c1, c0), np.where(three, c0, c1)
    block = np.zeros((len(texels), 8), np.uint8)
    block[:, :4] = np.stack([c0, c1], axis=1).astype("<u2").view(np.uint8)
    best4 = _select(block, decode, 4, texels)
    best3 = _select(block, decode, 3, texels)
    if not always4:  # end points in the other order, or alike, make three colours
        three |= c0 == c1
    index = np.where(three[:, None], best3, best4)
    index = np.where(counted, index, 3)
    bits = (index.astype(np.uint32) << (2 * _SHIFTS).astype(np.uint32)).sum(axis=1, dtype=np.uint32)
    block[:, 4:8] = bits.astype("<u4")[:, None].view(np.uint8)
    return block


def _ramp_blocks(values: Ints, signed: bool) -> Bytes:
    """8-byte blocks of one channel [n, 16]: both ends and six steps between."""
    low, high = values.min(axis=1), values.max(axis=1)
    block = np.zeros((len(values), 8), np.uint8)
    block[:, 0], block[:, 1] = high.astype(np.int8).view(np.uint8) if signed else high, 0
    block[:, 1] = low.astype(np.int8).view(np.uint8) if signed else low
    span = np.maximum(high - low, 1)[:, None]
    step = ((high[:, None] - values) * 14 + span) // (2 * span)  # 0: high ... 7: low
    index = np.where(step == 0, 0, np.where(step == 7, 1, step + 1)).astype(np.uint64)
    index = np.where((high == low)[:, None], np.uint64(0), index)
    bits = (index << (3 * _SHIFTS).astype(np.uint64)).sum(axis=1, dtype=np.uint64)
    block[:, 2:8] = bits.astype("<u8")[:, None].view(np.uint8)[:, :6]
    return block


def _bc1(format: Format, texels: Ints) -> Bytes:
    return _color_blocks(block_decoder(format), texels[..., :3], True, False)


def _bc1a(format: Format, texels: Ints) -> Bytes:
    return _color_blocks(block_decoder(format), texels[..., :3], texels[..., 3] >= 128, False)


def _behind(alpha: Bytes, format: Format, texels: Ints) -> Bytes:
    """Alpha bytes and a colour block that always has four colours."""
    decode = block_decoder(format)

    def decode_color(color: Bytes) -> Any:
        return decode(np.concatenate([alpha, color], axis=1))

    color = _color_blocks(decode_color, texels[..., :3], True, True)
    return np.concatenate([alpha, color], axis=1)


def _bc2(format: Format, texels: Ints) -> Bytes:
    nibbles = (texels[..., 3] * 15 + 127) // 255
    alpha = (nibbles[:, 0::2] | nibbles[:, 1::2] << 4).astype(np.uint8)
    return _behind(alpha, format, texels)


def _bc3(format: Format, texels: Ints) -> Bytes:
    return _behind(_ramp_blocks(texels[..., 3], False), format, texels)


def _channels(count: int, signed: bool) -> Encoder:
    def encode(format: Format, texels: Ints) -> Bytes:
        parts = [_ramp_blocks(texels[..., i], signed) for i in range(count)]
        return np.concatenate(parts, axis=1)

    return encode


_ENCODERS: dict[str, Encoder] = {
    "bc1": _bc1,
    "bc1a": _bc1a,
    "bc2": _bc2,
    "bc3": _bc3,
    "bc4": _channels(1, False),
    "bc4s": _channels(1, True),
    "bc5": _channels(2, False),
    "bc5s": _channels(2, True),
}


def can_encode(format: Format) -> bool:
    """Is there an encoder for that compressed format?"""
    return format.codec in _ENCODERS


def encode_blocks(format: Format, codes: Ints) -> Bytes:
    """Rows of blocks `[depth, rows, row bytes]` of 8-bit codes `[depth, height, width, 4]`.

    Codes of signed formats go from -127 to 127; sRGB colours are still encoded.
    """
    depth, height, width, _ = codes.shape
    rows, columns = -(-height // 4), -(-width // 4)
    pad = ((0, 0), (0, 4 * rows - height), (0, 4 * columns - width), (0, 0))
    whole = np.pad(codes, pad, mode="edge")
    tiles = whole.reshape(depth, rows, 4, columns, 4, 4).swapaxes(2, 3).reshape(-1, 16, 4)
    blocks = _ENCODERS[format.codec](format, np.ascontiguousarray(tiles, np.int32))
    return blocks.reshape(depth, rows, -1)
