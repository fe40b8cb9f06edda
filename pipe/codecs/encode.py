"""Block compression: images are encoded in the compressed formats that applications request.

A driver stores an image that was uploaded as pixels uncompressed, with better quality than blocks;
it is encoded here when the application reads its compressed bytes. So are mipmaps of compressed
images.

Every encoder uses a simple method: end points at the extremes of the block's colours along their
main direction, then for every texel the nearest of the decoder's colours between them. A block of
one colour is as exact as its end points. ETC2 and ASTC have no encoder.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..formats import Format
from .bptc import WEIGHTS
from .fxt1 import full_range
from .s3tc import expand565
from .srgb import linear_to_srgb8

Array = npt.NDArray[Any]
Bytes = npt.NDArray[np.uint8]
Encoder = Callable[[Array], Bytes]


def can_encode(format: Format) -> bool:
    """Whether a compressed format has an encoder."""
    return format.codec in _ENCODERS


def encode_blocks(format: Format, image: Array) -> Bytes:
    """Rows of blocks `[..., rows, row bytes]` of codes `[..., height, width, 4]` (`block_codes`).

    Blocks that extend past the image repeat its last row and column.
    """
    height, width = image.shape[-3:-1]
    rows, columns = format.rows(height), -(-width // format.block_width)
    y = np.minimum(np.arange(rows * format.block_height), height - 1)
    x = np.minimum(np.arange(columns * format.block_width), width - 1)
    high, wide = format.block_height, format.block_width
    whole = image[..., y[:, None], x, :].reshape(-1, rows, high, columns, wide, 4)
    blocks = whole.transpose(0, 1, 3, 2, 4, 5).reshape(-1, high * wide, 4)
    coded = _ENCODERS[format.codec](blocks.astype(np.float32 if format.is_float else np.int64))
    return coded.reshape(*image.shape[:-3], rows, columns * format.block_bytes)


def block_codes(format: Format, colors: Array) -> Array:
    """Colours as the integers that the format encodes (floats stay floats)."""
    kind = format.channels[0].type
    values = np.nan_to_num(colors.astype(np.float32))
    if kind == "FLOAT":
        return values
    if kind == "SNORM":
        return np.rint(np.clip(values, -1, 1) * 127).astype(np.int64)
    codes = np.rint(np.clip(values, 0, 1) * 255).astype(np.int64)
    if format.is_srgb:
        codes[..., :3] = linear_to_srgb8(np.clip(values[..., :3], 0, 1))
    return codes


def _ends(colors: Array) -> tuple[Array, Array]:
    """The extremes of each block's colours `[n, 16, c]` along the direction of largest variance."""
    colors = colors.astype(np.float64)
    mean = colors.mean(axis=1, keepdims=True)
    away = colors - mean
    spread = away.transpose(0, 2, 1) @ away
    direction = np.abs(away).max(axis=1)[..., None] + 1e-9
    for _ in range(6):
        direction = spread @ direction
        size = np.linalg.norm(direction, axis=1, keepdims=True)
        direction = np.where(size > 0, direction / np.maximum(size, 1e-30), 0.0)
    along = (away @ direction)[..., 0]
    axis = direction[..., 0]
    low, high = along.min(axis=1, keepdims=True), along.max(axis=1, keepdims=True)
    return mean[:, 0] + low * axis, mean[:, 0] + high * axis


def _nearest(colors: Array, palette: Array) -> Array:
    """For every texel `[n, 16, c]` the number of the nearest colour of `[n, k, c]`."""
    difference = colors[:, :, None].astype(np.float64) - palette[:, None]
    return np.asarray((difference * difference).sum(axis=-1).argmin(axis=-1))


def _packed(fields: list[tuple[Array, int]], size: int) -> Bytes:
    """Bytes of fields (numbers, bits), the first one lowest; `[n, k]` numbers follow each other."""
    count = len(fields[0][0])
    bits: list[Array] = []
    for numbers, width in fields:
        columns = numbers.reshape(count, -1)
        each = columns[:, :, None] >> np.arange(width) & 1
        bits.append(each.reshape(count, -1))
    return np.packbits(np.hstack(bits).astype(np.uint8), axis=1, bitorder="little")[:, :size]


# -- S3TC and RGTC ---------------------------------------------------------------------------------


def _as565(color: Array) -> Array:
    r, g, b = (np.clip(np.rint(color[:, i] * top / 255), 0, top).astype(np.int64)
               for i, top in enumerate((31, 63, 31)))  # fmt: skip
    return r << 11 | g << 5 | b


