"""Operators in NIR: `+`, `==`, `*` on matrices, conversions.

The expression lowering calls these functions with run-time values, constant folding (`fold`)
with constants, so that both give the same bits.

Matrix products are sums of columns from the left (`c0*x + c1*y + c2*z + c3*w`), row-vector products
are dots, in the order that other implementations use, so that pixels agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gallette.compiler.glsl.check.conversions import construction
from gallette.compiler.glsl.lower.values import Value, convert, load
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import IDENTITY, Def, Deref
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Base, Type

_FLOAT = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
_INT = {
    "+": "iadd",
    "-": "isub",
    "*": "imul",
    "/": "idiv",
    "%": "irem",
    "&": "iand",
    "|": "ior",
    "^": "ixor",
    "<<": "ishl",
    ">>": "ishr",
}
_SHIFTS = frozenset(("<<", ">>"))
_UINT = {**_INT, "/": "udiv", "%": "umod", ">>": "ushr"}
_COMPARE = {"<": ("lt", False), ">": ("lt", True), "<=": ("ge", True), ">=": ("ge", False)}
_SHIFT_COUNT = {Base.INT64: t.INT, Base.UINT64: t.UINT}


def loaded(b: Builder, value: Value) -> Value:
    """A value with a deref at its top replaced by its parts."""
    return load(b, value) if isinstance(value, Deref) else value


def map2(f: Callable[[Def, Def], Def], x: Value, y: Value) -> Value:
    """Apply a function to columns; a scalar or single Def is repeated."""
    if isinstance(x, list) and isinstance(y, list):
        return [f(p, q) for p, q in zip(x, y, strict=True)]
    if isinstance(x, list):
        return [f(p, y) for p in x]
    if isinstance(y, list):
        return [f(x, q) for q in y]
    return f(x, y)


def negate(b: Builder, op: str, type_: Type, value: Value) -> Value:
    """-x, !x, ~x."""
    name = "inot" if op != "-" else "fneg" if type_.is_float else "ineg"
    if isinstance(value, list):
        return [b.alu(name, column) for column in value]
    return b.alu(name, value)


def step(b: Builder, op: str, type_: Type, value: Value) -> Value:
    """The new value of ++ and --; `op` is + or -."""
    name = (_FLOAT if type_.is_float else _INT)[op]
    bits = type_.bit_size
    one = b.imm_float(1.0, bits) if type_.is_float else b.imm_int(1, bits)
    return map2(lambda x, y: b.alu(name, x, y), value, one)


def binary(b: Builder, op: str, ta: Type, x: Value, tb: Type, y: Value) -> Value:
    """`x op y`; the operands have one base type, except in shifts."""
    if x.__class__ is Def and y.__class__ is Def and (op not in _SHIFTS or tb.bit_size == 32):
        table = _FLOAT if ta.is_float else _INT if ta.is_signed else _UINT
        name = table.get(op)
        if name is not None:
            # The simplification of the first rule. (Constants are computed as written, since the
            # negation of a NaN has another sign.)
            if op == "-" and b.constants is not None:
                return b.fadd(x, b.fneg(y)) if name == "fsub" else b.iadd(x, b.ineg(y))
            return b.alu(name, x, y)
    if op in ("==", "!="):
        same = equal(b, ta, x, y)
        return same if op == "==" else b.inot(same)
    x, y = loaded(b, x), loaded(b, y)
    if op in _COMPARE:
        name, swap = _COMPARE[op]
        prefix = "f" if ta.is_float else "i" if ta.is_signed else "u"
        # Exact, so that optimisation does not turn `!(nan < x)` into `nan >= x`.
        with b.exactly():
            return b.alu(f"{prefix}{name}", *((y, x) if swap else (x, y)))
    if op == "*" and (ta.is_matrix or tb.is_matrix) and ta.components > 1 and tb.components > 1:
        return multiply(b, ta, x, tb, y)
    if op in ("<<", ">>") and tb.bit_size != 32:
        y = convert(b, y, tb, _SHIFT_COUNT[tb.base])
    table = _FLOAT if ta.is_float else _INT if ta.is_signed else _UINT
    name = table[op]
    return map2(lambda p, q: b.alu(name, p, q), x, y)


def multiply(b: Builder, ta: Type, x: Value, tb: Type, y: Value) -> Value:
    """Products of linear algebra."""
    if ta.is_vector:
        return b.vec([b.dot(x, column) for column in y])
    if tb.is_vector:
        return transform(b, x, y)
    return [transform(b, x, column) for column in y]


def transform(b: Builder, columns: list[Def], vector: Def) -> Def:
    """Matrix times column vector."""
    size = columns[0].num_components
    total: Def | None = None
    for i, column in enumerate(columns):
        product = b.alu_swizzled(
            "fmul", [(column, IDENTITY[size]), (vector, (i,) * size)], column.bit_size
        )
        total = product if total is None else b.fadd(total, product)
    assert total is not None
    return total


def equal(b: Builder, type_: Type, x: Value, y: Value) -> Def:
    """A boolean: whether two values of any type are equal."""
    if type_.is_vector_or_scalar:
        with b.exactly():
            return b.all_equal(x, y, type_.is_float)
    x, y = loaded(b, x), loaded(b, y)
    if type_.is_matrix:
        kinds = [type_.column_type] * type_.columns
    elif type_.element is not None:
        kinds = [type_.element] * len(x)
    else:
        kinds = [f.type for f in type_.fields]
    total: Def | None = None
    for kind, p, q in zip(kinds, x, y, strict=True):
        part = equal(b, kind, p, q)
        total = part if total is None else b.iand(total, part)
    assert total is not None
    return total


def construct(b: Builder, type_: Type, given: Sequence[Type], values: list[Value]) -> Value:
    """A vector or matrix from values with its base type and the types `given`."""
    values = [loaded(b, value) for value in values]
    if type_.is_vector_or_scalar:
        found = [(d, c) for v in values for d in _columns(v) for c in range(d.num_components)]
        if len(found) == 1:
            found *= type_.rows
        return b.gather(found[: type_.rows])
    pairs = {}
    for i, value in enumerate(values):
        parts = [(d, c) for d in _columns(value) for c in range(d.num_components)]
        pairs.update({(i, k): part for k, part in enumerate(parts)})
    sources = construction(type_, given)
    bits = type_.bit_size
    scalars = [
        b.channel(*pairs[x]) if isinstance(x, tuple) else b.imm_float(x, bits) for x in sources
    ]
    rows = type_.rows
    return [b.vec(scalars[i * rows : (i + 1) * rows]) for i in range(type_.columns)]


def _columns(value: Value) -> list[Def]:
    return value if isinstance(value, list) else [value]
