"""Built-in functions of constant arguments, evaluated at compile time.

Each row takes the component tuples of the arguments (all as wide as the result where the function
is component-wise) in double precision; results are rounded to the result type afterwards.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any

from gallette.compiler.glsl.check import fold
from gallette.compiler.glsl.check.hir import Value
from gallette.compiler.nir.ir.types import Base, Type

__all__ = ["fold_builtin"]


def _sign(x: Any) -> Any:
    return (x > 0) - (x < 0)


def _round_even(x: float) -> float:
    return float(round(x)) if math.isfinite(x) else x


def _floor(x: float) -> float:
    return float(math.floor(x)) if math.isfinite(x) else x


def _smoothstep(a: float, b: float, x: float) -> float:
    u = min(max((x - a) / (b - a), 0.0), 1.0)
    return u * u * (3 - 2 * u)


def _pow(x: float, y: float) -> float:
    return math.pow(x, y) if x >= 0 else math.nan


_COMPONENT: dict[str, Callable[..., Any]] = {
    "radians": lambda x: x * (math.pi / 180),
    "degrees": lambda x: x * (180 / math.pi),
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "asinh": math.asinh,
    "acosh": math.acosh,
    "atanh": math.atanh,
    "atan": lambda y, x=None: math.atan(y) if x is None else math.atan2(y, x),
    "pow": _pow,
    "exp": math.exp,
    "log": math.log,
    "exp2": lambda x: 2.0**x,
    "log2": math.log2,
    "sqrt": math.sqrt,
    "inversesqrt": lambda x: 1 / math.sqrt(x),
    "abs": abs,
    "sign": _sign,
    "floor": _floor,
    "ceil": lambda x: -_floor(-x),
    "trunc": lambda x: float(math.trunc(x)),
    "round": _round_even,
    "roundEven": _round_even,
    "fract": lambda x: x - _floor(x),
    "mod": lambda x, y: x - y * _floor(x / y),
    "min": min,
    "max": max,
    "clamp": lambda x, a, b: min(max(x, a), b),
    "mix": lambda x, y, a: (y if a else x) if isinstance(a, bool) else x * (1 - a) + y * a,
    "step": lambda edge, x: float(x >= edge),
    "smoothstep": _smoothstep,
    "isnan": math.isnan,
    "isinf": math.isinf,
    "fma": lambda a, b, c: a * b + c,
    "ldexp": lambda x, e: math.ldexp(x, max(-300, min(300, e))),
    "lessThan": lambda a, b: a < b,
    "lessThanEqual": lambda a, b: a <= b,
    "greaterThan": lambda a, b: a > b,
    "greaterThanEqual": lambda a, b: a >= b,
    "equal": lambda a, b: a == b,
    "notEqual": lambda a, b: a != b,
    "not": lambda a: not a,
    "floatBitsToInt": lambda x: struct.unpack("<i", struct.pack("<f", x))[0],
    "floatBitsToUint": lambda x: struct.unpack("<I", struct.pack("<f", x))[0],
    "intBitsToFloat": lambda x: struct.unpack("<f", struct.pack("<i", x))[0],
    "uintBitsToFloat": lambda x: struct.unpack("<f", struct.pack("<I", x))[0],
    "bitCount": lambda x: (x & 0xFFFFFFFF).bit_count(),
    "findLSB": lambda x: (x & -x).bit_length() - 1 if x else -1,
    "findMSB": lambda x: (x if x >= 0 else ~x).bit_length() - 1,
    "bitfieldReverse": lambda x: int(f"{x & 0xFFFFFFFF:032b}"[::-1], 2),
    "min3": min,
    "max3": max,
    "mid3": lambda a, b, c: sorted((a, b, c))[1],
}


def _dot(a: Value, b: Value) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def _scaled(a: Value, k: float) -> Value:
    return tuple(x * k for x in a)


def _reflect(i: Value, n: Value) -> Value:
    d = 2 * _dot(n, i)
    return tuple(x - d * y for x, y in zip(i, n, strict=True))


def _refract(i: Value, n: Value, eta: Value) -> Value:
    d = _dot(n, i)
    k = 1 - eta[0] * eta[0] * (1 - d * d)
    if k < 0:
        return (0.0,) * len(i)
    c = eta[0] * d + math.sqrt(k)
    return tuple(eta[0] * x - c * y for x, y in zip(i, n, strict=True))


def _cross(a: Value, b: Value) -> Value:
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def _fields(x: int, bits: int, count: int, scale: float, signed: bool) -> Value:
    out = []
    for i in range(count):
        part = (x >> (bits * i)) & ((1 << bits) - 1)
        if signed and part >> (bits - 1):
            part -= 1 << bits
        out.append(max(-1.0, min(1.0, part / scale)))
    return tuple(out)


def _packed(v: Value, bits: int, scale: float, low: float) -> Value:
    total = 0
    for i, x in enumerate(v):
        scaled = fold.round_to(Base.FLOAT, max(low, min(1.0, x)) * scale)
        total |= (round(scaled) & ((1 << bits) - 1)) << (bits * i)
    return (total,)


def _bit_range(offset: int, bits: int) -> int:
    return ((1 << bits) - 1) << offset if bits > 0 else 0


def _bitfield_insert(base: Value, insert: Value, offset: Value, bits: Value) -> Value:
    mask = _bit_range(offset[0], bits[0])
    return tuple((b & ~mask) | ((i << offset[0]) & mask) for b, i in zip(base, insert, strict=True))


_WHOLE: dict[str, Callable[..., Value]] = {
    "bitfieldInsert": _bitfield_insert,
    "length": lambda a: (math.sqrt(_dot(a, a)),),
    "distance": lambda a, b: (math.dist(a, b),),
    "dot": lambda a, b: (_dot(a, b),),
    "cross": _cross,
    "normalize": lambda a: _scaled(a, 1 / math.sqrt(_dot(a, a))),
    "faceforward": lambda n, i, ref: n if _dot(ref, i) < 0 else _scaled(n, -1),
    "reflect": _reflect,
    "refract": _refract,
    "any": lambda a: (any(a),),
    "all": lambda a: (all(a),),
    "packUnorm2x16": lambda v: _packed(v, 16, 65535, 0),
    "packSnorm2x16": lambda v: _packed(v, 16, 32767, -1),
    "packUnorm4x8": lambda v: _packed(v, 8, 255, 0),
    "packSnorm4x8": lambda v: _packed(v, 8, 127, -1),
    "unpackUnorm2x16": lambda v: _fields(v[0], 16, 2, 65535, False),
    "unpackSnorm2x16": lambda v: _fields(v[0], 16, 2, 32767, True),
    "unpackUnorm4x8": lambda v: _fields(v[0], 8, 4, 255, False),
    "unpackSnorm4x8": lambda v: _fields(v[0], 8, 4, 127, True),
    "packHalf2x16": lambda v: struct.unpack("<I", struct.pack("<2e", *v)),
    "unpackHalf2x16": lambda v: struct.unpack("<2e", struct.pack("<I", v[0])),
    "matrixCompMult": lambda a, b: tuple(x * y for x, y in zip(a, b, strict=True)),
    "outerProduct": lambda c, r: tuple(x * y for y in r for x in c),
    "packDouble2x32": lambda v: struct.unpack("<d", struct.pack("<2I", *v)),
    "unpackDouble2x32": lambda v: struct.unpack("<2I", struct.pack("<d", v[0])),
    "packInt2x32": lambda v: struct.unpack("<q", struct.pack("<2i", *v)),
    "packUint2x32": lambda v: struct.unpack("<Q", struct.pack("<2I", *v)),
    "unpackInt2x32": lambda v: struct.unpack("<2i", struct.pack("<q", v[0])),
    "unpackUint2x32": lambda v: struct.unpack("<2I", struct.pack("<Q", v[0])),
}


def _bitfield_extract(type_: Type, args: Sequence[Value]) -> Value:
    offset, bits = args[1][0], args[2][0]
    out = []
    for x in args[0]:
        part = (x >> offset) & ((1 << bits) - 1) if bits > 0 else 0
        if type_.is_signed and bits > 0 and part >> (bits - 1):
            part -= 1 << bits
        out.append(part)
    return tuple(out)


def _minor(m: list[list[Any]], row: int, column: int) -> list[list[Any]]:
    return [r[:column] + r[column + 1 :] for i, r in enumerate(m) if i != row]


def _determinant(m: list[list[Any]]) -> Any:
    if len(m) == 1:
        return m[0][0]
    return sum(
        (-1) ** j * m[0][j] * _determinant(_minor(m, 0, j)) for j in range(len(m)) if m[0][j] != 0
    )


def _matrix(name: str, type_: Type, a: Value) -> Value | None:
    columns = [list(a[i * type_.rows : (i + 1) * type_.rows]) for i in range(type_.columns)]
    if name == "transpose":
        return tuple(x for row in zip(*columns, strict=True) for x in row)
    determinant = _determinant(columns)
    if name == "determinant":
        return (determinant,)
    if determinant == 0:
        return None
    n = len(columns)
    return tuple(
        (-1) ** (i + j) * _determinant(_minor(columns, j, i)) / determinant
        for i in range(n)
        for j in range(n)
    )


def fold_builtin(
    name: str, result: Type, types: Sequence[Type], args: Sequence[Value]
) -> Value | None:
    """The value of a call, or None when it has to be left to the machine."""
    try:
        if name in ("transpose", "determinant", "inverse"):
            value = _matrix(name, types[0], args[0])
        elif name == "bitfieldExtract":
            value = _bitfield_extract(types[0], args)
        elif name in _WHOLE:
            value = _WHOLE[name](*args)
        elif name in _COMPONENT:
            n = max(len(a) for a in args)
            wide = [a * n if len(a) == 1 else a for a in args]
            function = _COMPONENT[name]
            value = tuple(function(*components) for components in zip(*wide, strict=True))
        else:
            return None
        if value is None:
            return None
        return tuple(fold.round_to(result.base, x) for x in value)
    except (ArithmeticError, ValueError, struct.error, TypeError):
        # Undefined (log(-1), 0/0): the opcode's own semantics decide at run time.
        if result.base in (Base.FLOAT, Base.DOUBLE) and name in ("log", "log2"):
            if all(x == 0 for x in args[0]):
                return (-math.inf,) * result.components
        return None
