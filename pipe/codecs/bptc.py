"""BPTC decoding: BC7 for 8-bit colours, BC6H for half floats, one mode at a time.

A block is a 128-bit little-endian word. The lowest set bit of its first byte (BC7) or its lowest
two or five bits (BC6H) select a mode: the number of subsets the texels are partitioned into, the
bits of end points, and the bits of an index into the ramp between them. The first index of each
subset (at its *anchor*) omits its top bit, which is always zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .blocks import block_codec

Array = npt.NDArray[Any]
Bytes = npt.NDArray[np.uint8]

_WEIGHTS = {
    2: np.array([0, 21, 43, 64]),
    3: np.array([0, 9, 18, 27, 37, 46, 55, 64]),
    4: np.array([0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64]),
}
# Which texels are in the second of two subsets: bit i is texel i.
_TWO = """
cccc 8888 eeee ecc8 c880 feec fec8 ec80 c800 ffec fe80 e800 ffe8 ff00 fff0 f000
f710 008e 7100 08ce 008c 7310 3100 8cce 088c 3110 6666 366c 17e8 0ff0 718e 399c
aaaa f0f0 5a5a 33cc 3c3c 55aa 9696 a55a 73ce 13c8 324c 3bdc 6996 c33c 9966 0660
0272 04e4 4e40 2720 c936 936c 39c6 639c 9336 9cc6 817e e718 ccf0 0fcc 7744 ee22
"""
# The subset of three each texel is in: two bits a texel.
_THREE = """
aa685050 6a5a5040 5a5a4200 5450a0a8 a5a50000 a0a05050 5555a0a0 5a5a5050
aa550000 aa555500 aaaa5500 90909090 94949494 a4a4a4a4 a9a59450 2a0a4250
a5945040 0a425054 a5a5a500 55a0a0a0 a8a85454 6a6a4040 a4a45000 1a1a0500
0050a4a4 aaa59090 14696914 69691400 a08585a0 aa821414 50a4a450 6a5a0200
a9a58000 5090a0a8 a8a09050 24242424 00aa5500 24924924 24499224 50a50a50
500aa550 aaaa4444 66660000 a5a0a5a0 50a050a0 69286928 44aaaa44 66666600
aa444444 54a854a8 95809580 96969600 a85454a8 80959580 aa141414 96960000
aaaa1414 a05050a0 a0a5a5a0 96000000 40804080 a9a8a9a8 aaaaaa44 2a4a5254
"""
_ANCHORS_TWO = """
15 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15 2 8 2 2 8 8 15 2 8 2 2 8 8 2 2
15 15 6 8 2 8 15 15 2 8 2 2 2 15 15 6 6 2 6 8 15 15 2 2 15 15 15 15 15 2 2 15
"""
_ANCHORS_SECOND = """
3 3 15 15 8 3 15 15 8 8 6 6 6 5 3 3 3 3 8 15 3 3 6 10 5 8 8 6 8 5 15 15
8 15 3 5 6 10 8 15 15 3 15 5 15 15 15 15 3 15 5 5 5 8 5 10 5 10 8 13 15 12 3 3
"""
_ANCHORS_THIRD = """
15 8 8 3 15 15 3 8 15 15 15 15 15 15 15 8 15 8 15 3 15 8 15 8 3 15 6 10 15 15 10 8
15 3 15 10 10 8 9 10 6 15 8 15 3 6 6 8 15 3 15 15 15 15 15 15 15 15 15 15 3 15 15 8
"""


@cache
def _partitions(subsets: int) -> tuple[Array, Array]:
    """For every partition: the subset of each texel `[64, 16]`, and the anchors `[64, subsets]`."""
    texel = np.arange(16)
    zeros = np.zeros((64, 1), np.int64)
    if subsets == 1:
        return np.zeros((64, 16), np.int64), zeros

    def numbers(text: str) -> Array:
        return np.array([int(n) for n in text.split()])[:, None]

    if subsets == 2:
        words = np.array([int(w, 16) for w in _TWO.split()])
        return words[:, None] >> texel & 1, np.hstack((zeros, numbers(_ANCHORS_TWO)))
    words = np.array([int(w, 16) for w in _THREE.split()])
    anchors = np.hstack((zeros, numbers(_ANCHORS_SECOND), numbers(_ANCHORS_THIRD)))
    return words[:, None] >> (2 * texel) & 3, anchors


class _Bits:
    """Blocks as rows of bits, read from the lowest up."""

    def __init__(self, blocks: Bytes, start: int = 0) -> None:
        self.bits = np.unpackbits(blocks, axis=1, bitorder="little").astype(np.int64)
        self.at = start

    def take(self, count: int) -> Array:
        """The next field of `count` bits."""
        field = self.bits[:, self.at : self.at + count] << np.arange(count)
        self.at += count
        return np.asarray(field.sum(axis=1))

    def indices(self, bits: int, anchors: Array) -> Array:
        """Sixteen indices `[n, 16]`, of which those at `anchors[n, k]` are one bit shorter."""
        count, texel = len(self.bits), np.arange(16)
        short = (texel == anchors[:, :, None]).any(axis=1)
        width = bits - short
        start = self.at + np.cumsum(width, axis=1) - width
        value = np.zeros((count, 16), np.int64)
        rows = np.arange(count)[:, None]
        for i in range(bits):
            bit = self.bits[rows, np.minimum(start + i, 127)]
            value |= np.where(i < width, bit, 0) << i
        self.at += 16 * bits - anchors.shape[1]
        return value


# -- BC7 -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Mode:
    """A mode of BC7: the numbers of subsets and the bits of each field."""

    subsets: int
    partition: int
    rotation: int
    selection: int
    color: int
    alpha: int
    own_parity: int  # a lowest bit for each end point
    shared_parity: int  # ... for both of a subset
    index: int
    second_index: int


_MODES = (
    _Mode(3, 4, 0, 0, 4, 0, 1, 0, 3, 0),
    _Mode(2, 6, 0, 0, 6, 0, 0, 1, 3, 0),
    _Mode(3, 6, 0, 0, 5, 0, 0, 0, 2, 0),
    _Mode(2, 6, 0, 0, 7, 0, 1, 0, 2, 0),
    _Mode(1, 0, 2, 1, 5, 6, 0, 0, 2, 3),
    _Mode(1, 0, 2, 0, 7, 8, 0, 0, 2, 2),
    _Mode(1, 0, 0, 0, 7, 7, 1, 0, 4, 0),
    _Mode(2, 6, 0, 0, 5, 5, 1, 0, 2, 0),
)


@block_codec("bc7")
def bc7(blocks: Bytes) -> Array:
    """RGBA bytes `[n, 4, 4, 4]`; a block without a valid mode is transparent black."""
    out = np.zeros((len(blocks), 16, 4), np.uint8)
    for number, mode in enumerate(_MODES):
        which = np.flatnonzero((blocks[:, 0] & ((2 << number) - 1)) == 1 << number)
        if len(which):
            out[which] = _bc7_mode(mode, _Bits(blocks[which], number + 1))
    return out.reshape(-1, 4, 4, 4)


def _bc7_mode(mode: _Mode, bits: _Bits) -> Array:
    count, ends = len(bits.bits), 2 * mode.subsets
    partition, rotation = bits.take(mode.partition), bits.take(mode.rotation)
    selection = bits.take(mode.selection)
    channels = 4 if mode.alpha else 3
    points = np.full((count, ends, 4), 255)
    widths = [mode.color] * 3 + [mode.alpha] * (channels - 3)
    for channel, width in enumerate(widths):
        for end in range(ends):
            points[:, end, channel] = bits.take(width)
    if mode.own_parity or mode.shared_parity:
        parity = [bits.take(1) for _ in range(ends if mode.own_parity else mode.subsets)]
        for end in range(ends):
            low = parity[end if mode.own_parity else end // 2]
            points[:, end, :channels] = points[:, end, :channels] << 1 | low[:, None]
        widths = [width + 1 for width in widths]
    for channel, width in enumerate(widths):  # repeated from the top to fill eight bits
        value = points[:, :, channel] << (8 - width)
        points[:, :, channel] = value | value >> width
    subset_of, anchors_of = _partitions(mode.subsets)
    subset, anchors = subset_of[partition], anchors_of[partition]
    first = _WEIGHTS[mode.index][bits.indices(mode.index, anchors)]
    second = first
    if mode.second_index:
        second = _WEIGHTS[mode.second_index][bits.indices(mode.second_index, anchors)]
        swap = (selection == 1)[:, None]
        first, second = np.where(swap, second, first), np.where(swap, first, second)
    rows = np.arange(count)[:, None]
    low, high = points[rows, 2 * subset], points[rows, 2 * subset + 1]
    weight = np.stack((first, first, first, second), axis=-1)
    texels = (low * (64 - weight) + high * weight + 32) >> 6
    for channel in range(3):  # a rotation exchanges alpha with one channel
        turned = rotation == channel + 1
        if turned.any():
            order = np.arange(4)
            order[[channel, 3]] = 3, channel
            texels[turned] = texels[turned][:, :, order]
    return np.asarray(texels)


# -- BC6H ------------------------------------------------------------------------------------------

# Mode number | bits of the end points | of the differences of r, g, b (none: not differences) |
# fields from the lowest bit: letter, end point w to z, bits from low to high (or the reverse).
_HALF_MODES = """
0|10|5 5 5|gy4 by4 bz4 rw0-9 gw0-9 bw0-9 rx0-4 gz4 gy0-3 gx0-4 bz0 gz0-3 bx0-4 bz1 by0-3 ry0-4 \
bz2 rz0-4 bz3
1|7|6 6 6|gy5 gz4 gz5 rw0-6 bz0 bz1 by4 gw0-6 by5 bz2 gy4 bw0-6 bz3 bz5 bz4 rx0-5 gy0-3 gx0-5 \
gz0-3 bx0-5 by0-3 ry0-5 rz0-5
2|11|5 4 4|rw0-9 gw0-9 bw0-9 rx0-4 rw10 gy0-3 gx0-3 gw10 bz0 gz0-3 bx0-3 bw10 bz1 by0-3 ry0-4 bz2 \
rz0-4 bz3
6|11|4 5 4|rw0-9 gw0-9 bw0-9 rx0-3 rw10 gz4 gy0-3 gx0-4 gw10 gz0-3 bx0-3 bw10 bz1 by0-3 ry0-3 bz0 \
bz2 rz0-3 gy4 bz3
10|11|4 4 5|rw0-9 gw0-9 bw0-9 rx0-3 rw10 by4 gy0-3 gx0-3 gw10 bz0 gz0-3 bx0-4 bw10 by0-3 ry0-3 \
bz1 bz2 rz0-3 bz4 bz3
14|9|5 5 5|rw0-8 by4 gw0-8 gy4 bw0-8 bz4 rx0-4 gz4 gy0-3 gx0-4 bz0 gz0-3 bx0-4 bz1 by0-3 ry0-4 \
bz2 rz0-4 bz3
18|8|6 5 5|rw0-7 gz4 by4 gw0-7 bz2 gy4 bw0-7 bz3 bz4 rx0-5 gy0-3 gx0-4 bz0 gz0-3 bx0-4 bz1 by0-3 \
ry0-5 rz0-5
22|8|5 6 5|rw0-7 bz0 by4 gw0-7 gy5 gy4 bw0-7 gz5 bz4 rx0-4 gz4 gy0-3 gx0-5 gz0-3 bx0-4 bz1 by0-3 \
ry0-4 bz2 rz0-4 bz3
26|8|5 5 6|rw0-7 bz1 by4 gw0-7 by5 gy4 bw0-7 bz5 bz4 rx0-4 gz4 gy0-3 gx0-4 bz0 gz0-3 bx0-5 by0-3 \
ry0-4 bz2 rz0-4 bz3
30|6||rw0-5 gz4 bz0 bz1 by4 gw0-5 gy5 by5 bz2 gy4 bw0-5 gz5 bz3 bz5 bz4 rx0-5 gy0-3 gx0-5 gz0-3 \
bx0-5 by0-3 ry0-5 rz0-5
3|10||rw0-9 gw0-9 bw0-9 rx0-9 gx0-9 bx0-9
7|11|9 9 9|rw0-9 gw0-9 bw0-9 rx0-8 rw10 gx0-8 gw10 bx0-8 bw10
11|12|8 8 8|rw0-9 gw0-9 bw0-9 rx0-7 rw11-10 gx0-7 gw11-10 bx0-7 bw11-10
15|16|4 4 4|rw0-9 gw0-9 bw0-9 rx0-3 rw15-10 gx0-3 gw15-10 bx0-3 bw15-10
"""


@block_codec("bc6h_unsigned")
def bc6h_unsigned(blocks: Bytes) -> Array:
    """RGBA floats `[n, 4, 4, 4]` of unsigned half floats."""
    return _bc6h(blocks, False)


@block_codec("bc6h_signed")
def bc6h_signed(blocks: Bytes) -> Array:
    """RGBA floats `[n, 4, 4, 4]` of signed half floats."""
    return _bc6h(blocks, True)


def _bc6h(blocks: Bytes, signed: bool) -> Array:
    out = np.zeros((len(blocks), 16, 4), np.float32)
    out[..., 3] = 1.0
    low = blocks[:, 0] & 3
    found = np.where(low < 2, low, blocks[:, 0] & 31)
    for line in _HALF_MODES.strip().splitlines():
        number, bits, deltas, fields = line.split("|")
        which = np.flatnonzero(found == int(number))
        if len(which):
            widths = [int(d) for d in deltas.split()]
            reader = _Bits(blocks[which], 2 if int(number) < 2 else 5)
            out[which, :, :3] = _bc6h_mode(reader, int(bits), widths, fields, signed)
    return out.reshape(-1, 4, 4, 4)


def _bc6h_mode(reader: _Bits, bits: int, deltas: list[int], fields: str, signed: bool) -> Array:
    count = len(reader.bits)
    points = np.zeros((count, 4, 3), np.int64)  # w x y z, r g b
    for field in fields.split():
        channel, end = "rgb".index(field[0]), "wxyz".index(field[1])
        first, _, last = field[2:].partition("-")
        a, b = int(first), int(last or first)
        for bit in range(a, b + 1) if b >= a else range(a, b - 1, -1):
            points[:, end, channel] |= reader.take(1) << bit
    subsets = 2 if "y" in fields else 1
    partition = reader.take(5 if subsets == 2 else 0)
    mask = (1 << bits) - 1
    if deltas:
        for channel, width in enumerate(deltas):
            moved = _sign_extended(points[:, 1:, channel], width)
            points[:, 1:, channel] = (points[:, :1, channel] + moved) & mask
    if signed:
        points = _sign_extended(points, bits)
    ramp = _unquantized(points, bits, signed)
    subset_of, anchors_of = _partitions(subsets)
    index_bits = 3 if subsets == 2 else 4
    anchors = anchors_of[partition]
    weight = _WEIGHTS[index_bits][reader.indices(index_bits, anchors)][..., None]
    subset, rows = subset_of[partition], np.arange(count)[:, None]
    low, high = ramp[rows, 2 * subset], ramp[rows, 2 * subset + 1]
    value = (low * (64 - weight) + high * weight + 32) >> 6
    return _as_halves(value, signed).astype(np.float32)


def _sign_extended(value: Array, bits: int) -> Array:
    sign = 1 << (bits - 1)
    return np.asarray((value & ((1 << bits) - 1) ^ sign) - sign)


def _unquantized(value: Array, bits: int, signed: bool) -> Array:
    """End points in 16 bits, the ends of their range exactly."""
    if not signed:
        if bits >= 15:
            return value
        full = ((value << 16) + 0x8000) >> bits
        return np.where(value == 0, 0, np.where(value == (1 << bits) - 1, 0xFFFF, full))
    if bits >= 16:
        return value
    size = np.abs(value)
    full = ((size << 15) + 0x4000) >> (bits - 1)
    size = np.where(size == 0, 0, np.where(size >= (1 << (bits - 1)) - 1, 0x7FFF, full))
    return np.where(value < 0, -size, size)


def _as_halves(value: Array, signed: bool) -> Array:
    """Interpolated numbers as half floats, scaled so that the largest is the largest finite one."""
    if not signed:
        return np.asarray(((value * 31) >> 6).astype(np.uint16).view(np.float16))
    size = (np.abs(value) * 31) >> 5
    bits = size | np.where(value < 0, 0x8000, 0)
    return np.asarray(bits.astype(np.uint16).view(np.float16))
