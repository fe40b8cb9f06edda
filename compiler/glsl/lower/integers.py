"""Built-in functions of integers that are more than one opcode."""

from __future__ import annotations

from typing import Any

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.lower.math_table import row
from gallette.compiler.nir.builder import Builder

__all__: list[str] = []


@row("bitfieldExtract")
def _bitfield_extract(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    op = "ibitfield_extract" if e.type.is_signed else "ubitfield_extract"
    return b.alu(op, *args)


@row("bitfieldInsert")
def _bitfield_insert(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return b.bitfield_insert(*args)


@row("countLeadingZeros")
def _leading(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return b.isub(b.imm_int(31), b.ufind_msb(args[0]))


@row("countTrailingZeros")
def _trailing(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    x = args[0]
    return b.bcsel(b.ieq(x, b.imm_int(0)), b.imm_int(32), b.find_lsb(x))


@row("absoluteDifference")
def _absolute_difference(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    x, y = args
    less = b.ilt(x, y) if e.params[0][1].is_signed else b.ult(x, y)
    return b.bcsel(less, b.isub(y, x), b.isub(x, y))


@row("multiply32x16")
def _multiply32x16(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    sixteen = b.imm_int(16)
    high = b.ishl(args[1], sixteen)
    return b.imul(args[0], b.ishr(high, sixteen) if e.type.is_signed else b.ushr(high, sixteen))


@row("min3", "max3", "mid3")
def _trinary(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    prefix = "f" if e.type.is_float else "i" if e.type.is_signed else "u"
    low, high = f"{prefix}min", f"{prefix}max"
    x, y, z = args
    if e.name != "mid3":
        op = low if e.name == "min3" else high
        return b.alu(op, b.alu(op, x, y), z)
    return b.alu(high, b.alu(low, x, y), b.alu(low, b.alu(high, x, y), z))
