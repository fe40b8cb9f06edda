"""Arithmetic: what each NIR opcode is in SPIR-V.

Most opcodes are one instruction, so they are rows of a table; kinds of sources and results come
from NIR's own table of opcodes. What SPIR-V has no instruction for is put together by a function.
"""

from __future__ import annotations

from collections.abc import Callable

from gallette.compiler.nir.ir.instrs import Alu
from gallette.compiler.nir.ir.opcodes import OPCODES, AluType
from gallette.compiler.spirv.emit.builder import ModuleBuilder
from gallette.compiler.spirv.emit.values import Value, Values
from gallette.compiler.spirv.module import SpirvError

__all__ = ["SIMPLE", "emit_alu", "supported_opcodes"]

SIMPLE: dict[str, str] = dict(
    pair.split(":")
    for pair in [
        "fneg:OpFNegate",
        "fabs:FAbs",
        "fsign:FSign",
        "frsq:InverseSqrt",
        "fsqrt:Sqrt",
        "fexp2:Exp2",
        "flog2:Log2",
        "fsin:Sin",
        "fcos:Cos",
        "ftrunc:Trunc",
        "fceil:Ceil",
        "ffloor:Floor",
        "ffract:Fract",
        "fround_even:RoundEven",
        "fquantize2f16:OpQuantizeToF16",
        "fadd:OpFAdd",
        "fsub:OpFSub",
        "fmul:OpFMul",
        "fdiv:OpFDiv",
        "fmod:OpFMod",
        "frem:OpFRem",
        "fpow:Pow",
        "fmin:NMin",
        "fmax:NMax",
        "ffma:Fma",
        "flrp:FMix",
        "ldexp:Ldexp",
        "fdot2:OpDot",
        "fdot3:OpDot",
        "fdot4:OpDot",
        "fddx:OpDPdx",
        "fddy:OpDPdy",
        "fddx_fine:OpDPdxFine",
        "fddy_fine:OpDPdyFine",
        "fddx_coarse:OpDPdxCoarse",
        "fddy_coarse:OpDPdyCoarse",
        "flt:OpFOrdLessThan",
        "fge:OpFOrdGreaterThanEqual",
        "feq:OpFOrdEqual",
        "fneu:OpFUnordNotEqual",
        "ilt:OpSLessThan",
        "ige:OpSGreaterThanEqual",
        "ieq:OpIEqual",
        "ine:OpINotEqual",
        "ult:OpULessThan",
        "uge:OpUGreaterThanEqual",
        "iadd:OpIAdd",
        "isub:OpISub",
        "imul:OpIMul",
        "ineg:OpSNegate",
        "iabs:SAbs",
        "isign:SSign",
        "idiv:OpSDiv",
        "udiv:OpUDiv",
        "imod:OpSMod",
        "irem:OpSRem",
        "umod:OpUMod",
        "imin:SMin",
        "imax:SMax",
        "umin:UMin",
        "umax:UMax",
        "iand:OpBitwiseAnd",
        "ior:OpBitwiseOr",
        "ixor:OpBitwiseXor",
        "inot:OpNot",
        "ufind_msb:FindUMsb",
        "ifind_msb:FindSMsb",
        "find_lsb:FindILsb",
        "bitfield_reverse:OpBitReverse",
        "bit_count:OpBitCount",
        "ubitfield_extract:OpBitFieldUExtract",
        "ibitfield_extract:OpBitFieldSExtract",
        "bitfield_insert:OpBitFieldInsert",
        "pack_half_2x16:PackHalf2x16",
        "unpack_half_2x16:UnpackHalf2x16",
        "pack_unorm_2x16:PackUnorm2x16",
        "pack_unorm_4x8:PackUnorm4x8",
        "pack_snorm_2x16:PackSnorm2x16",
        "pack_snorm_4x8:PackSnorm4x8",
        "unpack_unorm_2x16:UnpackUnorm2x16",
        "unpack_unorm_4x8:UnpackUnorm4x8",
        "unpack_snorm_2x16:UnpackSnorm2x16",
        "unpack_snorm_4x8:UnpackSnorm4x8",
    ]
)
_ON_BOOLS = {
    "iand": "OpLogicalAnd",
    "ior": "OpLogicalOr",
    "ixor": "OpLogicalNotEqual",
    "inot": "OpLogicalNot",
    "ieq": "OpLogicalEqual",
    "ine": "OpLogicalNotEqual",
}
_CAPABILITIES = {
    "fddx_fine": "DerivativeControl",
    "fddy_fine": "DerivativeControl",
    "fddx_coarse": "DerivativeControl",
    "fddy_coarse": "DerivativeControl",
}
_COMPOSED: dict[str, Callable[[_Ops], Value]] = {}


