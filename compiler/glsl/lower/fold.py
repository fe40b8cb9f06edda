"""Constant expressions, evaluated at compile time with the bits of run time.

Nothing here defines an operator or a built-in function. A constant expression is lowered with the
functions that lower any other (`lower.operators`, `lower.math`) to a few instructions on constants,
and these are evaluated by the opcode table. So a folded expression has the bits that it would have
at run time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeAlias

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.lower import operators
from gallette.compiler.glsl.lower import values as lowered
from gallette.compiler.glsl.lower.math import is_numeric, lower_math
from gallette.compiler.glsl.lower.values import vector_bits
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Alu, Def, LoadConst, Shader, Src, Stage, Undef
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.bits import bits_to_float
from gallette.compiler.nir.ir.fold import evaluated
from gallette.compiler.nir.ir.opcodes import Opcode
from gallette.compiler.nir.ir.types import Type

_UNFOLDABLE = ("noise",)
"""prefixes of functions that never form a constant expression"""
_DERIVATIVES = ("dFd", "fwidth")
"""prefixes of functions whose value is zero in a constant expression (GLSL 4.60, section 4.3.3)"""

Bits = tuple[int, ...]
_Source: TypeAlias = "tuple[int, tuple[int, ...] | None]"
"""(value, swizzle); without a swizzle, the whole value"""
_Step: TypeAlias = "tuple[Opcode, tuple[_Source, ...], tuple[int, ...], int]"
"""(opcode, sources, their bit sizes, bit size of the result)"""
Build = Callable[[Builder, list[lowered.Value]], lowered.Value]


def _value(type_: Type, bits: Bits) -> hir.Value:
    """Components from raw bits."""
    if type_.is_float:
        return tuple([bits_to_float(x, type_.bit_size) for x in bits])
    if type_.is_boolean:
        return tuple([bool(x) for x in bits])
    sign = 1 << (type_.bit_size - 1) if type_.is_signed else 0
    return tuple([(x ^ sign) - sign for x in bits])


def _defs(value: lowered.Value) -> list[Def]:
    """The vectors of a value."""
    if isinstance(value, list):
        return [d for part in value for d in _defs(part)]
    assert isinstance(value, Def)
    return [value]


def _vectors(type_: Type, value: hir.Value) -> list[Bits]:
    """The raw bits of a value's vectors, in the order of `_defs`."""
    if type_.element is not None:
        return [v for part in value for v in _vectors(type_.element, part)]
    if type_.is_struct:
        parts = zip(type_.fields, value, strict=True)
        return [v for f, part in parts for v in _vectors(f.type, part)]
    return _columns(type_, vector_bits(type_, value))


def _columns(type_: Type, bits: Bits) -> list[Bits]:
    """The vectors of a scalar, vector or matrix."""
    if type_.is_matrix:
        return [bits[i : i + type_.rows] for i in range(0, len(bits), type_.rows)]
    return [bits]


@lazy_dataclass(frozen=True)
class _Plan:
    """The steps that compute an expression for operands of some types, whatever their values.

    Values are numbered: the operands' vectors, then constants, then the results of steps.
    """

    constants: tuple[Bits, ...]
    steps: tuple[_Step, ...]
    result: tuple[int, ...]

    def run(self, operands: list[Bits]) -> Bits:
        """The raw bits of the result."""
        known = [*operands, *self.constants]
        for op, srcs, sizes, size in self.steps:
            args = tuple(
                [known[i] if s is None else tuple([known[i][c] for c in s]) for i, s in srcs]
            )
            known.append(evaluated(op, args, sizes, size))
        if len(self.result) == 1:
            return known[self.result[0]]
        return tuple([x for i in self.result for x in known[i]])


def _operand(b: Builder, type_: Type) -> lowered.Value:
    """A value of which only the type is known."""
    if type_.is_matrix:
        return [b.undef(type_.rows, type_.bit_size) for _ in range(type_.columns)]
    if type_.element is not None:
        return [_operand(b, type_.element) for _ in range(type_.length)]
    if type_.is_struct:
        return [_operand(b, f.type) for f in type_.fields]
    return b.undef(type_.components, type_.bit_size)


def _swizzle(src: Src) -> tuple[int, ...] | None:
    whole = src.swizzle == tuple(range(src.value.num_components))
    return None if whole else src.swizzle


