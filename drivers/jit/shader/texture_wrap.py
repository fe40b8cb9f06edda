"""Texture coordinates to texel indices, cube directions to faces, as in `drivers.common.texture`.

`n` is the extent, a scalar or a value per lane. Indices are inside 0..n-1; modes that reach the
border also return which lanes do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gallette.drivers.common.texture.wrap import FOLDED, Axis
from gallette.pipe.enums import Wrap

from ..llvm.text import Builder
from ..llvm.values import V
from .maths import some_int

__all__ = [
    "Tap",
    "across_the_seam",
    "face_derivatives",
    "fast_log2",
    "gather_taps",
    "linear_fixed",
    "linear_taps",
    "nearest_fixed",
    "nearest_tap",
    "project",
]

_MIRRORED_ONCE = (Wrap.MIRROR_CLAMP, Wrap.MIRROR_CLAMP_TO_EDGE, Wrap.MIRROR_CLAMP_TO_BORDER)


@dataclass(slots=True)
class Tap:
    """The two texels along an axis and the second one's weight."""

    i0: V
    i1: V
    weight: V
    out0: V | None = None
    out1: V | None = None


def _whole(b: Builder, u: V) -> V:
    return some_int(b, u)


def _bounded(b: Builder, i: V, n: V) -> V:
    return b.math("smin", b.math("smax", i, 0), b.spread(n - 1, i.w))


def _limit(b: Builder, u: V, low: V | float, high: V | float) -> V:
    """Like NumPy's minimum and maximum: a NaN remains."""
    low_v, high_v = b.like(u, low), b.like(u, high)
    u = b.select(u < low_v, low_v, u)
    return b.select(u > high_v, high_v, u)


# -- fixed point ---------------------------------------------------------------------------------


def _moved(s: V, offset: V | None, nf: V, scaled: bool) -> V:
    if offset is None:
        return s
    return s + offset.to_float() if scaled else s + offset.to_float() / nf


def nearest_fixed(b: Builder, axis: Axis, s: V, n: V, offset: V | None) -> V:
    nf = n.to_float()
    s = _moved(s, offset, nf, axis.scaled)
    if axis.mode is Wrap.REPEAT and not axis.pot:
        s = s - b.math("floor", s)
        return _bounded(b, _whole(b, s * nf), n)
    u = b.math("floor", s if axis.scaled else s * nf)
    if axis.mode is Wrap.REPEAT:
        return _bounded(b, _whole(b, u) & (n - 1), n)
    u = b.math("minnum", b.math("maxnum", u, 0.0), b.spread(nf - 1.0, u.w))
    return _bounded(b, _whole(b, u), n)


def linear_fixed(b: Builder, axis: Axis, s: V, n: V, offset: V | None) -> tuple[V, V, V]:
    """Both texels and the second one's weight of 256."""
    nf = n.to_float()
    s = _moved(s, offset, nf, axis.scaled)
    repeat = axis.mode is Wrap.REPEAT
    if repeat and not axis.pot:
        s = s - b.math("floor", s)
    u = s * 256.0 if axis.scaled else s * (nf * 256.0)
    if not repeat:
        u = _limit(b, u, 0.0, nf * 256.0)
    fixed = _whole(b, b.math("roundeven", u)) - 128
    i0 = fixed >> 8
    weight = fixed & 255
    i1 = i0 + 1
    if not repeat:
        return _bounded(b, i0, n), _bounded(b, i1, n), weight
    if axis.pot:
        return i0 & (n - 1), i1 & (n - 1), weight
    last = b.spread(n - 1, i0.w)
    i0 = b.select(i0 < 0, last, b.math("smin", i0, last))
    i1 = i0 + 1
    return i0, b.select(i1 >= n, b.const("i32", 0), i1), weight


# -- floats --------------------------------------------------------------------------------------


def _fraction(b: Builder, s: V) -> V:
    f = s - b.math("floor", s)
    return b.select(f > 0.99999994, b.const("float", 0.99999994), f)


def _mirrored(b: Builder, s: V) -> V:
    return b.math("fabs", s - b.math("roundeven", s * 0.5) * 2.0)


def _scaled(axis: Axis, s: V, nf: V, offset: V | None) -> V:
    u = s if axis.scaled else s * nf
    return u if offset is None else u + offset.to_float()


