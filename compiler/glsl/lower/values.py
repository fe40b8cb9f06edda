"""Values of expressions during lowering.

A scalar or vector is one SSA `Def`. A matrix is a list of column Defs. An array or struct is a list
of values, or a `Deref` if it is in a variable, so that large arrays are copied as a whole.
"""

from __future__ import annotations

from typing import Any

from gallette.compiler.glsl.check.hir import Value as ConstValue
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Def, Deref
from gallette.compiler.nir.ir.bits import floats_bits
from gallette.compiler.nir.ir.types import Type

Value = Any
"""Def | list[Value] | Deref"""


def letter(type_: Type) -> str:
    """The letter of a base type in opcodes and `dest_type`: f, i, u or b."""
    if type_.is_float:
        return "f"
    if type_.is_boolean:
        return "b"
    return "i" if type_.is_signed else "u"


def vector_bits(type_: Type, value: ConstValue) -> tuple[int, ...]:
    """Raw bits of the components of a scalar, vector or matrix."""
    if type_.is_float:
        return floats_bits(value, type_.bit_size)
    mask = (1 << type_.bit_size) - 1
    return tuple([int(x) & mask for x in value])


def constant_bits(type_: Type, value: ConstValue) -> Any:
    """A constant as nested tuples of raw bits, one tuple per vector (NIR's initialiser form)."""
    if type_.element is not None:
        return tuple(constant_bits(type_.element, v) for v in value)
    if type_.is_struct:
        return tuple(constant_bits(f.type, v) for f, v in zip(type_.fields, value, strict=True))
    bits = vector_bits(type_, value)
    if type_.is_matrix:
        return tuple(bits[i * type_.rows : (i + 1) * type_.rows] for i in range(type_.columns))
    return bits


def constant(b: Builder, type_: Type, value: ConstValue) -> Value:
    """A constant value as SSA."""
    if type_.element is not None:
        return [constant(b, type_.element, v) for v in value]
    if type_.is_struct:
        return [constant(b, f.type, v) for f, v in zip(type_.fields, value, strict=True)]
    bits = constant_bits(type_, value)
    if type_.is_matrix:
        return [b.const(column, type_.bit_size) for column in bits]
    return b.const(bits, type_.bit_size)


def load(b: Builder, deref: Deref) -> Value:
    """Load everything in a deref, part by part."""
    type_ = deref.type
    if type_.is_matrix:
        return [b.load_deref(b.deref_array_imm(deref, i)) for i in range(type_.columns)]
    if type_.element is not None:
        return [load(b, b.deref_array_imm(deref, i)) for i in range(type_.length)]
    if type_.is_struct:
        return [load(b, b.deref_struct(deref, i)) for i in range(len(type_.fields))]
    return b.load_deref(deref)


def store(b: Builder, deref: Deref, value: Value) -> None:
    """Store a whole value."""
    type_ = deref.type
    if isinstance(value, Deref):
        if type_ is value.type:
            b.copy_deref(deref, value)
        else:
            _store_parts(b, deref, load(b, value))
    elif isinstance(value, list):
        _store_parts(b, deref, value)
    else:
        b.store_deref(deref, value)


def _store_parts(b: Builder, deref: Deref, parts: list[Value]) -> None:
    if deref.type.is_struct:
        for i, part in enumerate(parts):
            store(b, b.deref_struct(deref, i), part)
    else:
        for i, part in enumerate(parts):
            store(b, b.deref_array_imm(deref, i), part)


def convert(b: Builder, value: Def, source: Type, target: Type) -> Def:
    """Convert the components of a scalar or vector between base types."""
    if source.base is target.base:
        return value
    a, z = letter(source), letter(target)
    bits = target.bit_size
    if z == "b":
        zero = b.imm_zero(1, source.bit_size)
        return b.fneu(value, zero) if a == "f" else b.ine(value, zero)
    if a in "iu" and z in "iu":
        if source.bit_size == bits:
            return value
        return b.alu(f"{a}2{a}{bits}", value)
    if a == "b":
        return b.alu(f"b2{'f' if z == 'f' else 'i'}{bits}", value)
    if a == "f" and z == "f":
        return b.alu(f"f2f{bits}", value)
    return b.alu(f"{a}2{z}{bits}", value)
