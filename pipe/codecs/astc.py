"""ASTC decoding (the LDR profile), for blocks of one configuration at a time.

A block of 128 bits describes itself: a grid of weights, which is smaller than the block and
interpolated over it, with one or two planes; one to four partitions of the texels, each with a pair
of end points in one of ten encodings. Both are numbers of a range that need not be a power of two
(*integer sequences*: five trits share eight bits, three quints seven). Weights are stored from the
top bit down, colours from below. Invalid blocks and high dynamic range decode to magenta.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..formats import ASTC_FOOTPRINTS
from .blocks import BLOCK_DECODERS, Decoder

__all__: list[str] = []

Array = npt.NDArray[Any]
Bytes = npt.NDArray[np.uint8]

_MAGENTA = np.array([255, 0, 255, 255])
# The levels of a range, its plain bits, and whether a trit (3) or quint (5) is above them.
_RANGES = (
    *((2, 1, 0), (3, 0, 3), (4, 2, 0), (5, 0, 5), (6, 1, 3), (8, 3, 0), (10, 1, 5), (12, 2, 3)),
    *((16, 4, 0), (20, 2, 5), (24, 3, 3), (32, 5, 0), (40, 3, 5), (48, 4, 3), (64, 6, 0)),
    *((80, 4, 5), (96, 5, 3), (128, 7, 0), (160, 5, 5), (192, 6, 3), (256, 8, 0)),
)
_RANGE_OF = {levels: (bits, digit) for levels, bits, digit in _RANGES}
_WEIGHT_LEVELS = (0, 0, 2, 3, 4, 5, 6, 8, 0, 0, 10, 12, 16, 20, 24, 32)


def _sequence_bits(count: int, levels: int) -> int:
    bits, digit = _RANGE_OF[levels]
    shared = {0: 0, 3: -(-8 * count // 5), 5: -(-7 * count // 3)}[digit]
    return bits * count + shared


@cache
def _digits(digit: int) -> Array:
    """Decode the shared bits to digits: `[code, place]`."""
    if digit == 3:
        return np.array([_trits(code) for code in range(256)])
    return np.array([_quints(code) for code in range(128)])


def _trits(code: int) -> tuple[int, ...]:
    if code >> 2 & 7 == 7:
        c, t4, t3 = (code >> 5) << 2 | code & 3, 2, 2
    elif code >> 5 & 3 == 3:
        c, t4, t3 = code & 31, 2, code >> 7
    else:
        c, t4, t3 = code & 31, code >> 7, code >> 5 & 3
    if c & 3 == 3:
        return (c >> 3 & 1) << 1 | (c >> 2 & ~(c >> 3) & 1), c >> 4, 2, t3, t4
    if c >> 2 & 3 == 3:
        return c & 3, 2, 2, t3, t4
    return (c >> 1 & 1) << 1 | (c & ~(c >> 1) & 1), c >> 2 & 3, c >> 4, t3, t4


def _quints(code: int) -> tuple[int, ...]:
    if code >> 1 & 3 == 3 and code >> 5 == 0:
        low = code & 1
        return 4, 4, low << 2 | (code >> 4 & ~low & 1) << 1 | (code >> 3 & ~low & 1)
    if code >> 1 & 3 == 3:
        q2, c = 4, (code >> 3 & 3) << 3 | (~(code >> 5) & 3) << 1 | code & 1
    else:
        q2, c = code >> 5, code & 31
    if c & 7 == 5:
        return c >> 3, 4, q2
    return c & 7, c >> 3, q2


# The number of shared bits after each number's plain ones.
_SHARED = {3: (2, 2, 1, 2, 1), 5: (3, 2, 2)}


def _sequence(bits: Array, start: int, count: int, levels: int) -> Array:
    """Numbers `[n, count]` of an integer sequence; bits past its end are zero."""
    plain, digit = _RANGE_OF[levels]
    total = _sequence_bits(count, levels)
    spare = np.zeros((len(bits), 64), np.int64)
    stream = np.hstack((bits[:, start : start + total], spare))
    at, numbers = 0, np.zeros((len(bits), count), np.int64)

    def take(width: int) -> Array:
        nonlocal at
        field = stream[:, at : at + width] << np.arange(width)
        at += width
        return np.asarray(field.sum(axis=1))

    if not digit:
        for i in range(count):
            numbers[:, i] = take(plain)
        return numbers
    shared = _SHARED[digit]
    for first in range(0, count, len(shared)):
        code, low, width = np.zeros(len(bits), np.int64), [], 0
        for piece in shared:
            low.append(take(plain))
            code |= take(piece) << width
            width += piece
        high = _digits(digit)[code]
        for i, value in enumerate(low[: count - first]):
            numbers[:, first + i] = high[:, i] << plain | value
    return numbers


# Multipliers and patterns of the plain bits (letters, from the top) for ranges with a digit.
_COLOR_SCALES = {
    6: (204, ""), 12: (93, "b000b0bb0"), 24: (44, "cb000cbcb"), 48: (22, "dcb000dcb"),
    96: (11, "edcb000ed"), 192: (5, "fedcb000f"), 10: (113, ""), 20: (54, "b0000bb00"),
    40: (26, "cb0000cbc"), 80: (13, "dcb0000dc"), 160: (6, "edcb0000e"),
}  # fmt: skip
_WEIGHT_SCALES = {
    6: (50, ""), 12: (23, "b000b0b"), 24: (11, "cb000cb"), 10: (28, ""), 20: (13, "b0000b0"),
}  # fmt: skip


def _spread(value: int, bits: int, to: int) -> int:
    """A number's bits repeated from the top, up to `to` bits."""
    out, have = 0, 0
    while have < to:
        out, have = out << bits | value, have + bits
    return out >> (have - to)


