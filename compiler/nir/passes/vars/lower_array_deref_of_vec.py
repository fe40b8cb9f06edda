"""Indexing into a vector becomes component selection."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.cf_editing import remove_dead_deref
from gallette.compiler.nir.ir.instrs import Deref, Intrinsic
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.queries import accesses_of, by_kind, const_int
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.run.pass_runner import nir_pass

_DEFAULT = Mode.FUNCTION_TEMP | Mode.SHADER_TEMP | Mode.SHADER_IN | Mode.SHADER_OUT | Mode.UNIFORM


@nir_pass("lower_array_deref_of_vec", preserves=Metadata.CONTROL_FLOW)
def lower_array_deref_of_vec(shader: Shader, *, modes: int = int(_DEFAULT)) -> bool:
    """`v[i]` loads the whole vector and selects; `v[i] = x` stores under a mask.

    A dynamic index selects by comparing with each component number; out of range it reads 0 and
    stores nowhere. What other invocations write, too (buffers, shared memory, outputs of a patch),
    is not read and written back: each component is stored under an `if`.
    """
    progress = False
    for impl in shader.impls():
        if "array" not in by_kind(impl).forms:
            continue
        for access, deref in accesses_of(impl, modes, "load_deref", "store_deref"):
            parent = deref.parent if deref.form == "array" else None
            if parent is None or not parent.type.is_vector:
                continue
            b = Builder(impl).at_before(access)
            index = deref.srcs[1].value
            if access.dest is not None:
                vector = b.load_deref(parent, access["access"])
                access.replace_by(b.component(vector, index))
            else:
                _store(b, access, parent, index)
                access.remove()
            remove_dead_deref(deref)
            progress = True
    return progress


def _store(b: Builder, access: Intrinsic, parent: Deref, index: Def) -> None:
    value = access.srcs[1].value
    n = parent.type.components
    constant = const_int(index)
    if constant is not None:
        if 0 <= constant < n:
            wide = b.vec([value] * n)
            b.store_deref(parent, wide, 1 << constant, access["access"])
        return
    if parent.modes & (Mode.FUNCTION_TEMP | Mode.SHADER_TEMP | Mode.SHADER_OUT) and not (
        parent.root_var is not None and parent.root_var.patch
    ):
        numbers = b.imm_ivec(*range(n), bit_size=index.bit_size)
        hit = b.ieq(index, numbers)
        b.store_deref(parent, b.bcsel(hit, value, b.load_deref(parent)))
        return
    for i in range(n):
        b.push_if(b.ieq(index, b.imm_int(i, index.bit_size)))
        b.store_deref(parent, b.vec([value] * n), 1 << i, access["access"])
        b.pop_if()