def _kind(type: AluType, bits: int) -> str:
    if type.base == "bool" or bits == 1:
        return "b"
    return "f" if type.base == "float" else "u"


class _Ops:
    """One ALU instruction being translated."""

    def __init__(self, values: Values, instr: Alu) -> None:
        self.values = values
        self.b: ModuleBuilder = values.b
        self.instr = instr
        self.op = instr.op
        self.n = instr.result.num_components
        self.bits = instr.result.bit_size

    def src(self, i: int, kind: str = "") -> Value:
        """A source with its swizzle; by default of the kind the opcode takes."""
        src = self.instr.srcs[i]
        if not kind:
            kind = _kind(self.op.input_types[i], src.value.bit_size)
        v = self.values.get(src.value, kind if kind != "any" else "")
        return self.values.swizzle(v, src.swizzle)

    def srcs(self) -> list[Value]:
        return [self.src(i) for i in range(len(self.instr.srcs))]

    def make(self, name: str, like: Value, *words: int, kind: str = "") -> Value:
        """An instruction whose result has the shape of `like`, perhaps of another kind."""
        kind = kind or like.kind
        bits = 1 if kind == "b" else like.bits
        type = self.values.type(kind, bits, like.components)
        id = (self.b.op if name.startswith("Op") else self.b.ext)(name, type, *words)
        return Value(id, kind, bits, like.components)

    def result(self, name: str, *words: int, kind: str = "") -> Value:
        """An instruction with the shape of the destination."""
        kind = kind or _kind(self.op.output_type, self.bits)
        type = self.values.type(kind, self.bits, self.n)
        id = (self.b.op if name.startswith("Op") else self.b.ext)(name, type, *words)
        return Value(id, kind, self.bits, self.n)

    def select(self, condition: int, then: int, other: int, kind: str) -> Value:
        return self.result("OpSelect", condition, then, other, kind=kind)


def emit_alu(values: Values, instr: Alu) -> None:
    """Write one ALU instruction."""
    ops = _Ops(values, instr)
    name = instr.op.name
    composed = _COMPOSED.get(name)
    start = len(values.b.code)
    if composed is not None:
        value = composed(ops)
    elif name in SIMPLE:
        if name in _CAPABILITIES:
            values.b.capability(_CAPABILITIES[name])
        srcs = ops.srcs()
        spirv = SIMPLE[name]
        if srcs[0].kind == "b":
            spirv = _ON_BOOLS.get(name, spirv)
        value = ops.result(spirv, *[s.id for s in srcs])
    else:
        raise SpirvError(f"opcode {name} has no counterpart")
    if instr.exact and value.kind == "f":
        for written in values.b.code[start:]:
            if written.name in ("OpFAdd", "OpFSub", "OpFMul", "OpFDiv", "OpDot", "OpFNegate"):
                values.b.decorate(written.words[1], "NoContraction")
    values.set(instr.result, value.id, value.kind)


def supported_opcodes() -> set[str]:
    """Names of opcodes this table covers."""
    return set(SIMPLE) | set(_COMPOSED)


def _composed(*names: str) -> Callable[[Callable[[_Ops], Value]], Callable[[_Ops], Value]]:
    def register(function: Callable[[_Ops], Value]) -> Callable[[_Ops], Value]:
        for name in names:
            _COMPOSED[name] = function
        return function

    return register


# Moving and choosing.


@_composed("mov")
def _mov(o: _Ops) -> Value:
    return o.src(0, "any")


@_composed(*[n for n, op in OPCODES.items() if op.is_vec])
def _vec(o: _Ops) -> Value:
    parts = [o.src(i, "any") for i in range(o.n)]
    kinds = {p.kind for p in parts}
    kind = kinds.pop() if len(kinds) == 1 else "u"
    ids = [o.values.cast(p, kind).id if p.kind != kind else p.id for p in parts]
    return o.result("OpCompositeConstruct", *ids, kind=kind)


