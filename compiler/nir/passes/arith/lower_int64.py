"""64-bit integers become pairs of 32-bit integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Alu
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.queries import instrs_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.types import UINT
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.run.pass_runner import nir_pass

Pair: TypeAlias = "tuple[Def, Def]"


@nir_pass("lower_int64", preserves=Metadata.CONTROL_FLOW)
def lower_int64(shader: Shader) -> bool:
    """For targets without 64-bit arithmetic: compute on low and high halves.

    Before: `64 %2 = iadd %0, %1`; after: the halves of both are unpacked, added with carry and
    packed again. The algebraic rules then cancel packs against unpacks, so that 64-bit values
    remain only where they are loaded, stored or used by phis. Needs `lower_alu_to_scalar`; leaves
    floating point to `lower_doubles`. Division is a loop over the bits.
    """
    progress = False
    for impl in shader.impls():
        for instr in list(instrs_of(impl)):
            if not isinstance(instr, Alu) or instr.result.num_components != 1:
                continue
            lower = _lowering(instr)
            if lower is None:
                continue
            b = Builder(impl).at_before(instr)
            srcs = [b.channel(s.value, s.swizzle[0]) for s in instr.srcs]
            instr.replace_by(lower(b, srcs))
            progress = True
    return progress


def _lowering(instr: Alu) -> Callable[[Builder, list[Def]], Def] | None:
    """The lowering of `instr`, or None if it does not compute on 64-bit integers."""
    name = instr.op.name
    wide_in = any(s.value.bit_size == 64 for s in instr.srcs)
    wide_out = instr.result.bit_size == 64
    if name in _FROM_NARROW and wide_out and not wide_in:
        return _FROM_NARROW[name]
    if name in _WIDE and wide_in:
        return _WIDE[name]
    return None


def halves(b: Builder, value: Def) -> Pair:
    return b.unpack_64_2x32_split_x(value), b.unpack_64_2x32_split_y(value)


def join(b: Builder, pair: Pair) -> Def:
    return b.pack_64_2x32_split(*pair)


# Arithmetic on pairs.


def add(b: Builder, x: Pair, y: Pair) -> Pair:
    low = b.iadd(x[0], y[0])
    carry = b.b2i32(b.ult(low, x[0]))
    return low, b.iadd(b.iadd(x[1], y[1]), carry)


def sub(b: Builder, x: Pair, y: Pair) -> Pair:
    low = b.isub(x[0], y[0])
    borrow = b.b2i32(b.ult(x[0], y[0]))
    return low, b.isub(b.isub(x[1], y[1]), borrow)


def neg(b: Builder, x: Pair) -> Pair:
    zero = b.imm_int(0)
    return sub(b, (zero, zero), x)


def mul(b: Builder, x: Pair, y: Pair) -> Pair:
    low = b.imul(x[0], y[0])
    cross = b.iadd(b.imul(x[0], y[1]), b.imul(x[1], y[0]))
    return low, b.iadd(b.umul_high(x[0], y[0]), cross)


def _saturating(b: Builder, x: Pair, y: Pair, minus: bool) -> Pair:
    """A signed sum or difference, clamped to the range of the type."""
    result = sub(b, x, y) if minus else add(b, x, y)
    third = b.ixor(x[1], y[1]) if minus else b.ixor(y[1], result[1])
    over = b.ilt(b.iand(b.ixor(x[1], result[1]), third), b.imm_int(0))
    sign = b.ishr(x[1], b.imm_int(31))
    end = b.inot(sign), b.ixor(sign, b.imm_int(0x7FFFFFFF))
    return select(b, over, end, result)


def _unsigned_saturating(b: Builder, x: Pair, y: Pair, minus: bool) -> Pair:
    result = sub(b, x, y) if minus else add(b, x, y)
    over = less(b, x, y, False) if minus else less(b, result, x, False)
    end = b.imm_int(0 if minus else 0xFFFFFFFF)
    return select(b, over, (end, end), result)


def select(b: Builder, condition: Def, x: Pair, y: Pair) -> Pair:
    return b.bcsel(condition, x[0], y[0]), b.bcsel(condition, x[1], y[1])


def equal(b: Builder, x: Pair, y: Pair) -> Def:
    return b.iand(b.ieq(x[0], y[0]), b.ieq(x[1], y[1]))


def less(b: Builder, x: Pair, y: Pair, is_signed: bool) -> Def:
    high = b.ilt(x[1], y[1]) if is_signed else b.ult(x[1], y[1])
    return b.ior(high, b.iand(b.ieq(x[1], y[1]), b.ult(x[0], y[0])))


def shift_left(b: Builder, x: Pair, count: Def) -> Pair:
    count = b.iand(count, b.imm_int(63))
    back = b.isub(b.imm_int(32), count)
    small_high = b.ior(b.ishl(x[1], count), b.ushr(x[0], back))
    zero = b.imm_int(0)
    big = b.uge(count, b.imm_int(32))
    none = b.ieq(count, zero)
    low = b.bcsel(big, zero, b.ishl(x[0], count))
    high = b.bcsel(big, b.ishl(x[0], b.isub(count, b.imm_int(32))), small_high)
    return low, b.bcsel(none, x[1], high)


def shift_right(b: Builder, x: Pair, count: Def, is_signed: bool) -> Pair:
    count = b.iand(count, b.imm_int(63))
    back = b.isub(b.imm_int(32), count)
    shift = b.ishr if is_signed else b.ushr
    fill = b.ishr(x[1], b.imm_int(31)) if is_signed else b.imm_int(0)
    small_low = b.ior(b.ushr(x[0], count), b.ishl(x[1], back))
    big = b.uge(count, b.imm_int(32))
    none = b.ieq(count, b.imm_int(0))
    low = b.bcsel(big, shift(x[1], b.isub(count, b.imm_int(32))), small_low)
    high = b.bcsel(big, fill, shift(x[1], count))
    return b.bcsel(none, x[0], low), b.bcsel(none, x[1], high)


def absolute(b: Builder, x: Pair) -> Pair:
    return select(b, b.ilt(x[1], b.imm_int(0)), neg(b, x), x)


def divide(b: Builder, x: Pair, y: Pair) -> tuple[Pair, Pair]:
    """Unsigned quotient and remainder, bit by bit; both 0 for a divisor of 0."""
    names = ("quotient_low", "quotient_high", "rest_low", "rest_high", "bit")
    variables = [b.impl.add_local(f"divide_{name}", UINT) for name in names]
    zero = b.imm_int(0)
    for var in variables[:4]:
        b.store_var(var, zero)
    b.store_var(variables[4], b.imm_int(63))
    b.push_loop()
    bit = b.load_var(variables[4])
    b.break_if(b.ilt(bit, zero))
    quotient = (b.load_var(variables[0]), b.load_var(variables[1]))
    rest = (b.load_var(variables[2]), b.load_var(variables[3]))
    top = b.ushr(rest[1], b.imm_int(31))
    one = b.imm_int(1)
    incoming = b.iand(shift_right(b, x, bit, False)[0], one)
    rest = shift_left(b, rest, one)
    rest = (b.ior(rest[0], incoming), rest[1])
    fits = b.ior(b.ine(top, zero), b.inot(less(b, rest, y, False)))
    rest = select(b, fits, sub(b, rest, y), rest)
    quotient = shift_left(b, quotient, one)
    quotient = (b.ior(quotient[0], b.b2i32(fits)), quotient[1])
    for var, value in zip(variables[:4], (*quotient, *rest), strict=True):
        b.store_var(var, value)
    b.store_var(variables[4], b.isub(bit, one))
    b.pop_loop()
    by_zero = equal(b, y, (zero, zero))
    result = [b.load_var(var) for var in variables[:4]]
    nothing = (zero, zero)
    return (
        select(b, by_zero, nothing, (result[0], result[1])),
        select(b, by_zero, nothing, (result[2], result[3])),
    )


def _signed_divide(b: Builder, x: Pair, y: Pair) -> tuple[Pair, Pair]:
    """Quotient towards zero and remainder with the sign of x."""
    quotient, rest = divide(b, absolute(b, x), absolute(b, y))
    zero = b.imm_int(0)
    differ = b.ilt(b.ixor(x[1], y[1]), zero)
    negative = b.ilt(x[1], zero)
    return (
        select(b, differ, neg(b, quotient), quotient),
        select(b, negative, neg(b, rest), rest),
    )


def _modulo(b: Builder, x: Pair, y: Pair) -> Pair:
    """Remainder with the sign of y."""
    _, rest = _signed_divide(b, x, y)
    zero = b.imm_int(0)
    some = b.inot(equal(b, rest, (zero, zero)))
    differ = b.iand(some, b.ilt(b.ixor(rest[1], y[1]), zero))
    return select(b, differ, add(b, rest, y), rest)


def _multiply_high(b: Builder, x: Pair, y: Pair, is_signed: bool) -> Pair:
    zero = b.imm_int(0)
    low = (b.umul_high(x[0], y[0]), zero)
    middle1 = (b.imul(x[0], y[1]), b.umul_high(x[0], y[1]))
    middle2 = (b.imul(x[1], y[0]), b.umul_high(x[1], y[0]))
    sum1 = add(b, middle1, low)
    sum2 = add(b, (sum1[0], zero), middle2)
    high = (b.imul(x[1], y[1]), b.umul_high(x[1], y[1]))
    high = add(b, high, (sum1[1], zero))
    high = add(b, high, (sum2[1], zero))
    if is_signed:
        nothing = (zero, zero)
        high = sub(b, high, select(b, b.ilt(x[1], zero), y, nothing))
        high = sub(b, high, select(b, b.ilt(y[1], zero), x, nothing))
    return high


def _find_msb(b: Builder, x: Pair) -> Def:
    high = b.ufind_msb(x[1])
    return b.bcsel(b.ine(x[1], b.imm_int(0)), b.iadd(high, b.imm_int(32)), b.ufind_msb(x[0]))


def _find_lsb(b: Builder, x: Pair) -> Def:
    high = b.find_lsb(x[1])
    none = b.ieq(x[1], b.imm_int(0))
    above = b.bcsel(none, b.imm_int(-1), b.iadd(high, b.imm_int(32)))
    return b.bcsel(b.ine(x[0], b.imm_int(0)), b.find_lsb(x[0]), above)


# From opcodes to the functions above.

_Lowering: TypeAlias = "Callable[[Builder, list[Def]], Def]"


def _binary(function: Callable[[Builder, Pair, Pair], Pair]) -> _Lowering:
    def lower(b: Builder, srcs: list[Def]) -> Def:
        return join(b, function(b, halves(b, srcs[0]), halves(b, srcs[1])))

    return lower


def _unary(function: Callable[[Builder, Pair], Pair]) -> _Lowering:
    def lower(b: Builder, srcs: list[Def]) -> Def:
        return join(b, function(b, halves(b, srcs[0])))

    return lower


def _compare(function: Callable[[Builder, Pair, Pair], Def], negate: bool = False) -> _Lowering:
    def lower(b: Builder, srcs: list[Def]) -> Def:
        result = function(b, halves(b, srcs[0]), halves(b, srcs[1]))
        return b.inot(result) if negate else result

    return lower


def _each(op: str) -> _Lowering:
    def lower(b: Builder, srcs: list[Def]) -> Def:
        pairs = [halves(b, s) for s in srcs]
        low = b.alu(op, *[p[0] for p in pairs])
        return join(b, (low, b.alu(op, *[p[1] for p in pairs])))

    return lower


def _pick(is_signed: bool, smaller: bool) -> _Lowering:
    def function(b: Builder, x: Pair, y: Pair) -> Pair:
        condition = less(b, x, y, is_signed)
        return select(b, condition, x, y) if smaller else select(b, condition, y, x)

    return _binary(function)


def _shift(kind: str) -> _Lowering:
    def lower(b: Builder, srcs: list[Def]) -> Def:
        x = halves(b, srcs[0])
        if kind == "left":
            return join(b, shift_left(b, x, srcs[1]))
        return join(b, shift_right(b, x, srcs[1], kind == "arithmetic"))

    return lower


def _select_wide(b: Builder, srcs: list[Def]) -> Def:
    return join(b, select(b, srcs[0], halves(b, srcs[1]), halves(b, srcs[2])))


def _sign(b: Builder, x: Pair) -> Pair:
    zero = b.imm_int(0)
    high = b.ishr(x[1], b.imm_int(31))
    some = b.b2i32(b.inot(equal(b, x, (zero, zero))))
    return b.ior(high, some), high


def _sign_extend(b: Builder, srcs: list[Def]) -> Def:
    low = b.i2i32(srcs[0])
    return join(b, (low, b.ishr(low, b.imm_int(31))))


def _zero_extend(b: Builder, srcs: list[Def]) -> Def:
    return join(b, (b.u2u32(srcs[0]), b.imm_int(0)))


def _from_bool(b: Builder, srcs: list[Def]) -> Def:
    return join(b, (b.b2i32(srcs[0]), b.imm_int(0)))


def _narrow(op: str) -> _Lowering:
    def lower(b: Builder, srcs: list[Def]) -> Def:
        low = halves(b, srcs[0])[0]
        return low if op.endswith("32") else b.alu(op, low)

    return lower


def _bit_count(b: Builder, srcs: list[Def]) -> Def:
    low, high = halves(b, srcs[0])
    return b.iadd(b.bit_count(low), b.bit_count(high))


def _on_pair(function: Callable[[Builder, Pair], Def]) -> _Lowering:
    def lower(b: Builder, srcs: list[Def]) -> Def:
        return function(b, halves(b, srcs[0]))

    return lower


def _to_float(bits: int, is_signed: bool) -> _Lowering:
    """An integer as a float, rounded once: the highest 32 bits, with the last one set if any lower
    bit is.
    """

    def lower(b: Builder, srcs: list[Def]) -> Def:
        x = halves(b, srcs[0])
        negative = b.ilt(x[1], b.imm_int(0)) if is_signed else b.imm_bool(False)
        if is_signed:
            x = absolute(b, x)
        if bits == 16:  # a number with any upper bit set is far out of range
            large = b.ine(x[1], b.imm_int(0))
            value = b.u2f16(b.bcsel(large, b.imm_int(-1), x[0]))
        else:
            shift = b.iadd(b.ufind_msb(x[1]), b.imm_int(1))
            top = shift_right(b, x, shift, False)[0]
            back = shift_left(b, (top, b.imm_int(0)), shift)
            lost = b.b2i32(b.ine(back[0], x[0]))
            scale = b.ishl(b.iadd(shift, b.imm_int(127)), b.imm_int(23))
            value = b.fmul(b.u2f32(b.ior(top, lost)), scale)
        return b.bcsel(negative, b.fneg(value), value)

    return lower


def _ifind_msb(b: Builder, x: Pair) -> Def:
    flip = b.ishr(x[1], b.imm_int(31))
    return _find_msb(b, (b.ixor(x[0], flip), b.ixor(x[1], flip)))


_WIDE: dict[str, _Lowering] = {
    "iadd": _binary(add),
    "isub": _binary(sub),
    "imul": _binary(mul),
    "iadd_sat": _binary(lambda b, x, y: _saturating(b, x, y, False)),
    "isub_sat": _binary(lambda b, x, y: _saturating(b, x, y, True)),
    "uadd_sat": _binary(lambda b, x, y: _unsigned_saturating(b, x, y, False)),
    "usub_sat": _binary(lambda b, x, y: _unsigned_saturating(b, x, y, True)),
    "ineg": _unary(neg),
    "iabs": _unary(absolute),
    "isign": _unary(_sign),
    "imul_high": _binary(lambda b, x, y: _multiply_high(b, x, y, True)),
    "umul_high": _binary(lambda b, x, y: _multiply_high(b, x, y, False)),
    "udiv": _binary(lambda b, x, y: divide(b, x, y)[0]),
    "umod": _binary(lambda b, x, y: divide(b, x, y)[1]),
    "idiv": _binary(lambda b, x, y: _signed_divide(b, x, y)[0]),
    "irem": _binary(lambda b, x, y: _signed_divide(b, x, y)[1]),
    "imod": _binary(_modulo),
    "imin": _pick(True, True),
    "imax": _pick(True, False),
    "umin": _pick(False, True),
    "umax": _pick(False, False),
    "iand": _each("iand"),
    "ior": _each("ior"),
    "ixor": _each("ixor"),
    "inot": _each("inot"),
    "ishl": _shift("left"),
    "ishr": _shift("arithmetic"),
    "ushr": _shift("logical"),
    "ieq": _compare(equal),
    "ine": _compare(equal, negate=True),
    "ilt": _compare(lambda b, x, y: less(b, x, y, True)),
    "ige": _compare(lambda b, x, y: less(b, x, y, True), negate=True),
    "ult": _compare(lambda b, x, y: less(b, x, y, False)),
    "uge": _compare(lambda b, x, y: less(b, x, y, False), negate=True),
    "bcsel": _select_wide,
    "bit_count": _bit_count,
    "ufind_msb": _on_pair(_find_msb),
    "ifind_msb": _on_pair(_ifind_msb),
    "find_lsb": _on_pair(_find_lsb),
    **{f"{s}2{s}{n}": _narrow(f"{s}2{s}{n}") for s in "iu" for n in (8, 16, 32)},
    **{f"{s}2f{n}": _to_float(n, s == "i") for s in "iu" for n in (16, 32)},
}
_FROM_NARROW: dict[str, _Lowering] = {
    "i2i64": _sign_extend,
    "u2u64": _zero_extend,
    "b2i64": _from_bool,
}