@cache
def _unquantized(levels: int, weights: bool) -> Array:
    """The colour (0..255) or weight (0..64) of each number of a range."""
    plain, digit = _RANGE_OF[levels]
    size = 6 if weights else 8
    table = []
    for number in range(levels):
        low, high = number & ((1 << plain) - 1), number >> plain
        if not digit:
            value = _spread(low, plain, size)
        elif not plain:
            value = ({3: (0, 32, 63), 5: (0, 16, 32, 47, 63)})[digit][high]
        else:
            scale, pattern = (_WEIGHT_SCALES if weights else _COLOR_SCALES)[levels]
            letters = {chr(97 + i): low >> i & 1 for i in range(plain)}
            mixed = sum(letters.get(c, 0) << i for i, c in enumerate(reversed(pattern)))
            flip = (1 << (size + 1)) - 1 if low & 1 else 0
            value = (high * scale + mixed) ^ flip
            value = flip & (1 << (size - 1)) | value >> 2
        table.append(value + (weights and value > 32))
    return np.array(table)


# -- parts of a block ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Grid:
    """The fields in the eleven bits of a block mode."""

    width: int
    height: int
    planes: int
    levels: int

    @property
    def count(self) -> int:
        return self.width * self.height * self.planes

    @property
    def bits(self) -> int:
        return _sequence_bits(self.count, self.levels)


@cache
def _grid(mode: int, footprint: tuple[int, int]) -> _Grid | None:
    """The weight grid of a block mode; None if it is reserved or invalid."""
    a, b = mode >> 5 & 3, mode >> 7 & 3
    range_, high, dual = mode >> 4 & 1, mode >> 9 & 1, mode >> 10 & 1
    if mode & 3:
        range_ |= (mode & 3) << 1
        kind = mode >> 2 & 3
        if kind < 3:
            width, height = ((b + 4, a + 2), (b + 8, a + 2), (a + 2, b + 8))[kind]
        else:
            width, height = (b, a + 2) if b & 2 else (a + 2, b + 6)
    else:
        range_ |= (mode >> 2 & 3) << 1
        if not mode & 15:
            return None
        if b == 0:
            width, height = 12, a + 2
        elif b == 1:
            width, height = a + 2, 12
        elif b == 2:
            width, height, high, dual = a + 6, (mode >> 9 & 3) + 6, 0, 0
        elif a < 2:
            width, height = ((6, 10), (10, 6))[a]
        else:
            return None
    levels = _WEIGHT_LEVELS[range_ | high << 3]
    if not levels or width > footprint[0] or height > footprint[1]:
        return None
    grid = _Grid(width, height, dual + 1, levels)
    return grid if grid.count <= 64 and 24 <= grid.bits <= 96 else None


