"""Levels of detail: of derivatives, biased and clamped, and the mipmap levels that they select.

The numbers follow llvmpipe's: the squared length of the longer of the two derivative vectors, in
texels, and half of its logarithm, which is exact at powers of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Def
from gallette.pipe.enums import MipFilter

from .routine import Routine, routine

__all__ = ["footprint", "limited", "of_derivatives", "queried", "selected"]


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
    """What an anisotropic filter averages: the longer derivative (two numbers), the level of detail
    and the number of probes.

    A pixel seen at a grazing angle covers a long, thin area of the texture. A single level of
    detail either blurs it (chosen by the long side) or aliases (by the short one). Here the level
    follows the length divided by the number of probes, and as many probes as the two sides differ
    by are averaged:

        N = min(ceil(longer / shorter), the sampler's limit), level = log2(longer / N)
    """

    def build(b: Builder, ddx: Def, ddy: Def, *more: Def) -> list[Def]:
        *n, limit = more
        one, zero = b.imm_float(1.0), b.imm_float(0.0)
        squares = _squares(b, [ddx, ddy, *n])
        first, second = (b.fsqrt(square) for square in squares)
        known = b.iand(b.feq(first, first), b.feq(second, second))
        across = b.fge(first, second)
        longer, shorter = b.bcsel(across, first, second), b.bcsel(across, second, first)
        ratio = b.bcsel(b.flt(zero, longer), b.imm_float(float("inf")), one)
        ratio = b.bcsel(b.flt(zero, shorter), b.fdiv(longer, shorter), ratio)
        probes = b.fceil(b.fmin(b.fmax(ratio, one), limit))
        # Where the texture is magnified, there is nothing to average.
        count = b.bcsel(b.iand(b.flt(one, longer), known), probes, one)
        level = _level(b, b.fdiv(_larger(b, *squares), b.fmul(count, count)))
        return [b.bcsel(across, ddx, ddy), level, count]

    return routine("footprint", {**_derivatives(2, scaled), "limit": (1, 32)}, build, "ffff")


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
