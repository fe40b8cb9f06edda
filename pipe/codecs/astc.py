"""ASTC decoding (the LDR profile), for many blocks at a time.

A block of 128 bits describes itself: a grid of weights, which is smaller than the block and
interpolated over it, with one or two planes; one to four partitions of the texels, each with a pair
of end points in one of ten encodings. Both are numbers of a range that need not be a power of two
(*integer sequences*: five trits share eight bits, three quints seven). Weights are stored from the
top bit down, colours from below. Invalid blocks and high dynamic range decode to magenta.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..formats import ASTC_FOOTPRINTS

__all__ = ["DECODERS"]

Array = npt.NDArray[Any]
Bytes = npt.NDArray[np.uint8]
Words = tuple[Array, Array]  # the low and the high 64 bits of blocks

_TEXELS = 1 << 18  # decoded at a time

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


def _extract(words: Words, start: Array | int, width: Array | int) -> Array:
    """Fields of blocks, by the numbers of their first bits; bits past the block are zero.

    NumPy shifts an unsigned number by its size or more to zero, so the terms of the other word
    vanish.
    """
    low, high = words
    at = np.asarray(start, np.uint64)
    field = low >> at | high << (np.uint64(64) - at) | high >> (at - np.uint64(64))
    return np.asarray(field & _ones(width)).astype(np.int32)


def _ones(count: Array | int) -> Array:
    """Words whose lowest bits are set, up to 64."""
    return np.asarray((np.uint64(1) << np.asarray(count, np.uint64)) - np.uint64(1))


def _sequence(words: Words, count: int, levels: int) -> Array:
    """The first numbers `[n, count]` of integer sequences."""
    plain, digit = _RANGE_OF[levels]
    low, high = words
    if not digit:
        return _extract((low[:, None], high[:, None]), np.arange(count) * plain, plain)
    shared = np.array(_SHARED[digit])
    before = np.cumsum(shared) - shared
    group = np.arange(-(-count // len(shared)))[:, None] * (len(shared) * plain + shared.sum())
    place = group + np.arange(len(shared)) * plain + before
    each = (low[:, None, None], high[:, None, None])
    code = (_extract(each, place + plain, shared) << before).sum(axis=2)
    numbers = _digits(digit)[code] << plain | _extract(each, place, plain)
    return np.asarray(numbers.reshape(len(low), -1)[:, :count])


@cache
def _sizes(levels: int) -> Array:
    """The bits of a sequence, by its length."""
    return np.array([_sequence_bits(count, levels) for count in range(65)])


def _sequences(words: Words, counts: Array, levels: Array, weights: bool) -> Array:
    """The colours or weights `[n, most]` of integer sequences of several ranges."""
    out = np.zeros((len(counts), 64 if weights else 18), np.int32)
    for one in np.unique(levels).tolist():
        rows = np.flatnonzero(levels == one)
        count = counts[rows]
        sizes = _sizes(one)[count]
        low, high = (word[rows] for word in words)
        own = low & _ones(sizes), high & _ones(np.maximum(sizes - 64, 0))
        numbers = _sequence(own, int(count.max()), one)
        out[rows, : numbers.shape[1]] = _unquantized(one, weights)[numbers]
    return out


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
    return np.array(table, np.int32)


# -- parts of a block ------------------------------------------------------------------------------


def _grid(mode: int) -> tuple[int, ...]:
    """Width, height, planes, levels, numbers and bits of a block mode's weight grid; zeros if it is
    reserved or invalid.
    """
    invalid = (0,) * 6
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
            return invalid
        if b == 0:
            width, height = 12, a + 2
        elif b == 1:
            width, height = a + 2, 12
        elif b == 2:
            width, height, high, dual = a + 6, (mode >> 9 & 3) + 6, 0, 0
        elif a < 2:
            width, height = ((6, 10), (10, 6))[a]
        else:
            return invalid
    levels = _WEIGHT_LEVELS[range_ | high << 3]
    count = width * height * (dual + 1)
    if not levels or count > 64 or not 24 <= (bits := _sequence_bits(count, levels)) <= 96:
        return invalid
    return width, height, dual + 1, levels, count, bits


@cache
def _grids() -> Array:
    """The grid of each block mode, as columns."""
    return np.array([_grid(mode) for mode in range(2048)]).T.copy()


@cache
def _color_levels() -> Array:
    """The range of colours by half of their number and the bits left for them; 0 if too few."""
    table = np.zeros((19, 112), np.int64)
    for half in range(1, 10):
        for levels, _, _ in _RANGES:
            if levels >= 6:
                table[half, _sequence_bits(2 * half, levels) :] = levels
    return table


def _decode(blocks: Bytes, footprint: tuple[int, int], srgb: bool) -> Array:
    width, height = footprint
    out = np.empty((len(blocks), width * height, 4), np.uint8)
    out[:] = _MAGENTA
    size = max(_TEXELS // (width * height), 1)
    for first in range(0, len(blocks), size):
        _decode_some(blocks[first : first + size], footprint, srgb, out[first : first + size])
    return out.reshape(-1, height, width, 4)


def _decode_some(blocks: Bytes, footprint: tuple[int, int], srgb: bool, out: Array) -> None:
    low, high = np.ascontiguousarray(blocks).view("<u8").T
    mode = (low & np.uint64(2047)).astype(np.int64)
    empty = mode & 511 == 508
    if empty.any():
        _void_extents((low, high), np.flatnonzero(empty), out)
    parts = (low >> np.uint64(11) & np.uint64(3)).astype(np.int64) + 1
    grids = _grids()[:, mode]
    fits = (grids[3] > 0) & (grids[0] <= footprint[0]) & (grids[1] <= footprint[1])
    rows = np.flatnonzero(fits & ~empty & ((parts < 4) | (grids[2] < 2)))
    words, parts, grids = (low[rows], high[rows]), parts[rows], grids[:, rows]
    points, second, legal = _end_points(words, grids, parts)
    rows, points, second, parts = rows[legal], points[legal], second[legal], parts[legal]
    turned = np.packbits(np.unpackbits(blocks[rows])[::-1]).reshape(-1, 16)[::-1]
    backwards = np.ascontiguousarray(turned).view("<u8").T
    across, down, planes, levels, counts, _ = grids[:, legal]
    weights = _sequences((backwards[0], backwards[1]), counts, levels, True)
    part = np.zeros((len(rows), out.shape[1]), np.int16)
    several = np.flatnonzero(parts > 1)
    seeds = _extract((words[0][legal], words[1][legal]), 13, 10)
    part[several] = _partition(seeds[several], parts[several], footprint)
    shape = planes << 8 | across << 4 | down
    for one in np.unique(shape).tolist():
        some = np.flatnonzero(shape == one)
        out[rows[some]] = _texels(
            weights[some], (one >> 4 & 15, one & 15, one >> 8), points[some], second[some],
            part[some], footprint, srgb,
        )  # fmt: skip


def _void_extents(words: Words, which: Array, out: Array) -> None:
    """Decode blocks of one colour."""
    some = words[0][which], words[1][which]
    corners = [_extract(some, 12 + 13 * i, 13) for i in range(4)]
    everywhere = np.all([c == 8191 for c in corners], axis=0)
    inside = (corners[0] < corners[1]) & (corners[2] < corners[3])
    legal = (_extract(some, 9, 3) == 6) & (everywhere | inside)
    color = np.stack([_extract(some, 72 + 16 * i, 8) for i in range(4)], axis=-1)
    out[which[legal]] = color[legal][:, None]


# -- colours ---------------------------------------------------------------------------------------


def _end_points(words: Words, grids: Array, parts: Array) -> tuple[Array, Array, Array]:
    """End points `[n, partition, end, channel]`, the channel of the second plane (4 if there is
    none), and which blocks have room for their colours.
    """
    several, place = parts > 1, np.arange(4)
    selector = np.where(several, _extract(words, 23, 2), 0)
    extra = np.where(selector > 0, 3 * parts - 4, 0)
    top = 128 - grids[5] - extra
    coded = np.where(several, _extract(words, 25, 4), _extract(words, 13, 4))
    coded |= _extract(words, top, extra) << 4
    group = selector[:, None] - 1 + (coded[:, None] >> place & 1)
    own = group << 2 | coded[:, None] >> (parts[:, None] + 2 * place) & 3
    modes = np.where(selector[:, None] > 0, own, coded[:, None])
    double = grids[2] == 2
    top = top - 2 * double
    second = np.where(double, _extract(words, top, 2), 4)

    used = place < parts[:, None]
    counts = np.where(used, 2 * ((modes >> 2) + 1), 0)
    first = np.cumsum(counts, axis=1) - counts
    total = counts.sum(axis=1)
    start = np.where(several, 29, 17)
    levels = _color_levels()[total // 2, np.maximum(top - start, 0)]
    low, high = words
    at = start.astype(np.uint64)
    rest = low >> at | high << (np.uint64(64) - at), high >> at
    legal = levels > 0
    values = np.zeros((len(low), 25), np.int32)  # the widest pair may begin with the last number
    room = rest[0][legal], rest[1][legal]
    values[legal, :18] = _sequences(room, total[legal], levels[legal], False)

    points = np.zeros((len(low), 4, 2, 4), np.int32)
    row, part = np.nonzero(used & legal[:, None])
    kind = modes[row, part]
    for mode in np.unique(kind).tolist():
        some = np.flatnonzero(kind == mode)
        where, which = row[some], part[some]
        begin = first[where, which]
        numbers = [values[where, begin + i] for i in range(2 * ((mode >> 2) + 1))]
        points[where, which] = _pair(mode, numbers)
    return points, second, legal


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
    weights: Array, grid: tuple[int, int, int], points: Array, second: Array,
    part: Array, footprint: tuple[int, int], srgb: bool,
) -> Array:  # fmt: skip
    """The texels of blocks with equal grids."""
    width, height, planes = grid
    numbers = weights[:, : width * height * planes].reshape(-1, width * height, planes)
    # Sums of whole numbers below 2**24 are exact, so their order does not matter.
    exact = numbers.transpose(2, 0, 1).astype(np.float32)
    filled = (exact @ _stretched(width, height, footprint) + 8).astype(np.int32) >> 4
    weight = filled[0][:, :, None]
    if planes == 2:
        weight = np.where(np.arange(4) == second[:, None, None], filled[1][:, :, None], weight)
    wide = points << 8 | (np.where(np.arange(4) < 3, 0x80, points) if srgb else points)
    start, step = wide[:, :, 0] * 64 + 32, wide[:, :, 1] - wide[:, :, 0]
    row = np.arange(len(part))[:, None]
    return np.asarray((start[row, part] + step[row, part] * weight) >> 14)


@cache
def _stretched(width: int, height: int, footprint: tuple[int, int]) -> Array:
    """What each weight of the grid counts for at each texel, in sixteenths."""
    steps = [(1024 + n // 2) // (n - 1) for n in footprint]
    y, x = (c.reshape(-1) for c in np.mgrid[: footprint[1], : footprint[0]])
    across = (steps[0] * x * (width - 1) + 32) >> 6
    down = (steps[1] * y * (height - 1) + 32) >> 6
    fx, fy = across & 15, down & 15
    both = (fx * fy + 8) >> 4
    share = np.stack((16 - fx - fy + both, fx - both, fy - both, both))
    first = (across >> 4) + (down >> 4) * width
    place = np.minimum(first + np.array([[0], [1], [width], [width + 1]]), width * height - 1)
    out = np.zeros((width * height, x.size), np.float32)
    np.add.at(out, (place, np.arange(x.size)), share)
    return out


def _partition(index: Array, parts: Array, footprint: tuple[int, int]) -> Array:
    """The partition of every texel, by the hash function of the format."""
    y, x = (c.reshape(-1).astype(np.int16) for c in np.mgrid[: footprint[1], : footprint[0]])
    if footprint[0] * footprint[1] < 31:
        x, y = x << 1, y << 1
    seed = index + (parts - 1) * 1024
    h = _hashed(seed)
    seeds = [(h >> 4 * i & 15) ** 2 for i in range(8)]
    even, wide = np.where(seed & 2, 4, 5), np.where(parts == 3, 6, 5)
    odd = (seed & 1).astype(np.bool_)
    shift = np.where(odd, even, wide), np.where(odd, wide, even)
    scaled = [(s >> shift[i & 1]).astype(np.int16)[:, None] for i, s in enumerate(seeds)]
    best = np.zeros((len(seed), x.size), np.int16)
    most = np.full_like(best, -1)
    for i in range(4):
        offset = (h >> (14 - 4 * i)).astype(np.int16)[:, None]
        total = (scaled[2 * i] * x + scaled[2 * i + 1] * y + offset) & 63
        better = (total > most) & (i < parts)[:, None]  # the first of equal ones remains
        best[better], most = i, np.where(better, total, most)
    return best


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


DECODERS = {
    f"astc_{footprint[0]}x{footprint[1]}{'_srgb' * srgb}": partial(
        _decode, footprint=footprint, srgb=srgb
    )
    for footprint in ASTC_FOOTPRINTS
    for srgb in (False, True)
}
