"""Sine and cosine of any angle, from those of small angles or from polynomials.

Range reduction first subtracts whole turns. A turn is subtracted in three parts with few bits each
(Cody and Waite), so that their products with the number of turns are exact and the reduced angle is
right in its last bits, up to some thousands of turns. With `full_range` larger angles are
multiplied by as many bits of 1/turn as they need, in integers (Payne and Hanek).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import pairwise

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.lower.exponentials import polynomial
from gallette.compiler.nir.lower.reciprocals import multiply_add
from gallette.compiler.nir.lower.table import Lower, enter
from gallette.compiler.nir.lower.target_machine import Machine

__all__: list[str] = []

# sin(r) = r + r^3 p(r^2), cos(r) = 1 - r^2/2 + r^4 q(r^2), for r within an eighth of a turn.
_SIN = (-0.1666665494, 0.008332178146, -0.0001951729896)
_COS = (0.04166664568, -0.001388731625, 2.443315701e-05)
_PI = Fraction(
    31415926535897932384626433832795028841971693993751058209749445923078164062862090,
    10**79,
)
_LARGE = 8192.0  # quarter turns up to which the products of the parts are exact
_WORDS = 7


@cache
def _pieces(scale: int) -> tuple[float, float, float]:
    """`scale` quarter turns as three floats, the first two of 11 bits."""
    rest = _PI / 2 * scale
    found = []
    for bits in (11, 11, 24):
        exponent = math.frexp(float(rest))[1]
        step = Fraction(2) ** (exponent - bits)
        piece = round(rest / step) * step
        found.append(float(piece))
        rest -= piece
    return found[0], found[1], found[2]


def _reduced(b: Builder, m: Machine, x: Def, scale: int) -> tuple[Def, Def]:
    """Reduce an angle: (n, r) with x = n quarter turns times `scale`, plus r, |r| at most half of
    that.
    """
    size = float(_PI / 2 * scale)
    n = b.ffloor(b.fadd(b.fmul(x, b.imm_float(1 / size)), b.imm_float(0.5)))
    r = x
    for piece in _pieces(scale):
        r = multiply_add(b, m, n, b.imm_float(-piece), r)
    # Beyond the range of the parts, the result is at least some value of the function. The margin
    # is for angles so near half a turn that n is rounded to the other side.
    bound = b.imm_float(size / 2 * 1.002)
    r = b.fmin(b.fmax(r, b.fneg(bound)), bound)
    return n, r


def _words() -> list[int]:
    """Bits of 2/pi, 32 at a time, from 2**-1 on, after a word of zeros."""
    ratio = 2 / _PI
    whole = int(ratio * (1 << 32 * _WORDS))
    words = [whole >> 32 * (_WORDS - 1 - i) & 0xFFFFFFFF for i in range(_WORDS)]
    return [0, *words]


def _reduced_exactly(b: Builder, x: Def) -> tuple[Def, Def]:
    """Like `_reduced` in quarters, for an angle of any size: (n as an integer, r)."""
    exponent = b.iadd(b.iand(b.ushr(x, b.imm_int(23)), b.imm_int(255)), b.imm_int(-127))
    mantissa = b.ior(b.iand(x, b.imm_int(0x7FFFFF)), b.imm_int(0x800000))
    # |x| = mantissa 2**(exponent - 23); bits of 2/pi that yield whole turns do not matter.
    at = b.imax(b.iadd(exponent, b.imm_int(7)), b.imm_int(0))  # bit 31 is that of 2**0
    word, shift = b.ushr(at, b.imm_int(5)), b.iand(at, b.imm_int(31))
    table = _words()
    picked: list[Def] = []
    for k in range(4):
        value = b.imm_int(0)
        for i in range(5):
            if i + k < len(table):
                chosen = b.ieq(word, b.imm_int(i))
                value = b.bcsel(chosen, b.imm_int(table[i + k]), value)
        picked.append(value)
    back = b.iadd(b.imm_int(32), b.ineg(shift))
    none = b.ieq(shift, b.imm_int(0))
    aligned = []
    for high, low in pairwise(picked):
        joined = b.ior(b.ishl(high, shift), b.ushr(low, back))
        aligned.append(b.bcsel(none, high, joined))
    top, middle, low = aligned
    # 24 x 96 bits, of which the 64 after the dropped whole turns are needed.
    high_part = b.iadd(b.imul(mantissa, top), b.umul_high(mantissa, middle))
    first = b.imul(mantissa, middle)
    second = b.umul_high(mantissa, low)
    total = b.iadd(first, second)
    high_part = b.iadd(high_part, b.b2i32(b.ult(total, first)))
    return _split_product(b, x, high_part, total)


def _split_product(b: Builder, x: Def, high: Def, low: Def) -> tuple[Def, Def]:
    """Quarters and remainder of an angle of high.low / 2**30 quarters."""
    rounded = b.iadd(high, b.imm_int(1 << 29))
    n = b.ushr(rounded, b.imm_int(30))
    rest = b.iadd(high, b.ineg(b.ishl(n, b.imm_int(30))))  # from -2**29 to 2**29
    # The remainder has 61 fractional bits; leading ones are shifted up before rounding.
    negative = b.ilt(rest, b.imm_int(0))
    flipped = b.bcsel(negative, b.imm_int(-1), b.imm_int(0))
    high_bits, low_bits = b.ixor(rest, flipped), b.ixor(low, flipped)
    zeros = b.iadd(b.imm_int(31), b.ineg(b.ufind_msb(high_bits)))
    up = b.imin(zeros, b.imm_int(31))
    lead = b.ior(
        b.ishl(high_bits, up),
        b.bcsel(
            b.ieq(up, b.imm_int(0)),
            b.imm_int(0),
            b.ushr(low_bits, b.iadd(b.imm_int(32), b.ineg(up))),
        ),
    )
    unit = b.ishl(b.iadd(b.imm_int(127 - 30), b.ineg(up)), b.imm_int(23))  # 2**-(30 + up)
    size = b.fmul(b.fmul(b.u2f32(lead), unit), b.imm_float(float(_PI / 2)))
    r = b.bcsel(negative, b.fneg(size), size)
    below = b.flt(x, b.imm_float(0.0))
    n = b.bcsel(below, b.ineg(n), n)
    return n, b.bcsel(below, b.fneg(r), r)


def _polynomials(b: Builder, m: Machine, x: Def, ahead: int) -> Def:
    """The sine of x plus `ahead` quarter turns."""
    turns, r = _reduced(b, m, x, 1)
    n = b.f2i32(turns)
    if m.full_range:
        large = b.flt(b.imm_float(_LARGE), b.fabs(x))
        exact_n, exact_r = _reduced_exactly(b, x)
        n, r = b.bcsel(large, exact_n, n), b.bcsel(large, exact_r, r)
    n = b.iadd(n, b.imm_int(ahead))
    square = b.fmul(r, r)
    sine = multiply_add(b, m, b.fmul(r, square), polynomial(b, m, square, _SIN), r)
    start = multiply_add(b, m, square, b.imm_float(-0.5), b.imm_float(1.0))
    cosine = multiply_add(b, m, b.fmul(square, square), polynomial(b, m, square, _COS), start)
    odd = b.ine(b.iand(n, b.imm_int(1)), b.imm_int(0))
    value = b.bcsel(odd, cosine, sine)
    return b.bcsel(b.ine(b.iand(n, b.imm_int(2)), b.imm_int(0)), b.fneg(value), value)


def _of_angle(ahead: int, name: str) -> Lower:
    def lower(b: Builder, m: Machine, x: Def) -> Def:
        if f"{name}_reduced" not in m.has:
            value = _polynomials(b, m, x, ahead)
        else:
            _, r = _reduced(b, m, x, 4)
            if m.full_range:
                large = b.flt(b.imm_float(_LARGE), b.fabs(x))
                n, exact = _reduced_exactly(b, x)
                signed = b.ishr(b.ishl(n, b.imm_int(30)), b.imm_int(30))  # -2 to 1 quarters
                over = b.iand(b.ieq(signed, b.imm_int(-2)), b.flt(exact, b.imm_float(0.0)))
                signed = b.bcsel(over, b.imm_int(2), signed)
                turned = multiply_add(b, m, b.i2f32(signed), b.imm_float(float(_PI / 2)), exact)
                bound = b.imm_float(math.pi)
                turned = b.fmin(b.fmax(turned, b.fneg(bound)), bound)
                r = b.bcsel(large, turned, r)
            value = b.alu(f"{name}_reduced", r)
        # For infinite angles, 0 times infinity is the required NaN.
        return b.fadd(value, b.fmul(x, b.imm_float(0.0)))

    return lower


enter({"fsin": _of_angle(0, "fsin"), "fcos": _of_angle(1, "fcos")})
