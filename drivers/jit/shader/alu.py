"""The LLVM IR of every opcode, as one more reader of the opcode table.

A function here takes the builder and a value per source component, already in the opcode's types
(`float` types as floats, everything else as integers), scalars or vectors alike. Opcodes that work
on whole vectors (`.N` in their signature) take lists of values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gallette.compiler.nir.ir.opcodes import OPCODES, AluType

from ..llvm.text import Builder
from ..llvm.values import V
from . import maths

Emit = Callable[..., Any]
EMITTERS: dict[str, Emit] = {}
_FLOAT_TYPES = {16: "half", 32: "float", 64: "double"}


def llvm_type(base: str, bits: int) -> str:
    """The LLVM type of an ALU type."""
    if bits == 1:
        return "i1"
    return _FLOAT_TYPES[bits] if base == "float" else f"i{bits}"


def typed(value: V, type: AluType) -> V:
    """A value's bits in the type that an opcode reads."""
    if type.base == "float" and value.t != "i1":
        return value.as_float()
    return value.as_int()


def emit_alu(b: Builder, name: str, args: Sequence[V | Sequence[V]]) -> Any:
    """Emit one opcode for one component (or, for horizontal opcodes, for whole vectors)."""
    op = OPCODES[name]
    wanted = [
        typed(arg, type) if isinstance(arg, V) else [typed(a, type) for a in arg]
        for arg, type in zip(args, op.input_types, strict=True)
    ]
    return EMITTERS[name](b, *wanted)


def _define(name: str, emit: Emit) -> None:
    EMITTERS[name] = emit


# -- floats --------------------------------------------------------------------------------------


def _intrinsic(name: str) -> Emit:
    return lambda b, *args: b.math(name, *args)


def _fsat(b: Builder, x: V) -> V:
    low = b.select(x > 0.0, x, 0.0)
    return b.select(low < 1.0, low, 1.0)


def _fsign(b: Builder, x: V) -> V:
    positive = b.select(x > 0.0, b.spread(b.const(x.t, 1.0), x.w), 0.0)
    return b.select(x < 0.0, b.const(x.t, -1.0), positive)


def _set_if(how: str) -> Emit:
    def run(b: Builder, x: V, y: V) -> V:
        return b.compare(how, x, y).to_float(x.t, signed=False)

    return run


def _quantize(b: Builder, x: V) -> V:
    rounded = _to_half(b, x).fp(x.t)
    small = b.math("fabs", x) < 2.0**-14
    return b.select(small, b.math("copysign", b.spread(b.const(x.t, 0.0), x.w), x), rounded)


def _fma(b: Builder, x: V, y: V, z: V) -> V:
    """Fused multiply-add; of halves in doubles with explicit rounding, because LLVM would call a
    library.
    """
    if x.t == "float":
        return b.fma(x, y, z)
    if x.t == "half":
        return _to_half(b, x.fp("double") * y.fp("double") + z.fp("double"))
    return x * y + z


def _is_normal(b: Builder, x: V) -> V:
    size = b.math("fabs", x)
    tiny = {"half": 2.0**-14, "float": 2.0**-126, "double": 2.0**-1022}[x.t]
    return (size < float("inf")) & (size >= tiny)


def _to_half(b: Builder, x: V) -> V:
    if x.t == "double":
        x = maths.round_odd(b, x)
    return x.fp("half")


def _to_float(b: Builder, x: V, bits: int) -> V:
    t = _FLOAT_TYPES[bits]
    return _to_half(b, x) if t == "half" else x.fp(t)


def _half_towards_zero(b: Builder, x: V) -> V:
    half = _to_half(b, x)
    away = b.math("fabs", half.fp(x.t) if x.t != "half" else half) > b.math("fabs", x)
    bits = half.as_int()
    return b.select(away, bits - 1, bits).bitcast("half")