def _fields(bits: Array, start: Array | int, count: int) -> Array:
    """A field of every block; `start` may differ from block to block."""
    at = np.broadcast_to(np.asarray(start), len(bits))[:, None] + np.arange(count)
    return np.asarray((np.take_along_axis(bits, at, axis=1) << np.arange(count)).sum(axis=1))


def _decoder(footprint: tuple[int, int], srgb: bool) -> Decoder:
    width, height = footprint

    def decode(blocks: Bytes) -> Array:
        bits = np.unpackbits(blocks, axis=1, bitorder="little").astype(np.int64)
        out = np.empty((len(blocks), width * height, 4), np.int64)
        out[:] = _MAGENTA
        mode, parts = _fields(bits, 0, 11), _fields(bits, 11, 2) + 1
        empty = mode & 511 == 508
        if empty.any():
            _void_extents(bits, np.flatnonzero(empty), out)
        kinds = np.where(parts == 1, _fields(bits, 13, 4), _fields(bits, 23, 6))
        key = np.where(empty, -1, mode | (parts - 1) << 11 | kinds << 13)
        for one in np.unique(key[~empty]).tolist():
            grid = _grid(one & 2047, footprint)
            which = np.flatnonzero(key == one)
            if grid is not None:
                _configured(bits[which], which, grid, (one >> 11 & 3) + 1, footprint, srgb, out)
        return out.astype(np.uint8).reshape(-1, height, width, 4)

    return decode


def _void_extents(bits: Array, which: Array, out: Array) -> None:
    """Decode blocks of one colour."""
    some = bits[which]
    corners = [_fields(some, 12 + 13 * i, 13) for i in range(4)]
    everywhere = np.all([c == 8191 for c in corners], axis=0)
    inside = (corners[0] < corners[1]) & (corners[2] < corners[3])
    legal = (some[:, 9] == 0) & (_fields(some, 10, 2) == 3) & (everywhere | inside)
    color = np.stack([_fields(some, 64 + 16 * i, 16) >> 8 for i in range(4)], axis=-1)
    out[which[legal]] = color[legal][:, None]


def _configured(
    bits: Array, which: Array, grid: _Grid, parts: int, footprint: tuple[int, int], srgb: bool,
    out: Array,
) -> None:  # fmt: skip
    """Decode blocks with equal mode, number of partitions and (as far as the first bits say) end
    points.
    """
    if parts == 4 and grid.planes == 2:
        return
    top = 128 - grid.bits
    if parts == 1:
        modes = _fields(bits, 13, 4)[:, None]
        start = 17
    else:
        start, selector = 29, _fields(bits, 23, 2)
        extra = 3 * parts - 4
        if selector[0]:
            top -= extra
            coded = _fields(bits, 25, 4) | _fields(bits, top, extra) << 4
            place = np.arange(parts)
            group = selector[:, None] - 1 + (coded[:, None] >> place & 1)
            modes = group << 2 | coded[:, None] >> (parts + 2 * place) & 3
        else:
            modes = np.repeat(_fields(bits, 25, 4)[:, None], parts, axis=1)
    if grid.planes == 2:
        top -= 2
    numbers, inverse = np.unique(modes, axis=0, return_inverse=True)
    for i, chosen in enumerate(numbers.tolist()):
        rows = np.flatnonzero(inverse.reshape(-1) == i)
        points = _end_points(bits[rows], start, top, chosen)
        if points is not None:
            second = _fields(bits[rows], top, 2) if grid.planes == 2 else None
            out[which[rows]] = _texels(bits[rows], grid, points, second, footprint, srgb)


