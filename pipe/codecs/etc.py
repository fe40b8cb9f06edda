"""ETC2 and EAC decoding, all blocks at once.

A colour block is a big-endian 64-bit word. It has two base colours with a table of modifiers each
(as in ETC1), or, where a differential colour would overflow, one of three modes that use the
invalid codes: T and H (two colours and a distance) and planar (a gradient). An EAC block has a base
value, a multiplier, a table number and sixteen 3-bit selectors. Texels are in column-major order.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from .s3tc import plane_texels

Array = npt.NDArray[Any]
Bytes = npt.NDArray[np.uint8]

_SMALL = np.array([2, 5, 9, 13, 18, 24, 33, 47])
_LARGE = np.array([8, 17, 29, 42, 60, 80, 106, 183])
_DISTANCE = np.array([3, 6, 11, 16, 23, 32, 41, 64])
_EAC_ROWS = """
-3 -6 -9 -15 2 5 8 14; -3 -7 -10 -13 2 6 9 12; -2 -5 -8 -13 1 4 7 12; -2 -4 -6 -13 1 3 5 12
-3 -6 -8 -12 2 5 7 11; -3 -7 -9 -11 2 6 8 10; -4 -7 -8 -11 3 6 7 10; -3 -5 -8 -11 2 4 7 10
-2 -6 -8 -10 1 5 7 9; -2 -5 -8 -10 1 4 7 9; -2 -4 -8 -10 1 3 7 9; -2 -5 -7 -10 1 4 6 9
-3 -4 -7 -10 2 3 6 9; -1 -2 -3 -10 0 1 2 9; -4 -6 -8 -9 3 5 7 8; -3 -5 -7 -9 2 4 6 8
"""
_EAC_TABLE = np.array([row.split() for row in re.split("[;\n]", _EAC_ROWS.strip())], np.int64)
_TEXEL = np.arange(16)
_X, _Y = _TEXEL >> 2, _TEXEL & 3  # texels in the order of their selectors


class _Word:
    """Blocks as 64-bit words whose bits are numbered as in the specification."""

    def __init__(self, block: Bytes) -> None:
        self.value = np.ascontiguousarray(block).view(">u8")[:, 0].astype(np.uint64)

    def bits(self, high: int, low: int) -> Array:
        """The field from bit `high` down to bit `low`."""
        mask = np.uint64((1 << (high - low + 1)) - 1)
        return ((self.value >> np.uint64(low)) & mask).astype(np.int32)

    def bit(self, at: int) -> Array:
        return self.bits(at, at)


def _in_rows(texels: Array) -> Array:
    """From selector order `[n, 16, ...]` to `[n, y, x, ...]`."""
    shaped = texels.reshape(len(texels), 4, 4, *texels.shape[2:])
    return np.swapaxes(shaped, 1, 2)


def _rgb(*channels: Array) -> Array:
    return np.stack(channels, axis=-1)


def _selectors(word: _Word) -> Array:
    """The 2-bit selectors `[n, 16]`."""
    at = _TEXEL.astype(np.uint64)
    low = (word.value[:, None] >> at) & np.uint64(1)
    high = (word.value[:, None] >> (at + np.uint64(16))) & np.uint64(1)
    return (low | (high << np.uint64(1))).astype(np.int32)


def _halves(word: _Word, first: Array, second: Array, selector: Array, opaque: Array) -> Array:
    """Decode ETC1's mode: each half of the block has its own base colour and table of modifiers."""
    flipped = word.bit(32)[:, None] == 1
    in_second = np.where(flipped, _Y >= 2, _X >= 2)
    table = np.where(in_second, word.bits(36, 34)[:, None], word.bits(39, 37)[:, None])
    small = np.where(opaque[:, None], _SMALL[table], 0)
    size = np.where(selector & 1, _LARGE[table], small)
    modifier = np.where(selector & 2, -size, size)
    base = np.where(in_second[..., None], second[:, None], first[:, None])
    return np.asarray(base + modifier[..., None])


def _pick(palette: list[Array], selector: Array) -> Array:
    """One of four colours `[n, 3]` per texel."""
    colors = np.stack(palette, axis=1)
    return np.take_along_axis(colors, selector[:, :, None].astype(np.intp), axis=1)


def _mode_t(word: _Word, selector: Array) -> Array:
    red = (word.bits(60, 59) << 2) | word.bits(57, 56)
    first = _rgb(red, word.bits(55, 52), word.bits(51, 48)) * 17
    second = _rgb(word.bits(47, 44), word.bits(43, 40), word.bits(39, 36)) * 17
    d = _DISTANCE[(word.bits(35, 34) << 1) | word.bit(32)][:, None]
    return _pick([first, second + d, second, second - d], selector)


def _mode_h(word: _Word, selector: Array) -> Array:
    green = (word.bits(58, 56) << 1) | word.bit(52)
    blue = (word.bit(51) << 3) | word.bits(49, 47)
    first = _rgb(word.bits(62, 59), green, blue) * 17
    second = _rgb(word.bits(46, 43), word.bits(42, 39), word.bits(38, 35)) * 17
    weight = np.array([1 << 16, 1 << 8, 1])
    larger = (first @ weight >= second @ weight).astype(np.int32)
    d = _DISTANCE[(word.bit(34) << 2) | (word.bit(32) << 1) | larger][:, None]
    return _pick([first + d, first - d, second + d, second - d], selector)