def _first_bits(b: Builder, x: V) -> V:
    return (x.as_int() & 0xFFFF8000).bitcast("float")


def _of_half_a_turn(function: Emit) -> Emit:
    def run(b: Builder, x: V) -> V:
        near = b.math("fabs", x) < float(np.float32(3.15))
        return b.select(near, function(b, x), float("nan"))

    return run


_FLOAT: dict[str, Emit] = {
    "fneg": lambda b, x: -x,
    "fabs": _intrinsic("fabs"),
    "fsat": _fsat,
    "fsign": _fsign,
    "frcp": lambda b, x: 1.0 / x,
    "frsq": lambda b, x: 1.0 / b.math("sqrt", x),
    "fsqrt": _intrinsic("sqrt"),
    "fexp2": maths.exp2,
    "flog2": maths.log2,
    "fsin": maths.sine,
    "fcos": maths.cosine,
    "frcp_8bit": lambda b, x: _first_bits(b, 1.0 / x),
    "frsq_8bit": lambda b, x: _first_bits(b, 1.0 / b.math("sqrt", x)),
    "fsin_reduced": _of_half_a_turn(maths.sine),
    "fcos_reduced": _of_half_a_turn(maths.cosine),
    "ftrunc": _intrinsic("trunc"),
    "fceil": _intrinsic("ceil"),
    "ffloor": _intrinsic("floor"),
    "ffract": lambda b, x: x - b.math("floor", x),
    "fround_even": _intrinsic("roundeven"),
    "fquantize2f16": _quantize,
    "fisfinite": lambda b, x: b.math("fabs", x) < float("inf"),
    "fisnormal": _is_normal,
    "fadd": lambda b, x, y: x + y,
    "fsub": lambda b, x, y: x - y,
    "fmul": lambda b, x, y: x * y,
    "fdiv": lambda b, x, y: x / y,
    "fpow": maths.power,
    "fmin": lambda b, x, y: b.math("minnum", x, y) + 0.0,
    "fmax": lambda b, x, y: b.math("maxnum", x, y) + 0.0,
    "fmod": lambda b, x, y: x - y * b.math("floor", x / y),
    "frem": lambda b, x, y: x - y * b.math("trunc", x / y),
    "ffma": lambda b, x, y, z: _fma(b, *_evened(b, x, y, z)),
    "flrp": lambda b, x, y, t: x * (1.0 - t) + y * t,
    "flt": lambda b, x, y: x < y,
    "fge": lambda b, x, y: x >= y,
    "feq": lambda b, x, y: x.eq(y),
    "fneu": lambda b, x, y: x.ne(y),
    "slt": _set_if("olt"),
    "sge": _set_if("oge"),
    "seq": _set_if("oeq"),
    "sne": _set_if("une"),
}
EMITTERS.update(_FLOAT)
_define("frexp_sig", lambda b, x: maths.frexp(b, x)[0])
_define("frexp_exp", lambda b, x: maths.frexp(b, x)[1])
_define("ldexp", maths.ldexp)


def _evened(b: Builder, *values: V) -> list[V]:
    w = max(v.w for v in values)
    return [b.spread(v, w) for v in values]


# -- integers ------------------------------------------------------------------------------------


def _divided(signed: bool, quotient: bool) -> Emit:
    """Division that does not trap; division by zero gives 0."""

    def run(b: Builder, x: V, y: V) -> V:
        x, y = b.even(x, y)
        zero = y.eq(0)
        if x.w and x.bits == 32:
            # float64 holds both operands, and its quotient truncates to the exact one.
            bad = zero
            if signed:  # the only overflow wraps: it becomes a division by 1
                bad = bad | (x.eq(-(1 << 31)) & y.eq(-1))
            divisor = b.select(bad, b.const(x.t, 1), y)
            wide = x.to_float("double", signed) / divisor.to_float("double", signed)
            found = b.cast("fptosi" if signed else "fptoui", wide, "i32")
            result = found if quotient else x - found * divisor
        else:
            bad = zero
            if signed:
                bad = bad | (x.eq(-(1 << (x.bits - 1))) & y.eq(-1))
            divisor = b.select(bad, b.const(x.t, 1), y)
            op = ("s" if signed else "u") + ("div" if quotient else "rem")
            result = b.binary(op, x, divisor)
        return b.select(zero, b.const(x.t, 0), result)

    return run


