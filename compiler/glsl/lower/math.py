"""Numeric built-in functions: the opcode, or few opcodes, of each.

A row is a function `(lowering, args) -> value`; `args` are the call's values in order. Functions
with `out` arguments return the result followed by the values written.
"""

from __future__ import annotations

from typing import Any, cast

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.lower import matrices, operators
from gallette.compiler.glsl.lower.math_table import MATH, row
from gallette.compiler.glsl.lower.values import Value
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.builder.formulas import Formulas
from gallette.compiler.nir.ir.values import Def

ROOMS = (matrices,)
"""modules that register their rows on import"""
FORMULAS = Formulas.beside(__file__, "formulas.txt")
"""functions written as formulas of a few opcodes"""


@row("mix")
def _mix(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    if e.params[2][1].is_boolean:
        return b.bcsel(args[2], args[1], args[0])
    return b.flrp(args[0], args[1], args[2])


@row("length")
def _length(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    x = args[0]
    if x.num_components == 1:
        return b.fabs(x)
    return b.fsqrt(b.dot(x, x))


@row("distance")
def _distance(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return _length(b, e, [b.fsub(args[0], args[1])])


@row("normalize")
def _normalize(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    x = args[0]
    if x.num_components == 1:
        return b.fsign(x)
    return b.fmul(x, b.frsq(b.dot(x, x)))


_COMPARISONS = {
    "lessThan": "<",
    "lessThanEqual": "<=",
    "greaterThan": ">",
    "greaterThanEqual": ">=",
}


@row(*_COMPARISONS)
def _relational(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    type_ = e.params[0][1]
    return operators.binary(b, _COMPARISONS[e.name], type_, args[0], type_, args[1])


@row("equal", "notEqual")
def _equal(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    is_float = e.params[0][1].is_float
    name = ("feq" if is_float else "ieq") if e.name == "equal" else "fneu" if is_float else "ine"
    with b.exactly():
        return b.alu(name, *args)


@row("any", "all")
def _any_all(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    value, combine = args[0], "ior" if e.name == "any" else "iand"
    result = b.alu_swizzled(combine, [(value, (0,)), (value, (1,))])
    for i in range(2, value.num_components):
        result = b.alu_swizzled(combine, [(result, (0,)), (value, (i,))])
    return result


# -- several results ------------------------------------------------------------------------------


@row("ldexp")
def _ldexp(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return ldexp(b, args[0], args[1])


def ldexp(b: Builder, x: Def, exponent: Def) -> Def:
    """x * 2 to the power of an exponent; denormals of 32 bits are flushed."""
    result = b.ldexp(x, exponent)
    return result if result.bit_size != 32 else FORMULAS.build(b, "flush", [result, x])


@row("modf")
def _modf(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    whole = b.ftrunc(args[0])
    return b.fsub(args[0], whole), whole


@row("frexp")
def _frexp(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return b.frexp_sig(args[0]), b.frexp_exp(args[0])


@row("uaddCarry")
def _uadd_carry(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return b.iadd(args[0], args[1]), b.uadd_carry(args[0], args[1])


@row("usubBorrow")
def _usub_borrow(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return b.isub(args[0], args[1]), b.usub_borrow(args[0], args[1])


@row("umulExtended", "imulExtended")
def _mul_extended(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    op = "umul_high" if e.name[0] == "u" else "imul_high"
    return None, b.alu(op, args[0], args[1]), b.imul(args[0], args[1])


@row("noise1", "noise2", "noise3", "noise4")
def _noise(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    # The specification allows noise to be constant, as in every implementation.
    return b.imm_zero(e.type.components, 32)


def is_numeric(name: str) -> bool:
    """Whether a built-in function is numeric, so that `lower_math` builds it."""
    return name in MATH or name in FORMULAS


def lower_math(b: Builder, e: hir.BuiltinCall, args: list[Value]) -> tuple[Any, ...] | None:
    """(result, written values...) of a numeric built-in, or None if it is not one."""
    row = MATH.get(e.name)
    if row is not None:
        result = row(b, e, args)
        return result if isinstance(result, tuple) else (result,)
    name = "atan2" if e.name == "atan" and len(args) == 2 else e.name
    if name not in FORMULAS:
        return None
    type_ = e.params[0][1]
    kind = "f" if type_.is_float else "i" if type_.is_signed else "u"
    return (FORMULAS.build(b, name, cast("list[Def]", args), kind),)
