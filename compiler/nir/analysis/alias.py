"""Alias analysis of derefs: whether two chains can access the same memory.

Different variables never overlap (unless they are buffers that may be bound twice), nor do
different struct members or different constant indices, and equal dynamic indices always overlap.
This information is lost once derefs become offsets. Chains from pointers are compared if their
pointers and types are equal.
"""

from __future__ import annotations

import enum
import itertools
from typing import TypeAlias

from gallette.compiler.nir.ir.instrs import Deref
from gallette.compiler.nir.ir.modes import Access, Mode
from gallette.compiler.nir.ir.queries import const_int
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.ir.variables import Variable

Root: TypeAlias = "Variable | Def"
"""the start of a chain: a variable, or a pointer of unknown origin"""
_SHARED_MEMORY = Mode.SSBO | Mode.GLOBAL | Mode.SHARED


class Overlap(enum.Enum):
    """How the memory of deref `a` relates to that of `b`."""

    NONE = 0
    EQUAL = 1
    A_IN_B = 2
    B_IN_A = 3
    PARTIAL = 4


def compare(a: Deref, b: Deref) -> Overlap:
    """The relation of two derefs."""
    if a is b:
        return Overlap.EQUAL
    if not a.modes & b.modes:
        return Overlap.NONE
    left, right = a.path(), b.path()
    if left[0].form == "cast" and right[0].form == "cast":
        if not _same_pointer(left[0], right[0]):
            return Overlap.PARTIAL
        return _steps(left, right)
    if left[0].form != "var" or right[0].form != "var":
        return Overlap.PARTIAL
    va, vb = left[0].var, right[0].var
    assert va is not None
    assert vb is not None
    if va is not vb:
        if va.mode & vb.mode & _SHARED_MEMORY and va.mode != Mode.SHARED:
            both_restrict = va.access & vb.access & Access.RESTRICT
            return Overlap.NONE if both_restrict else Overlap.PARTIAL
        return Overlap.NONE
    return _steps(left, right)


def root_of(deref: Deref) -> Root:
    """The variable or pointer at the start of a chain."""
    first = deref.path()[0]
    return first.var if first.var is not None else first.srcs[0].value


def _same_pointer(x: Deref, y: Deref) -> bool:
    return (
        x.srcs[0].value is y.srcs[0].value
        and x.modes == y.modes
        and x.type is y.type
        and x.stride == y.stride
    )


def _steps(left: list[Deref], right: list[Deref]) -> Overlap:
    """The relation of two chains from the same start."""
    for chain in (left, right):
        for parent, child in itertools.pairwise(chain):
            if child.form == "ptr_as_array" and parent.form != "cast":
                return Overlap.PARTIAL  # a cast there may access neighbouring elements
    certain = True
    for x, y in zip(left[1:], right[1:], strict=False):
        if x.form == "struct" and y.form == "struct":
            if x.field != y.field:
                return Overlap.NONE
        elif x.form == y.form and x.form in ("array", "ptr_as_array"):
            step = _compare_index(x, y)
            if step is None:
                certain = False
            elif not step:
                return Overlap.NONE
        else:
            certain = False
    if not certain:
        return Overlap.PARTIAL
    if len(left) == len(right):
        return Overlap.EQUAL
    return Overlap.A_IN_B if len(left) > len(right) else Overlap.B_IN_A


def _compare_index(x: Deref, y: Deref) -> bool | None:
    """True for the same element, False for different ones, None if unknown."""
    i, j = x.srcs[1].value, y.srcs[1].value
    if i is j:
        return True
    a, b = const_int(i), const_int(j)
    if a is not None and b is not None:
        return a == b
    return None


def may_alias(a: Deref, b: Deref) -> bool:
    return compare(a, b) is not Overlap.NONE
