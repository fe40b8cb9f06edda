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
    unconditional statement writes as a whole are just written at the end. Runs after inlining and
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
    final: dict[Variable, Intrinsic | Variable] = {}
    for var, derefs in touched.items():
        store = _only_store(impl, derefs) if not emits else None
        if store is not None and len(touched) == 1 and _is_last(impl, store):
            store.srcs[1].value.call(var.name, store.loc)
            return False
        final[var] = store if store is not None else _local_copy(impl, var, derefs)
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


def _is_last(impl: FunctionImpl, store: Intrinsic) -> bool:
    """Whether the store is already at the end of the code."""
    return store.next is None and store.block is impl.last


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
            source.srcs[1].value.call(var.name, source.loc)
            for instr in (deref, source):
                instr.unlink()
                b.insert(instr)
            continue
        dst, src = b.deref_var(var), b.deref_var(source)
        if var.type.is_vector_or_scalar:
            b.store_deref(dst, b.load_deref(src))
        else:
            b.copy_deref(dst, src)
