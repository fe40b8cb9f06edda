"""System value variables become intrinsics."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.cf_editing import remove_dead_deref
from gallette.compiler.nir.ir.intrinsics import INTRINSICS
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.queries import accesses_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import SystemValue
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.passes.vars.lower_array_deref_of_vec import select_component
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("lower_system_values", preserves=Metadata.CONTROL_FLOW)
def lower_system_values(shader: Shader) -> bool:
    """`load_deref(&gl_VertexID)` becomes `load_vertex_id`.

    Array-typed system values (`gl_SampleMaskIn[]`, tessellation levels) select a component.
    """
    progress = False
    for impl in shader.impls():
        for access, deref in accesses_of(impl, Mode.SYSTEM_VALUE, "load_deref"):
            var = deref.root_var
            assert var is not None
            assert access.dest is not None
            b = Builder(impl).at_before(access)
            value = load_system_value(b, SystemValue(var.location), access.dest)
            if deref.form == "array":
                value = select_component(b, value, deref.srcs[1].value)
            access.replace_by(b.trim(value, access.dest.num_components))
            remove_dead_deref(deref)
            progress = True
    return progress


def load_system_value(b: Builder, which: SystemValue, like: Def) -> Def:
    """The intrinsic for a system value, with its own number of components."""
    name = which.intrinsic
    value = b.intrinsic(name)
    assert INTRINSICS[name].dest is not None
    if value.num_components < like.num_components:
        value = b.pad(value, like.num_components)
    if like.bit_size == 1 and value.bit_size == 32:
        value = b.ine(value, b.imm_int(0))
    return value