def _plan(build: Build, types: Sequence[Type]) -> _Plan:
    """The steps of `build` for operands of some types, from a scratch function."""
    shader = Shader(Stage.COMPUTE, "constant")
    impl = shader.add_entry()
    b = Builder(impl)
    args = [_operand(b, kind) for kind in types]
    result = _defs(build(b, args))
    operands = _defs(args)
    instrs = list(impl.first.instrs())
    constants = [i for i in instrs if isinstance(i, LoadConst)]
    alus = [i for i in instrs if not isinstance(i, (LoadConst, Undef))]
    known = [*operands, *(i.dest for i in constants), *(i.dest for i in alus)]
    number = {value: i for i, value in enumerate(known)}
    steps: list[_Step] = []
    for instr in alus:
        assert isinstance(instr, Alu), "a constant expression is arithmetic"
        srcs = tuple([(number[s.value], _swizzle(s)) for s in instr.srcs])
        sizes = tuple([s.value.bit_size for s in instr.srcs])
        steps.append((instr.op, srcs, sizes, instr.dest.bit_size))
    result_numbers = tuple([number[d] for d in result])
    plan = _Plan(tuple([i.values for i in constants]), tuple(steps), result_numbers)
    shader.unref()
    return plan


# -- the foldable expressions ----------------------------------------------------------------------
#
# Results of operators are cached by the bits of their operands (-0.0 is not 0.0), because `-1.0`
# and `float(2)` occur often.


def unary(op: str, type_: Type, value: hir.Value) -> hir.Value:
    """-x, !x, ~x."""
    return _value(type_, _unary(op, type_, vector_bits(type_, value)))


def convert(source: Type, target: Type, value: hir.Value) -> hir.Value:
    """Convert components between types of one shape."""
    if source.base is target.base:
        return value
    return _value(target, _convert(source, target, vector_bits(source, value)))


def binary(op: str, result: Type, ta: Type, a: hir.Value, tb: Type, b: hir.Value) -> hir.Value:
    """`a op b`; the operands have the same base type unless shifting."""
    return _value(result, _binary(op, ta, vector_bits(ta, a), tb, vector_bits(tb, b)))


def equal(type_: Type, a: hir.Value, b: hir.Value) -> bool:
    """The == operator on whole values of any type (NaN differs from itself)."""
    return bool(_equal(type_).run(_vectors(type_, a) + _vectors(type_, b))[0])


def builtin(call: hir.BuiltinCall, values: list[hir.Value]) -> hir.Value | None:
    """The value of a call with constant arguments, or None if it is not a constant expression."""
    if call.name.startswith(_DERIVATIVES):
        return _value(call.type, (0,) * call.type.components)
    types = tuple([a.type for a in call.args])
    plan = _builtin(call.name, call.type, call.params, types)
    if plan is None:
        return None
    operands: list[Bits] = []
    for type_, value in zip(types, values, strict=True):
        operands += _vectors(type_, value)
    return _value(call.type, plan.run(operands))


@lru_cache(maxsize=1024)
def _equal(type_: Type) -> _Plan:
    return _plan(lambda b, args: operators.equal(b, type_, args[0], args[1]), [type_, type_])


@lru_cache(maxsize=4096)
def _builtin(
    name: str, type_: Type, params: tuple[tuple[str, Type], ...], types: tuple[Type, ...]
) -> _Plan | None:
    if name.startswith(_UNFOLDABLE) or type_ is t.VOID or not is_numeric(name):
        return None
    if any(direction not in ("in", "const") for direction, _ in params):
        return None
    call = hir.BuiltinCall(type_, 0, 0, name, params, ())

    def build(b: Builder, args: list[lowered.Value]) -> lowered.Value:
        results = lower_math(b, call, args)
        assert results is not None
        return results[0]

    return _plan(build, types)


@lru_cache(maxsize=4096)
def _unary(op: str, type_: Type, bits: Bits) -> Bits:
    return _unary_plan(op, type_).run(_columns(type_, bits))


@lru_cache(maxsize=256)
def _unary_plan(op: str, type_: Type) -> _Plan:
    return _plan(lambda b, args: operators.negate(b, op, type_, args[0]), [type_])


@lru_cache(maxsize=4096)
def _convert(source: Type, target: Type, bits: Bits) -> Bits:
    return _convert_plan(source, target).run(_columns(source, bits))


@lru_cache(maxsize=256)
def _convert_plan(source: Type, target: Type) -> _Plan:
    def build(b: Builder, args: list[lowered.Value]) -> lowered.Value:
        columns = args[0] if isinstance(args[0], list) else [args[0]]
        return [lowered.convert(b, column, source, target) for column in columns]

    return _plan(build, [source])


@lru_cache(maxsize=4096)
def _binary(op: str, ta: Type, a: Bits, tb: Type, b: Bits) -> Bits:
    return _binary_plan(op, ta, tb).run(_columns(ta, a) + _columns(tb, b))


@lru_cache(maxsize=1024)
def _binary_plan(op: str, ta: Type, tb: Type) -> _Plan:
    return _plan(lambda b, args: operators.binary(b, op, ta, args[0], tb, args[1]), [ta, tb])
