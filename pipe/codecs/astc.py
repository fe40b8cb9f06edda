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

Array = npt.NDArray[Any]
Bytes = npt.NDArray[np.uint8]
Words = Array | tuple[Array, Array]  # the low and the high 64 bits of blocks

_TEXELS = 1 << 18  # decoded at a time
_MAGENTA = np.array([255, 0, 255, 255])
# The levels of a range, its plain bits, and whether a trit (3) or quint (5) is above them.
_RANGES = (
    *((2, 1, 0), (3, 0, 3), (4, 2, 0), (5, 0, 5), (6, 1, 3), (8, 3, 0), (10, 1, 5), (12, 2, 3)),
    *((16, 4, 0), (20, 2, 5), (24, 3, 3), (32, 5, 0), (40, 3, 5), (48, 4, 3), (64, 6, 0)),
    *((80, 4, 5), (96, 5, 3), (128, 7, 0), (160, 5, 5), (192, 6, 3), (256, 8, 0)),
)
_INDEX = {levels: i for i, (levels, _, _) in enumerate(_RANGES)}
_WEIGHT_LEVELS = (0, 0, 2, 3, 4, 5, 6, 8, 0, 0, 10, 12, 16, 20, 24, 32)


def _sequence_bits(count: int, levels: int) -> int:
    _, bits, digit = _RANGES[_INDEX[levels]]
    shared = {0: 0, 3: -(-8 * count // 5), 5: -(-7 * count // 3)}[digit]
    return bits * count + shared


@cache
def _digits() -> Array:
    """Decode the shared bits of a group to digits: `[kind, place, code]`."""
    out = np.zeros((len(_KINDS), 5, 256), np.int64)
    out[1] = np.array([_trits(code) for code in range(256)]).T
    out[2, :3, :128] = np.array([_quints(code) for code in range(128)]).T
    return out


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


# Numbers that share bits are a group. Of numbers with each kind of digit: the size of a group, and
# how many of the shared bits follow each one's plain bits and are ahead of it.
_KINDS = (0, 3, 5)
_GROUP_SIZES = np.array([5, 5, 3])
_SHARED = np.array([[0, 0, 0, 0, 0], [2, 2, 1, 2, 1], [3, 2, 2, 0, 0]]).T
_SHARED_BITS, _SHARED_ONES = _SHARED.sum(axis=0), (1 << _SHARED) - 1
_AHEAD = np.cumsum(_SHARED, axis=0) - _SHARED
_PLACES = np.arange(5)[:, None]


def _extract(words: Words, start: Array | int, width: Array | int) -> Array:
    """Fields of blocks, by the numbers of their first bits; bits past the block are zero.

    NumPy shifts an unsigned number by its size or more to zero, so the terms of the other word
    vanish.
    """
    return np.asarray(_from(words, start) & _ones(width)).astype(np.int32)


def _from(words: Words, start: Array | int) -> Array:
    """The 64 bits of blocks from a bit on."""
    low, high = words
    at = np.asarray(start, np.uint64)
    return np.asarray(low >> at | high << (np.uint64(64) - at) | high >> (at - np.uint64(64)))


def _ones(count: Array | int) -> Array:
    """Words whose lowest bits are set, up to 64."""
    return np.asarray((np.uint64(1) << np.asarray(count, np.uint64)) - np.uint64(1))


def _sequences(words: Words, counts: Array, ranges: Array) -> tuple[Array, Array]:
    """The numbers of integer sequences as colours (of ranges 0 to 20) or weights (21 to 41), one
    sequence after another, and where the first of each is.
    """
    kinds, plains, sizes = _layouts()
    size = sizes[ranges, counts]
    low, high = words[0] & _ones(size), words[1] & _ones(np.maximum(size - 64, 0))
    together = _GROUP_SIZES[kinds[ranges]]
    groups = -(-counts // together)
    row = np.repeat(np.arange(len(counts)), groups)
    group = np.arange(len(row)) - np.repeat(np.cumsum(groups) - groups, groups)
    range_, room = ranges[row], together[row]
    kind, plain = kinds[range_], plains[range_]
    ahead = _AHEAD[:, kind]
    bits = _from((low[row], high[row]), group * (room * plain + _SHARED_BITS[kind]))
    field = bits.view(np.int64) >> (_PLACES * plain + ahead)
    code = ((field >> plain & _SHARED_ONES[:, kind]) << ahead).sum(axis=0)
    number = field & ((1 << plain) - 1) | _digits()[kind, _PLACES, code] << plain
    values = _unquantized()[range_, number].T[room[:, None] > _PLACES.T]
    room = groups * together
    return values, np.cumsum(room) - room


@cache
def _layouts() -> tuple[Array, Array, Array]:
    """The kind of digit and the plain bits of each range, for colours and weights, and the bits
    of a sequence by its length.
    """
    sizes = [[_sequence_bits(count, levels) for count in range(65)] for levels, _, _ in _RANGES]
    kinds = [_KINDS.index(digit) for _, _, digit in _RANGES]
    plains = [plain for _, plain, _ in _RANGES]
    return np.array(kinds * 2), np.array(plains * 2), np.array(sizes * 2)


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
def _unquantized() -> Array:
    """The colour (0..255) or weight (0..64) of each number of a range."""
    out = np.zeros((2 * len(_RANGES), 256), np.uint8)
    for row in range(len(out)):
        weights, (levels, plain, digit) = row >= len(_RANGES), _RANGES[row % len(_RANGES)]
        if levels <= 32 if weights else levels >= 6:
            out[row, :levels] = [_value(n, levels, plain, digit, weights) for n in range(levels)]
    return out


def _value(number: int, levels: int, plain: int, digit: int, weights: bool) -> int:
    low, high = number & ((1 << plain) - 1), number >> plain
    size = 6 if weights else 8
    if not digit:
        value = _spread(low, plain, size)
    elif not plain:
        value = ({3: (0, 32, 63), 5: (0, 16, 32, 47, 63)})[digit][high]
    else:
        scale, pattern = (_WEIGHT_SCALES if weights else _COLOR_SCALES)[levels]
        letters = {chr(97 + i): low >> i & 1 for i in range(plain)}
        mixed = sum(letters.get(c, 0) << i for i, c in enumerate(reversed(pattern)))
        flip = (1 << (size + 1)) - 1 if low & 1 else 0
        value = flip & (1 << (size - 1)) | ((high * scale + mixed) ^ flip) >> 2
    return value + (weights and value > 32)


# -- parts of a block ------------------------------------------------------------------------------


def _grid(mode: int) -> tuple[int, ...]:
    """Width, height, planes, range, numbers and bits of a block mode's weight grid; zeros if it is
    reserved or invalid.
    """
    a, b, range_ = mode >> 5 & 3, mode >> 7 & 3, mode & 3
    high, dual = mode >> 9 & 1, mode >> 10 & 1
    if range_:
        last = (b, a + 2) if b & 2 else (a + 2, b + 6)
        width, height = ((b + 4, a + 2), (b + 8, a + 2), (a + 2, b + 8), last)[mode >> 2 & 3]
    else:
        range_, last = mode >> 2 & 3, ((6, 10), (10, 6), (0, 0), (0, 0))[a]
        width, height = ((12, a + 2), (a + 2, 12), (a + 6, (mode >> 9 & 3) + 6), last)[b]
        high, dual = (0, 0) if b == 2 else (high, dual)
    levels = _WEIGHT_LEVELS[range_ << 1 | mode >> 4 & 1 | high << 3]
    count = width * height * (dual + 1)
    if not levels or count > 64 or not 24 <= (bits := _sequence_bits(count, levels)) <= 96:
        return (0,) * 6
    return width, height, dual + 1, len(_RANGES) + _INDEX[levels], count, bits


@cache
def _grids() -> Array:
    """The grid of each block mode, as columns."""
    return np.array([_grid(mode) for mode in range(2048)]).T.copy()


@cache
def _color_ranges() -> Array:
    """The range of colours by half of their number and the bits left for them; 0 if too few."""
    table = np.zeros((19, 112), np.int64)
    for half in range(1, 10):
        for levels, index in _INDEX.items():
            if levels >= 6:
                table[half, _sequence_bits(2 * half, levels) :] = index
    return table


def _decode(blocks: Bytes, footprint: tuple[int, int], srgb: bool) -> Array:
    width, height = footprint
    out = np.empty((len(blocks), width * height, 4), np.uint8)
    out.view(np.uint32)[:] = _MAGENTA.astype(np.uint8).view(np.uint32)
    size = max(_TEXELS // (width * height), 1)
    for first in range(0, len(blocks), size):
        _decode_some(blocks[first : first + size], footprint, srgb, out[first : first + size])
    return out.reshape(-1, height, width, 4)


def _decode_some(blocks: Bytes, footprint: tuple[int, int], srgb: bool, out: Array) -> None:
    words = np.ascontiguousarray(blocks).view("<u8").T
    mode = (words[0] & np.uint64(2047)).astype(np.int64)
    empty = mode & 511 == 508
    if empty.any():
        _void_extents(words, np.flatnonzero(empty), out)
    parts = (words[0] >> np.uint64(11) & np.uint64(3)).astype(np.int64) + 1
    grids = _grids()[:, mode]
    fits = (grids[3] > 0) & (grids[0] <= footprint[0]) & (grids[1] <= footprint[1])
    rows = np.flatnonzero(fits & ~empty & ((parts < 4) | (grids[2] < 2)))
    if not len(rows):
        return
    words, parts, grids = words[:, rows], parts[rows], grids[:, rows]
    counts, modes, ranges, start, second = _colors(words, grids, parts)
    turned = np.packbits(np.unpackbits(blocks[rows])[::-1]).reshape(-1, 16)[::-1]
    rest = words[0] >> start | words[1] << (np.uint64(64) - start), words[1] >> start
    both = np.concatenate((rest, np.ascontiguousarray(turned).view("<u8").T), axis=1)
    lengths = np.concatenate((counts.sum(axis=1), grids[4]))
    numbers, first = _sequences(both, lengths, np.concatenate((ranges, grids[3])))
    ends = _end_points(numbers, first[: len(rows)], counts, modes)
    weights = _weights(numbers, first[len(rows) :], grids, second, footprint)
    part = np.zeros((len(rows), out.shape[1]), np.int16)
    several = np.flatnonzero(parts > 1)
    seeds = (words[0, several] >> np.uint64(13) & np.uint64(1023)).astype(np.int64)
    part[several] = _partition(seeds + 1024 * (parts[several] - 1), footprint)
    legal = ranges > 0
    out[rows[legal]] = _texels(weights, ends, part, srgb)[legal]


def _void_extents(words: Array, which: Array, out: Array) -> None:
    """Decode blocks of one colour."""
    starts = np.array([[9], [12], [25], [38], [51], [72], [88], [104], [120]])
    widths = np.array([[3], *[[13]] * 4, *[[8]] * 4])
    reserved, *corners, red, green, blue, alpha = _extract(words[:, which], starts, widths)
    everywhere = np.all(np.array(corners) == 8191, axis=0)
    inside = (corners[0] < corners[1]) & (corners[2] < corners[3])
    legal = (reserved == 6) & (everywhere | inside)
    color = np.stack((red, green, blue, alpha), axis=-1)
    out[which[legal]] = color[legal][:, None]


# -- colours ---------------------------------------------------------------------------------------

# The numbers that the first and the last end point of a mode consist of, with constants after
# them, and what is done with them: (l)uminance and its range, (o)ffsets, (s)cale, (c)ontraction.
_FULL, _STILL, _NONE = range(100, 103)  # 255; the same as an offset of nothing; 0
_HIGH_RANGE = (*(_FULL, _NONE, _FULL, _FULL) * 2, "")
_MODES: tuple[tuple[int | str, ...], ...] = (
    (0, 0, 0, _FULL, 1, 1, 1, _FULL, ""), (0, 0, 0, _FULL, 1, 1, 1, _FULL, "l"),
    _HIGH_RANGE, _HIGH_RANGE,
    (0, 0, 0, 2, 1, 1, 1, 3, ""), (0, 0, 0, 2, 1, 1, 1, 3, "o"),
    (0, 1, 2, _FULL, 3, 3, 3, _FULL, "s"), _HIGH_RANGE,
    (0, 2, 4, _FULL, 1, 3, 5, _FULL, "c"), (0, 2, 4, _FULL, 1, 3, 5, _STILL, "oc"),
    (0, 1, 2, 4, 3, 3, 3, 5, "s"), _HIGH_RANGE,
    (0, 2, 4, 6, 1, 3, 5, 7, "c"), (0, 2, 4, 6, 1, 3, 5, 7, "oc"),
    _HIGH_RANGE, _HIGH_RANGE,
)  # fmt: skip
_NUMBERS = np.array([mode[:8] for mode in _MODES]).T.copy()
_STEPS = {step: np.array([step in str(mode[8]) for mode in _MODES]) for step in "losc"}


def _colors(words: Array, grids: Array, parts: Array) -> tuple[Array, Array, Array, Array, Array]:
    """How many numbers the colours of partitions have, the modes of these `[block, partition]`,
    the range of the numbers (0 if there is no room for them) and the first bit; and the channel
    of the second plane (4 if there is none).
    """
    several, place = parts > 1, np.arange(4)
    selector, one, coded = _extract(words, np.array([[23], [13], [25]]), np.array([[2], [4], [4]]))
    selector = np.where(several, selector, 0)
    extra = np.where(selector > 0, 3 * parts - 4, 0)
    top, double = 128 - grids[5] - extra, grids[2] == 2
    last = top - 2 * double
    upper, plane = _extract(words, np.stack((top, last)), np.stack((extra, 2 * double)))
    second = np.where(double, plane, 4)
    coded = np.where(several, coded, one) | upper << 4
    group = selector[:, None] - 1 + (coded[:, None] >> place & 1)
    own = group << 2 | coded[:, None] >> (parts[:, None] + 2 * place) & 3
    modes = np.where(selector[:, None] > 0, own, coded[:, None])
    counts = np.where(place < parts[:, None], 2 * ((modes >> 2) + 1), 0)
    start = np.where(several, 29, 17)
    ranges = _color_ranges()[counts.sum(axis=1) // 2, np.maximum(last - start, 0)]
    return counts, modes, ranges, start.astype(np.uint64), second


def _end_points(values: Array, first: Array, counts: Array, modes: Array) -> Array:
    """End points `[block, partition, end, channel]`."""
    row, part = np.nonzero(counts)
    mode = modes[row, part]
    number = _NUMBERS[:, mode]
    begin = first[row] + (np.cumsum(counts, axis=1) - counts)[row, part]
    places = number + np.where(number < _FULL, begin, len(values) - _FULL)
    numbers = np.append(values, np.array([255, 128, 0], np.uint8))[places].astype(np.int32)
    points = np.zeros((len(counts), 4, 2, 4), np.int16)
    points[row, part] = _pairs(mode, numbers.reshape(2, 4, -1)).transpose(2, 0, 1)
    return points


def _pairs(mode: Array, ends: Array) -> Array:
    """The two end points of partitions `[2, 4, n]` from their numbers in this order."""
    of = {step: np.flatnonzero(modes[mode]) for step, modes in _STEPS.items()}
    base, moved = ends[:, :3, of["l"]]
    least = base >> 2 | moved & 0xC0
    ends[0, :3, of["l"]] = least.T
    ends[1, :3, of["l"]] = (least + (moved & 0x3F)).T
    base, moved = ends[:, :, of["o"]]  # a base of eight bits and a signed offset of six
    whole = base >> 1 | moved & 0x80
    ends[0, :, of["o"]] = whole.T
    ends[1, :, of["o"]] = (whole + ((moved >> 1 & 0x3F ^ 0x20) - 0x20)).T
    color, scale = ends[:, :3, of["s"]]
    ends[0, :3, of["s"]] = (color * scale >> 8).T
    ends[1, :3, of["s"]] = color.T
    sums = ends[:, :3].sum(axis=1)
    turned = of["c"][(sums[1] < sums[0])[of["c"]]]
    swapped = ends[::-1, :, turned]  # with red and green contracted towards blue
    swapped[:, :2] = (swapped[:, :2] + swapped[:, 2:3]) >> 1
    ends[:, :, turned] = swapped
    return np.asarray(np.clip(ends, 0, 255))


# -- texels ----------------------------------------------------------------------------------------

_LANES = np.array(0x1000100010001, np.uint64)  # a one in each of four 16-bit channels


def _weights(
    numbers: Array, first: Array, grids: Array, second: Array, footprint: tuple[int, int]
) -> Array:
    """The weights of texels `[n, texel]`, of four channels in a word."""
    weights: Array = _stretched_weights(numbers, first, grids, footprint) * _LANES
    dual = np.flatnonzero(grids[2] == 2)
    other = _stretched_weights(numbers, first[dual] + 1, grids[:, dual], footprint)
    shift = (second[dual] << 4).astype(np.uint64)[:, None]
    weights[dual] &= ~(np.uint64(0xFFFF) << shift)
    weights[dual] |= other << shift
    return weights


def _stretched_weights(
    numbers: Array, first: Array, grids: Array, footprint: tuple[int, int]
) -> Array:
    """One plane's weights of all texels."""
    places, shares = _stretched(footprint)
    shape = grids[0], grids[1]
    at = places[(*shape, grids[2])]
    at += first[:, None, None]
    total = np.einsum("nct,nct->nt", numbers.take(at), shares[shape], dtype=np.int16)
    return np.asarray(total + np.int16(8) >> np.int16(4)).astype(np.uint64)


def _texels(weights: Array, ends: Array, part: Array, srgb: bool) -> Array:
    """The texels `[n, texel, 4]` of blocks.

    A weighted sum of two end points of 8 bits, which are expanded to 16 bits before it, is rounded
    and cut to 8 bits; this is the same in 16 bits.
    """
    own = part + 4 * np.arange(len(part))[:, None]
    start, step = ends[:, :, 0] << 6, ends[:, :, 1] - ends[:, :, 0]
    first, change = (np.ascontiguousarray(c).view(np.uint64).reshape(-1) for c in (start, step))
    sums = change.take(own).view(np.int16)
    sums *= weights.view(np.int16)
    sums += first.take(own).view(np.int16)
    above = (sums + np.int16(32)) >> np.int16(8)
    if srgb:
        words = above.view(np.uint64)
        words &= np.uint64(0xFFFF << 48)
        words |= _LANES * np.uint64(32) & np.uint64((1 << 48) - 1)
    sums += above
    sums >>= np.int16(6)
    return sums.astype(np.uint8).reshape(*part.shape, 4)


@cache
def _stretched(footprint: tuple[int, int]) -> tuple[Array, Array]:
    """By the size of a grid of weights: the places of the four weights around each texel, and what
    each of them counts for, in sixteenths: `[width, height, corner, texel]`.
    """
    steps = [(1024 + n // 2) // (n - 1) for n in footprint]
    y, x = (c.reshape(-1) for c in np.mgrid[: footprint[1], : footprint[0]])
    width, height = (c[..., None] for c in np.mgrid[: footprint[0] + 1, : footprint[1] + 1])
    across = (steps[0] * x * (width - 1) + 32) >> 6
    down = (steps[1] * y * (height - 1) + 32) >> 6
    fx, fy = across & 15, down & 15
    both = (fx * fy + 8) >> 4
    share = np.stack((16 - fx - fy + both, fx - both, fy - both, both), axis=2)
    first = (across >> 4) + (down >> 4) * width
    place = np.stack((first, first + 1, first + width, first + width + 1), axis=2)
    place = np.minimum(place, (width * height)[..., None] - 1)
    return np.stack((place, place, 2 * place), axis=2), share.astype(np.uint8)


def _partition(seed: Array, footprint: tuple[int, int]) -> Array:
    """The partition of every texel, by the hash function of the format."""
    y, x = (c.reshape(-1).astype(np.int16) for c in np.mgrid[: footprint[1], : footprint[0]])
    if footprint[0] * footprint[1] < 31:
        x, y = x << 1, y << 1
    across, down, offset = _partition_factors()[..., seed, None]
    total = (across * x + down * y + offset) & 63
    ranked = total << 2 | _RANKS  # the first of equal ones is ahead
    return np.asarray(3 - (ranked.max(axis=0) & 3))


_RANKS = np.array([3, 2, 1, 0], np.int16)[:, None, None]


@cache
def _partition_factors() -> Array:
    """What the two coordinates of a texel count for and what is added, `[3, partition, seed]`;
    partitions that a seed does not have get zeros.
    """
    seed = np.arange(4096)
    parts, h = (seed >> 10) + 1, _hashed(seed)
    seeds = [(h >> 4 * i & 15) ** 2 for i in range(8)]
    even, wide = np.where(seed & 2, 4, 5), np.where(parts == 3, 6, 5)
    odd = (seed & 1).astype(np.bool_)
    shift = np.where(odd, even, wide), np.where(odd, wide, even)
    scaled = [s >> shift[i & 1] for i, s in enumerate(seeds)]
    offset = [h >> (14 - 4 * i) & 63 for i in range(4)]
    factors = np.array([scaled[::2], scaled[1::2], offset], np.int16)
    return factors * (np.arange(4)[:, None] < parts)


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