@_composed("bcsel")
def _bcsel(o: _Ops) -> Value:
    then, other = o.src(1, "any"), o.src(2, "any")
    if then.kind != other.kind:
        then, other = o.src(1, "u"), o.src(2, "u")
    return o.select(o.src(0).id, then.id, other.id, then.kind)


@_composed("slt", "sge", "seq", "sne")
def _set(o: _Ops) -> Value:
    a, c = o.srcs()
    name = {"slt": "flt", "sge": "fge", "seq": "feq", "sne": "fneu"}[o.op.name]
    holds = o.make(SIMPLE[name], a, a.id, c.id, kind="b")
    return o.select(holds.id, o.values.number(a, 1), o.values.number(a, 0), "f")


@_composed(
    *[f"ball_{p}equal{n}" for p in "fi" for n in (2, 3, 4)],
    *[f"bany_{p}nequal{n}" for p in "fi" for n in (2, 3, 4)],
)
def _all_any(o: _Ops) -> Value:
    a, c = o.srcs()
    is_all = o.op.name.startswith("ball")
    if a.kind == "b":
        name = "OpLogicalEqual" if is_all else "OpLogicalNotEqual"
    elif a.kind == "f":
        name = "OpFOrdEqual" if is_all else "OpFUnordNotEqual"
    else:
        name = "OpIEqual" if is_all else "OpINotEqual"
    each = o.make(name, a, a.id, c.id, kind="b")
    return o.result("OpAll" if is_all else "OpAny", each.id)


# Floats.


@_composed("fsat")
def _fsat(o: _Ops) -> Value:
    a = o.src(0)
    return o.result("NClamp", a.id, o.values.number(a, 0), o.values.number(a, 1))


@_composed("frcp")
def _frcp(o: _Ops) -> Value:
    a = o.src(0)
    return o.result("OpFDiv", o.values.number(a, 1), a.id)


@_composed("frexp_sig", "frexp_exp")
def _frexp(o: _Ops) -> Value:
    a = o.src(0)
    t = o.values.type
    exponent = t("u", 32, a.components)
    pair = o.b.type("OpTypeStruct", t("f", a.bits, a.components), exponent)
    both = o.b.ext("FrexpStruct", pair, a.id)
    return o.result("OpCompositeExtract", both, int(o.op.name == "frexp_exp"))


@_composed("fisfinite", "fisnormal")
def _finite(o: _Ops) -> Value:
    a = o.src(0)
    size = o.make("FAbs", a, a.id)
    limit = o.values.number(a, float("inf"))
    finite = o.result("OpFOrdLessThan", size.id, limit)
    if o.op.name == "fisfinite":
        return finite
    smallest = o.values.number(a, {16: 2.0**-14, 32: 2.0**-126, 64: 2.0**-1022}[a.bits])
    big = o.result("OpFOrdGreaterThanEqual", size.id, smallest)
    return o.result("OpLogicalAnd", finite.id, big.id)


@_composed("fsum2", "fsum3", "fsum4")
def _fsum(o: _Ops) -> Value:
    a = o.src(0)
    total = o.values.swizzle(a, (0,))
    for i in range(1, a.components):
        total = o.make("OpFAdd", total, total.id, o.values.swizzle(a, (i,)).id)
    return total


@_composed("fdph")
def _fdph(o: _Ops) -> Value:
    a, c = o.srcs()
    w = o.values.swizzle(c, (3,))
    dot = o.result("OpDot", a.id, o.values.swizzle(c, (0, 1, 2)).id)
    return o.result("OpFAdd", dot.id, w.id)


@_composed("fneu", "feq")
def _equal(o: _Ops) -> Value:
    """A value compared with itself asks for NaN, and must be seen to."""
    x, y = o.instr.srcs
    a = o.src(0)
    if x.value is y.value and x.swizzle == y.swizzle:
        nan = o.result("OpIsNan", a.id)
        return nan if o.op.name == "fneu" else o.result("OpLogicalNot", nan.id)
    return o.result(SIMPLE[o.op.name], a.id, o.src(1).id)


# Integers.


@_composed("imul_high", "umul_high")
def _mul_high(o: _Ops) -> Value:
    a, c = o.srcs()
    half = o.values.type("u", o.bits, o.n)
    pair = o.b.type("OpTypeStruct", half, half)
    name = "OpSMulExtended" if o.op.name[0] == "i" else "OpUMulExtended"
    return o.result("OpCompositeExtract", o.b.op(name, pair, a.id, c.id), 1)


