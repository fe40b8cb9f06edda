"""BPTC decoding: BC7 for 8-bit colours, BC6H for half floats, one mode at a time.

A block is a 128-bit little-endian word. The lowest set bit of its first byte (BC7) or its lowest
two or five bits (BC6H) select a mode: the number of subsets the texels are partitioned into, the
bits of end points, and the bits of an index into the ramp between them. The first index of each
subset (at its *anchor*) omits its top bit, which is always zero.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass

Array = npt.NDArray[Any]
Bytes = npt.NDArray[np.uint8]

WEIGHTS = {
    2: np.array([0, 21, 43, 64]),
    3: np.array([0, 9, 18, 27, 37, 46, 55, 64]),
    4: np.array([0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64]),
}


@cache
def _tables() -> dict[str, str]:
    """The sections of `bptc.txt`."""
    _, *sections = Path(__file__).with_suffix(".txt").read_text("utf-8").split("\n[")
    return {name: body for name, _, body in (each.partition("]\n") for each in sections)}


def _numbers(name: str, base: int = 10) -> Array:
    """A column of the numbers in a section."""
    return np.array([[int(number, base)] for number in _tables()[name].split()])


@cache
def _partitions(subsets: int) -> tuple[Array, Array]:
    """For every partition: the subset of each texel `[64, 16]`, and the anchors `[64, subsets]`."""
    texel, zeros = np.arange(16), np.zeros((64, 1), np.int64)
    if subsets == 1:
        return np.zeros((64, 16), np.int64), zeros
    if subsets == 2:
        return _numbers("two", 16) >> texel & 1, np.hstack((zeros, _numbers("anchors two")))
    anchors = np.hstack((zeros, _numbers("anchors second"), _numbers("anchors third")))
    return _numbers("three", 16) >> (2 * texel) & 3, anchors


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


@lazy_dataclass(frozen=True)
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


def _bc7(blocks: Bytes) -> Array:
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
    first = WEIGHTS[mode.index][bits.indices(mode.index, anchors)]
    second = first
    if mode.second_index:
        second = WEIGHTS[mode.second_index][bits.indices(mode.second_index, anchors)]
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


def _bc6h(blocks: Bytes, signed: bool) -> Array:
    """RGBA floats `[n, 4, 4, 4]` of half floats."""
    out = np.zeros((len(blocks), 16, 4), np.float32)
    out[..., 3] = 1.0
    low = blocks[:, 0] & 3
    found = np.where(low < 2, low, blocks[:, 0] & 31)
    for line in _tables()["halves"].splitlines():
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
    weight = WEIGHTS[index_bits][reader.indices(index_bits, anchors)][..., None]
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


DECODERS: dict[str, Callable[[Bytes], Array]] = {
    "bc7": _bc7,
    "bc6h_unsigned": partial(_bc6h, signed=False),
    "bc6h_signed": partial(_bc6h, signed=True),
}