def _mode_planar(word: _Word) -> Array:
    def color(red: Array, green: Array, blue: Array) -> Array:
        return _rgb((red << 2) | (red >> 4), (green << 1) | (green >> 6), (blue << 2) | (blue >> 4))

    origin = color(
        word.bits(62, 57),
        (word.bit(56) << 6) | word.bits(54, 49),
        (word.bit(48) << 5) | (word.bits(44, 43) << 3) | word.bits(41, 39),
    )
    across = color((word.bits(38, 34) << 1) | word.bit(32), word.bits(31, 25), word.bits(24, 19))
    down = color(word.bits(18, 13), word.bits(12, 6), word.bits(5, 0))
    x, y = _X[None, :, None], _Y[None, :, None]
    o, h, v = origin[:, None], across[:, None], down[:, None]
    return np.asarray((x * (h - o) + y * (v - o) + 4 * o + 2) >> 2)


def _color(block: Bytes, punch_through: bool) -> Bytes:
    """Texels `[n, 4, 4, 4]` of colour blocks, which with `punch_through` may be transparent."""
    word = _Word(block)
    selector = _selectors(word)
    flag = word.bit(33) == 1
    opaque = flag if punch_through else np.ones(len(block), np.bool_)
    differential = np.ones(len(block), np.bool_) if punch_through else flag
    start = _rgb(word.bits(63, 59), word.bits(55, 51), word.bits(47, 43))
    step = _rgb(word.bits(58, 56), word.bits(50, 48), word.bits(42, 40))
    end = start + step - ((step & 4) << 1)
    over = (end < 0) | (end > 31)
    first4 = _rgb(word.bits(63, 60), word.bits(55, 52), word.bits(47, 44)) * 17
    second4 = _rgb(word.bits(59, 56), word.bits(51, 48), word.bits(43, 40)) * 17
    either = differential[:, None]
    last = np.clip(end, 0, 31)
    first = np.where(either, start << 3 | start >> 2, first4)
    second = np.where(either, last << 3 | last >> 2, second4)
    texels = _halves(word, first, second, selector, opaque)
    is_t = differential & over[:, 0]
    is_h = differential & ~over[:, 0] & over[:, 1]
    is_planar = differential & ~over[:, 0] & ~over[:, 1] & over[:, 2]
    for chosen, decoded in (
        (is_t, _mode_t(word, selector)),
        (is_h, _mode_h(word, selector)),
        (is_planar, _mode_planar(word)),
    ):
        texels = np.where(chosen[:, None, None], decoded, texels)
    result = np.full((len(block), 16, 4), 255, np.uint8)
    result[..., :3] = np.clip(texels, 0, 255)
    hidden = (selector == 2) & ~opaque[:, None] & ~is_planar[:, None]
    result[hidden] = 0
    return _in_rows(result)


def _eac(block: Bytes) -> tuple[Array, Array, Array]:
    """Base `[n, 1]`, multiplier `[n, 1]` and table entries `[n, 16]` of EAC blocks."""
    word = _Word(block)
    shift = (45 - 3 * _TEXEL).astype(np.uint64)
    selector = ((word.value[:, None] >> shift) & np.uint64(7)).astype(np.intp)
    modifier = np.take_along_axis(_EAC_TABLE[word.bits(51, 48)], selector, axis=1)
    return word.bits(63, 56)[:, None], word.bits(55, 52)[:, None], modifier


def _color_and_alpha(block: Bytes) -> Bytes:
    """Colour with an EAC alpha block before it."""
    texels = _color(block[:, 8:], punch_through=False)
    base, multiplier, modifier = _eac(block[:, :8])
    alpha = np.clip(base + modifier * multiplier, 0, 255).astype(np.uint8)
    texels[..., 3] = _in_rows(alpha)
    return texels


def _eleven(block: Bytes, signed: bool) -> Array:
    """One channel of 11 bits."""
    base, multiplier, modifier = _eac(block)
    change = modifier * np.where(multiplier == 0, 1, multiplier * 8)
    if signed:
        base = np.maximum(base - ((base & 128) << 1), -127)
        return _in_rows(np.clip(base * 8 + change, -1023, 1023) / 1023.0)
    return _in_rows(np.clip(base * 8 + 4 + change, 0, 2047) / 2047.0)


_UNSIGNED, _SIGNED = (partial(_eleven, signed=signed) for signed in (False, True))
DECODERS: dict[str, Callable[[Bytes], Array]] = {
    "etc2": partial(_color, punch_through=False),
    "etc2a1": partial(_color, punch_through=True),
    "etc2a8": _color_and_alpha,
    "eac_r11": partial(plane_texels, _UNSIGNED, 1),
    "eac_r11s": partial(plane_texels, _SIGNED, 1),
    "eac_rg11": partial(plane_texels, _UNSIGNED, 2),
    "eac_rg11s": partial(plane_texels, _SIGNED, 2),
}
