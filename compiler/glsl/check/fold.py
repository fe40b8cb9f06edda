"""Compile-time arithmetic on constant values, as 32- and 64-bit machines do it.

Only what a constant expression may contain: operators, constructors and conversions here, built-in
functions in `fold_builtins`.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from typing import Any

from gallette.compiler.glsl.check.hir import Value
from gallette.compiler.nir.ir.types import Base, Type

__all__ = ["binary", "convert", "equal", "round_to", "unary"]

_F32 = struct.Struct("<f")
_BITS = {Base.INT: 32, Base.UINT: 32, Base.INT64: 64, Base.UINT64: 64}


def round_to(base: Base, x: Any) -> Any:
    """The nearest (float) or wrapped (integer) value of a base type."""
    if base is Base.FLOAT:
        try:
            return _F32.unpack(_F32.pack(x))[0]
        except OverflowError:
            return math.copysign(math.inf, x)
    if base is Base.DOUBLE:
        return float(x)
    if base is Base.BOOL:
        return bool(x)
    bits = _BITS.get(base, 32)
    x = int(x) & ((1 << bits) - 1)
    if base in (Base.INT, Base.INT64) and x >> (bits - 1):
        x -= 1 << bits
    return x


def _convert_one(source: Base, target: Base, x: Any) -> Any:
    if target is Base.BOOL:
        return x != 0
    if source in (Base.FLOAT, Base.DOUBLE) and target in _BITS:
        if math.isnan(x):
            return 0
        bits = _BITS[target]
        signed = target in (Base.INT, Base.INT64)
        low = -(1 << (bits - 1)) if signed else 0
        high = (1 << (bits - signed)) - 1
        if math.isinf(x):
            return high if x > 0 else low
        return round_to(target, max(low, min(high, int(x))) if signed or x > 0 else int(x))
    return round_to(target, x)


def convert(source: Base, target: Base, value: Value) -> Value:
    """Component-wise conversion."""
    if source is target:
        return value
    return tuple(_convert_one(source, target, x) for x in value)


def _divide_float(a: float, b: float) -> float:
    try:
        return a / b
    except ZeroDivisionError:
        if a == 0 or math.isnan(a):
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _divide_int(a: int, b: int) -> int:
    if b == 0:
        return 0
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


_OPS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


def unary(op: str, type: Type, value: Value) -> Value:
    """-x, !x, ~x."""
    if op == "!":
        return tuple(not x for x in value)
    if op == "~":
        return tuple(round_to(type.base, ~x) for x in value)
    return tuple(round_to(type.base, -x) for x in value)


def equal(a: Value, b: Value) -> bool:
    """The == operator on whole values (NaN differs from itself)."""
    return all(equal(x, y) if isinstance(x, tuple) else x == y for x, y in zip(a, b, strict=True))


def _component(op: str, base: Base, a: Any, b: Any) -> Any:
    if op == "/":
        if base in (Base.FLOAT, Base.DOUBLE):
            return round_to(base, _divide_float(a, b))
        return round_to(base, _divide_int(a, b))
    if op == "%":
        return round_to(base, a - b * _divide_int(a, b)) if b else 0
    if op == "<<" or op == ">>":
        bits = _BITS[base]
        shift = b & (bits - 1)
        return round_to(base, a << shift if op == "<<" else a >> shift)
    result = _OPS[op](a, b)
    return result if op in ("<", ">", "<=", ">=") else round_to(base, result)


def _dot(base: Base, a: Value, b: Value) -> Any:
    total: Any = 0.0
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        product = round_to(base, x * y)
        total = product if i == 0 else round_to(base, total + product)
    return total


def _matrix_multiply(ta: Type, a: Value, tb: Type, b: Value) -> Value:
    base = ta.base
    if ta.is_vector:  # row vector times matrix
        return tuple(_dot(base, a, b[i * tb.rows : (i + 1) * tb.rows]) for i in range(tb.columns))
    rows = [a[i :: ta.rows] for i in range(ta.rows)]
    columns = [b[i * tb.rows : (i + 1) * tb.rows] for i in range(tb.columns)]
    return tuple(_dot(base, row, column) for column in columns for row in rows)


def binary(op: str, ta: Type, a: Value, tb: Type, b: Value) -> Value:
    """Value of `a op b`; the operands have the same base type unless shifting."""
    if op == "==" or op == "!=":
        return (equal(a, b) == (op == "=="),)
    if op == "*" and ((ta.is_matrix and tb.components > 1) or (tb.is_matrix and ta.components > 1)):
        try:
            return _matrix_multiply(ta, a, tb, b)
        except OverflowError:
            return (math.nan,) * (ta.rows * tb.columns)
    n = max(len(a), len(b))
    a = a * n if len(a) == 1 else a
    b = b * n if len(b) == 1 else b
    return tuple(_component(op, ta.base, x, y) for x, y in zip(a, b, strict=True))
