"""Double precision in integer arithmetic: IEEE 754 binary64, round to nearest even.

Every function takes and gives raw bits as 64-bit integers and emits integer code through a builder.
The working form of a number is (sign, exponent, significand): the significand has its leading bit
at bit 62, so ten bits below the 53 that survive are there for rounding, the lowest of them
"sticky" (set if anything was lost further down). `round_pack` makes the final number of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.types import UINT64
from gallette.compiler.nir.ir.values import Def

FRACTION = (1 << 52) - 1
INFINITY = 0x7FF << 52
QUIET_NAN = 0x7FF8 << 48
MAGNITUDE = (1 << 63) - 1
SIGN = 1 << 63


@dataclass(slots=True)
class Parts:
    """A number taken apart; `exponent` is biased and 32 bits wide, `sign` is the bare sign bit."""

    sign: Def
    exponent: Def
    significand: Def


def imm(b: Builder, value: int) -> Def:
    return b.imm_int(value, 64)


def magnitude(b: Builder, x: Def) -> Def:
    return b.iand(x, imm(b, MAGNITUDE))


def is_nan(b: Builder, x: Def) -> Def:
    return b.ult(imm(b, INFINITY), magnitude(b, x))


def is_infinite(b: Builder, x: Def) -> Def:
    return b.ieq(magnitude(b, x), imm(b, INFINITY))


def is_zero(b: Builder, x: Def) -> Def:
    return b.ieq(magnitude(b, x), imm(b, 0))


def sign_of(b: Builder, x: Def) -> Def:
    return b.iand(x, imm(b, SIGN))


def exponent_of(b: Builder, x: Def) -> Def:
    """The biased exponent field as a 32-bit integer."""
    return b.iand(b.u2u32(b.ushr(x, b.imm_int(52))), b.imm_int(0x7FF))


def shift_right_jam(b: Builder, x: Def, count: Def) -> Def:
    """Shift right; the lowest bit is set if any bit that fell out was."""
    count = b.umin(count, b.imm_int(63))
    shifted = b.ushr(x, count)
    lost = b.ine(b.ishl(shifted, count), x)
    return b.ior(shifted, b.b2i64(lost))


def take_apart(b: Builder, x: Def, normalize: bool) -> Parts:
    """Parts of a finite number; with `normalize` subnormals get their leading bit at 62 too."""
    field = exponent_of(b, x)
    fraction = b.iand(x, imm(b, FRACTION))
    is_small = b.ieq(field, b.imm_int(0))
    hidden = b.bcsel(is_small, imm(b, 0), imm(b, 1 << 52))
    significand = b.ishl(b.ior(fraction, hidden), b.imm_int(10))
    exponent = b.imax(field, b.imm_int(1))
    if normalize:
        shift = b.isub(b.imm_int(62), b.ufind_msb(significand))
        shift = b.bcsel(b.ieq(significand, imm(b, 0)), b.imm_int(0), shift)
        significand = b.ishl(significand, shift)
        exponent = b.isub(exponent, shift)
    return Parts(sign_of(b, x), exponent, significand)


def round_pack(b: Builder, sign: Def, exponent: Def, significand: Def) -> Def:
    """The nearest double; too large becomes infinity, too small a subnormal or zero."""
    one = b.imm_int(1)
    tiny = b.ilt(exponent, one)
    distance = b.bcsel(tiny, b.isub(one, exponent), b.imm_int(0))
    significand = shift_right_jam(b, significand, distance)
    low = b.iand(significand, imm(b, 0x3FF))
    rounded = b.ushr(b.iadd(significand, imm(b, 0x200)), b.imm_int(10))
    tie = b.ieq(low, imm(b, 0x200))
    rounded = b.bcsel(tie, b.iand(rounded, imm(b, ~1)), rounded)
    base = b.imax(b.isub(exponent, one), b.imm_int(0))
    packed = b.iadd(b.ishl(b.i2i64(base), b.imm_int(52)), rounded)
    huge = b.ige(exponent, b.imm_int(0x7FF))
    return b.ior(sign, b.bcsel(huge, imm(b, INFINITY), packed))


def normalize_round_pack(b: Builder, sign: Def, exponent: Def, significand: Def) -> Def:
    """Like `round_pack` for a significand whose leading bit may lie lower; zero stays zero."""
    shift = b.isub(b.imm_int(62), b.ufind_msb(significand))
    packed = round_pack(b, sign, b.isub(exponent, shift), b.ishl(significand, shift))
    return b.bcsel(b.ieq(significand, imm(b, 0)), sign, packed)


def add(b: Builder, x: Def, y: Def) -> Def:
    swap = b.ult(magnitude(b, x), magnitude(b, y))
    big, small = b.bcsel(swap, y, x), b.bcsel(swap, x, y)
    p, q = take_apart(b, big, False), take_apart(b, small, False)
    shifted = shift_right_jam(b, q.significand, b.isub(p.exponent, q.exponent))
    same = b.ieq(p.sign, q.sign)
    total = b.iadd(p.significand, shifted)
    carried = b.ilt(total, imm(b, 0))
    one = b.imm_int(1)
    total = b.bcsel(carried, shift_right_jam(b, total, one), total)
    sum_exponent = b.bcsel(carried, b.iadd(p.exponent, one), p.exponent)
    added = round_pack(b, p.sign, sum_exponent, total)
    difference = b.isub(p.significand, shifted)
    subtracted = normalize_round_pack(b, p.sign, p.exponent, difference)
    subtracted = b.bcsel(b.ieq(difference, imm(b, 0)), imm(b, 0), subtracted)
    result = b.bcsel(same, added, subtracted)
    opposed = b.iand(is_infinite(b, small), b.inot(same))
    special = b.bcsel(b.ior(is_nan(b, big), opposed), imm(b, QUIET_NAN), big)
    return b.bcsel(b.ige(exponent_of(b, big), b.imm_int(0x7FF)), special, result)


def negate(b: Builder, x: Def) -> Def:
    return b.ixor(x, imm(b, SIGN))


def subtract(b: Builder, x: Def, y: Def) -> Def:
    return add(b, x, negate(b, y))


def multiply(b: Builder, x: Def, y: Def) -> Def:
    p, q = take_apart(b, x, True), take_apart(b, y, True)
    sign = b.ixor(p.sign, q.sign)
    left, right = p.significand, b.ishl(q.significand, b.imm_int(1))
    high = b.umul_high(left, right)
    high = b.ior(high, b.b2i64(b.ine(b.imul(left, right), imm(b, 0))))
    short = b.ult(high, imm(b, 1 << 62))
    high = b.bcsel(short, b.ishl(high, b.imm_int(1)), high)
    exponent = b.iadd(p.exponent, q.exponent)
    bias = b.bcsel(short, b.imm_int(1023), b.imm_int(1022))
    result = round_pack(b, sign, b.isub(exponent, bias), high)
    zero = b.ior(is_zero(b, x), is_zero(b, y))
    infinite = b.ior(is_infinite(b, x), is_infinite(b, y))
    nan = b.ior(b.ior(is_nan(b, x), is_nan(b, y)), b.iand(zero, infinite))
    result = b.bcsel(zero, sign, result)
    result = b.bcsel(infinite, b.ior(sign, imm(b, INFINITY)), result)
    return b.bcsel(nan, imm(b, QUIET_NAN), result)


def divide(b: Builder, x: Def, y: Def) -> Def:
    p, q = take_apart(b, x, True), take_apart(b, y, True)
    sign = b.ixor(p.sign, q.sign)
    one = b.imm_int(1)
    small = b.ult(p.significand, q.significand)
    rest = b.bcsel(small, b.ishl(p.significand, one), p.significand)
    exponent = b.iadd(b.isub(p.exponent, q.exponent), b.imm_int(1023))
    exponent = b.bcsel(small, b.isub(exponent, one), exponent)
    quotient, rest = _divide_bits(b, rest, q.significand)
    quotient = b.ior(quotient, b.b2i64(b.ine(rest, imm(b, 0))))
    result = round_pack(b, sign, exponent, quotient)
    infinite_x, infinite_y = is_infinite(b, x), is_infinite(b, y)
    zero_x, zero_y = is_zero(b, x), is_zero(b, y)
    invalid = b.ior(b.iand(infinite_x, infinite_y), b.iand(zero_x, zero_y))
    nan = b.ior(b.ior(is_nan(b, x), is_nan(b, y)), invalid)
    result = b.bcsel(b.ior(zero_x, infinite_y), sign, result)
    infinite = b.ior(infinite_x, zero_y)
    result = b.bcsel(infinite, b.ior(sign, imm(b, INFINITY)), result)
    return b.bcsel(nan, imm(b, QUIET_NAN), result)


def _divide_bits(b: Builder, rest: Def, divisor: Def) -> tuple[Def, Def]:
    """63 quotient bits of rest / divisor, where 1 <= rest / divisor < 2, and what is left."""
    rest_var = b.impl.add_local("divide_rest", UINT64)
    quotient_var = b.impl.add_local("divide_quotient", UINT64)
    count_var = b.impl.add_local("divide_count", UINT64)
    b.store_var(rest_var, rest)
    b.store_var(quotient_var, imm(b, 0))
    b.store_var(count_var, imm(b, 63))
    b.push_loop()
    count = b.load_var(count_var)
    b.break_if(b.ieq(count, imm(b, 0)))
    r, q = b.load_var(rest_var), b.load_var(quotient_var)
    fits = b.uge(r, divisor)
    r = b.bcsel(fits, b.isub(r, divisor), r)
    one = b.imm_int(1)
    b.store_var(quotient_var, b.ior(b.ishl(q, one), b.b2i64(fits)))
    b.store_var(rest_var, b.ishl(r, one))
    b.store_var(count_var, b.isub(count, imm(b, 1)))
    b.pop_loop()
    return b.load_var(quotient_var), b.load_var(rest_var)


def square_root(b: Builder, x: Def) -> Def:
    p = take_apart(b, x, True)
    one = b.imm_int(1)
    unbiased = b.isub(p.exponent, b.imm_int(1023))
    odd = b.ine(b.iand(unbiased, one), b.imm_int(0))
    value = b.ushr(p.significand, b.imm_int(9))
    value = b.bcsel(odd, b.ishl(value, one), value)
    root, rest = _root_bits(b, value)
    root = b.ior(b.ishl(root, b.imm_int(9)), b.b2i64(b.ine(rest, imm(b, 0))))
    exponent = b.iadd(b.ishr(unbiased, one), b.imm_int(1023))
    result = round_pack(b, imm(b, 0), exponent, root)
    negative = b.ine(p.sign, imm(b, 0))
    invalid = b.ior(is_nan(b, x), b.iand(negative, b.inot(is_zero(b, x))))
    result = b.bcsel(b.ior(is_zero(b, x), is_infinite(b, x)), x, result)
    return b.bcsel(invalid, imm(b, QUIET_NAN), result)


def _root_bits(b: Builder, value: Def) -> tuple[Def, Def]:
    """54 bits of the root of `value` (between 2^53 and 2^55), one by one, and what is left."""
    names = ("value", "root", "sum", "bit")
    variables = {n: b.impl.add_local(f"sqrt_{n}", UINT64) for n in names}
    b.store_var(variables["value"], value)
    b.store_var(variables["root"], imm(b, 0))
    b.store_var(variables["sum"], imm(b, 0))
    b.store_var(variables["bit"], imm(b, 1 << 53))
    b.push_loop()
    bit = b.load_var(variables["bit"])
    b.break_if(b.ieq(bit, imm(b, 0)))
    rest, root, total = (b.load_var(variables[n]) for n in names[:3])
    trial = b.iadd(total, bit)
    fits = b.uge(rest, trial)
    one = b.imm_int(1)
    b.store_var(variables["sum"], b.bcsel(fits, b.iadd(trial, bit), total))
    rest = b.bcsel(fits, b.isub(rest, trial), rest)
    b.store_var(variables["value"], b.ishl(rest, one))
    b.store_var(variables["root"], b.bcsel(fits, b.iadd(root, bit), root))
    b.store_var(variables["bit"], b.ushr(bit, one))
    b.pop_loop()
    return b.load_var(variables["root"]), b.load_var(variables["value"])


# Comparison.


def less(b: Builder, x: Def, y: Def) -> Def:
    """x < y; false if either is NaN."""

    def key(v: Def) -> Def:
        flip = b.iand(b.ishr(v, b.imm_int(63)), imm(b, MAGNITUDE))
        return b.ixor(v, flip)

    zeros = b.iand(is_zero(b, x), is_zero(b, y))
    unordered = b.ior(is_nan(b, x), is_nan(b, y))
    return b.iand(b.ilt(key(x), key(y)), b.inot(b.ior(zeros, unordered)))


def equal(b: Builder, x: Def, y: Def) -> Def:
    same = b.ior(b.ieq(x, y), b.iand(is_zero(b, x), is_zero(b, y)))
    return b.iand(same, b.inot(b.ior(is_nan(b, x), is_nan(b, y))))


def extremum(b: Builder, x: Def, y: Def, smaller: bool) -> Def:
    """min or max; a NaN loses, a zero is +0."""
    first = less(b, x, y) if smaller else less(b, y, x)
    result = b.bcsel(b.ior(first, is_nan(b, y)), x, y)
    return b.bcsel(is_zero(b, result), imm(b, 0), result)


# Rounding to integers, and conversions.


def truncate(b: Builder, x: Def) -> Def:
    unbiased = b.isub(exponent_of(b, x), b.imm_int(1023))
    bits = b.isub(b.imm_int(52), unbiased)
    mask = b.ishl(imm(b, -1), bits)
    kept = b.iand(x, mask)
    result = b.bcsel(b.ilt(bits, b.imm_int(1)), x, kept)
    return b.bcsel(b.ilt(unbiased, b.imm_int(0)), sign_of(b, x), result)


def floor(b: Builder, x: Def, up: bool = False) -> Def:
    """Round down, or up."""
    whole = truncate(b, x)
    step = imm(b, 0x3FF << 52)
    moved = add(b, whole, step if up else negate(b, step))
    negative = b.ilt(x, imm(b, 0))
    wrong_side = b.inot(negative) if up else negative
    inexact = b.iand(b.ine(whole, x), b.inot(is_nan(b, x)))
    result = b.bcsel(b.iand(wrong_side, inexact), moved, whole)
    # -0.5 rounds up to -0.
    return b.ior(result, sign_of(b, x)) if up else result


def round_even(b: Builder, x: Def) -> Def:
    big = imm(b, (1023 + 52) << 52)
    size = magnitude(b, x)
    rounded = subtract(b, add(b, size, big), big)
    rounded = b.ior(rounded, sign_of(b, x))
    return b.bcsel(b.ult(size, big), rounded, x)


def from_integer(b: Builder, x: Def, is_signed: bool) -> Def:
    """A 64-bit integer as a double."""
    zero = imm(b, 0)
    negative = b.ilt(x, zero) if is_signed else b.imm_bool(False)
    size = b.bcsel(negative, b.ineg(x), x)
    sign = b.bcsel(negative, imm(b, SIGN), zero)
    one = b.imm_int(1)
    full = b.ilt(size, zero)
    size = b.bcsel(full, shift_right_jam(b, size, one), size)
    exponent = b.bcsel(full, b.imm_int(1023 + 63), b.imm_int(1023 + 62))
    return normalize_round_pack(b, sign, exponent, size)


def to_integer(b: Builder, x: Def, bits: int, is_signed: bool) -> Def:
    """A double as a 64-bit integer, towards zero, saturating to `bits`; NaN is 0."""
    unbiased = b.isub(exponent_of(b, x), b.imm_int(1023))
    fraction = b.ior(b.iand(x, imm(b, FRACTION)), imm(b, 1 << 52))
    left = b.ishl(fraction, b.isub(unbiased, b.imm_int(52)))
    right = b.ushr(fraction, b.imin(b.isub(b.imm_int(52), unbiased), b.imm_int(63)))
    size = b.bcsel(b.ige(unbiased, b.imm_int(52)), left, right)
    size = b.bcsel(b.ilt(unbiased, b.imm_int(0)), imm(b, 0), size)
    negative = b.ilt(x, imm(b, 0))
    whole = bits - 1 if is_signed else bits
    too_large = b.ige(unbiased, b.imm_int(whole))
    if is_signed:
        limit = (1 << whole) - 1
        size = b.bcsel(too_large, b.bcsel(negative, imm(b, limit + 1), imm(b, limit)), size)
        size = b.bcsel(negative, b.ineg(size), size)
    else:
        size = b.bcsel(too_large, imm(b, (1 << whole) - 1), size)
        size = b.bcsel(negative, imm(b, 0), size)
    return b.bcsel(is_nan(b, x), imm(b, 0), size)


def from_single(b: Builder, x: Def) -> Def:
    """A 32-bit float (its bits) as a double."""
    sign = b.ishl(b.u2u64(b.iand(x, b.imm_int(1 << 31))), b.imm_int(32))
    size = b.iand(x, b.imm_int((1 << 31) - 1))
    field = b.ushr(size, b.imm_int(23))
    fraction = b.iand(size, b.imm_int((1 << 23) - 1))
    normal = b.iadd(b.ishl(b.u2u64(size), b.imm_int(29)), imm(b, (1023 - 127) << 52))
    shift = b.isub(b.imm_int(23), b.ufind_msb(fraction))
    moved = b.iand(b.ishl(fraction, shift), b.imm_int((1 << 23) - 1))
    exponent = b.isub(b.imm_int(1023 - 126), shift)
    small = b.ior(b.ishl(b.i2i64(exponent), b.imm_int(52)), b.ishl(b.u2u64(moved), b.imm_int(29)))
    small = b.bcsel(b.ieq(fraction, b.imm_int(0)), imm(b, 0), small)
    special = b.ior(imm(b, INFINITY), b.ishl(b.u2u64(fraction), b.imm_int(29)))
    result = b.bcsel(b.ieq(field, b.imm_int(0)), small, normal)
    result = b.bcsel(b.ieq(field, b.imm_int(255)), special, result)
    return b.ior(sign, result)


def to_single(b: Builder, x: Def) -> Def:
    """A double as the bits of the nearest 32-bit float."""
    p = take_apart(b, x, False)
    sign = b.u2u32(b.ushr(p.sign, b.imm_int(32)))
    one = b.imm_int(1)
    exponent = b.isub(p.exponent, b.imm_int(1023 - 127))
    tiny = b.ilt(exponent, one)
    distance = b.bcsel(tiny, b.isub(one, exponent), b.imm_int(0))
    # Leading bit from 62 to 30: 24 bits that survive and 7 for rounding.
    significand = b.u2u32(shift_right_jam(b, p.significand, b.iadd(distance, b.imm_int(32))))
    low = b.iand(significand, b.imm_int(0x7F))
    rounded = b.ushr(b.iadd(significand, b.imm_int(0x40)), b.imm_int(7))
    rounded = b.bcsel(b.ieq(low, b.imm_int(0x40)), b.iand(rounded, b.imm_int(~1)), rounded)
    base = b.imax(b.isub(exponent, one), b.imm_int(0))
    result = b.iadd(b.ishl(base, b.imm_int(23)), rounded)
    infinity = b.imm_int(0xFF << 23)
    result = b.bcsel(b.ige(exponent, b.imm_int(255)), infinity, result)
    result = b.bcsel(is_nan(b, x), b.imm_int(0x7FC00000), result)
    return b.ior(sign, result)


def scale(b: Builder, x: Def, exponent: Def) -> Def:
    """x times 2 to the power `exponent`."""
    p = take_apart(b, x, True)
    limited = b.imin(b.imax(exponent, b.imm_int(-4096)), b.imm_int(4096))
    result = round_pack(b, p.sign, b.iadd(p.exponent, limited), p.significand)
    same = b.ior(is_zero(b, x), b.ige(exponent_of(b, x), b.imm_int(0x7FF)))
    return b.bcsel(same, x, result)


def fraction_and_exponent(b: Builder, x: Def) -> tuple[Def, Def]:
    """x as a number in 0.5..1 and a power of two."""
    p = take_apart(b, x, True)
    special = b.ior(is_zero(b, x), b.ige(exponent_of(b, x), b.imm_int(0x7FF)))
    fraction = round_pack(b, p.sign, b.imm_int(1022), p.significand)
    exponent = b.isub(p.exponent, b.imm_int(1022))
    return (
        b.bcsel(special, x, fraction),
        b.bcsel(special, b.imm_int(0), exponent),
    )
