"""Functions without a machine instruction: exp2, log2, sine, cosine and others, on vectors.

Each reduces its argument and evaluates a polynomial; tests check the error bounds in the docstrings
against float64. A value gives the same bits in every lane, because every lane runs the same
arithmetic.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from ..llvm.text import Builder
from ..llvm.values import V, bits_of

# 2**f on -0.5..0.5 and log2((1 + s) / (1 - s)) / (2 s) in s**2: minimax fits in float64.
_EXP2 = (
    1.0,
    0.6931471805599453,
    0.2402265069591007,
    0.05550410866482158,
    0.009618129107628477,
    0.0013333558146428443,
    0.00015403530393381608,
    1.5252733804059841e-05,
)
_LOG2 = (
    2.8853900817779268,
    0.9617966939259756,
    0.5770780163555854,
    0.4121985831111324,
    0.3205988979753252,
)
_SINE = (1.0, -0.16666666666666666, 0.008333333333333333, -1.984126984126984e-4, 2.7557319e-6)
_COSINE = (1.0, -0.5, 0.041666666666666664, -1.388888888888889e-3, 2.48015873e-5, -2.7557319e-7)
_HALF_PI_PARTS = 1.57079637050628662109375, -4.37113900018624283e-8, -1.71512449999e-15
_LARGE_ANGLE = 8192.0
_LOW_BITS = 12582912.0  # added to a float, it leaves the integer part in the lowest bits
_LOW_BITS_WIDE = 6755399441055744.0
_HALF_PI_HIGH, _HALF_PI_LOW = 1.5707963267948966, 6.123233995736766e-17


def _polynomial(b: Builder, x: V, coefficients: Sequence[float]) -> V:
    """Evaluate a polynomial by Horner's rule, with fused multiply-adds."""
    total = b.spread(b.const(x.t, coefficients[-1]), x.w)
    for c in reversed(coefficients[:-1]):
        total = b.fma(total, x, b.spread(b.const(x.t, c), x.w))
    return total


def _wide(b: Builder, name: str, x: V) -> V:
    """Call the C library's function, for the few 64-bit uses."""
    return b.math(name, x)


def exp2(b: Builder, x: V) -> V:
    """2 to the power x; within 2 ULP."""
    if x.t == "double":
        return _wide(b, "exp2", x)
    if x.t == "half":
        return exp2(b, x.fp("float")).fp("half")
    limited = b.math("minnum", b.math("maxnum", x, -151.0), 129.0)
    whole = b.math("roundeven", limited)
    result = _polynomial(b, limited - whole, _EXP2)
    n = b.cast("fptosi", whole, "i32")
    half = n >> 1  # in two steps, to reach the smallest and largest results
    result = result * _power_of_two(half) * _power_of_two(n - half)
    return b.select(x.ne(x), x, result)


def _power_of_two(n: V) -> V:
    return ((n + 127) << 23).bitcast("float")


def log2(b: Builder, x: V) -> V:
    """Logarithm to base 2; within 2 ULP, or 2**-24 near 1."""
    if x.t == "double":
        return _wide(b, "log2", x)
    if x.t == "half":
        return log2(b, x.fp("float")).fp("half")
    tiny = x < 1.1754943508222875e-38
    scaled = b.select(tiny, x * 33554432.0, x)
    bits = scaled.as_int()
    # A mantissa in sqrt(1/2)..sqrt(2): the exponent of the bits after dividing by sqrt(1/2).
    shifted = bits - 0x3F3504F3
    exponent = shifted >> 23
    mantissa = ((shifted & 0x7FFFFF) + 0x3F3504F3).bitcast("float")
    s = (mantissa - 1.0) / (mantissa + 1.0)
    fraction = _polynomial(b, s * s, _LOG2) * s
    moved = b.select(tiny, b.spread(b.const("float", -25.0), x.w), 0.0)
    result = exponent.to_float() + moved + fraction
    infinite = x.eq(float("inf"))
    result = b.select(infinite, x, result)
    result = b.select(x.eq(0.0), b.const("float", float("-inf")), result)
    bad = (x < 0.0) | x.ne(x)
    return b.select(bad, b.const("float", float("nan")), result)