# -- colours ---------------------------------------------------------------------------------------


def _end_points(bits: Array, start: int, top: int, modes: list[int]) -> Array | None:
    """`[n, partition, end, channel]`; None if there is no room for the colours."""
    counts = [2 * ((mode >> 2) + 1) for mode in modes]
    total = sum(counts)
    if total > 18:
        return None
    fitting = [n for n, _, _ in _RANGES if n >= 6 and _sequence_bits(total, n) <= top - start]
    if not fitting:
        return None
    levels = fitting[-1]
    values = _unquantized(levels, False)[_sequence(bits, start, total, levels)]
    out = np.empty((len(bits), len(modes), 2, 4), np.int64)
    first = 0
    for part, (mode, count) in enumerate(zip(modes, counts, strict=True)):
        out[:, part] = _pair(mode, [values[:, first + i] for i in range(count)])
        first += count
    return out


def _pair(mode: int, v: list[Array]) -> Array:
    """The two end points of a partition `[n, 2, 4]`."""
    full = np.full_like(v[0], 255)
    if mode == 0:
        return _ends([v[0]] * 3 + [full], [v[1]] * 3 + [full])
    if mode == 1:
        least = v[0] >> 2 | v[1] & 0xC0
        most = np.minimum(least + (v[1] & 0x3F), 255)
        return _ends([least] * 3 + [full], [most] * 3 + [full])
    if mode == 4:
        return _ends([v[0]] * 3 + [v[2]], [v[1]] * 3 + [v[3]])
    if mode == 5:
        (base, moved), (alpha, other) = _offset(v[0], v[1]), _offset(v[2], v[3])
        return _ends([base] * 3 + [alpha], [base + moved] * 3 + [alpha + other])
    if mode in (6, 10):
        alphas = [v[4], v[5]] if mode == 10 else [full, full]
        return _ends([c * v[3] >> 8 for c in v[:3]] + alphas[:1], v[:3] + alphas[1:])
    if mode in (8, 12):
        first, last = v[0::2], v[1::2]
        if mode == 8:
            first, last = [*first, full], [*last, full]
        plain = sum(last[:3]) >= sum(first[:3])
        return _chosen(plain, _ends(first, last), _ends(_contracted(last), _contracted(first)))
    if mode in (9, 13):
        pairs = [_offset(v[i], v[i + 1]) for i in range(0, len(v), 2)]
        bases, sums = [b for b, _ in pairs], [b + o for b, o in pairs]
        if mode == 9:
            bases, sums = [*bases, full], [*sums, full]
        plain = sum(o for _, o in pairs[:3]) >= 0
        return _chosen(plain, _ends(bases, sums), _ends(_contracted(sums), _contracted(bases)))
    return np.broadcast_to(_MAGENTA, (len(v[0]), 2, 4))  # high dynamic range


def _ends(low: list[Array], high: list[Array]) -> Array:
    both = np.stack((np.stack(low, axis=-1), np.stack(high, axis=-1)), axis=1)
    return np.asarray(np.clip(both, 0, 255))


def _chosen(plain: Any, first: Array, second: Array) -> Array:
    return np.where(np.asarray(plain)[:, None, None], first, second)


def _contracted(color: list[Array]) -> list[Array]:
    """Red and green contracted towards blue."""
    red, green, blue, alpha = color
    return [(red + blue) >> 1, (green + blue) >> 1, blue, alpha]


def _offset(base: Array, offset: Array) -> tuple[Array, Array]:
    """A base of eight bits and a signed offset of six, from their interleaved encoding."""
    whole, small = base >> 1 | offset & 0x80, offset >> 1 & 0x3F
    return whole, np.where(small & 0x20, small - 0x40, small)


# -- texels ----------------------------------------------------------------------------------------


