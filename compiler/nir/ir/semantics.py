"""The NumPy implementation of opcodes. `opcodes` pairs these functions with names.

Arguments are arrays (or NumPy scalars) of exactly the opcode's types: `bool_`, `int32`, `uint32`,
`float32` and so on; a function for several bit sizes checks the dtype. Callers run them under
`np.errstate(all="ignore")`, because division by zero, overflow and NaN are ordinary here.

Invariance: a function gives the same bits for the same value anywhere in an array. Basic arithmetic
does by IEEE; arguments of library functions are made contiguous first, since NumPy may use other
code (with other rounding) for strided data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

# NumPy's stubs type most ufunc results as Any; the dtype discipline here is dynamic anyway.
Array: TypeAlias = Any
Vector: TypeAlias = Sequence[Array]

_SIGNED = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}
_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def signed(x: Array) -> Array:
    return x.view(_SIGNED[x.dtype.itemsize])


def unsigned(x: Array) -> Array:
    return x.view(_UNSIGNED[x.dtype.itemsize])


def bits_of(x: Array) -> int:
    return int(x.dtype.itemsize) * 8


def contiguous(function: Callable[..., Array]) -> Callable[[Array], Array]:
    """`function` of one argument, always run on contiguous elements."""

    def run(x: Array) -> Array:
        return function(x if x.flags.c_contiguous else x.copy())

    run.__name__ = getattr(function, "__name__", "run")
    return run


# Floats.


def mov(x: Array) -> Array:
    return x.copy()


def fmin(a: Array, b: Array) -> Array:
    """The smaller of two floats; a number if one is NaN, and +0 for any zero.

    Depending on the position in the array, NumPy returns either zero of (+0, -0), and either the
    number or the NaN of a number and a signalling NaN. Adding +0 removes -0 and signalling NaNs, so
    the result is the same everywhere.
    """
    zero = a.dtype.type(0)
    return np.fmin(np.add(a, zero), np.add(b, zero))


def fmax(a: Array, b: Array) -> Array:
    """The larger of two floats; a number if one is NaN, and +0 for any zero (see `fmin`)."""
    zero = a.dtype.type(0)
    return np.fmax(np.add(a, zero), np.add(b, zero))


def fsat(x: Array) -> Array:
    return np.fmin(fmax(x, x.dtype.type(0)), x.dtype.type(1))


def fsign(x: Array) -> Array:
    return (np.greater(x, 0).astype(x.dtype)) - (np.less(x, 0).astype(x.dtype))


def frcp(x: Array) -> Array:
    return np.divide(x.dtype.type(1), x)


def frsq(x: Array) -> Array:
    return np.divide(x.dtype.type(1), np.sqrt(x))


def first_bits(x: Array) -> Array:
    """x with its significand truncated to eight fractional bits."""
    return np.bitwise_and(x.view(np.uint32), np.uint32(0xFFFF8000)).view(np.float32)


def frcp_8bit(x: Array) -> Array:
    return first_bits(frcp(x))


def frsq_8bit(x: Array) -> Array:
    return first_bits(frsq(x))


def of_half_a_turn(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """A function of angles that a machine supports only between -pi and pi: NaN elsewhere."""

    def run(x: Array) -> Array:
        return np.where(np.less(np.abs(x), np.float32(3.15)), function(x), np.float32(np.nan))

    return run


def ffract(x: Array) -> Array:
    return np.subtract(x, np.floor(x))


def fmod(x: Array, y: Array) -> Array:
    return np.subtract(x, np.multiply(y, np.floor(np.divide(x, y))))


def frem(x: Array, y: Array) -> Array:
    return np.subtract(x, np.multiply(y, np.trunc(np.divide(x, y))))


fexp2 = contiguous(np.exp2)
flog2 = contiguous(np.log2)
fsin = contiguous(np.sin)
fcos = contiguous(np.cos)


def fpow(x: Array, y: Array) -> Array:
    """exp2(y * log2(x)), as GLSL defines it; three times as fast as `np.power`."""
    return fexp2(np.multiply(flog2(x), y))


def ffma(a: Array, b: Array, c: Array) -> Array:
    """Multiply and add with the product kept exact (through float64 for float32)."""
    if a.dtype == np.float64:
        return np.add(np.multiply(a, b), c)
    wide = np.multiply(a, b, dtype=np.float64)
    return np.add(wide, c).astype(a.dtype)


def flrp(a: Array, b: Array, t: Array) -> Array:
    one = t.dtype.type(1)
    return np.add(np.multiply(a, np.subtract(one, t)), np.multiply(b, t))


def ldexp(x: Array, exponent: Array) -> Array:
    return np.ldexp(x, np.clip(exponent, -4096, 4096))


def frexp_sig(x: Array) -> Array:
    return np.frexp(x)[0]


def frexp_exp(x: Array) -> Array:
    return np.frexp(x)[1].astype(np.int32)


def fquantize2f16(x: Array) -> Array:
    half = x.astype(np.float16)
    small = np.abs(x) < 2.0**-14
    return np.where(small, np.copysign(x.dtype.type(0), x), half.astype(x.dtype))


def fisnormal(x: Array) -> Array:
    return np.isfinite(x) & (np.abs(x) >= np.finfo(x.dtype).tiny)


def set_if(compare: Callable[..., Array]) -> Callable[[Array, Array], Array]:
    """1.0 where the comparison holds, else 0.0."""

    def run(a: Array, b: Array) -> Array:
        return compare(a, b).astype(a.dtype)

    return run


def _quads(x: Array) -> Array:
    return x.reshape(-1, 4)


def _from_quads(rows: Array, shape: tuple[int, ...]) -> Array:
    return rows.reshape(shape)


def fddx(x: Array) -> Array:
    """The difference along x. Lanes come in quads (left, right, lower left, lower right of a 2x2
    block).
    """
    q = _quads(x)
    d = np.repeat(q[:, 1::2] - q[:, 0::2], 2, axis=1)
    return _from_quads(d, x.shape)


def fddy(x: Array) -> Array:
    q = _quads(x)
    d = np.tile(q[:, 2:] - q[:, :2], (1, 2))
    return _from_quads(d, x.shape)


def fddx_coarse(x: Array) -> Array:
    q = _quads(x)
    return _from_quads(np.repeat(q[:, 1:2] - q[:, 0:1], 4, axis=1), x.shape)


def fddy_coarse(x: Array) -> Array:
    q = _quads(x)
    return _from_quads(np.repeat(q[:, 2:3] - q[:, 0:1], 4, axis=1), x.shape)


# Integers.


def isign(x: Array) -> Array:
    return np.greater(x, 0).astype(x.dtype) - np.less(x, 0).astype(x.dtype)


def idiv(a: Array, b: Array) -> Array:
    """The quotient, rounded towards zero; 0 when dividing by zero."""
    q = np.floor_divide(a, b)
    r = np.subtract(a, np.multiply(q, b))
    fix = np.not_equal(r, 0) & (np.less(a, 0) != np.less(b, 0)) & np.not_equal(b, 0)
    return np.add(q, fix.astype(a.dtype))


def _shift_mask(x: Array, count: Array) -> Array:
    return np.bitwise_and(count, bits_of(x) - 1).astype(x.dtype)


def ishl(x: Array, count: Array) -> Array:
    return np.left_shift(x, _shift_mask(x, count))


def shr(x: Array, count: Array) -> Array:
    """A right shift, arithmetic or logical by the dtype of `x`."""
    return np.right_shift(x, _shift_mask(x, count))


def rotate_left(x: Array, count: Array) -> Array:
    bits = bits_of(x)
    n = np.bitwise_and(count, bits - 1).astype(x.dtype)
    back = np.bitwise_and(np.subtract(x.dtype.type(bits), n), x.dtype.type(bits - 1))
    return np.bitwise_or(np.left_shift(x, n), np.right_shift(x, back))


def rotate_right(x: Array, count: Array) -> Array:
    bits = bits_of(x)
    n = np.bitwise_and(count, bits - 1).astype(x.dtype)
    back = np.bitwise_and(np.subtract(x.dtype.type(bits), n), x.dtype.type(bits - 1))
    return np.bitwise_or(np.right_shift(x, n), np.left_shift(x, back))


_WIDER: dict[str, type[Any]] = {
    "i1": np.int64,
    "i2": np.int64,
    "i4": np.int64,
    "u1": np.uint64,
    "u2": np.uint64,
    "u4": np.uint64,
}


def mul_high(a: Array, b: Array) -> Array:
    """The upper half of the double-width product."""
    bits = bits_of(a)
    if bits < 64:
        wide = _WIDER[a.dtype.str[1:]]
        return np.right_shift(np.multiply(a.astype(wide), b.astype(wide)), bits).astype(a.dtype)
    high = (a.astype(object) * b.astype(object)) >> 64
    return np.asarray(high, dtype=object).astype(a.dtype)


def mul_2x32_64(a: Array, b: Array) -> Array:
    wide: type[Any] = np.int64 if a.dtype.kind == "i" else np.uint64
    return np.multiply(a.astype(wide), b.astype(wide))


def uadd_carry(a: Array, b: Array) -> Array:
    return np.less(np.add(a, b), a).astype(a.dtype)


def usub_borrow(a: Array, b: Array) -> Array:
    return np.less(a, b).astype(a.dtype)


def uadd_sat(a: Array, b: Array) -> Array:
    s = np.add(a, b)
    return np.where(np.less(s, a), np.iinfo(a.dtype).max, s).astype(a.dtype)


def usub_sat(a: Array, b: Array) -> Array:
    return np.where(np.less(a, b), a.dtype.type(0), np.subtract(a, b))


def iadd_sat(a: Array, b: Array) -> Array:
    s = np.add(a, b)
    info = np.iinfo(a.dtype)
    over = np.less(np.bitwise_and(np.bitwise_xor(a, s), np.bitwise_xor(b, s)), 0)
    return np.where(over, np.where(np.less(a, 0), info.min, info.max), s).astype(a.dtype)


def isub_sat(a: Array, b: Array) -> Array:
    s = np.subtract(a, b)
    info = np.iinfo(a.dtype)
    over = np.less(np.bitwise_and(np.bitwise_xor(a, b), np.bitwise_xor(a, s)), 0)
    return np.where(over, np.where(np.less(a, 0), info.min, info.max), s).astype(a.dtype)


def hadd(a: Array, b: Array) -> Array:
    """Average rounded down, without overflow."""
    one = a.dtype.type(1)
    return np.add(np.bitwise_and(a, b), np.right_shift(np.bitwise_xor(a, b), one))


def rhadd(a: Array, b: Array) -> Array:
    """Average rounded up, without overflow."""
    one = a.dtype.type(1)
    return np.subtract(np.bitwise_or(a, b), np.right_shift(np.bitwise_xor(a, b), one))


def mul24(a: Array, b: Array) -> Array:
    """Product of the low 24 bits (sign-extended for signed types)."""
    eight = a.dtype.type(8)
    x = np.right_shift(np.left_shift(a, eight), eight)
    y = np.right_shift(np.left_shift(b, eight), eight)
    return np.multiply(x, y)


def bit_count(x: Array) -> Array:
    v = x.astype(np.uint64)
    m1, m2 = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
    m4, h01 = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
    v = v - ((v >> np.uint64(1)) & m1)
    v = (v & m2) + ((v >> np.uint64(2)) & m2)
    v = (v + (v >> np.uint64(4))) & m4
    return np.right_shift(np.multiply(v, h01), np.uint64(56)).astype(np.uint32)


def ufind_msb(x: Array) -> Array:
    """Position of the highest set bit, -1 for zero."""
    v = x.astype(np.uint64)
    high = np.right_shift(v, np.uint64(32)).astype(np.uint32)
    low = v.astype(np.uint32)
    top = np.not_equal(high, 0)
    part = np.where(top, high, low).astype(np.float64)
    exponent = np.frexp(part)[1].astype(np.int32) - np.int32(1)
    return np.where(np.equal(v, 0), -1, np.where(top, exponent + 32, exponent)).astype(np.int32)


def ifind_msb(x: Array) -> Array:
    """Highest bit that differs from the sign, -1 for 0 and -1."""
    return ufind_msb(unsigned(np.where(np.less(x, 0), np.invert(x), x)))


def find_lsb(x: Array) -> Array:
    """Position of the lowest set bit, -1 for zero."""
    u = unsigned(np.ascontiguousarray(x))
    return ufind_msb(np.bitwise_and(u, np.add(np.invert(u), u.dtype.type(1)))).reshape(np.shape(x))


def bitfield_reverse(x: Array) -> Array:
    v = x.astype(np.uint32)
    for shift, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF)):
        m, s = np.uint32(mask), np.uint32(shift)
        v = ((v >> s) & m) | ((v & m) << s)
    return np.bitwise_or(np.right_shift(v, np.uint32(16)), np.left_shift(v, np.uint32(16)))


def _low_mask(bits: Array) -> Array:
    full = np.less_equal(np.uint32(32), bits)
    shifted = np.left_shift(np.uint32(1), np.bitwise_and(bits, 31).astype(np.uint32))
    return np.where(full, np.uint32(0xFFFFFFFF), shifted - np.uint32(1)).astype(np.uint32)


def ubitfield_extract(value: Array, offset: Array, bits: Array) -> Array:
    offset = np.bitwise_and(offset, 31).astype(np.uint32)
    return np.bitwise_and(np.right_shift(value, offset), _low_mask(bits))


def ibitfield_extract(value: Array, offset: Array, bits: Array) -> Array:
    u = ubitfield_extract(value.astype(np.uint32), offset, bits)
    up = np.bitwise_and(np.subtract(np.int32(32), bits), 31).astype(np.int32)
    extended = np.right_shift(np.left_shift(u.astype(np.int32), up), up)
    return np.where(np.equal(bits, 0), np.int32(0), extended).astype(np.int32)


def bitfield_insert(base: Array, insert: Array, offset: Array, bits: Array) -> Array:
    offset = np.bitwise_and(offset, 31).astype(np.uint32)
    mask = np.left_shift(_low_mask(bits), offset)
    moved = np.left_shift(insert, offset)
    return np.bitwise_or(np.bitwise_and(base, np.invert(mask)), np.bitwise_and(moved, mask))


def bfm(bits: Array, offset: Array) -> Array:
    """A mask of `bits` ones starting at `offset`."""
    mask = _low_mask(np.bitwise_and(bits, 31))
    return np.left_shift(mask, np.bitwise_and(offset, 31).astype(np.uint32))


def bcsel(condition: Array, a: Array, b: Array) -> Array:
    return np.where(condition, a, b)


# Conversions.


def to(dtype: type[Any]) -> Callable[[Array], Array]:
    def run(x: Array) -> Array:
        return x.astype(dtype)

    return run


def f2int(dtype: type[Any]) -> Callable[[Array], Array]:
    """Truncate towards zero, saturate, NaN becomes 0."""
    info = np.iinfo(dtype)
    low, high = float(info.min), float(info.max) + 1.0  # both exact powers of two (or 0)

    def run(x: Array) -> Array:
        x = x.astype(np.float64) if x.dtype == np.float16 else x
        if low and x.size and np.abs(x).max() < high:  # false where there is a NaN
            return x.astype(dtype)
        inside = np.greater(x, low - 1.0 if info.bits < 64 else low) & np.less(x, high)
        if np.all(inside):
            return x.astype(dtype)
        r = np.where(inside, x, x.dtype.type(0)).astype(dtype)
        r = np.where(np.greater_equal(x, high), dtype(info.max), r)
        floor = np.less_equal(x, low)
        return np.where(floor, dtype(info.min), r)

    return run


def f2f16_rtz(x: Array) -> Array:
    half = x.astype(np.float16)
    away = np.abs(half.astype(np.float64)) > np.abs(x.astype(np.float64))
    raw = np.asarray(half).view(np.uint16)
    return np.where(away, raw - np.uint16(1), raw).astype(np.uint16).view(np.float16)


# Packing. Sequences hold one array per component.


def _half_bits(x: Array) -> Array:
    return x.astype(np.float16).view(np.uint16).astype(np.uint32)


def pack_half_2x16(v: Vector) -> Array:
    return np.bitwise_or(_half_bits(v[0]), np.left_shift(_half_bits(v[1]), np.uint32(16)))


def pack_half_2x16_split(x: Array, y: Array) -> Array:
    return pack_half_2x16((x, y))


def unpack_half_x(x: Array) -> Array:
    return x.astype(np.uint16).view(np.float16).astype(np.float32)


def unpack_half_y(x: Array) -> Array:
    return unpack_half_x(np.right_shift(x, np.uint32(16)))


def unpack_half_2x16(x: Array) -> tuple[Array, ...]:
    return unpack_half_x(x), unpack_half_y(x)


def pack_norm(bits: int, is_signed: bool) -> Callable[[Vector], Array]:
    """Pack normalised floats, `bits` each, the first into the lowest bits."""
    scale = float(2 ** (bits - 1) - 1 if is_signed else 2**bits - 1)
    low = -1.0 if is_signed else 0.0
    mask = np.uint32(2**bits - 1)

    def run(v: Vector) -> Array:
        packed: Array = np.zeros(np.broadcast(*v).shape, np.uint32)
        for i, x in enumerate(v):
            clamped = np.fmin(np.fmax(x, np.float32(low)), np.float32(1))
            n = np.rint(np.multiply(clamped, np.float32(scale))).astype(np.int32)
            part = np.bitwise_and(n.astype(np.uint32), mask)
            packed = np.bitwise_or(packed, np.left_shift(part, np.uint32(i * bits)))
        return packed

    return run


def unpack_norm(bits: int, is_signed: bool) -> Callable[[Array], tuple[Array, ...]]:
    scale = np.float32(2 ** (bits - 1) - 1 if is_signed else 2**bits - 1)

    def run(x: Array) -> tuple[Array, ...]:
        out = []
        for i in range(32 // bits):
            part = np.right_shift(x, np.uint32(i * bits))
            if is_signed:
                up = np.int32(32 - bits)
                n = np.right_shift(np.left_shift(part.astype(np.int32), up), up)
                f = np.divide(n.astype(np.float32), scale)
                out.append(np.fmin(np.fmax(f, np.float32(-1)), np.float32(1)))
            else:
                n = np.bitwise_and(part, np.uint32(2**bits - 1))
                out.append(np.divide(n.astype(np.float32), scale))
        return tuple(out)

    return run


def pack_bits(target: type[Any], bits: int) -> Callable[[Vector], Array]:
    """Join integers of `bits` bits, the first lowest."""

    def run(v: Vector) -> Array:
        packed = v[0].astype(target)
        for i, x in enumerate(v[1:], 1):
            packed = np.bitwise_or(packed, np.left_shift(x.astype(target), target(i * bits)))
        return packed

    return run


def pack_split(target: type[Any], bits: int) -> Callable[[Array, Array], Array]:
    joined = pack_bits(target, bits)

    def run(x: Array, y: Array) -> Array:
        return joined((x, y))

    return run


def unpack_part(target: type[Any], shift: int) -> Callable[[Array], Array]:
    def run(x: Array) -> Array:
        return np.right_shift(x, x.dtype.type(shift)).astype(target)

    return run


def unpack_bits(target: type[Any], bits: int, count: int) -> Callable[[Array], tuple[Array, ...]]:
    parts = [unpack_part(target, i * bits) for i in range(count)]

    def run(x: Array) -> tuple[Array, ...]:
        return tuple(part(x) for part in parts)

    return run


# Horizontal operations: sequences of component arrays in, one array out.


def fdot(a: Vector, b: Vector) -> Array:
    """Products summed from the last component on, as in Mesa, every step rounded."""
    return _with_products(np.multiply(a[-1], b[-1]), a[:-1], b[:-1])


def _with_products(total: Array, a: Vector, b: Vector) -> Array:
    for x, y in zip(a[::-1], b[::-1], strict=True):
        total = np.add(total, np.multiply(x, y))
    return total


def fdph(a: Vector, b: Vector) -> Array:
    return _with_products(b[3], a, b[:3])


def fsum(a: Vector) -> Array:
    total = a[0]
    for x in a[1:]:
        total = np.add(total, x)
    return total


def all_of(compare: Callable[..., Array]) -> Callable[[Vector, Vector], Array]:
    def run(a: Vector, b: Vector) -> Array:
        result = compare(a[0], b[0])
        for x, y in zip(a[1:], b[1:], strict=True):
            result = np.logical_and(result, compare(x, y))
        return result

    return run


def any_of(compare: Callable[..., Array]) -> Callable[[Vector, Vector], Array]:
    def run(a: Vector, b: Vector) -> Array:
        result = compare(a[0], b[0])
        for x, y in zip(a[1:], b[1:], strict=True):
            result = np.logical_or(result, compare(x, y))
        return result

    return run


def vec(*components: Array) -> tuple[Array, ...]:
    return components
