"""Texture coordinates to texel indices, and cube directions to faces.

Along an axis, `s` is the coordinate (normalised unless the axis is `scaled`), `n` the extent and
`offset` a whole number of texels. Indices are inside 0..n-1; modes that can reach the border also
return where they do. Coordinates that are not finite select some texel inside.

Faces are numbered +X -X +Y -Y +Z -Z. If two components of a direction have equal length, z takes
precedence over x and x over y.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Generic, NamedTuple, TypeVar

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Def
from gallette.pipe.enums import Wrap

from .routine import Routine, routine

_MIRRORED_ONCE = (Wrap.MIRROR_CLAMP, Wrap.MIRROR_CLAMP_TO_EDGE, Wrap.MIRROR_CLAMP_TO_BORDER)
_BORDERED = (Wrap.CLAMP_TO_BORDER, Wrap.MIRROR_CLAMP_TO_BORDER)
FOLDED = (Wrap.CLAMP_TO_EDGE, Wrap.MIRROR_REPEAT, Wrap.MIRROR_CLAMP_TO_EDGE)
"""Modes in which two neighbouring texels may be equal or swapped."""

_LARGEST = 1073741824.0
"""Coordinates beyond it are moved inside, where they are whole numbers of 32 bits."""


@lazy_dataclass(frozen=True)
class Axis:
    """How one axis is wrapped: the mode, whether extents are powers of two, units of `s`."""

    mode: Wrap
    pot: bool
    scaled: bool = False


def is_bordered(axis: Axis, linear: bool) -> bool:
    """Whether taps can be on the border: `nearest_tap`, or `linear_taps` and `gather_taps`."""
    if linear:
        return axis.mode in (*_BORDERED, Wrap.CLAMP, Wrap.MIRROR_CLAMP)
    return axis.mode in _BORDERED


def _along_axis(
    name: str, build: Callable[..., Sequence[Def]], returns: str
) -> Callable[..., Routine]:
    """The routines of a function of a coordinate, an extent and perhaps an offset."""

    @cache
    def made(axis: Axis, moved: bool) -> Routine:
        given = dict.fromkeys(("s", "n", "offset") if moved else ("s", "n"), (1, 32))

        def start(b: Builder, s: Def, n: Def, offset: Def | None = None) -> Sequence[Def]:
            return build(_Along(b, axis, n, offset), s)

        return routine(f"{name} {axis.mode.name}", given, start, returns, any_conversion=True)

    return made


class _Along:
    """An axis of a texture, with the coordinates and extents computed along it."""

    def __init__(self, b: Builder, axis: Axis, n: Def, offset: Def | None) -> None:
        self.b, self.mode, self.scaled, self.pot = b, axis.mode, axis.scaled, axis.pot
        self.n, self.nf = n, b.i2f32(n)
        self.last = b.isub(n, b.imm_int(1))
        self.offset = None if offset is None else b.i2f32(offset)

    def limited(self, u: Def, low: Def, high: Def) -> Def:
        """A coordinate limited to a range; a NaN remains."""
        b = self.b
        u = b.bcsel(b.flt(u, low), low, u)
        return b.bcsel(b.flt(high, u), high, u)

    def inside(self, i: Def) -> Def:
        b = self.b
        return b.imin(b.imax(i, b.imm_int(0)), self.last)

    def whole(self, u: Def) -> Def:
        """A whole number as an integer."""
        b = self.b
        return b.f2i32(self.limited(u, b.imm_float(-_LARGEST), b.imm_float(_LARGEST)))

    def texels(self, s: Def, start: float = 0.0) -> Def:
        """The coordinate in texels, relative to `start`, which llvmpipe subtracts before the offset
        is added.
        """
        b = self.b
        u = s if self.scaled else b.fmul(s, self.nf)
        if start:
            u = b.fsub(u, b.imm_float(start))
        return u if self.offset is None else b.fadd(u, self.offset)

    def period(self, s: Def) -> Def:
        """The coordinate as a fraction of the period, for the modes that repeat."""
        b = self.b
        if self.scaled:
            s = b.fdiv(s, self.nf)
        return s if self.offset is None else b.fadd(s, b.fdiv(self.offset, self.nf))

    def fraction(self, s: Def) -> Def:
        """s - floor(s), below 1 even after rounding."""
        b, most = self.b, self.b.imm_float(0.99999994)
        f = b.fsub(s, b.ffloor(s))
        return b.bcsel(b.flt(most, f), most, f)

    def mirrored(self, s: Def) -> Def:
        """The zigzag of period 2 that is s on 0..1."""
        b = self.b
        turn = b.fmul(b.fround_even(b.fmul(s, b.imm_float(0.5))), b.imm_float(2.0))
        return b.fabs(b.fsub(s, turn))

    def split(self, u: Def) -> tuple[Def, Def]:
        """The texel before a bounded coordinate that is relative to a texel's centre, and the
        fraction.
        """
        b = self.b
        whole = b.ffloor(u)
        return b.f2i32(whole), b.fsub(u, whole)

    def after(self, i: Def) -> Def:
        return self.b.iadd(i, self.b.imm_int(1))

    def around(self, i0: Def) -> tuple[Def, Def]:
        """The texel i0 and the next one; either may be outside the level."""
        b, zero = self.b, self.b.imm_int(0)
        if self.pot:
            return b.iand(i0, self.last), b.iand(self.after(i0), self.last)
        i0 = b.bcsel(b.ilt(i0, zero), self.last, b.imin(i0, self.last))
        i1 = self.after(i0)
        return i0, b.bcsel(b.ige(i1, self.n), zero, i1)

    def both_inside(self, i0: Def, weight: Def) -> list[Def]:
        return [self.inside(i0), self.inside(self.after(i0)), weight]


# -- floats --------------------------------------------------------------------------------------


def _nearest_tap(at: _Along, s: Def) -> list[Def]:
    b = at.b
    if at.mode is Wrap.REPEAT:
        if at.pot:
            return [b.iand(at.whole(b.ffloor(at.texels(s))), at.last)]
        return [at.inside(b.f2i32(b.fmul(at.fraction(at.period(s)), at.nf)))]
    if at.mode is Wrap.MIRROR_REPEAT:
        return [at.inside(b.f2i32(b.fmul(at.mirrored(at.period(s)), at.nf)))]
    u = at.texels(s)
    if at.mode in _MIRRORED_ONCE:
        u = b.fabs(u)
    i = at.whole(b.ffloor(u))
    inside = at.inside(i)
    return [inside, b.ine(i, inside)] if at.mode in _BORDERED else [inside]


def _linear_taps(at: _Along, s: Def) -> list[Def]:
    b, half = at.b, at.b.imm_float(0.5)
    if at.mode is Wrap.REPEAT:
        if at.pot:
            u = at.texels(s, 0.5)
            whole = b.ffloor(u)
            return [*at.around(at.whole(whole)), b.fsub(u, whole)]
        i0, weight = at.split(b.fsub(b.fmul(at.fraction(at.period(s)), at.nf), half))
        return [*at.around(i0), weight]
    if at.mode is Wrap.MIRROR_REPEAT:
        u = b.fmul(at.mirrored(at.period(s)), at.nf)
        return at.both_inside(*at.split(b.fsub(u, half)))
    u = at.texels(s)
    if at.mode in _MIRRORED_ONCE:
        u = b.fabs(u)
    if at.mode in (Wrap.CLAMP_TO_EDGE, Wrap.MIRROR_CLAMP_TO_EDGE):
        u = at.limited(u, half, b.fsub(at.nf, half))
        return at.both_inside(*at.split(b.fsub(u, half)))
    beyond = 0.0 if at.mode in (Wrap.CLAMP, Wrap.MIRROR_CLAMP) else 1.0
    u = at.limited(u, b.imm_float(-beyond), b.fadd(at.nf, b.imm_float(beyond)))
    i0, weight = at.split(b.fsub(u, half))
    inside = at.both_inside(i0, weight)
    return [*inside, b.ine(i0, inside[0]), b.ine(at.after(i0), inside[1])]


def _gather_taps(at: _Along, s: Def) -> list[Def]:
    """Each texel is wrapped on its own (section 8.14.2). A linear filter may mirror or clamp the
    coordinate instead, because a mean does not depend on the order of its texels.
    """
    if at.mode not in FOLDED:
        return _linear_taps(at, s)
    b, one = at.b, at.b.imm_int(1)
    whole = b.ffloor(b.fsub(at.texels(s), b.imm_float(0.5)))
    if at.mode is Wrap.MIRROR_REPEAT:
        period = b.fmul(at.nf, b.imm_float(2.0))
        whole = b.fsub(whole, b.fmul(b.ffloor(b.fdiv(whole, period)), period))
    i0 = at.whole(whole)
    both = [i0, at.after(i0)]
    if at.mode is Wrap.MIRROR_REPEAT:
        top = b.isub(b.iadd(at.n, at.n), one)
        both = [b.imin(i, b.isub(top, i)) for i in both]
    elif at.mode is Wrap.MIRROR_CLAMP_TO_EDGE:
        both = [b.ixor(i, b.ishr(i, b.imm_int(31))) for i in both]
    return [*(at.inside(i) for i in both), b.imm_float(0.0)]


_T = TypeVar("_T")


class Taps(NamedTuple, Generic[_T]):
    """What `linear_taps` and `gather_taps` return: two texels along an axis, the second one's
    weight, and for bordered axes whether each is on the border.
    """

    i0: _T
    i1: _T
    weight: _T
    out0: _T | None = None
    out1: _T | None = None

    @property
    def both(self) -> tuple[tuple[_T, _T | None], tuple[_T, _T | None]]:
        return (self.i0, self.out0), (self.i1, self.out1)


nearest_tap = _along_axis("nearest", _nearest_tap, "i")
"""The nearest texel, and (see `is_bordered`) whether it is on the border."""
linear_taps = _along_axis("linear", _linear_taps, "iif")
"""`Taps` of the two texels whose centres surround the coordinate."""
gather_taps = _along_axis("gather", _gather_taps, "iif")
"""`Taps` of the two texels that a gather reads; the weight is 0."""


# -- fixed point ---------------------------------------------------------------------------------


def _nearest_fixed(at: _Along, s: Def) -> list[Def]:
    b = at.b
    s = _moved(at, s)
    if at.mode is Wrap.REPEAT and not at.pot:
        return [at.inside(b.f2i32(b.fmul(b.fsub(s, b.ffloor(s)), at.nf)))]
    u = b.ffloor(s if at.scaled else b.fmul(s, at.nf))
    if at.mode is Wrap.REPEAT:
        return [b.iand(b.f2i32(u), at.last)]
    limited = at.limited(u, b.imm_float(0.0), b.fsub(at.nf, b.imm_float(1.0)))
    return [at.inside(b.f2i32(limited))]


def _linear_fixed(at: _Along, s: Def) -> list[Def]:
    b, steps = at.b, at.b.imm_float(256.0)
    s = _moved(at, s)
    repeat = at.mode is Wrap.REPEAT
    if repeat and not at.pot:
        s = b.fsub(s, b.ffloor(s))
    u = b.fmul(s, steps if at.scaled else b.fmul(at.nf, steps))
    if not repeat:
        u = at.limited(u, b.imm_float(0.0), b.fmul(at.nf, steps))
    fixed = b.isub(b.f2i32(b.fround_even(u)), b.imm_int(128))
    i0, weight = b.ishr(fixed, b.imm_int(8)), b.iand(fixed, b.imm_int(255))
    return [*at.around(i0), weight] if repeat else at.both_inside(i0, weight)


def _moved(at: _Along, s: Def) -> Def:
    if at.offset is None:
        return s
    return at.b.fadd(s, at.offset if at.scaled else at.b.fdiv(at.offset, at.nf))


nearest_fixed = _along_axis("nearest fixed", _nearest_fixed, "i")
"""The texel that contains the coordinate, where texels are filtered in 8 bits."""
linear_fixed = _along_axis("linear fixed", _linear_fixed, "iiu")
"""Both texels and the second one's weight of 256: coordinates in 256ths of a texel, as in
llvmpipe's filters of 8-bit texels.
"""


# -- cubes ---------------------------------------------------------------------------------------


class _Face:
    """The face that a direction meets."""

    def __init__(self, b: Builder, direction: Def) -> None:
        self.b = b
        ax, ay, az = b.channels(b.fabs(direction))
        self.is_z = b.iand(b.fge(az, ax), b.fge(az, ay))
        self.is_x = b.iand(b.inot(self.is_z), b.fge(ax, ay))
        along = self.along(direction)
        negative = b.ilt(along, b.imm_int(0))  # as integers: a zero has a sign, too
        self.sign = b.bcsel(negative, b.imm_float(-1.0), b.imm_float(1.0))
        axis = b.bcsel(self.is_x, b.imm_int(0), b.imm_int(2))
        axis = b.bcsel(self.is_z, b.imm_int(4), axis)
        self.number = b.iadd(axis, b.b2i32(negative))
        self.major = b.fabs(along)
        self.sc, self.tc = self.across(direction)

    def along(self, v: Def) -> Def:
        b = self.b
        x, y, z = b.channels(v)
        return b.bcsel(self.is_z, z, b.bcsel(self.is_x, x, y))

    def across(self, v: Def) -> tuple[Def, Def]:
        """The components along the face's s and t axes."""
        b = self.b
        x, y, z = b.channels(v)
        turned = b.fmul(self.sign, z)
        sc = b.bcsel(self.is_x, b.fneg(turned), x)
        sc = b.bcsel(self.is_z, b.fmul(self.sign, x), sc)
        return sc, b.bcsel(b.ior(self.is_z, self.is_x), b.fneg(y), turned)

    def place(self) -> list[Def]:
        """The face, and the coordinates on it."""
        b, half = self.b, self.b.imm_float(0.5)
        scale = b.fdiv(half, self.major)
        s, t = (b.fadd(b.fmul(c, scale), half) for c in (self.sc, self.tc))
        return [self.number, s, t]