def _color_block(codes: Array, punch_through: bool = False) -> Bytes:
    colors = codes[..., :3]
    low, high = _ends(colors)
    first, second = _as565(high), _as565(low)
    clear = codes[..., 3] < 128 if punch_through else np.zeros(codes.shape[:2], np.bool_)
    three: Array = np.asarray(clear.any(axis=1))
    swap = np.asarray(np.where(three, first > second, first < second))
    first, second = np.where(swap, second, first), np.where(swap, first, second)
    a, b = expand565(first), expand565(second)
    four = np.stack((a, b, (2 * a + b) / 3, (a + 2 * b) / 3), axis=1)
    half = np.stack((a, b, (a + b) / 2, a), axis=1)
    index = _nearest(colors, np.where(three[:, None, None], half, four))
    same = np.asarray(first == second)  # this selects three-colour mode
    index = np.where(same[:, None], 0, index)
    index = np.where(clear, 3, index)
    return _packed([(first, 16), (second, 16), (index, 2)], 8)


def _ramp_block(values: Array) -> Bytes:
    """Blocks of one channel `[n, 16]`; negative codes as two's complement."""
    high, low = values.max(axis=1), values.min(axis=1)
    steps = [(high * (7 - k) + low * k) / 7 for k in range(1, 7)]
    palette = np.stack((high, low, *steps), axis=1)[..., None]
    index = _nearest(values[..., None], palette)
    index = np.where((high == low)[:, None], 0, index)
    return _packed([(high & 255, 8), (low & 255, 8), (index, 3)], 8)


def _bc2(codes: Array) -> Bytes:
    alpha = np.rint(codes[..., 3] * 15 / 255).astype(np.int64)
    return np.hstack((_packed([(alpha, 4)], 8), _color_block(codes)))


# -- BPTC ------------------------------------------------------------------------------------------

_WEIGHTS = WEIGHTS[4]


def _indexed(colors: Array, palette: Array) -> tuple[Array, Array]:
    """Indices whose first has a zero top bit, and the blocks whose end points are swapped
    for that.
    """
    index = _nearest(colors, palette)
    swap = index[:, 0] >= 8
    return np.where(swap[:, None], 15 - index, index), swap


def _bc7(codes: Array) -> Bytes:
    """Mode 6: one pair of end points of seven bits and a lowest one, indices of four bits."""
    ends, lowest = [], []
    for end in _ends(codes):
        tries = []
        for bit in (0, 1):
            value = np.clip(np.rint((end - bit) / 2), 0, 127).astype(np.int64) << 1 | bit
            tries.append((np.abs(value - end).sum(axis=1), value))
        better = tries[1][0] < tries[0][0]
        ends.append(np.where(better[:, None], tries[1][1], tries[0][1]))
        lowest.append(better.astype(np.int64))
    low, high = ends
    palette = (
        low[:, None] * (64 - _WEIGHTS[:, None]) + high[:, None] * _WEIGHTS[:, None] + 32
    ) >> 6
    index, swap = _indexed(codes, palette)
    low, high = np.where(swap[:, None], high, low), np.where(swap[:, None], low, high)
    bits = np.where(swap, lowest[1], lowest[0]), np.where(swap, lowest[0], lowest[1])
    fields = [(np.full(len(codes), 1 << 6), 7)]
    fields += [(end[:, channel] >> 1, 7) for channel in range(4) for end in (low, high)]
    fields += [(bits[0], 1), (bits[1], 1), (index[:, 0], 3), (index[:, 1:], 4)]
    return _packed(fields, 16)