def sine(b: Builder, x: V) -> V:
    """Sine of an angle in radians; within 2 ULP for angles up to 2**24."""
    return _circular(b, x, "sin", 0)


def cosine(b: Builder, x: V) -> V:
    """Cosine of an angle in radians; within 2 ULP for angles up to 2**24."""
    return _circular(b, x, "cos", 1)


def _circular(b: Builder, x: V, name: str, quarter: int) -> V:
    if x.t == "double":
        return _wide(b, name, x)
    if x.t == "half":
        return _circular(b, x.fp("float"), name, quarter).fp("half")
    turns = b.math("roundeven", x * 0.6366197723675814)
    rest = x
    for part in _HALF_PI_PARTS:  # the first product cancels exactly, the others are corrections
        rest = b.fma(turns, b.spread(b.const("float", -part), x.w), rest)
    quadrant = (turns + _LOW_BITS).as_int()
    large = b.math("fabs", x) > _LARGE_ANGLE
    r, q = b.var("float", x.w, rest), b.var("i32", x.w, quadrant)
    with b.when(b.any(large)):
        wide_rest, wide_quadrant = _reduced(b, x)
        r.set(b.select(large, wide_rest, rest))
        q.set(b.select(large, wide_quadrant, quadrant))
    return _of_quadrant(b, r.get(), q.get() + quarter)


def _reduced(b: Builder, x: V) -> tuple[V, V]:
    """Range reduction in float64, whose 53 bits leave an exact enough float32 remainder for large
    angles.
    """
    wide = x.fp("double")
    turns = b.math("roundeven", wide * 0.6366197723675814)
    rest = b.fma(turns, b.spread(b.const("double", -_HALF_PI_HIGH), x.w), wide)
    rest = b.fma(turns, b.spread(b.const("double", -_HALF_PI_LOW), x.w), rest)
    # Angles beyond 2**50 have no meaningful remainder: the result is some value of the function.
    rest = b.select(b.math("fabs", rest) > 1.0, b.const("double", 1.0), rest)
    return rest.fp("float"), (turns + _LOW_BITS_WIDE).as_int().to("i32")


def _of_quadrant(b: Builder, r: V, quadrant: V) -> V:
    """The sine of `r` plus `quadrant` quarter turns."""
    r2 = r * r
    odd = _polynomial(b, r2, _SINE) * r
    even = _polynomial(b, r2, _COSINE)
    chosen = b.select((quadrant & 1).ne(0), even, odd)
    sign = (quadrant & 2) << 30
    return (chosen.as_int() ^ sign).bitcast("float")


def unit(b: Builder, code: V, top: int) -> V:
    """An integer from 0 to `top` divided by `top`, rounded as a division rounds.

    It multiplies by the reciprocal in two parts, of which the smaller product need not be exact:
    right for every code (a test tries them all), and several times cheaper than dividing.
    """
    high = struct.unpack("f", struct.pack("f", 1.0 / top))[0]
    low = 1.0 / top - high
    upper, lower = (b.spread(b.const(code.t, part), code.w) for part in (high, low))
    return b.fma(code, upper, code * lower)


def power(b: Builder, x: V, y: V) -> V:
    """GLSL's own definition: exp2(y log2(x))."""
    return exp2(b, log2(b, x) * y)