def _period(axis: Axis, s: V, nf: V, offset: V | None) -> V:
    if axis.scaled:
        s = s / nf
    return s if offset is None else s + offset.to_float() / nf


def _integer(b: Builder, u: V) -> V:
    return _near(b, b.math("floor", u))


def _near(b: Builder, whole: V) -> V:
    return _whole(b, _limit(b, whole, -1073741824.0, 1073741824.0))


def nearest_tap(b: Builder, axis: Axis, s: V, n: V, offset: V | None) -> tuple[V, V | None]:
    """The nearest texel, and which lanes are on the border."""
    nf, mode = n.to_float(), axis.mode
    if mode is Wrap.REPEAT:
        if axis.pot:
            return _integer(b, _scaled(axis, s, nf, offset)) & (n - 1), None
        i = _whole(b, _fraction(b, _period(axis, s, nf, offset)) * nf)
        return _bounded(b, i, n), None
    if mode is Wrap.MIRROR_REPEAT:
        i = _whole(b, _mirrored(b, _period(axis, s, nf, offset)) * nf)
        return _bounded(b, i, n), None
    u = _scaled(axis, s, nf, offset)
    if mode in _MIRRORED_ONCE:
        u = b.math("fabs", u)
    i = _integer(b, u)
    inside = _bounded(b, i, n)
    if mode in (Wrap.CLAMP_TO_BORDER, Wrap.MIRROR_CLAMP_TO_BORDER):
        return inside, i.ne(inside)
    return inside, None


def _split(b: Builder, u: V) -> tuple[V, V]:
    whole = b.math("floor", u)
    return _near(b, whole), u - whole


def linear_taps(b: Builder, axis: Axis, s: V, n: V, offset: V | None) -> Tap:
    """The two texels whose centres surround the coordinate."""
    nf, mode = n.to_float(), axis.mode
    if mode is Wrap.REPEAT:
        return _repeat_taps(b, axis, s, n, nf, offset)
    if mode is Wrap.MIRROR_REPEAT:
        i0, weight = _split(b, _mirrored(b, _period(axis, s, nf, offset)) * nf - 0.5)
        return Tap(_bounded(b, i0, n), _bounded(b, i0 + 1, n), weight)
    u = _scaled(axis, s, nf, offset)
    if mode in _MIRRORED_ONCE:
        u = b.math("fabs", u)
    if mode in (Wrap.CLAMP_TO_EDGE, Wrap.MIRROR_CLAMP_TO_EDGE):
        i0, weight = _split(b, _limit(b, u, 0.5, nf - 0.5) - 0.5)
        return Tap(_bounded(b, i0, n), _bounded(b, i0 + 1, n), weight)
    if mode in (Wrap.CLAMP, Wrap.MIRROR_CLAMP):
        u = _limit(b, u, 0.0, nf)
    i0, weight = _split(b, _limit(b, u, -1.0, nf + 1.0) - 0.5)
    i1 = i0 + 1
    inside0, inside1 = _bounded(b, i0, n), _bounded(b, i1, n)
    return Tap(inside0, inside1, weight, i0.ne(inside0), i1.ne(inside1))


def gather_taps(b: Builder, axis: Axis, s: V, n: V, offset: V | None) -> Tap:
    """The two texels that a gather reads along an axis: each is wrapped on its own."""
    if axis.mode not in FOLDED:
        return linear_taps(b, axis, s, n, offset)
    nf = n.to_float()
    whole = b.math("floor", _scaled(axis, s, nf, offset) - 0.5)
    if axis.mode is Wrap.MIRROR_REPEAT:
        period = nf * 2.0
        whole = whole - b.math("floor", whole / period) * period
    i0 = _near(b, whole)
    both = [i0, i0 + 1]
    if axis.mode is Wrap.MIRROR_REPEAT:
        both = [b.math("smin", i, b.spread(n + n - 1, i.w) - i) for i in both]
    elif axis.mode is Wrap.MIRROR_CLAMP_TO_EDGE:
        both = [i ^ (i >> 31) for i in both]
    first, second = (_bounded(b, i, n) for i in both)
    return Tap(first, second, first)


