"""Reciprocals, roots and quotients by Newton-Raphson from an 8-bit approximation.

For y near 1/x, e = 1 - x y is the relative error, and that of y + y e is e squared: each step
doubles the number of correct bits, 8, 16, 32. For y near 1/sqrt(x) it is e = 1 - x y y and y + y
e/2. With `ffma` e has a single rounding, of a number near zero; without, x y is rounded near one,
so the last bit or two may be wrong.

Zero, infinity and overflow need no tests: there e is NaN or infinite, the refined value is NaN, and
then the approximation itself is the right result (or a NaN).
"""

from __future__ import annotations

import math

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.lower.table import enter, special
from gallette.compiler.nir.lower.target_machine import Machine

__all__ = ["multiply_add", "reciprocal"]


def multiply_add(b: Builder, m: Machine, x: Def, y: Def, z: Def) -> Def:
    """x y + z, rounded once if the machine can."""
    return b.ffma(x, y, z) if m.ffma else b.fadd(b.fmul(x, y), z)


def _unless_nan(b: Builder, value: Def, otherwise: Def) -> Def:
    return b.bcsel(b.feq(value, value), value, otherwise)


def reciprocal(b: Builder, m: Machine, x: Def) -> Def:
    """1/x."""
    one = b.imm_float(1.0)
    if "fdiv" in m.has:
        return b.fdiv(one, x)
    first = y = b.frcp_8bit(x)
    for _ in range(m.steps):
        wrong = multiply_add(b, m, b.fneg(x), y, one)
        y = multiply_add(b, m, y, wrong, y)
    return _unless_nan(b, y, first) if m.steps else y


def _reciprocal_root(b: Builder, m: Machine, x: Def) -> Def:
    """1/sqrt(x)."""
    if "frsq_8bit" not in m.has:
        return special(b, m, "frcp", b.fsqrt(x))
    one, half = b.imm_float(1.0), b.imm_float(0.5)
    first = y = b.frsq_8bit(x)
    for _ in range(m.steps):
        wrong = multiply_add(b, m, b.fneg(b.fmul(x, y)), y, one)
        y = multiply_add(b, m, b.fmul(y, half), wrong, y)
    return _unless_nan(b, y, first) if m.steps else y


def _root(b: Builder, m: Machine, x: Def) -> Def:
    """sqrt(x) = x / sqrt(x), plus a correction by half of the residue."""
    y = special(b, m, "frsq", x)
    root = b.fmul(x, y)
    if m.ffma and ("frsq" in m.has or m.steps):
        lacks = b.ffma(b.fneg(root), root, x)
        root = b.ffma(b.fmul(y, b.imm_float(0.5)), lacks, root)
    # 0 and infinity are their own roots (0 times infinity otherwise); below zero NaN remains.
    itself = b.ior(b.feq(x, b.imm_float(0.0)), b.feq(x, b.imm_float(math.inf)))
    return b.bcsel(itself, x, root)


def _quotient(b: Builder, m: Machine, x: Def, y: Def) -> Def:
    inverse = special(b, m, "frcp", y)
    quotient = b.fmul(x, inverse)
    if not m.exact_division:
        return quotient
    lacks = multiply_add(b, m, b.fneg(y), quotient, x)
    better = _unless_nan(b, multiply_add(b, m, lacks, inverse, quotient), quotient)
    return b.bcsel(b.feq(quotient, b.imm_float(0.0)), quotient, better)  # -0 remains


def _modulus(b: Builder, m: Machine, x: Def, y: Def) -> Def:
    whole = b.ffloor(special(b, m, "fdiv", x, y))
    return b.fadd(x, b.fneg(b.fmul(y, whole)))


def _remainder(b: Builder, m: Machine, x: Def, y: Def) -> Def:
    whole = b.ftrunc(special(b, m, "fdiv", x, y))
    return b.fadd(x, b.fneg(b.fmul(y, whole)))


enter(
    {
        "frcp": reciprocal,
        "frsq": _reciprocal_root,
        "fsqrt": _root,
        "fdiv": _quotient,
        "fmod": _modulus,
        "frem": _remainder,
    }
)
