"""Matrix built-ins; a matrix is the list of its columns."""

from __future__ import annotations

from typing import Any

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.lower.math_table import row
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Def


@row("matrixCompMult")
def _matrix_comp_mult(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return [b.fmul(x, y) for x, y in zip(args[0], args[1], strict=True)]


@row("outerProduct")
def _outer_product(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return outer_product(b, args[0], args[1])


def outer_product(b: Builder, column: Def, row: Def) -> list[Def]:
    """The columns of a column vector times a row vector."""
    return [b.fmul(column, b.channel(row, i)) for i in range(row.num_components)]


@row("transpose")
def _transpose(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return transposed(b, args[0])


def transposed(b: Builder, columns: list[Def]) -> list[Def]:
    """The columns of the transposed matrix."""
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


@row("determinant")
def _determinant(b: Builder, e: hir.BuiltinCall, args: list[Any]) -> Any:
    return _det(b, _cells(b, args[0]))


@row("inverse")
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
    # The inverse is the transposed matrix of cofactors divided by the determinant.
    return [b.fmul(b.vec([cofactors[r][c] for r in range(n)]), scale) for c in range(n)]
