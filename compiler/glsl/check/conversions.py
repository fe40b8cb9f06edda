"""Typing rules: implicit conversions and the result types of operators."""

from __future__ import annotations

from collections.abc import Sequence

from gallette.compiler.glsl.availability import DOUBLES, INTEGERS_64
from gallette.compiler.glsl.language import Language
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Base, Type

_TO_FLOAT = "120 EXT_shader_implicit_conversions"
_TO_UINT = (
    "400 ARB_gpu_shader5 desktop+MESA_shader_integer_functions EXT_shader_implicit_conversions "
    "ARB_gpu_shader_int64"
)

_IMPLICIT: dict[tuple[Base, Base], str] = {
    (Base.INT, Base.FLOAT): _TO_FLOAT,
    (Base.UINT, Base.FLOAT): _TO_FLOAT,
    (Base.INT, Base.UINT): _TO_UINT,
    (Base.FLOAT, Base.DOUBLE): DOUBLES,
    (Base.INT, Base.DOUBLE): DOUBLES,
    (Base.UINT, Base.DOUBLE): DOUBLES,
    (Base.INT, Base.INT64): INTEGERS_64,
    (Base.INT, Base.UINT64): INTEGERS_64,
    (Base.UINT, Base.UINT64): INTEGERS_64,
    (Base.INT64, Base.UINT64): INTEGERS_64,
    (Base.INT64, Base.DOUBLE): INTEGERS_64,
    (Base.UINT64, Base.DOUBLE): INTEGERS_64,
}

_WIDENING = {
    (Base.INT, Base.INT64),
    (Base.UINT, Base.UINT64),
    (Base.FLOAT, Base.DOUBLE),
}

_Conversion = tuple[Type, Type]
"""The type of a value, and the type it is converted to."""


def shape_with(shape: Type, base: Base) -> Type:
    """The type with the rows and columns of `shape` and another base."""
    if shape.base is base:
        return shape
    if shape.is_matrix:
        return t.mat(base, shape.columns, shape.rows)
    return t.vec(base, shape.rows)


def can_convert(source: Type, target: Type, lang: Language) -> bool:
    """Whether `source` converts implicitly to `target`."""
    if source is target:
        return True
    if source.rows != target.rows or source.columns != target.columns:
        return False
    when = _IMPLICIT.get((source.base, target.base))
    return when is not None and lang.has(when)


def is_better_conversion(a: _Conversion, b: _Conversion) -> bool:
    """Whether conversion `a` is better than `b`, in overload resolution; often neither is."""
    (from_a, to_a), (from_b, to_b) = a, b
    if from_a is to_a or from_b is to_b:
        return from_b is not to_b
    wider_a = (from_a.base, to_a.base) in _WIDENING
    wider_b = (from_b.base, to_b.base) in _WIDENING
    if wider_a or wider_b:
        return not wider_b
    return to_a.base is Base.FLOAT and to_b.base is Base.DOUBLE


def common_base(a: Type, b: Type, lang: Language) -> Base | None:
    """The base both operands convert to, or None."""
    if a.base is b.base:
        return a.base
    scalar_a, scalar_b = t.scalar(a.base), t.scalar(b.base)
    if can_convert(scalar_a, scalar_b, lang):
        return b.base
    if can_convert(scalar_b, scalar_a, lang):
        return a.base
    return None


def _shape(op: str, a: Type, b: Type, base: Base) -> Type | None:
    """Result type of arithmetic on operands that share `base`."""
    if a.is_scalar:
        return shape_with(b, base)
    if b.is_scalar:
        return shape_with(a, base)
    if a.is_vector and b.is_vector:
        return t.vec(base, a.rows) if a.rows == b.rows else None
    if op != "*":
        return (
            shape_with(a, base)
            if a.is_matrix and b.is_matrix and (a.columns, a.rows) == (b.columns, b.rows)
            else None
        )
    if a.is_vector:
        return t.vec(base, b.columns) if a.rows == b.rows else None
    if b.is_vector:
        return t.vec(base, a.rows) if a.columns == b.rows else None
    return t.mat(base, b.columns, a.rows) if a.columns == b.rows else None


def operator_type(op: str, a: Type, b: Type, lang: Language) -> tuple[Type, Base, Base] | str:
    """(result, base the left operand converts to, base of the right), or the reason why there is
    none.
    """
    if not a.is_numeric or not b.is_numeric:
        return "the operands must be scalars, vectors or matrices"
    if op in ("<<", ">>"):
        if not (a.is_integer and b.is_integer):
            return "shifts need integer operands"
        if a.is_scalar and not b.is_scalar:
            return "a scalar cannot be shifted by a vector"
        if b.is_vector and a.rows != b.rows:
            return "the operands have different sizes"
        return a, a.base, b.base
    base = common_base(a, b, lang)
    if base is None:
        return "the operands have different types and no implicit conversion applies"
    if op in ("&", "|", "^", "%"):
        if a.is_float or b.is_float or a.is_boolean or b.is_boolean:
            return "the operands must be integers"
        if a.is_vector and b.is_vector and a.rows != b.rows:
            return "the operands have different sizes"
        return (
            (a if a.is_vector else b)
            if base is (a if a.is_vector else b).base
            else shape_with(a if a.is_vector else b, base),
            base,
            base,
        )
    if a.is_boolean or b.is_boolean:
        return "booleans have no arithmetic"
    if op in ("<", ">", "<=", ">="):
        if not (a.is_scalar and b.is_scalar):
            return "relational operators compare scalars (see lessThan and its kin for vectors)"
        return t.BOOL, base, base
    result = _shape(op, a, b, base)
    return (result, base, base) if result is not None else "the operands have different sizes"


def construction(type_: Type, given: Sequence[Type]) -> list[tuple[int, int] | float]:
    """The sources of the components of a constructed vector or matrix, column by column.

    Each is (argument, component of it), or a number that a matrix takes from the identity.
    """
    first = given[0]
    rows = type_.rows
    if len(given) == 1 and first.is_scalar:
        if not type_.is_matrix:
            return [(0, 0)] * rows
        return [(0, 0) if c == r else 0.0 for c in range(type_.columns) for r in range(rows)]
    if len(given) == 1 and first.is_matrix and type_.is_matrix:
        return [
            (0, c * first.rows + r) if c < first.columns and r < first.rows else float(c == r)
            for c in range(type_.columns)
            for r in range(rows)
        ]
    flat = [(i, k) for i, kind in enumerate(given) for k in range(kind.components)]
    return list(flat[: type_.components])
