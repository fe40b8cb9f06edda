"""Redundant casts are removed."""

from __future__ import annotations

from gallette.compiler.nir.ir.instrs import Deref
from gallette.compiler.nir.ir.layout import bare_type
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.queries import by_kind, derefs_in
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("opt_deref", preserves=Metadata.CONTROL_FLOW)
def opt_deref(shader: Shader) -> bool:
    """Simplify deref chains.

    `deref_cast` of a deref of the same type is that deref; modes of derived derefs become as narrow
    as their parent's.
    """
    progress = False
    for impl in shader.impls():
        if "cast" not in by_kind(impl).forms:
            continue
        for deref in derefs_in(impl):
            if deref.form == "cast":
                replaced = simplify_cast(deref)
                if replaced is not None:
                    propagate_modes(replaced)
                    progress = True
    return progress


def simplify_cast(cast: Deref) -> Deref | None:
    """Replace a redundant cast by its parent, which is returned."""
    parent = cast.parent
    if parent is None or cast.block is None:
        return None
    if parent.result.bit_size != cast.result.bit_size:
        return None  # a pointer of another width, which is used as a number
    if parent.type is not cast.type:
        if bare_type(parent.type) is not bare_type(cast.type):
            return None
        if parent.type.is_struct:
            return None
    cast.replace_by(parent.result)
    return parent


def propagate_modes(deref: Deref) -> None:
    """Update the modes and types of all derefs derived from `deref`."""
    stack = [deref]
    while stack:
        parent = stack.pop()
        for src in parent.result.uses:
            child = src.parent
            if not isinstance(child, Deref) or child.srcs[0] is not src or child.form == "cast":
                continue
            child.modes = parent.modes
            if child.form == "struct":
                child.type = parent.type.fields[child.field].type
            elif child.form == "ptr_as_array":
                child.type = parent.type
            else:
                child.type = parent.type.indexed()
            stack.append(child)
