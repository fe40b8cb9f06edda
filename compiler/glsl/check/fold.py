"""Constant expressions: what the machine would compute, computed at compile time.

Nothing here knows what an operator or a built-in function means. A constant expression is lowered
with the functions that lower any other (`lower.operators`, `lower.math`), into a few instructions
on constants, and these are evaluated by the opcode table. So a folded expression has the bits that
the same expression would have had at run time.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.lower import operators
from gallette.compiler.glsl.lower import values as lowered
from gallette.compiler.glsl.lower.math import lower_math
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Alu, Def, FunctionImpl, LoadConst, Shader, Stage
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.bits import bits_to_float
from gallette.compiler.nir.ir.fold import evaluated
from gallette.compiler.nir.ir.types import Base, Type

__all__ = ["binary", "builtin", "convert", "equal", "round_to", "unary"]

_F32 = struct.Struct("<f")
_SIGNED = (Base.INT, Base.INT64)
_BITS = {Base.INT: 32, Base.UINT: 32, Base.INT64: 64, Base.UINT64: 64}
_UNFOLDABLE = ("noise", "dFd", "fwidth")
"""prefixes of functions that are no constant expressions, whatever their arguments"""

Bits = tuple[int, ...]
Build = Callable[[Builder, list[lowered.Value]], lowered.Value]


def round_to(base: Base, x: Any) -> Any:
    """A literal as its type can hold it: the nearest float, a wrapped integer."""
    if base is Base.FLOAT:
        try:
            return _F32.unpack(_F32.pack(x))[0]
        except OverflowError:
            return math.copysign(math.inf, x)
    if base is Base.DOUBLE:
        return float(x)
    if base is Base.BOOL:
        return bool(x)
    bits = _BITS[base]
    x = int(x) & ((1 << bits) - 1)
    return x - (1 << bits) if base in _SIGNED and x >> (bits - 1) else x


def _value(type_: Type, bits: Bits) -> hir.Value:
    """Components from their raw bits."""
    if type_.is_float:
        return tuple([bits_to_float(x, type_.bit_size) for x in bits])
    return tuple([round_to(type_.base, x) for x in bits])


def _defs(value: lowered.Value) -> list[Def]:
    """The vectors a value consists of."""
    if isinstance(value, list):
        return [d for part in value for d in _defs(part)]
    assert isinstance(value, Def)
    return [value]


_rooms: list[FunctionImpl] = []
"""Functions nobody builds in at the moment: a shader is much to make for one expression."""


def _run(build: Build, types: list[Type], values: list[hir.Value]) -> Bits:
    """The raw bits of what `build` makes of some constants, in a function of its own."""
    try:
        impl = _rooms.pop()
    except IndexError:  # several threads may compile at once
        impl = _new_room()
    b = Builder(impl)
    args = [lowered.constant(b, kind, v) for kind, v in zip(types, values, strict=True)]
    result = build(b, args)
    known: dict[Def, Bits] = {}
    for instr in impl.first.instrs():
        if isinstance(instr, LoadConst):
            known[instr.dest] = instr.values
        else:
            assert isinstance(instr, Alu), "a constant expression is arithmetic"
            known[instr.dest] = _computed(instr, known)
    impl.first.first = impl.first.last = None
    _rooms.append(impl)
    return tuple([x for d in _defs(result) for x in known[d]])


def _new_room() -> FunctionImpl:
    shader = Shader(Stage.COMPUTE, "constant")
    impl = shader.add_entry()
    shader.unref()  # nobody owns it; `impl` keeps it
    return impl


def _computed(instr: Alu, known: dict[Def, Bits]) -> Bits:
    srcs = tuple([tuple([known[s.value][c] for c in s.swizzle]) for s in instr.srcs])
    sizes = tuple([s.value.bit_size for s in instr.srcs])
    return evaluated(instr.op, srcs, sizes, instr.dest.bit_size)


# -- the foldable expressions ----------------------------------------------------------------------
#
# Operators are remembered by the bits of their operands (-0.0 is not 0.0): `-1.0` and `float(2)`
# are written again and again.


def unary(op: str, type_: Type, value: hir.Value) -> hir.Value:
    """-x, !x, ~x."""
    return _value(type_, _unary(op, type_, _bits(type_, value)))


def convert(source: Type, target: Type, value: hir.Value) -> hir.Value:
    """Component-wise conversion between types of one shape."""
    if source.base is target.base:
        return value
    return _value(target, _convert(source, target, _bits(source, value)))


def binary(op: str, result: Type, ta: Type, a: hir.Value, tb: Type, b: hir.Value) -> hir.Value:
    """`a op b`; the operands have the same base type unless shifting."""
    return _value(result, _binary(op, ta, _bits(ta, a), tb, _bits(tb, b)))


def equal(type_: Type, a: hir.Value, b: hir.Value) -> bool:
    """The == operator on whole values of any type (NaN differs from itself)."""
    build: Build = lambda m, args: operators.equal(m, type_, args[0], args[1])  # noqa: E731
    return bool(_run(build, [type_, type_], [a, b])[0])


def builtin(call: hir.BuiltinCall, values: list[hir.Value]) -> hir.Value | None:
    """The value of a call with constant arguments, or None when it is no constant expression."""
    if call.name.startswith(_UNFOLDABLE) or call.type is t.VOID:
        return None
    if any(direction not in ("in", "const") for direction, _ in call.params):
        return None
    results: list[Any] = []

    def build(b: Builder, args: list[lowered.Value]) -> lowered.Value:
        results.append(lower_math(b, call, args))
        return results[0][0] if results[0] is not None else []

    bits = _run(build, [a.type for a in call.args], values)
    return _value(call.type, bits) if results[0] is not None else None


def _bits(type_: Type, value: hir.Value) -> Bits:
    return tuple([lowered.component_bits(type_, x) for x in value])


@lru_cache(maxsize=4096)
def _unary(op: str, type_: Type, bits: Bits) -> Bits:
    build: Build = lambda b, args: operators.negate(b, op, type_, args[0])  # noqa: E731
    return _run(build, [type_], [_value(type_, bits)])


@lru_cache(maxsize=4096)
def _convert(source: Type, target: Type, bits: Bits) -> Bits:
    build: Build = lambda b, args: operators.convert(b, args[0], source, target)  # noqa: E731
    return _run(build, [source], [_value(source, bits)])


@lru_cache(maxsize=4096)
def _binary(op: str, ta: Type, a: Bits, tb: Type, b: Bits) -> Bits:
    build: Build = lambda m, args: operators.binary(m, op, ta, args[0], tb, args[1])  # noqa: E731
    return _run(build, [ta, tb], [_value(ta, a), _value(tb, b)])
