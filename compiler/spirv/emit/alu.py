"""Arithmetic: the SPIR-V of each NIR opcode.

Most opcodes are one instruction, so they are rows of `spirv.tables`; kinds of sources and results
come from NIR's table of opcodes. Opcodes without an instruction are formulas there, or functions
here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gallette.compiler.function_table import FunctionTable
from gallette.compiler.nir.builder.formulas import Formulas
from gallette.compiler.nir.ir.bits import float_bits
from gallette.compiler.nir.ir.instrs import Alu
from gallette.compiler.nir.ir.opcodes import OPCODES, AluType, Opcode
from gallette.compiler.spirv import tables
from gallette.compiler.spirv.emit.values import Value, Values
from gallette.compiler.spirv.module import SpirvError

_FORMULAS = Formulas.beside(__file__, "formulas.txt", ("all", "any", "pair"))
_COMPOSED = FunctionTable[str, Callable[["_Ops"], Value]]()
_composed = _COMPOSED.entry
_SHIFTS = frozenset({"ishl", "ishr", "ushr"})
_CONTRACTED = frozenset({"OpFAdd", "OpFSub", "OpFMul", "OpFDiv", "OpDot", "OpFNegate"})


def _kind(type: AluType, bits: int) -> str:
    if type.base == "bool" or bits == 1:
        return "b"
    return "f" if type.base == "float" else "u"


def _formula(name: str) -> str:
    """The formula of an opcode; comparisons of whole vectors share one for all widths."""
    return name[:-1] if name.startswith(("ball_", "bany_")) else name


class _Ops:
    """One opcode being emitted, with values of any kind."""

    def __init__(self, values: Values, op: Opcode, srcs: Sequence[Value]) -> None:
        self.values, self.b = values, values.b
        self.op = op
        self.given = srcs
        sized = srcs[op.sized_by].bits if srcs else 0
        self.bits = op.output_type.bits or sized
        widths = [s.components for s, n in zip(srcs, op.input_sizes, strict=True) if not n]
        self.n = op.output_size or max(widths, default=1)

    def src(self, i: int, kind: str = "") -> Value:
        """A source, repeated to the width of the result, and of the kind that the opcode takes."""
        src = self.given[i]
        kind = kind or _kind(self.op.input_types[i], src.bits)
        if kind not in ("any", src.kind):
            src = self.values.cast(src, kind)
        if not self.op.input_sizes[i] and src.components < self.n:
            src = self.values.swizzle(src, (0,) * self.n)
        return src

    def srcs(self) -> list[Value]:
        return [self.src(i) for i in range(len(self.given))]

    def result(self, name: str, *words: int, kind: str = "", n: int = 0) -> Value:
        """An instruction with the shape of the destination, or with `n` components."""
        kind, n = kind or _kind(self.op.output_type, self.bits), n or self.n
        type = self.values.type(kind, self.bits, n)
        id = (self.b.op if name.startswith("Op") else self.b.ext)(name, type, *words)
        return Value(id, kind, self.bits, n)

    def write(self) -> Value:
        """Emit the opcode."""
        name = self.op.name
        if name in _COMPOSED:
            return _COMPOSED[name](self)
        if name in tables.OPCODES:
            if name.endswith(("_fine", "_coarse")):
                self.b.capability("DerivativeControl")
            srcs = self.srcs()
            if name in _SHIFTS:
                srcs[1] = _masked(self, srcs[1], srcs[0].bits)
            written = tables.OPCODES[name]
            if srcs[0].kind == "b":
                written = tables.ON_BOOLS.get(name, written)
            return self.result(written, *[s.id for s in srcs])
        if _formula(name) in _FORMULAS:
            made: Value = _FORMULAS.make(_ValueMaker(self.values), _formula(name), self.srcs())
            return made
        raise SpirvError(f"opcode {name} has no counterpart")


class _Number(NamedTuple):
    """A number in a formula, which becomes a constant as wide as the other operand."""

    value: float
    base: str
    bits: int


class _ValueMaker:
    """Builds formulas with values of the module."""

    def __init__(self, values: Values) -> None:
        self.values = values

    def alu(self, name: str, srcs: Sequence[Value | _Number]) -> Value:
        op = OPCODES[name]
        given = [s if isinstance(s, Value) else self._constant(s) for s in srcs]
        return _Ops(self.values, op, given).write()

    def _constant(self, number: _Number) -> Value:
        is_float, bits = number.base == "float", number.bits
        raw = float_bits(number.value, bits) if is_float else int(number.value) & (1 << bits) - 1
        return self.values.constant("f" if is_float else "u", bits, (raw,))

    def number(self, value: float, base: str, bits: int) -> _Number:
        return _Number(value, base, bits)

    def swizzle(self, value: Value, components: str) -> Value:
        return self.values.swizzle(value, tuple(map("xyzw".index, components)))

    def size(self, value: Value) -> int:
        return value.bits

    def routine(self, name: str, srcs: Sequence[Value]) -> Value:
        values, first = self.values, srcs[0]
        if name == "pair":
            type = values.type(first.kind, first.bits, 2)
            made = values.b.op("OpCompositeConstruct", type, *[s.id for s in srcs])
            return Value(made, first.kind, first.bits, 2)
        op = {"all": "OpAll", "any": "OpAny"}[name]
        return Value(values.b.op(op, values.type("b", 1), first.id), "b", 1, 1)


def emit_alu(values: Values, instr: Alu) -> None:
    """Emit one ALU instruction."""
    start = len(values.b.code)
    read: dict[object, Value] = {}
    for src in instr.srcs:
        if (src.value, src.swizzle) not in read:
            read[src.value, src.swizzle] = values.swizzle(values.get(src.value), src.swizzle)
    ops = _Ops(values, instr.op, [read[src.value, src.swizzle] for src in instr.srcs])
    ops.bits, ops.n = instr.result.bit_size, instr.result.num_components
    value = ops.write()
    if instr.exact and value.kind == "f":
        for written in values.b.code[start:]:
            if written.name in _CONTRACTED:
                values.b.decorate(written.words[1], "NoContraction")
    values.set(instr.result, value.id, value.kind)


def supported_opcodes() -> set[str]:
    """Names of opcodes that can be emitted."""
    return {
        name
        for name in OPCODES
        if name in tables.OPCODES or name in _COMPOSED or _formula(name) in _FORMULAS
    }


def _masked(o: _Ops, count: Value, bits: int) -> Value:
    """The low bits of a shift count, since SPIR-V requires counts in range."""
    type = o.values.type("u", count.bits, count.components)
    mask = o.values.number(count, bits - 1)
    return count._replace(id=o.b.op("OpBitwiseAnd", type, count.id, mask))


@_composed("mov")
def _mov(o: _Ops) -> Value:
    return o.src(0, "any")


@_composed(*[n for n, op in OPCODES.items() if op.is_vec])
def _vec(o: _Ops) -> Value:
    parts = o.given
    kinds = {p.kind for p in parts}
    kind = kinds.pop() if len(kinds) == 1 else "u"
    ids = [o.values.cast(p, kind).id if p.kind != kind else p.id for p in parts]
    return o.result("OpCompositeConstruct", *ids, kind=kind)


@_composed("bcsel")
def _bcsel(o: _Ops) -> Value:
    kind = "any" if o.given[1].kind == o.given[2].kind else "u"
    then, other = o.src(1, kind), o.src(2, kind)
    return o.result("OpSelect", o.src(0).id, then.id, other.id, kind=then.kind)


@_composed("fsat")
def _fsat(o: _Ops) -> Value:
    a = o.src(0)
    return o.result("NClamp", a.id, o.values.number(a, 0), o.values.number(a, 1))


@_composed("fneu", "feq")
def _equal(o: _Ops) -> Value:
    """Compare values; comparing a value with itself tests for NaN and must not be folded."""
    if o.given[0] is o.given[1]:
        nan = o.result("OpIsNan", o.src(0).id)
        return nan if o.op.name == "fneu" else o.result("OpLogicalNot", nan.id)
    return o.result(tables.OPCODES[o.op.name], *[s.id for s in o.srcs()])


@_composed("frexp_sig", "frexp_exp")
def _frexp(o: _Ops) -> Value:
    a = o.src(0)
    t = o.values.type
    pair = o.b.type("OpTypeStruct", t("f", a.bits, a.components), t("u", 32, a.components))
    both = o.b.ext("FrexpStruct", pair, a.id)
    return o.result("OpCompositeExtract", both, int(o.op.name == "frexp_exp"))


@_composed("imul_high", "umul_high", "uadd_carry", "usub_borrow")
def _second_half(o: _Ops) -> Value:
    """The second member of the structure that an instruction with two results returns."""
    a, c = o.srcs()
    half = o.values.type("u", o.bits, o.n)
    pair = o.b.type("OpTypeStruct", half, half)
    name = {
        "imul_high": "OpSMulExtended",
        "umul_high": "OpUMulExtended",
        "uadd_carry": "OpIAddCarry",
        "usub_borrow": "OpISubBorrow",
    }[o.op.name]
    return o.result("OpCompositeExtract", o.b.op(name, pair, a.id, c.id), 1)


@_composed(*[n for n, op in OPCODES.items() if op.is_conversion])
def _convert(o: _Ops) -> Value:
    a, name = o.src(0), o.op.name
    if name[0] == "b":
        kind = "f" if name[2] == "f" else "u"
        shape = Value(0, kind, o.bits, o.n)
        one, zero = o.values.number(shape, 1), o.values.number(shape, 0)
        return o.result("OpSelect", a.id, one, zero, kind=kind)
    if a.bits == o.bits and (name[0] == "f") == (name[2] == "f"):
        return a
    if a.bits == 1:
        raise SpirvError(f"{name} of a boolean")
    return o.result(tables.CONVERSIONS[name[:3]], a.id)


@_composed(
    *[f"{p}pack_{x}" for p in ("", "un") for x in ("64_2x32", "64_4x16", "32_2x16", "32_4x8")]
)
def _bitcast(o: _Ops) -> Value:
    return o.result("OpBitcast", o.src(0).id)


@_composed(*[n for n in OPCODES if "_split" in n])
def _split(o: _Ops) -> Value:
    """Packing of scalars, with a formula for each component."""
    maker = _ValueMaker(o.values)
    parts: list[Value] = [
        _FORMULAS.make(maker, o.op.name, [o.values.swizzle(s, (k,)) for s in o.srcs()])
        for k in range(o.n)
    ]
    if o.n == 1:
        return parts[0]
    return o.result("OpCompositeConstruct", *[part.id for part in parts])