def _repeat_taps(b: Builder, axis: Axis, s: V, n: V, nf: V, offset: V | None) -> Tap:
    if axis.pot:
        u = (s if axis.scaled else s * nf) - 0.5
        i0, weight = _split(b, u if offset is None else u + offset.to_float())
        return Tap(i0 & (n - 1), (i0 + 1) & (n - 1), weight)
    i0, weight = _split(b, _fraction(b, _period(axis, s, nf, offset)) * nf - 0.5)
    last = b.spread(n - 1, i0.w)
    i0 = b.select(i0 < 0, last, b.math("smin", i0, last))
    i1 = i0 + 1
    return Tap(i0, b.select(i1 >= n, b.const("i32", 0), i1), weight)


# -- levels and cubes ----------------------------------------------------------------------------


def fast_log2(b: Builder, x: V) -> V:
    """Exponent plus mantissa minus one of positive floats; about -127 for zero."""
    bits = x.as_int()
    exponent = (bits >> 23) - 127
    mantissa = ((bits & 0x7FFFFF) | 0x3F800000).bitcast("float")
    return exponent.to_float() + (mantissa - 1.0)


@dataclass(slots=True)
class _Face:
    """A direction relative to the cube face it meets."""

    is_z: V
    is_x: V
    sign: V
    number: V
    major: V
    sc: V
    tc: V


def _face(b: Builder, direction: Sequence[V]) -> _Face:
    """The face of a cube map that a direction hits, and the coordinates on it.

    The longest component decides; of equal ones, z takes precedence over x and x over y.
    """
    x, y, z = direction
    ax, ay, az = (b.math("fabs", v) for v in direction)
    larger = b.select(ax > ay, ax, b.select(ax.ne(ax), ax, ay))
    is_z = az >= larger
    is_x = ~is_z & (ax >= ay)
    along = b.select(is_z, z, b.select(is_x, x, y))
    negative = along.as_int() < 0
    one, two = b.spread(b.const("float", 1.0), x.w), b.spread(b.const("i32", 2), x.w)
    sign = b.select(negative, b.const("float", -1.0), one)
    axis = b.select(is_z, b.const("i32", 4), b.select(is_x, b.const("i32", 0), two))
    sc, tc = _across(b, is_z, is_x, sign, direction)
    number = axis + negative.to("i32", False)
    return _Face(is_z, is_x, sign, number, b.math("fabs", along), sc, tc)


def _across(b: Builder, is_z: V, is_x: V, sign: V, v: Sequence[V]) -> tuple[V, V]:
    """The components along a face's s and t axes."""
    x, y, z = v
    sc = b.select(is_z, sign * x, b.select(is_x, -sign * z, x))
    tc = b.select(is_z | is_x, -y, sign * z)
    return sc, tc


def project(b: Builder, direction: Sequence[V]) -> tuple[V, V, V]:
    """The cube face that a direction meets, and the coordinates there."""
    at = _face(b, direction)
    scale = 0.5 / at.major
    return at.number, at.sc * scale + 0.5, at.tc * scale + 0.5


def across_the_seam(b: Builder, face: V, i: V, j: V, n: V) -> tuple[V, V, V]:
    """The texel next to a face's edge, where `i` or `j` (not both) is -1 or n: face, i, j."""
    step = 2.0 / n.to_float()
    s = (i.to_float() + 0.5) * step - 1.0
    t = (j.to_float() + 0.5) * step - 1.0
    sign = b.select((face & 1).ne(0), b.const("float", -1.0), b.const("float", 1.0))
    axis = face >> 1
    is_x, is_y = axis.eq(0), axis.eq(1)
    x = b.select(is_x, sign, b.select(is_y, s, sign * s))
    y = b.select(is_y, sign, -t)
    z = b.select(is_x, -sign * s, b.select(is_y, sign * t, sign))
    number, u, v = project(b, [x, y, z])
    nf = n.to_float()
    return number, _whole(b, u * nf), _whole(b, v * nf)


def face_derivatives(b: Builder, direction: Sequence[V], d: Sequence[V]) -> list[V]:
    """How the face coordinates change with the direction, staying on the face."""
    at = _face(b, direction)
    ds, dt = _across(b, at.is_z, at.is_x, at.sign, d)
    dm = b.select(at.is_z, d[2], b.select(at.is_x, d[0], d[1])) * at.sign
    inverse = 0.5 / (at.major * at.major)
    return [(ds * at.major - at.sc * dm) * inverse, (dt * at.major - at.tc * dm) * inverse]