_remainder = _divided(True, False)


def _imod(b: Builder, x: V, y: V) -> V:
    rest: V = _remainder(b, x, y)
    wrong = rest.ne(0) & ((rest ^ y) < 0)
    return b.select(wrong, rest + y, rest)


def _high(signed: bool) -> Emit:
    def run(b: Builder, x: V, y: V) -> V:
        bits = x.bits
        wide = f"i{bits * 2}"
        return (x.to(wide, signed) * y.to(wide, signed)).lshr(bits).to(x.t)

    return run


def _full(signed: bool) -> Emit:
    return lambda b, x, y: x.to("i64", signed) * y.to("i64", signed)


def _mul24(signed: bool) -> Emit:
    def cut(x: V) -> V:
        up = x << 8
        return up >> 8 if signed else up.lshr(8)

    return lambda b, x, y: cut(x) * cut(y)


def _count(b: Builder, x: V, n: V) -> V:
    """A shift count as the shifted type, only its low bits."""
    if n.literal and not n.w:
        return b.const(x.t, int(n.n) & (x.bits - 1))
    return (n & (x.bits - 1)).to(x.t, signed=False)


def _msb(b: Builder, x: V) -> V:
    """Highest set bit, -1 if none."""
    return (b.const("i32", 0) + (x.bits - 1)) - b.flagged("ctlz", x, False).to("i32", False)


def _lsb(b: Builder, x: V) -> V:
    found = b.flagged("cttz", x, False).to("i32", False)
    return b.select(x.eq(0), b.const("i32", -1), found)


def _low_mask(b: Builder, n: V) -> V:
    """The lowest `n` bits set."""
    one = b.spread(b.const("i32", 1), n.w)
    return b.select(n >= 32, b.const("i32", -1), (one << (n & 31)) - 1)


def _ubfe(b: Builder, x: V, offset: V, n: V) -> V:
    return x.lshr(offset & 31) & _low_mask(b, n)


def _ibfe(b: Builder, x: V, offset: V, n: V) -> V:
    up = (32 - n) & 31
    return b.select(n.eq(0), b.const("i32", 0), (_ubfe(b, x, offset, n) << up) >> up)


def _bfi(b: Builder, base: V, insert: V, offset: V, n: V) -> V:
    at = offset & 31
    mask = _low_mask(b, n) << at
    return (base & ~mask) | ((insert << at) & mask)