def _texels(
    bits: Array, grid: _Grid, points: Array, second: Array | None, footprint: tuple[int, int],
    srgb: bool,
) -> Array:  # fmt: skip
    numbers = _sequence(bits[:, ::-1], 0, grid.count, grid.levels)
    weights = _unquantized(grid.levels, True)[numbers].reshape(len(bits), -1, grid.planes)
    place, share = _stretched(grid.width, grid.height, footprint)
    filled = ((weights[:, place] * share[..., None]).sum(axis=2) + 8) >> 4
    weight = np.repeat(filled[:, :, :1], 4, axis=2)
    if second is not None:
        other = np.arange(4) == second[:, None, None]
        weight = np.where(other, filled[:, :, 1:], weight)
    parts = points.shape[1]
    part = np.zeros((len(bits), footprint[0] * footprint[1]), np.int64)
    if parts > 1:
        part = _partition(_fields(bits, 13, 10), parts, footprint)
    ends = np.take_along_axis(points, part[:, :, None, None], axis=1)
    wide = ends << 8 | (np.where(np.arange(4) < 3, 0x80, ends) if srgb else ends)
    return np.asarray((wide[:, :, 0] * (64 - weight) + wide[:, :, 1] * weight + 32) >> 6 >> 8)


@cache
def _stretched(width: int, height: int, footprint: tuple[int, int]) -> tuple[Array, Array]:
    """For every texel: the four weights of the grid around it, and their sixteenths."""
    steps = [(1024 + n // 2) // (n - 1) for n in footprint]
    y, x = (c.reshape(-1) for c in np.mgrid[: footprint[1], : footprint[0]])
    across = (steps[0] * x * (width - 1) + 32) >> 6
    down = (steps[1] * y * (height - 1) + 32) >> 6
    fx, fy = across & 15, down & 15
    both = (fx * fy + 8) >> 4
    share = np.stack((16 - fx - fy + both, fx - both, fy - both, both), axis=-1)
    first = (across >> 4) + (down >> 4) * width
    place = first[:, None] + np.array([0, 1, width, width + 1])
    return np.minimum(place, width * height - 1), share


def _partition(index: Array, parts: int, footprint: tuple[int, int]) -> Array:
    """The partition of every texel, by the hash function of the format."""
    y, x = (c.reshape(-1) for c in np.mgrid[: footprint[1], : footprint[0]])
    if footprint[0] * footprint[1] < 31:
        x, y = x << 1, y << 1
    seed = index + (parts - 1) * 1024
    h = _hashed(seed)
    nibbles = [h >> 4 * i & 15 for i in range(8)]
    seeds = [n * n for n in nibbles]
    even, wide = np.where(seed & 2, 4, 5), 6 if parts == 3 else 5
    odd = (seed & 1).astype(np.bool_)
    shift = np.where(odd, even, wide), np.where(odd, wide, even)
    scaled = [s >> shift[i & 1] for i, s in enumerate(seeds)]
    sums = []
    for i in range(4):
        a, b = scaled[2 * i][:, None], scaled[2 * i + 1][:, None]
        total = (a * x + b * y + (h >> (14 - 4 * i))[:, None]) & 63
        sums.append(total if i < parts else np.zeros_like(total))
    return np.asarray(np.argmax(np.stack(sums), axis=0))  # the first of equal ones


def _hashed(seed: Array) -> Array:
    p = seed.astype(np.uint32)
    p ^= p >> np.uint32(15)
    for left in (17, 7, 4):
        p = p - (p << np.uint32(17)) if left == 17 else p + (p << np.uint32(left))
    p ^= p >> np.uint32(5)
    p += p << np.uint32(16)
    p ^= p >> np.uint32(7)
    p ^= p >> np.uint32(3)
    p ^= p << np.uint32(6)
    p ^= p >> np.uint32(17)
    return np.asarray(p.astype(np.int64))


for _footprint in ASTC_FOOTPRINTS:
    _name = f"astc_{_footprint[0]}x{_footprint[1]}"
    BLOCK_DECODERS[_name] = _decoder(_footprint, False)
    BLOCK_DECODERS[f"{_name}_srgb"] = _decoder(_footprint, True)
