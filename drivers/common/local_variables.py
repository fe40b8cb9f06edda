"""Local variables that are accessed through derefs: rows of scalars, one scalar per lane in each.

A driver keeps the rows in memory of its own; where a deref is among them is the same for all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.ir import Deref, Src, Variable
from gallette.compiler.nir.ir.types import Type


class Moving(NamedTuple):
    """An index that is not constant, of an array with elements of `stride` rows."""

    source: Src
    stride: int
    length: int


class Place(NamedTuple):
    """The rows of a deref's value. They begin at `row` of the variable, moved by each index in
    `moving`, unless the variable has no such row, or an index is not below its length.
    """

    var: Variable
    row: int
    moving: list[Moving]
    type: Type


def rows_of(type: Type) -> int:
    """The number of scalars in a type."""
    if type.element is not None:
        return type.length * rows_of(type.element)
    if type.is_struct:
        return sum(rows_of(f.type) for f in type.fields)
    return type.components


def bits_of(var: Variable) -> int:
    """The size of a variable's scalars."""
    sizes = {leaf.bit_size for leaf in var.type.leaves()}
    if len(sizes) != 1:
        raise GalletteError(f"local {var.name!r} mixes component sizes")
    return sizes.pop()


def place_of(deref: Deref, known: Callable[[Src], int | None]) -> Place:
    """Where a deref's value is. `known`: the value of an index, if it is a constant."""
    chain = deref.path()
    var = chain[0].var
    if var is None:
        raise GalletteError("this driver has no code for derefs that do not start at a variable")
    row, moving, type = 0, list[Moving](), var.type
    for step in chain[1:]:
        if step.form == "struct":
            row += sum(rows_of(f.type) for f in type.fields[: step.field])
            type = type.fields[step.field].type
            continue
        if step.form != "array":
            raise GalletteError(f"this driver has no code for {step.form!r} derefs")
        length, type = type.indexed_length(), type.indexed()
        index = known(step.array_index)
        if index is None:
            moving.append(Moving(step.array_index, rows_of(type), length))
        else:
            row += index * rows_of(type) if index < length else rows_of(var.type)
    return Place(var, row, moving, type)
