"""Built-in functions of numbers: which opcode, or which few, each one is.

A row is a function `(lowering, args) -> value`; `args` are the call's values in order. Functions
with `out` arguments return the result followed by what is written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from compiler.glsl import hir
from compiler.glsl.lower.values import Value
from compiler.nir.builder import Builder
from compiler.nir.ir import Def
from compiler.nir.types import Type

__all__ = ["MATH", "lower_math"]

Lower = Callable[[Builder, "hir.BuiltinCall", list[Any]], Any]
MATH: dict[str, Lower] = {}


def _by_type(float_op: str, int_op: str = "", uint_op: str = "") -> Lower:
    """An opcode chosen by the type of the first argument."""

    def lower(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
        type_ = e.params[0][1]
        op = float_op if type_.is_float else int_op if type_.is_signed else uint_op or int_op
        return b.alu(op, *args)

    return lower


_OPCODES: dict[str, tuple[str, ...]] = {
    "sin": ("fsin",),
    "cos": ("fcos",),
    "exp2": ("fexp2",),
    "log2": ("flog2",),
    "pow": ("fpow",),
    "sqrt": ("fsqrt",),
    "inversesqrt": ("frsq",),
    "abs": ("fabs", "iabs"),
    "sign": ("fsign", "isign"),
    "floor": ("ffloor",),
    "ceil": ("fceil",),
    "trunc": ("ftrunc",),
    "fract": ("ffract",),
    "round": ("fround_even",),
    "roundEven": ("fround_even",),
    "mod": ("fmod",),
    "min": ("fmin", "imin", "umin"),
    "max": ("fmax", "imax", "umax"),
    "fma": ("ffma",),
    "dFdx": ("fddx",),
    "dFdy": ("fddy",),
    "dFdxFine": ("fddx_fine",),
    "dFdyFine": ("fddy_fine",),
    "dFdxCoarse": ("fddx_coarse",),
    "dFdyCoarse": ("fddy_coarse",),
    "not": ("", "", "inot"),
    "uaddCarry": ("", "", "uadd_carry"),
    "bitCount": ("", "bit_count", "bit_count"),
    "bitfieldReverse": ("", "bitfield_reverse", "bitfield_reverse"),
    "findLSB": ("", "find_lsb", "find_lsb"),
    "findMSB": ("", "ifind_msb", "ufind_msb"),
    "packUnorm2x16": ("pack_unorm_2x16",),
    "packSnorm2x16": ("pack_snorm_2x16",),
    "packUnorm4x8": ("pack_unorm_4x8",),
    "packSnorm4x8": ("pack_snorm_4x8",),
    "packHalf2x16": ("pack_half_2x16",),
    "unpackUnorm2x16": ("", "", "unpack_unorm_2x16"),
    "unpackSnorm2x16": ("", "", "unpack_snorm_2x16"),
    "unpackUnorm4x8": ("", "", "unpack_unorm_4x8"),
    "unpackSnorm4x8": ("", "", "unpack_snorm_4x8"),
    "unpackHalf2x16": ("", "", "unpack_half_2x16"),
    "packDouble2x32": ("", "", "pack_64_2x32"),
    "packInt2x32": ("", "pack_64_2x32"),
    "packUint2x32": ("", "", "pack_64_2x32"),
    "unpackDouble2x32": ("unpack_64_2x32",),
    "unpackInt2x32": ("", "unpack_64_2x32"),
    "unpackUint2x32": ("", "", "unpack_64_2x32"),
    "addSaturate": ("", "iadd_sat", "uadd_sat"),
    "subtractSaturate": ("", "isub_sat", "usub_sat"),
    "average": ("", "ihadd", "uhadd"),
    "averageRounded": ("", "irhadd", "urhadd"),
}
for _name, _ops in _OPCODES.items():
    MATH[_name] = _by_type(*_ops)


def _row(*names: str) -> Callable[[Lower], Lower]:
    def register(f: Lower) -> Lower:
        for name in names:
            MATH[name] = f
        return f

    return register


def _imm(b: Builder, x: float, like: Def) -> Def:
    return b.imm_float(x, like.bit_size)


@_row("radians", "degrees")
def _angle(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    factor = math.pi / 180 if e.name == "radians" else 180 / math.pi
    return b.fmul(args[0], _imm(b, factor, args[0]))


@_row("tan")
def _tan(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return b.fdiv(b.fsin(args[0]), b.fcos(args[0]))


@_row("exp")
def _exp(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return b.fexp2(b.fmul(args[0], _imm(b, math.log2(math.e), args[0])))


@_row("log")
def _log(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return b.fmul(b.flog2(args[0]), _imm(b, math.log(2), args[0]))


def _polynomial(b: Builder, x: Def, coefficients: Sequence[float]) -> Def:
    """Horner's rule, lowest coefficient first."""
    total = _imm(b, coefficients[-1], x)
    for c in reversed(coefficients[:-1]):
        total = b.fadd(b.fmul(total, x), _imm(b, c, x))
    return total