_INTEGER: dict[str, Emit] = {
    "ilt": lambda b, x, y: x < y,
    "ige": lambda b, x, y: x >= y,
    "ieq": lambda b, x, y: x.eq(y),
    "ine": lambda b, x, y: x.ne(y),
    "ult": lambda b, x, y: x.ult(y),
    "uge": lambda b, x, y: x.uge(y),
    "iadd": lambda b, x, y: x + y,
    "isub": lambda b, x, y: x - y,
    "imul": lambda b, x, y: x * y,
    "ineg": lambda b, x: -x,
    "iabs": lambda b, x: b.flagged("abs", x, False),
    "isign": lambda b, x: (x > 0).to(x.t, False) - (x < 0).to(x.t, False),
    "idiv": _divided(True, True),
    "udiv": _divided(False, True),
    "imod": _imod,
    "irem": _remainder,
    "umod": _divided(False, False),
    "imin": _intrinsic("smin"),
    "imax": _intrinsic("smax"),
    "umin": _intrinsic("umin"),
    "umax": _intrinsic("umax"),
    "imul_high": _high(True),
    "umul_high": _high(False),
    "imul_2x32_64": _full(True),
    "umul_2x32_64": _full(False),
    "imul24": _mul24(True),
    "umul24": _mul24(False),
    "uadd_carry": lambda b, x, y: (x + y).ult(x).to(x.t, False),
    "usub_borrow": lambda b, x, y: x.ult(y).to(x.t, False),
    "uadd_sat": _intrinsic("uadd.sat"),
    "usub_sat": _intrinsic("usub.sat"),
    "iadd_sat": _intrinsic("sadd.sat"),
    "isub_sat": _intrinsic("ssub.sat"),
    "ihadd": lambda b, x, y: (x & y) + ((x ^ y) >> 1),
    "uhadd": lambda b, x, y: (x & y) + (x ^ y).lshr(1),
    "irhadd": lambda b, x, y: (x | y) - ((x ^ y) >> 1),
    "urhadd": lambda b, x, y: (x | y) - (x ^ y).lshr(1),
    "iand": lambda b, x, y: x & y,
    "ior": lambda b, x, y: x | y,
    "ixor": lambda b, x, y: x ^ y,
    "inot": lambda b, x: ~x,
    "ishl": lambda b, x, n: x << _count(b, x, n),
    "ishr": lambda b, x, n: x >> _count(b, x, n),
    "ushr": lambda b, x, n: x.lshr(_count(b, x, n)),
    "urol": lambda b, x, n: b.math("fshl", x, x, _count(b, x, n)),
    "uror": lambda b, x, n: b.math("fshr", x, x, _count(b, x, n)),
    "bit_count": lambda b, x: b.math("ctpop", x).to("i32", False),
    "ufind_msb": _msb,
    "ifind_msb": lambda b, x: _msb(b, b.select(x < 0, ~x, x)),
    "find_lsb": _lsb,
    "bitfield_reverse": _intrinsic("bitreverse"),
    "ubitfield_extract": _ubfe,
    "ibitfield_extract": _ibfe,
    "bitfield_insert": _bfi,
    "bfm": lambda b, n, offset: _low_mask(b, n & 31) << (offset & 31),
    "bcsel": lambda b, c, x, y: b.select(c, x, y),
    "mov": lambda b, x: x,
}
EMITTERS.update(_INTEGER)


# -- conversions ---------------------------------------------------------------------------------


def _int_to_float(bits: int, signed: bool) -> Emit:
    def run(b: Builder, x: V) -> V:
        if bits == 16:
            return _to_half(b, x.to_float("double", signed))
        return x.to_float(_FLOAT_TYPES[bits], signed)

    return run


def _float_to_int(bits: int, signed: bool) -> Emit:
    def run(b: Builder, x: V) -> V:
        if x.t == "half":
            x = x.fp("float")
        return maths.to_int(b, x, bits, signed)

    return run


def _resized(bits: int, signed: bool) -> Emit:
    return lambda b, x: x.to(f"i{bits}", signed)


def _float_of_size(bits: int) -> Emit:
    return lambda b, x: _to_float(b, x, bits)


for _bits in (16, 32, 64):
    _define(f"f2f{_bits}", _float_of_size(_bits))
    _define(f"i2f{_bits}", _int_to_float(_bits, True))
    _define(f"u2f{_bits}", _int_to_float(_bits, False))
    _define(f"b2f{_bits}", _int_to_float(_bits, False))
for _bits in (8, 16, 32, 64):
    _define(f"f2i{_bits}", _float_to_int(_bits, True))
    _define(f"f2u{_bits}", _float_to_int(_bits, False))
    _define(f"i2i{_bits}", _resized(_bits, True))
    _define(f"u2u{_bits}", _resized(_bits, False))
    _define(f"b2i{_bits}", _resized(_bits, False))
_define("f2f16_rtne", _float_of_size(16))
_define("f2f16_rtz", _half_towards_zero)