@cache
def project() -> Routine:
    """The cube face that a direction meets, and the coordinates there."""
    return routine("project", {"direction": (3, 32)}, lambda b, d: _Face(b, d).place(), "iff")


@cache
def face_derivative() -> Routine:
    """How the coordinates on its face change with a direction, staying on the face."""

    def build(b: Builder, direction: Def, derivative: Def) -> list[Def]:
        at = _Face(b, direction)
        longer = b.fmul(at.along(derivative), at.sign)
        inverse = b.fdiv(b.imm_float(0.5), b.fmul(at.major, at.major))
        return [
            b.fmul(b.fsub(b.fmul(d, at.major), b.fmul(c, longer)), inverse)
            for d, c in zip(at.across(derivative), (at.sc, at.tc), strict=True)
        ]

    return routine("face derivative", {"direction": (3, 32), "derivative": (3, 32)}, build, "ff")


@cache
def seamless_taps() -> Routine:
    """The first of two texels of a cube's face, which may be -1, and the weight of the second."""

    def build(b: Builder, s: Def, n: Def) -> list[Def]:
        zero, one, half = b.imm_float(0.0), b.imm_float(1.0), b.imm_float(0.5)
        s = b.bcsel(b.flt(s, zero), zero, s)
        s = b.bcsel(b.flt(one, s), one, s)
        u = b.fsub(b.fmul(s, b.i2f32(n)), half)
        whole = b.ffloor(u)
        return [b.f2i32(whole), b.fsub(u, whole)]

    given = dict.fromkeys(("s", "n"), (1, 32))
    return routine("seamless taps", given, build, "if", any_conversion=True)