def to_int(b: Builder, x: V, bits: int, signed: bool) -> V:
    """Truncate towards zero, saturating; NaN becomes 0.

    The instruction's result is undefined out of range, so the float is clamped first. (LLVM's own
    saturating conversion splits vectors.)
    """
    low, top = (-(1 << (bits - 1)), 1 << (bits - 1)) if signed else (0, 1 << bits)
    wide = max(bits, 32)
    highest = _below(float(top), x.t)
    limited = b.select(x > float(low), x, b.const(x.t, float(low)))
    limited = b.select(limited < highest, limited, b.const(x.t, highest))
    found = b.cast("fptosi" if signed else "fptoui", limited, f"i{wide}").to(f"i{bits}")
    found = b.select(x >= float(top), b.const(found.t, top - 1), found)
    return b.select(x.ne(x), b.const(found.t, 0), found)


def some_int(b: Builder, x: V) -> V:
    """Truncate to 32 bits; out of range the result is arbitrary.

    `freeze` makes it the machine instruction's result, and the same one at every use.
    """
    cut = b.cast("fptosi", x, "i32")
    return b.emit("i32", cut.w, f"freeze {cut.type} {cut.n}")


def _below(value: float, t: str) -> float:
    """The largest number below a power of two."""
    digits = {"float": 24, "double": 53}[t]
    return value * (1.0 - 2.0**-digits)


_LAYOUT = {"half": (10, 5), "float": (23, 8), "double": (52, 11)}


def frexp(b: Builder, x: V) -> tuple[V, V]:
    """Significand in 0.5..1 and exponent; 0, infinities and NaN are their own significands."""
    mantissa_bits, exponent_bits = _LAYOUT[x.t]
    int_type = f"i{bits_of(x.t)}"
    largest = (1 << exponent_bits) - 1
    bits = x.as_int()
    field = (bits.lshr(mantissa_bits)) & largest
    denormal = field.eq(0)
    up = mantissa_bits + 2
    scaled = b.select(denormal, x * float(1 << min(up, 12)) * float(1 << (up - min(up, 12))), x)
    bits = scaled.as_int()
    field = (bits.lshr(mantissa_bits)) & largest
    bias = largest >> 1
    exponent = field - (bias - 1)
    exponent = b.select(denormal, exponent - up, exponent)
    kept = ~(largest << mantissa_bits)
    significand = ((bits & kept) | ((bias - 1) << mantissa_bits)).bitcast(x.t)
    original = (x.as_int().lshr(mantissa_bits)) & largest
    special = original.eq(largest) | x.eq(0.0)
    significand = b.select(special, x, significand)
    exponent = b.select(special, b.const(int_type, 0), exponent)
    return significand, exponent.to("i32")


def ldexp(b: Builder, x: V, n: V) -> V:
    """x times 2 to the power n, rounded once."""
    n = b.math("smin", b.math("smax", n, -2200), 2200)
    if x.t != "double":
        wide = x.fp("double")
        n = b.math("smin", b.math("smax", n, -500), 500)
        exponent = (n + 1023).to("i64") << 52
        return _narrow(b, wide * exponent.bitcast("double"), x.t)
    # Three steps; the first two are exact unless the result overflows or is denormal anyway.
    for _ in range(2):
        high = b.math("smin", b.math("smax", n, -969), 1023)
        x = x * ((high + 1023).to("i64") << 52).bitcast("double")
        n = n - high
    high = b.math("smin", b.math("smax", n, -1022), 1023)
    return x * ((high + 1023).to("i64") << 52).bitcast("double")


def _narrow(b: Builder, x: V, t: str) -> V:
    return round_odd(b, x).fp("half") if t == "half" else x.fp(t)


def round_odd(b: Builder, x: V) -> V:
    """A double rounded to odd in float precision, so that rounding the result again rounds once."""
    nearest = x.fp("float")
    back = nearest.fp("double")
    inexact = back.ne(x) & x.eq(x)
    too_far = b.math("fabs", back) > b.math("fabs", x)
    bits = nearest.as_int()
    bits = b.select(too_far, bits - 1, bits)
    bits = b.select(inexact, bits | 1, bits)
    return bits.bitcast("float")
