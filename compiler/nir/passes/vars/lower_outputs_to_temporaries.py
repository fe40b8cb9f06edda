"""Outputs are written once, at the end."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Intrinsic
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.questions import derefs_of, intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.passes.vars.opt_deref import propagate_modes
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass(
    "lower_outputs_to_temporaries",
    preserves=Metadata.CONTROL_FLOW,
    looks_for=("shader_out",),
    brings=("function_temp", "memory", "copies"),
)
def lower_outputs_to_temporaries(shader: Shader) -> bool:
    """Give every output a local copy that the code works on; copy it out at the end of main.

    Partial and conditional writes and reads back then become ordinary SSA code. A geometry shader
    copies out before each `emit_vertex`. Outputs nobody touches get no copy. Runs after inlining
    and before `lower_vars_to_ssa`; tessellation control outputs are shared and stay.
    """
    if shader.stage is Stage.TESS_CTRL:
        return False
    impl = shader.entry
    touched: dict[Variable, Variable] = {}
    for deref in derefs_of(shader):
        var = deref.var
        if var is None or var.mode != Mode.SHADER_OUT:
            continue
        local = touched.get(var)
        if local is None:
            precise = var.precise or var.invariant
            local = impl.add_local(f"{var.name}@out", var.type, precise=precise)
            touched[var] = local
        deref.var = local
        deref.modes = Mode.FUNCTION_TEMP
        propagate_modes(deref)
    if not touched:
        return False
    if shader.stage is Stage.GEOMETRY:
        for emit in intrinsics_of(impl, "emit_vertex"):
            _copy_out(Builder(impl).at_before(emit), touched, emit)
    else:
        _copy_out(Builder(impl).at_end(impl.last), touched, None)
    return True


def _copy_out(b: Builder, touched: dict[Variable, Variable], emit: Intrinsic | None) -> None:
    for var, local in touched.items():
        if emit is not None and var.stream != emit["stream"]:
            continue
        dst, src = b.deref_var(var), b.deref_var(local)
        if var.type.is_vector_or_scalar:
            b.store_deref(dst, b.load_deref(src))
        else:
            b.copy_deref(dst, src)