@cache
def seamless_corner() -> Routine:
    """The texel (i, j) of face (and cube) z, found on the neighbouring face if it is beyond an
    edge: z, i, j, and whether it is beyond two edges, where there is none.
    """

    def build(b: Builder, z: Def, i: Def, j: Def, n: Def) -> list[Def]:
        zero, last = b.imm_int(0), b.isub(n, b.imm_int(1))
        out_i, out_j = (b.ior(b.ilt(k, zero), b.ige(k, n)) for k in (i, j))
        beyond = b.ixor(out_i, out_j)
        face = b.irem(z, b.imm_int(6))
        new_face, new_i, new_j = _across_the_seam(b, face, i, j, n)
        z = b.bcsel(beyond, b.iadd(b.isub(z, face), new_face), z)
        i, j = (
            b.imin(b.imax(b.bcsel(beyond, new, old), zero), last)
            for new, old in ((new_i, i), (new_j, j))
        )
        return [z, i, j, b.iand(out_i, out_j)]

    given = dict.fromkeys(("z", "i", "j", "n"), (1, 32))
    return routine("seamless corner", given, build, "iii", any_conversion=True)


def _across_the_seam(b: Builder, face: Def, i: Def, j: Def, n: Def) -> list[Def]:
    """The texel next to a face's edge, where `i` or `j` (not both) is -1 or n: face, i, j.

    The texel's centre, extended over the edge, is a direction that projects onto the neighbour: it
    is longer than 1, so the neighbour's axis is chosen without ties.
    """
    half, one, nf = b.imm_float(0.5), b.imm_float(1.0), b.i2f32(n)
    step = b.fdiv(b.imm_float(2.0), nf)
    s, t = (b.fsub(b.fmul(b.fadd(b.i2f32(k), half), step), one) for k in (i, j))
    odd = b.ine(b.iand(face, b.imm_int(1)), b.imm_int(0))
    sign = b.bcsel(odd, b.imm_float(-1.0), one)
    axis = b.ishr(face, b.imm_int(1))
    is_x, is_y = b.ieq(axis, b.imm_int(0)), b.ieq(axis, b.imm_int(1))
    signed_s = b.fmul(sign, s)
    x = b.bcsel(is_x, sign, b.bcsel(is_y, s, signed_s))
    y = b.bcsel(is_y, sign, b.fneg(t))
    z = b.bcsel(is_x, b.fneg(signed_s), b.bcsel(is_y, b.fmul(sign, t), sign))
    number, u, v = _Face(b, b.vec([x, y, z])).place()
    return [number, b.f2i32(b.fmul(u, nf)), b.f2i32(b.fmul(v, nf))]
