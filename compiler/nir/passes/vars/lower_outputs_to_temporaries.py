"""Outputs are written once, at the end."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Deref, Intrinsic
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.queries import derefs_in, intrinsics_of
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.passes.vars.opt_deref import propagate_modes
from gallette.compiler.nir.run.pass_runner import nir_pass

_OUTPUT = int(Mode.SHADER_OUT)


@nir_pass("lower_outputs_to_temporaries", preserves=Metadata.CONTROL_FLOW)
def lower_outputs_to_temporaries(shader: Shader) -> bool:
    """Give every output a local copy that the code works on; copy it out at the end of main.

    Partial and conditional writes and reads back then become ordinary SSA code. A geometry shader
    copies out before each `emit_vertex`. Unused outputs get no copy, and those that a single
    unconditional statement writes as a whole are just written at the end (or where they are, if
    that is the end for all outputs). Runs after inlining and
    before `lower_vars_to_ssa`; tessellation control outputs are shared and not changed.
    """
    if shader.stage is Stage.TESS_CTRL:
        return False
    impl = shader.entry
    touched: dict[Variable, list[Deref]] = {}
    for deref in derefs_in(impl, _OUTPUT):
        if deref.modes == _OUTPUT and deref.var is not None:
            touched.setdefault(deref.var, []).append(deref)
    if not touched:
        return False
    emits = shader.stage is Stage.GEOMETRY
    stores = {var: None if emits else _only_store(impl, ds) for var, ds in touched.items()}
    for var, store in stores.items():
        if store is not None:
            store.srcs[1].value.call(var.name, store.loc)
    if all(store is not None and store.block is impl.last for store in stores.values()):
        return False
    final = {var: stores[var] or _local_copy(impl, var, ds) for var, ds in touched.items()}
    if emits:
        for emit in intrinsics_of(impl, "emit_vertex"):
            _write_out(Builder(impl).at_before(emit), final, emit)
    else:
        _write_out(Builder(impl).at_end(impl.last), final, None)
    return True


def _only_store(impl: FunctionImpl, derefs: list[Deref]) -> Intrinsic | None:
    """The only access to an output, if it is an unconditional store of the whole."""
    deref = derefs[0]
    if len(derefs) > 1 or len(deref.dest.uses) != 1:
        return None
    use = next(iter(deref.dest.uses))
    store = use.parent
    if (
        isinstance(store, Intrinsic)
        and store.info.name == "store_deref"
        and use is store.srcs[0]
        and store["write_mask"] == (1 << deref.type.components) - 1
        and store.block is not None
        and store.block.parent is impl
    ):
        return store
    return None


def _local_copy(impl: FunctionImpl, var: Variable, derefs: list[Deref]) -> Variable:
    local = impl.add_local(f"{var.name}@out", var.type, precise=var.precise or var.invariant)
    for deref in derefs:
        deref.var = local
        deref.modes = Mode.FUNCTION_TEMP
        propagate_modes(deref)
    return local


def _write_out(
    b: Builder, final: dict[Variable, Intrinsic | Variable], emit: Intrinsic | None
) -> None:
    for var, source in final.items():
        if emit is not None and var.stream != emit["stream"]:
            continue
        if isinstance(source, Intrinsic):
            deref = source.deref
            assert deref is not None
            for instr in (deref, source):
                instr.unlink()
                b.insert(instr)
            continue
        dst, src = b.deref_var(var), b.deref_var(source)
        if var.type.is_vector_or_scalar:
            b.store_deref(dst, b.load_deref(src))
        else:
            b.copy_deref(dst, src)
