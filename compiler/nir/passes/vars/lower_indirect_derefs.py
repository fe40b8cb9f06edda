"""Dynamic indices become choices between constant ones."""

from __future__ import annotations

from itertools import pairwise

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Deref, Intrinsic
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.questions import const_int, intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.surgery import remove_dead_deref
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.run.pass_runner import nir_pass

_DEFAULT = Mode.FUNCTION_TEMP | Mode.SHADER_IN | Mode.SHADER_OUT
_READ_MODIFY = Mode.FUNCTION_TEMP | Mode.SHADER_TEMP | Mode.SHADER_OUT


@nir_pass("lower_indirect_derefs", preserves=Metadata.CONTROL_FLOW)
def lower_indirect_derefs(
    shader: Shader, *, modes: int = int(_DEFAULT), max_length: int = 16
) -> bool:
    """`load(&a[i])` becomes a tree of `bcsel` over `a[0]`, `a[1]`...; a store tries all elements.

    For arrays of at most `max_length` elements in all indirect dimensions together, and for matrix
    columns. Afterwards the variable can become SSA values. Out of range reads the first or last
    element and writes nothing.
    """
    progress = False
    for impl in shader.impls():
        accesses = intrinsics_of(impl, "load_deref", "store_deref")
        for access in accesses:
            deref = access.deref
            if deref is None or not deref.modes & modes or deref.modes & ~modes:
                continue
            path = deref.path()
            if path[0].form != "var" or not _suitable(path, max_length):
                continue
            b = Builder(impl).at_before(access)
            root = b.deref_var(path[0].var) if path[0].var is not None else path[0]
            if access.dest is not None:
                access.replace_by(_load(b, root, path[1:]))
            else:
                _store(b, root, path[1:], access, None)
                access.remove()
            remove_dead_deref(deref)
            progress = True
    return progress


def _length(parent: Deref) -> int:
    return parent.type.indexed_length()


def _is_indirect(step: Deref) -> bool:
    return step.form == "array" and const_int(step.srcs[1].value) is None


def _suitable(path: list[Deref], max_length: int) -> bool:
    total, found = 1, False
    for parent, step in pairwise(path):
        if step.form not in ("array", "struct"):
            return False
        if _is_indirect(step):
            found = True
            total *= _length(parent)
    return found and 0 < total <= max_length


def _follow(b: Builder, at: Deref, step: Deref) -> Deref:
    if step.form == "struct":
        return b.deref_struct(at, step.field)
    index = const_int(step.srcs[1].value)
    assert index is not None
    return b.deref_array_imm(at, index)


def _load(b: Builder, at: Deref, steps: list[Deref]) -> Def:
    """Load below `at`; nesting is bounded by the type."""
    for i, step in enumerate(steps):
        if not _is_indirect(step):
            at = _follow(b, at, step)
            continue
        index = step.srcs[1].value
        values = [_load(b, b.deref_array_imm(at, k), steps[i + 1 :]) for k in range(_length(at))]
        return _select(b, index, values)
    return b.load_deref(at)


def _select(b: Builder, index: Def, values: list[Def], first: int = 0) -> Def:
    """A balanced tree of choices by `index`."""
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    low = _select(b, index, values[:half], first)
    high = _select(b, index, values[half:], first + half)
    below = b.ilt(index, b.imm_int(first + half, index.bit_size))
    return b.bcsel(below, low, high)


def _store(
    b: Builder, at: Deref, steps: list[Deref], access: Intrinsic, condition: Def | None
) -> None:
    for i, step in enumerate(steps):
        if not _is_indirect(step):
            at = _follow(b, at, step)
            continue
        index = step.srcs[1].value
        for k in range(_length(at)):
            hit = b.ieq(index, b.imm_int(k, index.bit_size))
            both = hit if condition is None else b.iand(condition, hit)
            _store(b, b.deref_array_imm(at, k), steps[i + 1 :], access, both)
        return
    value, mask = access.srcs[1].value, access["write_mask"]
    if condition is None:
        b.store_deref(at, value, mask)
    elif at.modes & _READ_MODIFY:
        b.store_deref(at, b.bcsel(condition, value, b.load_deref(at)), mask)
    else:
        b.push_if(condition)
        b.store_deref(at, value, mask)
        b.pop_if()
