"""Texture coordinates to texel indices along one axis, for every wrap mode.

`s` is the coordinate (normalised unless `scaled`), `n` the extent: an int, or an array by lane.
Indices are inside 0..n-1; modes that can reach the border also return which lanes do. Coordinates
that are not finite select some texel inside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import minmax
from gallette.pipe.enums import Wrap

__all__ = [
    "FOLDED",
    "Axis",
    "Taps",
    "clamp",
    "gather_taps",
    "limited",
    "linear_taps",
    "nearest_tap",
]

Array = npt.NDArray[Any]
F32 = np.float32
HALF = F32(0.5)
ONE = F32(1.0)
ZERO = F32(0.0)

_MIRRORED_ONCE = (Wrap.MIRROR_CLAMP, Wrap.MIRROR_CLAMP_TO_EDGE, Wrap.MIRROR_CLAMP_TO_BORDER)
FOLDED = (Wrap.CLAMP_TO_EDGE, Wrap.MIRROR_REPEAT, Wrap.MIRROR_CLAMP_TO_EDGE)
"""modes in which two neighbouring texels may be equal or swapped"""


@dataclass(frozen=True, slots=True)
class Axis:
    """How one axis is wrapped: the mode, whether extents are powers of two, units of `s`."""

    mode: Wrap
    pot: bool
    scaled: bool = False


@dataclass(slots=True)
class Taps:
    """The two texels along an axis and the second one's weight; `out` marks border texels."""

    i0: Array
    i1: Array
    weight: Array
    out0: Array | None = None
    out1: Array | None = None


def clamp(i: Array, n: Any) -> Array:
    """`i` limited to 0..n-1."""
    return minmax.minimum(minmax.maximum(i, 0), n - 1)


def limited(u: Array, low: Any, high: Any) -> Array:
    """`u` limited to low..high, a NaN left as it is."""
    raised = minmax.maximum(np.asarray(u), low)
    return minmax.minimum(raised, high, None if np.ndim(high) or not raised.ndim else raised)


def _fraction(s: Array) -> Array:
    """s - floor(s), below 1 even after rounding."""
    f: Array = s - np.floor(s)
    return minmax.minimum(np.asarray(f), F32(0.99999994))


def _mirrored(s: Array) -> Array:
    """The zigzag of period 2 that is s on 0..1."""
    folded: Array = np.abs(s - F32(2.0) * np.rint(s * HALF))
    return folded


def _scaled(axis: Axis, s: Array, n: Array, offset: Array | int) -> Array:
    """The coordinate in texels."""
    u: Array = s if axis.scaled else s * n
    return np.asarray(u + offset) if _is_set(offset) else u


def _is_set(offset: Array | int) -> bool:
    return not isinstance(offset, int) or offset != 0


def _integer(whole: Array) -> Array:
    """Whole numbers as int32; numbers out of range become some number in range."""
    return limited(whole, F32(-1073741824.0), F32(1073741824.0)).astype(np.int32)


def _period(axis: Axis, s: Array, nf: Array, offset: Array | int) -> Array:
    """The coordinate as a fraction of the period, for the modes that repeat."""
    if axis.scaled:
        s = s / nf
    return s + offset / nf if _is_set(offset) else s


def nearest_tap(axis: Axis, s: Array, n: Any, offset: Array | int) -> tuple[Array, Array | None]:
    """The nearest texel, and which lanes are on the border (None where the mode has none)."""
    nf = np.asarray(n, F32)
    mode = axis.mode
    if mode is Wrap.REPEAT:
        if axis.pot:
            return _integer(np.floor(_scaled(axis, s, nf, offset))) & (n - 1), None
        i = (_fraction(_period(axis, s, nf, offset)) * nf).astype(np.int32)
        return clamp(i, n), None
    if mode is Wrap.MIRROR_REPEAT:
        i = (_mirrored(_period(axis, s, nf, offset)) * nf).astype(np.int32)
        return clamp(i, n), None
    u = _scaled(axis, s, nf, offset)
    if mode in _MIRRORED_ONCE:
        u = np.abs(u)
    i = _integer(np.floor(u))
    inside = clamp(i, n)
    if mode in (Wrap.CLAMP_TO_BORDER, Wrap.MIRROR_CLAMP_TO_BORDER):
        return inside, i != inside
    return inside, None


def linear_taps(axis: Axis, s: Array, n: Any, offset: Array | int) -> Taps:
    """The two texels whose centres surround the coordinate."""
    nf = np.asarray(n, F32)
    mode = axis.mode
    if mode is Wrap.REPEAT:
        return _repeat_taps(axis, s, n, nf, offset)
    if mode is Wrap.MIRROR_REPEAT:
        i0, weight = _split(_mirrored(_period(axis, s, nf, offset)) * nf - HALF)
        return Taps(clamp(i0, n), clamp(i0 + 1, n), weight)
    u = _scaled(axis, s, nf, offset)
    if mode in _MIRRORED_ONCE:
        u = np.abs(u)
    if mode in (Wrap.CLAMP_TO_EDGE, Wrap.MIRROR_CLAMP_TO_EDGE):
        i0, weight = _split(limited(u, HALF, nf - HALF) - HALF)
        return Taps(clamp(i0, n), clamp(i0 + 1, n), weight)
    if mode in (Wrap.CLAMP, Wrap.MIRROR_CLAMP):
        u = limited(u, ZERO, nf)
    i0, weight = _split(limited(u, F32(-1.0), nf + ONE) - HALF)
    i1 = i0 + 1
    inside0, inside1 = clamp(i0, n), clamp(i1, n)
    return Taps(inside0, inside1, weight, i0 != inside0, i1 != inside1)


def gather_taps(axis: Axis, s: Array, n: Any, offset: Array | int) -> Taps:
    """The two texels that a gather reads along an axis: each is wrapped on its own (section
    8.14.2).

    A linear filter may mirror or clamp the coordinate instead, because a mean does not depend on
    the order of its texels.
    """
    if axis.mode not in FOLDED:
        return linear_taps(axis, s, n, offset)
    nf = np.asarray(n, F32)
    whole = np.floor(_scaled(axis, s, nf, offset) - HALF)
    if axis.mode is Wrap.MIRROR_REPEAT:
        whole = whole - F32(2.0) * nf * np.floor(whole / (F32(2.0) * nf))
    i0 = _integer(whole)
    first, second = i0, i0 + 1
    if axis.mode is Wrap.MIRROR_REPEAT:
        first, second = (minmax.minimum(i, 2 * n - 1 - i) for i in (i0, i0 + 1))
    elif axis.mode is Wrap.MIRROR_CLAMP_TO_EDGE:
        first, second = (i ^ (i >> 31) for i in (i0, i0 + 1))
    return Taps(clamp(first, n), clamp(second, n), np.zeros((), F32))


def _repeat_taps(axis: Axis, s: Array, n: Any, nf: Array, offset: Array | int) -> Taps:
    if axis.pot:
        u = (s if axis.scaled else s * nf) - HALF
        i0, weight = _split(u + offset if _is_set(offset) else u)
        last = n - 1
        return Taps(i0 & last, (i0 + 1) & last, weight)
    i0, weight = _split(_fraction(_period(axis, s, nf, offset)) * nf - HALF)
    i0 = np.where(i0 < 0, n - 1, minmax.minimum(i0, n - 1))
    i1 = i0 + 1
    return Taps(i0, np.where(i1 >= n, 0, i1), weight)


def _split(u: Array) -> tuple[Array, Array]:
    """The floor as int32, and the fraction."""
    whole = np.floor(u)
    return _integer(whole), u - whole