@_composed("uadd_carry", "usub_borrow")
def _carry(o: _Ops) -> Value:
    a, c = o.srcs()
    half = o.values.type("u", o.bits, o.n)
    pair = o.b.type("OpTypeStruct", half, half)
    name = "OpIAddCarry" if o.op.name == "uadd_carry" else "OpISubBorrow"
    return o.result("OpCompositeExtract", o.b.op(name, pair, a.id, c.id), 1)


@_composed("imul_2x32_64", "umul_2x32_64")
def _mul_wide(o: _Ops) -> Value:
    name = "OpSConvert" if o.op.name[0] == "i" else "OpUConvert"
    a, c = (o.result(name, s.id) for s in o.srcs())
    return o.result("OpIMul", a.id, c.id)


@_composed("imul24", "umul24")
def _mul24(o: _Ops) -> Value:
    a, c = o.srcs()
    name = "OpBitFieldSExtract" if o.op.name[0] == "i" else "OpBitFieldUExtract"
    cut = [o.result(name, s.id, o.b.uint(0), o.b.uint(24)) for s in (a, c)]
    return o.result("OpIMul", cut[0].id, cut[1].id)


@_composed("ishl", "ishr", "ushr")
def _shift(o: _Ops) -> Value:
    a, count = o.srcs()
    name = {
        "ishl": "OpShiftLeftLogical",
        "ishr": "OpShiftRightArithmetic",
        "ushr": "OpShiftRightLogical",
    }[o.op.name]
    return o.result(name, a.id, _masked(o, count, a.bits).id)


def _masked(o: _Ops, count: Value, bits: int) -> Value:
    """Only the low bits of a shift count matter; SPIR-V wants it in range."""
    return o.make("OpBitwiseAnd", count, count.id, o.values.number(count, bits - 1))


@_composed("urol", "uror")
def _rotate(o: _Ops) -> Value:
    a, count = o.srcs()
    left = "OpShiftLeftLogical" if o.op.name == "urol" else "OpShiftRightLogical"
    right = "OpShiftRightLogical" if o.op.name == "urol" else "OpShiftLeftLogical"
    back = o.make("OpISub", count, o.values.number(count, 0), count.id)
    x = o.result(left, a.id, _masked(o, count, a.bits).id)
    y = o.result(right, a.id, _masked(o, back, a.bits).id)
    return o.result("OpBitwiseOr", x.id, y.id)


@_composed("bfm")
def _bfm(o: _Ops) -> Value:
    ones, start = o.srcs()
    one = o.values.number(ones, 1)
    power = o.result("OpShiftLeftLogical", one, _masked(o, ones, 32).id)
    mask = o.result("OpISub", power.id, one)
    return o.result("OpShiftLeftLogical", mask.id, _masked(o, start, 32).id)


@_composed("ihadd", "uhadd", "irhadd", "urhadd")
def _average(o: _Ops) -> Value:
    a, c = o.srcs()
    up = "rhadd" in o.op.name
    shift = "OpShiftRightArithmetic" if o.op.name[0] == "i" else "OpShiftRightLogical"
    both = o.result("OpBitwiseOr" if up else "OpBitwiseAnd", a.id, c.id)
    differ = o.result("OpBitwiseXor", a.id, c.id)
    half = o.result(shift, differ.id, o.values.number(a, 1))
    return o.result("OpISub" if up else "OpIAdd", both.id, half.id)


@_composed("uadd_sat", "usub_sat")
def _usat(o: _Ops) -> Value:
    a, c = o.srcs()
    bools = o.values.type("b", 1, o.n)
    if o.op.name == "uadd_sat":
        plain = o.result("OpIAdd", a.id, c.id)
        over, limit = o.b.op("OpULessThan", bools, plain.id, a.id), -1
    else:
        plain = o.result("OpISub", a.id, c.id)
        over, limit = o.b.op("OpULessThan", bools, a.id, c.id), 0
    return o.select(over, o.values.number(plain, limit), plain.id, "u")


