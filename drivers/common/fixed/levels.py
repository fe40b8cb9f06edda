"""Levels of detail: of derivatives, biased and clamped, and the mipmap levels that they select.

The numbers follow llvmpipe's: the squared length of the longer of the two derivative vectors, in
texels, and half of its logarithm, which is exact at powers of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Def
from gallette.compiler.nir.ir.tables import TABLES
from gallette.pipe.enums import MipFilter

from .routine import Routine, routine


def _log2(b: Builder, x: Def) -> Def:
    """Exponent plus mantissa minus one of positive floats; about -127 for zero."""
    one = b.imm_float(1.0)
    exponent = b.isub(b.ishr(x, b.imm_int(23)), b.imm_int(127))
    mantissa = b.ior(b.iand(x, b.imm_int(0x7FFFFF)), one)
    return b.fadd(b.i2f32(exponent), b.fsub(mantissa, one))


def _level(b: Builder, rho: Def) -> Def:
    return b.fmul(_log2(b, rho), b.imm_float(0.5))


def _larger(b: Builder, x: Def, y: Def) -> Def:
    return b.bcsel(b.flt(x, y), y, x)


def _clamped(b: Builder, x: Def, low: Def, high: Def) -> Def:
    """A number limited to a range; a NaN remains."""
    x = b.bcsel(b.flt(x, low), low, x)
    return b.bcsel(b.flt(high, x), high, x)


def _existing(b: Builder, lod: Def, count: Def) -> tuple[Def, Def]:
    """A level of detail within the levels that exist (a NaN is 0), and the last level."""
    last = b.isub(count, b.imm_int(1))
    return b.fmin(b.fmax(lod, b.imm_float(0.0)), b.i2f32(last)), last


def _squares(b: Builder, given: Sequence[Def]) -> list[Def]:
    """The squared lengths of both derivatives in texels; `given` as for `of_derivatives`."""
    ddx, ddy, *n = given
    found = []
    for d in (ddx, ddy):
        scaled = b.fmul(d, b.i2f32(n[0])) if n else d
        length, *others = b.channels(b.fmul(scaled, scaled))
        for square in others:
            length = b.fadd(length, square)
        found.append(length)
    return found


def _derivatives(axes: int, scaled: bool) -> dict[str, tuple[int, int]]:
    return dict.fromkeys(("ddx", "ddy") if scaled else ("ddx", "ddy", "n"), (axes, 32))


@cache
def of_derivatives(axes: int, scaled: bool) -> Routine:
    """The level of detail of the derivatives of coordinates; `n` are the extents, which `scaled`
    coordinates do not need.
    """

    def build(b: Builder, *given: Def) -> list[Def]:
        return [_level(b, _larger(b, *_squares(b, given)))]

    return routine("level of detail", _derivatives(axes, scaled), build, "f")


@cache
def footprint(scaled: bool) -> Routine:
    """What an anisotropic filter averages: both derivatives in texels, and the level of detail of
    the shorter one.

    A pixel seen at a grazing angle covers a long, thin area of the texture. A single level of
    detail either blurs it (chosen by the long side) or aliases (by the short one).
    """

    def build(b: Builder, *given: Def) -> list[Def]:
        ddx, ddy, *n = given
        first, second = _squares(b, given)
        shorter = b.bcsel(b.flt(second, first), second, first)
        both = [b.fmul(d, b.i2f32(n[0])) if n else d for d in (ddx, ddy)]
        return [*both, _level(b, shorter)]

    return routine("footprint", _derivatives(2, scaled), build, "fffff")


_LONGEST = 64.0
"""Derivatives are cut at as many texels: a draw should not take minutes because of a horizon."""
_INSIDE = 1024.0
"""The form of an ellipse is less inside of it, and at most one less than that on its border."""


@cache
def ellipse(several: bool) -> Routine:
    """The texels that an anisotropic filter weights: column and row of the first one in the box
    around them, its columns, how many they are, three factors of a quadratic form, and the middle.

    The ellipse around the middle is the area of the pixel, one texel wider in each direction:

        a u^2 + b u v + c v^2 = 1023, where (u, v) are texels from the middle

    (Heckbert, Fundamentals of Texture Mapping and Image Warping, 1989). `several` levels: the
    extents `n` and derivatives are those of the first one, and `level` is the one that is read.
    """

    def build(b: Builder, ddx: Def, ddy: Def, place: Def, n: Def, *level: Def) -> list[Def]:
        one, two, four = (b.imm_float(v) for v in (1.0, 2.0, 4.0))
        size = b.i2f32(n)
        if level:  # half as many texels per level, though extents of levels are rounded down
            exponent = b.isub(b.imm_int(127), level[0])
            scale = b.ishl(exponent, b.imm_int(23))
            size, ddx, ddy = (b.fmul(v, scale) for v in (size, ddx, ddy))
        (ux, vx), (uy, vy) = (b.channels(_cut(b, d)) for d in (ddx, ddy))
        a = b.fadd(b.fadd(b.fmul(vx, vx), b.fmul(vy, vy)), one)
        mixed = b.fmul(b.imm_float(-2.0), b.fadd(b.fmul(ux, vx), b.fmul(uy, vy)))
        c = b.fadd(b.fadd(b.fmul(ux, ux), b.fmul(uy, uy)), one)
        square = b.fmul(mixed, mixed)
        border = b.fsub(b.fmul(a, c), b.fdiv(square, four))
        d = b.fsub(b.fmul(b.fmul(four, c), a), square)
        half = [b.fmul(b.fdiv(two, d), b.fsqrt(b.fmul(b.fmul(d, side), border))) for side in (c, a)]
        # (fmax and fmin also move a NaN inside.)
        most = b.imm_float(1073741824.0)
        middle = [
            b.fmin(b.fmax(b.fsub(u, b.imm_float(0.5)), b.fneg(most)), most)
            for u in b.channels(b.fmul(place, size))
        ]
        start = [b.ffloor(b.fsub(m, h)) for m, h in zip(middle, half, strict=True)]
        columns, rows = (
            b.fadd(b.fsub(b.fceil(b.fadd(m, h)), s), one)
            for m, h, s in zip(middle, half, start, strict=True)
        )
        scale = b.fdiv(b.imm_float(_INSIDE - 1), border)
        form = [b.fmul(v, scale) for v in (a, mixed, c)]
        return [*start, columns, b.fmul(columns, rows), *form, *middle]

    given = {"ddx": (2, 32), "ddy": (2, 32), "place": (2, 32), "n": (2, 32)}
    if several:
        given["level"] = (1, 32)
    return routine("ellipse", given, build, "f" * 9)


def _cut(b: Builder, derivative: Def) -> Def:
    """A vector, shortened where it is too long or no vector."""
    u, v = b.channels(derivative)
    length = b.fsqrt(b.fadd(b.fmul(u, u), b.fmul(v, v)))
    most = b.imm_float(_LONGEST)
    cut = b.bcsel(b.flt(most, length), b.fmul(derivative, b.fdiv(most, length)), derivative)
    return b.bcsel(b.flt(length, b.imm_float(float("inf"))), cut, b.imm_float(0.0))


@cache
def weighted_texel() -> Routine:
    """The coordinates of texel `number` of an `ellipse`, and its weight: a Gaussian, e^-2 at the
    border.
    """

    def build(b: Builder, number: Def, *given: Def) -> list[Def]:
        left, top, columns, _, a, mixed, c, middle_u, middle_v, w, h = given
        row = b.ffloor(b.fdiv(b.fadd(number, b.imm_float(0.5)), columns))
        x = b.fadd(left, b.fsub(number, b.fmul(row, columns)))
        y = b.fadd(top, row)
        u, v = b.fsub(x, middle_u), b.fsub(y, middle_v)
        form = b.fmul(b.fadd(b.fmul(c, v), b.fmul(mixed, u)), v)
        form = b.fadd(form, b.fmul(b.fmul(a, u), u))
        zero, inside = b.imm_float(0.0), b.imm_float(_INSIDE)
        step = b.f2i32(b.fmin(b.fmax(form, zero), b.imm_float(_INSIDE - 1)))
        weight = b.intrinsic("load_table", [step], table="ellipse_weights")
        weight = b.bcsel(b.flt(form, inside), weight, zero)
        # Where texels begin, as llvmpipe computes it: rounding may select the one before.
        return [b.fdiv(x, b.i2f32(w)), b.fdiv(y, b.i2f32(h)), weight]

    names = ("number", "left", "top", "columns", "count", "a", "b", "c", "u", "v", "w", "h")
    given = dict.fromkeys(names, (1, 32))
    return routine("weighted texel", given, build, "fff", any_conversion=True)


@cache
def _weights() -> npt.NDArray[np.float32]:
    return np.exp(np.linspace(0.0, -2.0, int(_INSIDE))).astype(np.float32)


TABLES["ellipse_weights"] = _weights


@cache
def limited(biased: bool, moved: bool, bounded: bool) -> Routine:
    """A level of detail plus the biases of the lookup and of the sampler, limited to the sampler's
    range, and at least `least`, which the lookup gives. The flags tell whether both biases and
    `least` are there.
    """

    def build(b: Builder, *given: Def) -> list[Def]:
        lod, bias, move, low, high, least = given
        lod = b.fadd(lod, bias) if biased else lod
        lod = b.fadd(lod, move) if moved else lod
        lod = _clamped(b, lod, low, high)
        return [_larger(b, lod, least) if bounded else lod]

    names = ("lod", "bias", "move", "low", "high", "least")
    return routine("limited level", dict.fromkeys(names, (1, 32)), build, "f")


@cache
def queried(mip: MipFilter, moved: bool) -> Routine:
    """The level that a level of detail would access, and the latter before it is clamped."""

    def build(b: Builder, lod: Def, move: Def, low: Def, high: Def, count: Def) -> list[Def]:
        raw = b.fadd(lod, move) if moved else lod
        level, _ = _existing(b, _clamped(b, raw, low, high), count)
        if mip is MipFilter.NEAREST:
            level = b.fround_even(level)
        elif mip is MipFilter.NONE:
            level = b.imm_float(0.0)
        return [level, raw]

    names = ("lod", "move", "low", "high", "count")
    return routine("queried level", dict.fromkeys(names, (1, 32)), build, "ff")


@cache
def selected(mip: MipFilter) -> Routine:
    """The level that a level of detail selects of `count`; between levels, also the next one and
    its weight.
    """

    def build(b: Builder, lod: Def, count: Def) -> list[Def]:
        lod, last = _existing(b, lod, count)
        if mip is MipFilter.NEAREST:
            return [b.f2i32(b.fround_even(lod))]
        whole = b.ffloor(lod)
        level = b.f2i32(whole)
        above = b.imin(b.iadd(level, b.imm_int(1)), last)
        return [level, above, b.fsub(lod, whole)]

    given = dict.fromkeys(("lod", "count"), (1, 32))
    returns = "i" if mip is MipFilter.NEAREST else "iif"
    return routine("selected levels", given, build, returns, any_conversion=True)