# acos(x) = sqrt(1 - x) * p(x) on [0, 1]; least squares at Chebyshev nodes, like the two below.
_ACOS = (
    1.570796302,
    -0.2145984942,
    0.0889740993,
    -0.05014502502,
    0.03080825342,
    -0.01696547197,
    0.006580885248,
    -0.001237004856,
)
# asin(x) = x + x^3 p(x^2) on [0, 1/2].
_ASIN = (
    0.1666666631,
    0.07500099496,
    0.04459786805,
    0.03111765696,
    0.01707185873,
    0.03381447508,
)


def _acos_positive(b: Builder, x: Def) -> Def:
    return b.fmul(b.fsqrt(b.fsub(_imm(b, 1.0, x), x)), _polynomial(b, x, _ACOS))


@_row("acos")
def _acos(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    x = args[0]
    positive = _acos_positive(b, b.fabs(x))
    negative = b.fsub(_imm(b, math.pi, x), positive)
    return b.bcsel(b.flt(x, _imm(b, 0.0, x)), negative, positive)


@_row("asin")
def _asin(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    x = args[0]
    a = b.fabs(x)
    large = b.fsub(_imm(b, math.pi / 2, x), _acos_positive(b, a))
    square = b.fmul(a, a)
    small = b.fadd(a, b.fmul(b.fmul(a, square), _polynomial(b, square, _ASIN)))
    value = b.bcsel(b.flt(a, _imm(b, 0.5, x)), small, large)
    return b.bcsel(b.flt(x, _imm(b, 0.0, x)), b.fneg(value), value)


# atan(x) = x * p(x^2) on [0, 1].
_ATAN = (
    1.0,
    -0.3333314528,
    0.1999355085,
    -0.1420889944,
    0.1065626393,
    -0.0752896400,
    0.0429096138,
    -0.0161657367,
    0.0028662257,
)


def _atan_unit(b: Builder, x: Def) -> Def:
    """atan of 0 <= x <= 1."""
    return b.fmul(x, _polynomial(b, b.fmul(x, x), _ATAN))


@_row("atan")
def _atan(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    if len(args) == 2:
        return _atan2(b, args[0], args[1])
    x = args[0]
    one = _imm(b, 1.0, x)
    a = b.fabs(x)
    big = b.flt(one, a)
    small = _atan_unit(b, b.bcsel(big, b.frcp(a), a))
    value = b.bcsel(big, b.fsub(_imm(b, math.pi / 2, x), small), small)
    return b.bcsel(b.flt(x, _imm(b, 0.0, x)), b.fneg(value), value)


def _atan2(b: Builder, y: Def, x: Def) -> Def:
    zero = _imm(b, 0.0, x)
    ax, ay = b.fabs(x), b.fabs(y)
    steep = b.flt(ax, ay)
    low, high = b.fmin(ax, ay), b.fmax(ax, ay)
    # Scaling keeps the reciprocal of huge values out of the denormals; equal infinities give 1.
    huge = b.flt(_imm(b, 1e18, x), high)
    scale = b.bcsel(huge, _imm(b, 0.25, x), _imm(b, 1.0, x))
    ratio = b.fmul(b.fmul(low, scale), b.frcp(b.fmul(high, scale)))
    ratio = b.bcsel(b.feq(low, high), _imm(b, 1.0, x), ratio)
    ratio = b.bcsel(b.feq(high, zero), zero, ratio)
    angle = _atan_unit(b, ratio)
    angle = b.bcsel(steep, b.fsub(_imm(b, math.pi / 2, x), angle), angle)
    angle = b.bcsel(b.flt(x, zero), b.fsub(_imm(b, math.pi, x), angle), angle)
    return b.bcsel(b.flt(y, zero), b.fneg(angle), angle)


@_row("sinh", "cosh")
def _hyperbolic(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    x = args[0]
    scaled = b.fmul(x, _imm(b, math.log2(math.e), x))
    up, down = b.fexp2(scaled), b.fexp2(b.fneg(scaled))
    total = b.fsub(up, down) if e.name == "sinh" else b.fadd(up, down)
    return b.fmul(total, _imm(b, 0.5, x))


@_row("tanh")
def _tanh(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    # Beyond 10 the result rounds to 1; clamping keeps both exponentials finite.
    x = b.fmin(b.fmax(args[0], _imm(b, -10.0, args[0])), _imm(b, 10.0, args[0]))
    scaled = b.fmul(x, _imm(b, math.log2(math.e), x))
    up, down = b.fexp2(scaled), b.fexp2(b.fneg(scaled))
    return b.fdiv(b.fsub(up, down), b.fadd(up, down))


@_row("asinh")
def _asinh(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    x = args[0]
    a = b.fabs(x)
    one = _imm(b, 1.0, x)
    root = b.fsqrt(b.fadd(b.fmul(a, a), one))
    value = b.fmul(b.flog2(b.fadd(a, root)), _imm(b, math.log(2), x))
    return b.fmul(b.fsign(x), value)


@_row("acosh")
def _acosh(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    x = args[0]
    root = b.fsqrt(b.fsub(b.fmul(x, x), _imm(b, 1.0, x)))
    return b.fmul(b.flog2(b.fadd(x, root)), _imm(b, math.log(2), x))


@_row("atanh")
def _atanh(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    x = args[0]
    one = _imm(b, 1.0, x)
    quotient = b.fdiv(b.fadd(one, x), b.fsub(one, x))
    return b.fmul(b.flog2(quotient), _imm(b, math.log(2) / 2, x))


@_row("clamp")
def _clamp(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    prefix = "f" if e.type.is_float else "i" if e.type.is_signed else "u"
    return b.alu(f"{prefix}min", b.alu(f"{prefix}max", args[0], args[1]), args[2])


@_row("mix")
def _mix(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    if e.params[2][1].is_boolean:
        return b.bcsel(args[2], args[1], args[0])
    return b.flrp(args[0], args[1], args[2])


@_row("step")
def _step(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    bits = e.type.bit_size
    return b.alu(f"b2f{bits}", b.fge(args[1], args[0]))


@_row("smoothstep")
def _smoothstep(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    low, high, x = args
    t = b.fsat(b.fdiv(b.fsub(x, low), b.fsub(high, low)))
    return b.fmul(t, b.fmul(t, b.fsub(_imm(b, 3.0, x), b.fmul(_imm(b, 2.0, x), t))))


@_row("isnan")
def _isnan(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    # `x != x` must survive optimisation, whatever the mode.
    exact, b.exact = b.exact, True
    result = b.fneu(args[0], args[0])
    b.exact = exact
    return result


@_row("isinf")
def _isinf(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return b.feq(b.fabs(args[0]), _imm(b, math.inf, args[0]))


@_row("fwidth", "fwidthFine", "fwidthCoarse")
def _fwidth(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    suffix = {"fwidth": "", "fwidthFine": "_fine", "fwidthCoarse": "_coarse"}[e.name]
    return b.fadd(b.fabs(b.alu(f"fddx{suffix}", args[0])), b.fabs(b.alu(f"fddy{suffix}", args[0])))


@_row(
    "floatBitsToInt",
    "floatBitsToUint",
    "intBitsToFloat",
    "uintBitsToFloat",
    "doubleBitsToInt64",
    "doubleBitsToUint64",
    "int64BitsToDouble",
    "uint64BitsToDouble",
)
def _same_bits(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return b.mov(args[0])


@_row("length")
def _length(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    x = args[0]
    if x.num_components == 1:
        return b.fabs(x)
    return b.fsqrt(b.dot(x, x))


@_row("distance")
def _distance(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return _length(b, e, [b.fsub(args[0], args[1])])


@_row("dot")
def _dot(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return b.dot(args[0], args[1])


@_row("cross")
def _cross(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    x, y = args
    return b.fsub(
        b.fmul(b.swizzle(x, "yzx"), b.swizzle(y, "zxy")),
        b.fmul(b.swizzle(x, "zxy"), b.swizzle(y, "yzx")),
    )


@_row("normalize")
def _normalize(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    x = args[0]
    if x.num_components == 1:
        return b.fsign(x)
    return b.fmul(x, b.frsq(b.dot(x, x)))


@_row("faceforward")
def _faceforward(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    n, i, reference = args
    return b.bcsel(b.flt(b.dot(reference, i), _imm(b, 0.0, n)), n, b.fneg(n))


@_row("reflect")
def _reflect(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    i, n = args
    factor = b.fmul(b.dot(n, i), _imm(b, 2.0, n))
    return b.fsub(i, b.fmul(factor, n))


@_row("refract")
def _refract(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    i, n, eta = args
    zero, one = _imm(b, 0.0, n), _imm(b, 1.0, n)
    d = b.dot(n, i)
    k = b.fsub(one, b.fmul(eta, b.fmul(eta, b.fsub(one, b.fmul(d, d)))))
    factor = b.fadd(b.fmul(eta, d), b.fsqrt(k))
    bent = b.fsub(b.fmul(eta, i), b.fmul(factor, n))
    return b.bcsel(b.flt(k, zero), b.imm_zero(n.num_components, n.bit_size), bent)


@_row("lessThan", "lessThanEqual", "greaterThan", "greaterThanEqual")
def _relational(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    type_ = e.params[0][1]
    prefix = "f" if type_.is_float else "i" if type_.is_signed else "u"
    x, y = args
    if e.name == "lessThan":
        return b.alu(f"{prefix}lt", x, y)
    if e.name == "greaterThan":
        return b.alu(f"{prefix}lt", y, x)
    if e.name == "lessThanEqual":
        return b.alu(f"{prefix}ge", y, x)
    return b.alu(f"{prefix}ge", x, y)


@_row("equal", "notEqual")
def _equal(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    is_float = e.params[0][1].is_float
    if e.name == "equal":
        return b.alu("feq" if is_float else "ieq", *args)
    return b.alu("fneu" if is_float else "ine", *args)


@_row("any", "all")
def _any_all(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    parts = b.channels(args[0])
    result = parts[0]
    for part in parts[1:]:
        result = b.ior(result, part) if e.name == "any" else b.iand(result, part)
    return result


# -- matrices -------------------------------------------------------------------------------------


@_row("matrixCompMult")
def _matrix_comp_mult(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return [b.fmul(x, y) for x, y in zip(args[0], args[1], strict=True)]


@_row("outerProduct")
def _outer_product(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    column, row = args
    return [b.fmul(column, b.channel(row, i)) for i in range(row.num_components)]


@_row("transpose")
def _transpose(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    columns: list[Def] = args[0]
    rows = columns[0].num_components
    return [b.vec([b.channel(c, r) for c in columns]) for r in range(rows)]


def _cells(b: Builder, columns: list[Def]) -> list[list[Def]]:
    return [b.channels(c) for c in columns]


def _det(b: Builder, m: list[list[Def]]) -> Def:
    n = len(m)
    if n == 1:
        return m[0][0]
    if n == 2:
        return b.fsub(b.fmul(m[0][0], m[1][1]), b.fmul(m[1][0], m[0][1]))
    total: Def | None = None
    for c in range(n):
        minor = [column[1:] for i, column in enumerate(m) if i != c]
        term = b.fmul(m[c][0], _det(b, minor))
        if total is None:
            total = term
        else:
            total = b.fsub(total, term) if c % 2 else b.fadd(total, term)
    assert total is not None
    return total


@_row("determinant")
def _determinant(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return _det(b, _cells(b, args[0]))


@_row("inverse")
def _inverse(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    m = _cells(b, args[0])
    n = len(m)

    def cofactor(column: int, row: int) -> Def:
        minor = [
            [x for r, x in enumerate(col) if r != row] for c, col in enumerate(m) if c != column
        ]
        value = _det(b, minor)
        return b.fneg(value) if (column + row) % 2 else value

    cofactors = [[cofactor(c, r) for r in range(n)] for c in range(n)]
    determinant = b.fmul(m[0][0], cofactors[0][0])
    for c in range(1, n):
        determinant = b.fadd(determinant, b.fmul(m[c][0], cofactors[c][0]))
    scale = b.frcp(determinant)
    # The inverse is the transposed matrix of cofactors over the determinant.
    return [b.fmul(b.vec([cofactors[r][c] for r in range(n)]), scale) for c in range(n)]


# -- integers -------------------------------------------------------------------------------------


@_row("bitfieldExtract")
def _bitfield_extract(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    op = "ibitfield_extract" if e.type.is_signed else "ubitfield_extract"
    return b.alu(op, *args)


@_row("bitfieldInsert")
def _bitfield_insert(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return b.bitfield_insert(*args)


@_row("countLeadingZeros")
def _leading(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return b.isub(b.imm_int(31), b.ufind_msb(args[0]))


@_row("countTrailingZeros")
def _trailing(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    x = args[0]
    return b.bcsel(b.ieq(x, b.imm_int(0)), b.imm_int(32), b.find_lsb(x))


@_row("absoluteDifference")
def _absolute_difference(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    x, y = args
    less = b.ilt(x, y) if e.params[0][1].is_signed else b.ult(x, y)
    return b.bcsel(less, b.isub(y, x), b.isub(x, y))


@_row("multiply32x16")
def _multiply32x16(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    sixteen = b.imm_int(16)
    high = b.ishl(args[1], sixteen)
    return b.imul(args[0], b.ishr(high, sixteen) if e.type.is_signed else b.ushr(high, sixteen))


@_row("min3", "max3", "mid3")
def _trinary(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    prefix = "f" if e.type.is_float else "i" if e.type.is_signed else "u"
    low, high = f"{prefix}min", f"{prefix}max"
    x, y, z = args
    if e.name != "mid3":
        op = low if e.name == "min3" else high
        return b.alu(op, b.alu(op, x, y), z)
    return b.alu(high, b.alu(low, x, y), b.alu(low, b.alu(high, x, y), z))


# -- several results ------------------------------------------------------------------------------


@_row("ldexp")
def _ldexp(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    result = b.ldexp(args[0], args[1])
    if result.bit_size != 32:
        return result
    # What underflows becomes a zero of the same sign: denormals are flushed.
    exact, b.exact = b.exact, True
    tiny = b.flt(b.fabs(result), b.imm_float(2.0**-126))
    result = b.bcsel(tiny, b.fmul(args[0], b.imm_float(0.0)), result)
    b.exact = exact
    return result


@_row("modf")
def _modf(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    whole = b.ftrunc(args[0])
    return b.fsub(args[0], whole), whole


@_row("frexp")
def _frexp(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return b.frexp_sig(args[0]), b.frexp_exp(args[0])


@_row("uaddCarry")
def _uadd_carry(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return b.iadd(args[0], args[1]), b.uadd_carry(args[0], args[1])


@_row("usubBorrow")
def _usub_borrow(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return b.isub(args[0], args[1]), b.usub_borrow(args[0], args[1])


@_row("umulExtended", "imulExtended")
def _mul_extended(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    op = "umul_high" if e.name[0] == "u" else "imul_high"
    return None, b.alu(op, args[0], args[1]), b.imul(args[0], args[1])


@_row("noise1", "noise2", "noise3", "noise4")
def _noise(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    # The specification lets noise be constant, and that is what every implementation does.
    return b.imm_zero(e.type.components, 32)


_COLUMNWISE = frozenset(("abs", "min", "max", "mix", "clamp"))


def lower_math(b: Builder, e: hir.BuiltinCall, args: list[Value]) -> tuple[Any, ...] | None:
    """(result, written values...) of a numeric built-in, or None if it is not one."""
    row = MATH.get(e.name)
    if row is None:
        return None
    result = row(b, e, args)
    return result if isinstance(result, tuple) else (result,)


def result_type(e: hir.BuiltinCall) -> Type:
    return e.type