@_composed("iadd_sat", "isub_sat")
def _isat(o: _Ops) -> Value:
    a, c = o.srcs()
    adding = o.op.name == "iadd_sat"
    plain = o.result("OpIAdd" if adding else "OpISub", a.id, c.id)
    unlike = o.result("OpBitwiseXor", a.id, c.id)
    if adding:
        unlike = o.result("OpNot", unlike.id)
    moved = o.result("OpBitwiseXor", a.id, plain.id)
    both = o.result("OpBitwiseAnd", unlike.id, moved.id)
    bools = o.values.type("b", 1, o.n)
    over = o.b.op("OpSLessThan", bools, both.id, o.values.number(plain, 0))
    sign = o.result("OpShiftRightArithmetic", a.id, o.values.number(a, a.bits - 1))
    largest = o.values.number(plain, (1 << (a.bits - 1)) - 1)
    limit = o.result("OpBitwiseXor", sign.id, largest)
    return o.select(over, limit.id, plain.id, "u")


# Conversions and packing.


@_composed(*[n for n, op in OPCODES.items() if op.is_conversion])
def _convert(o: _Ops) -> Value:
    a = o.src(0)
    letter, target = o.op.name[0], o.op.name[2]
    if letter == "b":
        one = o.values.constant(target if target == "f" else "u", o.bits, (0,) * o.n)
        shape = Value(0, one.kind, o.bits, o.n)
        return o.select(a.id, o.values.number(shape, 1), one.id, one.kind)
    if letter == "f" and target == "f":
        same = a.bits == o.bits
        return a if same else o.result("OpFConvert", a.id)
    if letter == "f":
        return o.result("OpConvertFToS" if target == "i" else "OpConvertFToU", a.id)
    if target == "f":
        return o.result("OpConvertSToF" if letter == "i" else "OpConvertUToF", a.id)
    if a.bits == o.bits:
        return a
    if a.bits == 1:
        raise SpirvError(f"{o.op.name} of a boolean")
    return o.result("OpSConvert" if letter == "i" else "OpUConvert", a.id)


@_composed("pack_half_2x16_split")
def _pack_half(o: _Ops) -> Value:
    a, c = o.srcs()
    pair = o.values.type("f", 32, 2)
    return _per_component(
        o, a, c, lambda x, y: o.b.ext(
            "PackHalf2x16", o.values.type("u", 32), o.b.op("OpCompositeConstruct", pair, x, y)
        )
    )  # fmt: skip


def _per_component(o: _Ops, a: Value, c: Value, make: Callable[[int, int], int]) -> Value:
    parts = []
    for i in range(o.n):
        parts.append(make(o.values.swizzle(a, (i,)).id, o.values.swizzle(c, (i,)).id))
    if o.n == 1:
        return Value(parts[0], _kind(o.op.output_type, o.bits), o.bits, 1)
    return o.result("OpCompositeConstruct", *parts)


@_composed("unpack_half_2x16_split_x", "unpack_half_2x16_split_y")
def _unpack_half(o: _Ops) -> Value:
    a = o.src(0)
    which = int(o.op.name.endswith("y"))
    pair = o.values.type("f", 32, 2)
    scalar = o.values.type("f", 32)

    def one(x: int, _: int) -> int:
        return o.b.op("OpCompositeExtract", scalar, o.b.ext("UnpackHalf2x16", pair, x), which)

    return _per_component(o, a, a, one)


@_composed(
    *[f"{p}pack_{x}" for p in ("", "un") for x in ("64_2x32", "64_4x16", "32_2x16", "32_4x8")]
)
def _bitcast(o: _Ops) -> Value:
    return o.result("OpBitcast", o.src(0).id)


@_composed("pack_64_2x32_split", "pack_32_2x16_split")
def _pack_split(o: _Ops) -> Value:
    a, c = o.srcs()
    pair = o.values.type("u", a.bits, 2)
    whole = o.values.type("u", o.bits)

    def one(x: int, y: int) -> int:
        return o.b.op("OpBitcast", whole, o.b.op("OpCompositeConstruct", pair, x, y))

    return _per_component(o, a, c, one)


@_composed(*[f"unpack_{w}_split_{h}" for w in ("64_2x32", "32_2x16") for h in "xy"])
def _unpack_split(o: _Ops) -> Value:
    a = o.src(0)
    which = int(o.op.name.endswith("y"))
    pair = o.values.type("u", o.bits, 2)
    half = o.values.type("u", o.bits)

    def one(x: int, _: int) -> int:
        return o.b.op("OpCompositeExtract", half, o.b.op("OpBitcast", pair, x), which)

    return _per_component(o, a, a, one)
