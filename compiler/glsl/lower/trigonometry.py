"""Angles, exponentials and hyperbolic functions: what NIR has no opcode for.

The polynomials are least-squares fits at Chebyshev nodes, good to about 3e-7.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.lower.math_table import imm, row
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Def

__all__: list[str] = []


@row("radians", "degrees")
def _angle(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    factor = math.pi / 180 if e.name == "radians" else 180 / math.pi
    return b.fmul(args[0], imm(b, factor, args[0]))


@row("tan")
def _tan(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return b.fdiv(b.fsin(args[0]), b.fcos(args[0]))


@row("exp")
def _exp(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return b.fexp2(b.fmul(args[0], imm(b, math.log2(math.e), args[0])))


@row("log")
def _log(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return b.fmul(b.flog2(args[0]), imm(b, math.log(2), args[0]))


def _polynomial(b: Builder, x: Def, coefficients: Sequence[float]) -> Def:
    """Horner's rule, lowest coefficient first."""
    total = imm(b, coefficients[-1], x)
    for c in reversed(coefficients[:-1]):
        total = b.fadd(b.fmul(total, x), imm(b, c, x))
    return total


# acos(x) = sqrt(1 - x) * p(x) on [0, 1]; least squares at Chebyshev nodes, like the two below.
_ACOS = (
    1.570796302,
    -0.2145984942,
    0.0889740993,
    -0.05014502502,
    0.03080825342,
    -0.01696547197,
    0.006580885248,
    -0.001237004856,
)
# asin(x) = x + x^3 p(x^2) on [0, 1/2].
_ASIN = (
    0.1666666631,
    0.07500099496,
    0.04459786805,
    0.03111765696,
    0.01707185873,
    0.03381447508,
)


def _acos_positive(b: Builder, x: Def) -> Def:
    return b.fmul(b.fsqrt(b.fsub(imm(b, 1.0, x), x)), _polynomial(b, x, _ACOS))


@row("acos")
def _acos(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    x = args[0]
    positive = _acos_positive(b, b.fabs(x))
    negative = b.fsub(imm(b, math.pi, x), positive)
    return b.bcsel(b.flt(x, imm(b, 0.0, x)), negative, positive)


@row("asin")
def _asin(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    x = args[0]
    a = b.fabs(x)
    large = b.fsub(imm(b, math.pi / 2, x), _acos_positive(b, a))
    square = b.fmul(a, a)
    small = b.fadd(a, b.fmul(b.fmul(a, square), _polynomial(b, square, _ASIN)))
    value = b.bcsel(b.flt(a, imm(b, 0.5, x)), small, large)
    return b.bcsel(b.flt(x, imm(b, 0.0, x)), b.fneg(value), value)


# atan(x) = x * p(x^2) on [0, 1].
_ATAN = (
    1.0,
    -0.3333314528,
    0.1999355085,
    -0.1420889944,
    0.1065626393,
    -0.0752896400,
    0.0429096138,
    -0.0161657367,
    0.0028662257,
)


def _atan_unit(b: Builder, x: Def) -> Def:
    """atan of 0 <= x <= 1."""
    return b.fmul(x, _polynomial(b, b.fmul(x, x), _ATAN))


@row("atan")
def _atan(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    if len(args) == 2:
        return _atan2(b, args[0], args[1])
    x = args[0]
    one = imm(b, 1.0, x)
    a = b.fabs(x)
    big = b.flt(one, a)
    small = _atan_unit(b, b.bcsel(big, b.frcp(a), a))
    value = b.bcsel(big, b.fsub(imm(b, math.pi / 2, x), small), small)
    return b.bcsel(b.flt(x, imm(b, 0.0, x)), b.fneg(value), value)


def _atan2(b: Builder, y: Def, x: Def) -> Def:
    zero = imm(b, 0.0, x)
    ax, ay = b.fabs(x), b.fabs(y)
    steep = b.flt(ax, ay)
    low, high = b.fmin(ax, ay), b.fmax(ax, ay)
    # Scaling keeps the reciprocal of huge values out of the denormals; equal infinities give 1.
    huge = b.flt(imm(b, 1e18, x), high)
    scale = b.bcsel(huge, imm(b, 0.25, x), imm(b, 1.0, x))
    ratio = b.fmul(b.fmul(low, scale), b.frcp(b.fmul(high, scale)))
    ratio = b.bcsel(b.feq(low, high), imm(b, 1.0, x), ratio)
    ratio = b.bcsel(b.feq(high, zero), zero, ratio)
    angle = _atan_unit(b, ratio)
    angle = b.bcsel(steep, b.fsub(imm(b, math.pi / 2, x), angle), angle)
    angle = b.bcsel(b.flt(x, zero), b.fsub(imm(b, math.pi, x), angle), angle)
    return b.bcsel(b.flt(y, zero), b.fneg(angle), angle)


@row("sinh", "cosh")
def _hyperbolic(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    x = args[0]
    scaled = b.fmul(x, imm(b, math.log2(math.e), x))
    up, down = b.fexp2(scaled), b.fexp2(b.fneg(scaled))
    total = b.fsub(up, down) if e.name == "sinh" else b.fadd(up, down)
    return b.fmul(total, imm(b, 0.5, x))


@row("tanh")
def _tanh(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    # Beyond 10 the result rounds to 1; clamping keeps both exponentials finite.
    x = b.fmin(b.fmax(args[0], imm(b, -10.0, args[0])), imm(b, 10.0, args[0]))
    scaled = b.fmul(x, imm(b, math.log2(math.e), x))
    up, down = b.fexp2(scaled), b.fexp2(b.fneg(scaled))
    return b.fdiv(b.fsub(up, down), b.fadd(up, down))


@row("asinh")
def _asinh(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    x = args[0]
    a = b.fabs(x)
    one = imm(b, 1.0, x)
    root = b.fsqrt(b.fadd(b.fmul(a, a), one))
    value = b.fmul(b.flog2(b.fadd(a, root)), imm(b, math.log(2), x))
    return b.fmul(b.fsign(x), value)


@row("acosh")
def _acosh(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    x = args[0]
    root = b.fsqrt(b.fsub(b.fmul(x, x), imm(b, 1.0, x)))
    return b.fmul(b.flog2(b.fadd(x, root)), imm(b, math.log(2), x))


@row("atanh")
def _atanh(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    x = args[0]
    one = imm(b, 1.0, x)
    quotient = b.fdiv(b.fadd(one, x), b.fsub(one, x))
    return b.fmul(b.flog2(quotient), imm(b, math.log(2) / 2, x))
