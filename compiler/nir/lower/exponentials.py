"""Powers and logarithms: the exponent by integer arithmetic, the rest by a polynomial.

The polynomials are minimax fits of relative error (weighted least squares, iterated), accurate to
2e-9 and 4e-9, so only rounding errors remain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.lower.reciprocals import multiply_add
from gallette.compiler.nir.lower.table import enter, special
from gallette.compiler.nir.lower.target_machine import Machine

__all__ = ["polynomial"]

# 2 to the power x, -1/2 <= x <= 1/2.
_EXP2 = (
    *(1.0, 0.6931472057, 0.2402264689, 0.05550328777),
    *(0.009618488958, 0.001339993122, 0.0001534581189),
)
# log2(1 + x) / x, sqrt(1/2) <= 1 + x <= sqrt(2).
_LOG2 = (
    *(1.442695041, -0.7213473515, 0.4808982411, -0.3606966494, 0.2885674082),
    *(-0.2396174033, 0.2046006231, -0.19106276, 0.1861749433, -0.1099495171),
)
_ROOT_HALF = 0x3F3504F3  # the bits of sqrt(1/2)


def polynomial(b: Builder, m: Machine, x: Def, coefficients: Sequence[float]) -> Def:
    """Horner's rule, lowest coefficient first."""
    total = b.imm_float(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total = multiply_add(b, m, total, x, b.imm_float(c))
    return total


def _power_of_two(b: Builder, n: Def) -> Def:
    """2 to the power n, an integer from -126 to 127."""
    return b.ishl(b.iadd(n, b.imm_int(127)), b.imm_int(23))


def _exp2(b: Builder, m: Machine, x: Def) -> Def:
    """2 to the power x. The integer part becomes the exponent, in two halves so that denormals are
    right.
    """
    inside = b.fmin(b.fmax(x, b.imm_float(-152.0)), b.imm_float(130.0))
    whole = b.ffloor(b.fadd(inside, b.imm_float(0.5)))
    value = polynomial(b, m, b.fadd(inside, b.fneg(whole)), _EXP2)
    n = b.f2i32(whole)
    half = b.ishr(n, b.imm_int(1))
    rest = b.iadd(n, b.ineg(half))
    value = b.fmul(b.fmul(value, _power_of_two(b, half)), _power_of_two(b, rest))
    return b.bcsel(b.feq(x, x), value, x)


def _log2(b: Builder, m: Machine, x: Def) -> Def:
    """The logarithm e + log2(1 + f) of x = 2**e (1 + f), with 1 + f near one, so that nothing
    cancels.
    """
    tiny = b.flt(x, b.imm_float(2.0**-126))
    bits = b.bcsel(tiny, b.fmul(x, b.imm_float(2.0**23)), x)
    e = b.ishr(b.iadd(bits, b.imm_int(-_ROOT_HALF)), b.imm_int(23))
    f = b.fadd(b.iadd(bits, b.ineg(b.ishl(e, b.imm_int(23)))), b.imm_float(-1.0))
    exponent = b.fadd(b.i2f32(e), b.bcsel(tiny, b.imm_float(-23.0), b.imm_float(0.0)))
    value = multiply_add(b, m, f, polynomial(b, m, f, _LOG2), exponent)
    zero, nan = b.imm_float(0.0), b.imm_float(math.nan)
    value = b.bcsel(b.flt(x, b.imm_float(math.inf)), value, x)  # infinity and NaN remain
    value = b.bcsel(b.feq(x, zero), b.imm_float(-math.inf), value)
    return b.bcsel(b.flt(x, zero), nan, value)


def _power(b: Builder, m: Machine, x: Def, y: Def) -> Def:
    return special(b, m, "fexp2", b.fmul(special(b, m, "flog2", x), y))


enter({"fexp2": _exp2, "flog2": _log2, "fpow": _power})
