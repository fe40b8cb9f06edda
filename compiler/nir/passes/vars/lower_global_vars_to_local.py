"""Globals used by only one function become its locals."""

from __future__ import annotations

from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.queries import derefs_of
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.passes.vars.opt_deref import propagate_modes
from gallette.compiler.nir.run.pass_runner import nir_pass

_GLOBAL = int(Mode.SHADER_TEMP)


@nir_pass("lower_global_vars_to_local", preserves=Metadata.VALUES)
def lower_global_vars_to_local(shader: Shader) -> bool:
    """After inlining, every `shader_temp` variable is a local of main and can become SSA."""
    homes: dict[Variable, set[FunctionImpl]] = {}
    derefs = [d for d in derefs_of(shader, _GLOBAL) if d.var is not None]
    for deref in derefs:
        assert deref.var is not None
        assert deref.block is not None
        if deref.var.mode == Mode.SHADER_TEMP:
            homes.setdefault(deref.var, set()).add(deref.block.impl)
    moved = {var: next(iter(impls)) for var, impls in homes.items() if len(impls) == 1}
    for var, impl in moved.items():
        var.mode = Mode.FUNCTION_TEMP
        shader.variables.remove(var)
        impl.locals.append(var)
    for deref in derefs:
        if deref.var in moved:
            deref.modes = Mode.FUNCTION_TEMP
            propagate_modes(deref)
    return bool(moved)