def _bc6h(values: Array, signed: bool) -> Bytes:
    """Mode 3: one pair of end points of ten bits, indices of four bits; halves as whole numbers."""
    halves = np.clip(values[..., :3], -65504 if signed else 0, 65504).astype(np.float16)
    raw = halves.view(np.uint16).astype(np.int64)
    numbers = np.where(raw & 0x8000, -(raw & 0x7FFF), raw) if signed else raw
    step, top = (62, 511) if signed else (31, 1023)
    ends = []
    for end in _ends(numbers):
        size = np.clip(np.rint((np.abs(end) - step / 2) / step), 0, top).astype(np.int64)
        ends.append(np.where(end < 0, -size, size) if signed else size)
    full = [np.sign(e) * np.where(e == 0, 0, np.abs(e) * step + step // 2) for e in ends]
    weight = _WEIGHTS[:, None]
    palette = (full[0][:, None] * (64 - weight) + full[1][:, None] * weight) / 64
    index, swap = _indexed(numbers, palette)
    low = np.where(swap[:, None], ends[1], ends[0]) & 1023
    high = np.where(swap[:, None], ends[0], ends[1]) & 1023
    fields = [(np.full(len(values), 3), 5)]
    fields += [(end[:, channel], 10) for end in (low, high) for channel in range(3)]
    return _packed([*fields, (index[:, 0], 3), (index[:, 1:], 4)], 16)


# -- FXT1 ------------------------------------------------------------------------------------------


def _as_fives(color: Array) -> Array:
    return np.clip(np.rint(color * 31 / 255), 0, 31).astype(np.int64)


def _halves(codes: Array) -> Array:
    """Texels `[n, 2, 16, c]` of blocks of 8x4, the left half first."""
    count, channels = len(codes), codes.shape[-1]
    parts = codes.reshape(count, 4, 2, 4, channels).transpose(0, 2, 1, 3, 4)
    return parts.reshape(count, 2, 16, channels)


def _blue_first(*colors: Array) -> list[tuple[Array, int]]:
    return [(color[:, channel], 5) for color in colors for channel in (2, 1, 0)]


def _fxt1_opaque(codes: Array) -> Bytes:
    """Mode *mixed*: two colours for each half."""
    count = len(codes)
    selectors, colors, lowest = [], [], []
    for half in range(2):
        texels = _halves(codes[..., :3])[:, half]
        ends = _ends(texels)
        greens = [np.clip(np.rint(e[:, 1] * 63 / 255), 0, 63).astype(np.int64) for e in ends]
        fives = [_as_fives(e) for e in ends]
        for five, green in zip(fives, greens, strict=True):
            five[:, 1] = green >> 1
        bit = greens[1] & 1
        tries = []
        for selected in (0, 1):  # the high bit of the first selector, which flips a bit of green
            pair = [full_range(five, 5) for five in fives]
            pair[0][:, 1] = full_range(fives[0][:, 1] << 1 | bit ^ selected, 6)
            pair[1][:, 1] = full_range(greens[1], 6)
            k = np.arange(4)[:, None]
            palette = (pair[0][:, None] * (3 - k) + pair[1][:, None] * k + 1) // 3
            index = _nearest(texels, palette)
            own = palette[:, 2 * selected : 2 * selected + 2]
            index[:, 0] = _nearest(texels[:, :1], own)[:, 0] + 2 * selected
            found = np.take_along_axis(palette, index[..., None], axis=1)
            tries.append((((found - texels) ** 2).sum(axis=(1, 2)), index))
        better = tries[1][0] < tries[0][0]
        selectors.append(np.where(better[:, None], tries[1][1], tries[0][1]))
        colors += fives
        lowest.append(bit)
    fields = [(index, 2) for index in selectors] + _blue_first(*colors)
    fields += [(np.zeros(count, np.int64), 1), (lowest[0], 1), (lowest[1], 1)]
    return _packed([*fields, (np.ones(count, np.int64), 1)], 16)


def _fxt1(codes: Array) -> Bytes:
    """Mode *alpha* where something is not opaque: one pair of colours for the whole block."""
    count = len(codes)
    low, high = (_as_fives(end) for end in _ends(codes))
    k = np.arange(4)[:, None]
    ends = full_range(low, 5)[:, None], full_range(high, 5)[:, None]
    index = _nearest(codes, (ends[0] * (3 - k) + ends[1] * k + 1) // 3)
    fields = [(_halves(index[..., None])[:, half, :, 0], 2) for half in range(2)]
    fields += _blue_first(low, high, low) + [(end[:, 3], 5) for end in (low, high, low)]
    ones = np.ones(count, np.int64)
    fields += [(ones, 1), (3 * ones, 3)]
    opaque = (codes[..., 3] == 255).all(axis=1)[:, None]
    return np.where(opaque, _fxt1_opaque(codes), _packed(fields, 16))


_ENCODERS: dict[str, Encoder] = {
    "bc1": _color_block,
    "bc1a": lambda codes: _color_block(codes, True),
    "bc2": _bc2,
    "bc3": lambda codes: np.hstack((_ramp_block(codes[..., 3]), _color_block(codes))),
    "bc4": lambda codes: _ramp_block(codes[..., 0]),
    "bc4s": lambda codes: _ramp_block(codes[..., 0]),
    "bc5": lambda codes: np.hstack([_ramp_block(codes[..., i]) for i in range(2)]),
    "bc5s": lambda codes: np.hstack([_ramp_block(codes[..., i]) for i in range(2)]),
    "bc7": _bc7,
    "fxt1": _fxt1,
    "fxt1_opaque": _fxt1_opaque,
    "bc6h_unsigned": lambda values: _bc6h(values, False),
    "bc6h_signed": lambda values: _bc6h(values, True),
}
