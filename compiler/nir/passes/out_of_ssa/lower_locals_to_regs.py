"""Local variables become registers."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Deref, Intrinsic
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.questions import const_int, instrs_of, intrinsics_of
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.ir.surgery import remove_dead_deref
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.passes.out_of_ssa.convert_from_ssa import declare_register
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("lower_locals_to_regs", preserves=Metadata.CONTROL_FLOW)
def lower_locals_to_regs(shader: Shader) -> bool:
    """What `lower_vars_to_ssa` left (indirectly indexed arrays) becomes register arrays.

    Before: `load_deref(&a[%i])`; after: `load_reg_indirect (%r, %i)`. Arrays of arrays are
    flattened, matrices count as arrays of columns. Structs must have been split; a variable that is
    copied as a whole, or that a call gets a pointer to, stays.
    """
    progress = False
    for impl in shader.impls():
        registers: dict[Variable, Def] = {}
        whole = _used_whole(impl)
        for access in intrinsics_of(impl, "load_deref", "store_deref"):
            deref = access.deref
            if deref is None or deref.modes != Mode.FUNCTION_TEMP:
                continue
            var = deref.root_var
            if var is None or var.type.without_array.is_struct or var in whole:
                continue
            register = registers.get(var)
            if register is None:
                register = registers[var] = _declare(impl, var)
            _lower(Builder(impl).at_before(access), access, deref, register)
            remove_dead_deref(deref)
            progress = True
        for block in impl.blocks():  # derefs nobody reads would name variables that are gone
            for instr in list(block.instrs()):
                if isinstance(instr, Deref) and instr.root_var in registers:
                    remove_dead_deref(instr)
        impl.locals = [v for v in impl.locals if v not in registers]
    return progress


def _used_whole(impl: FunctionImpl) -> set[Variable | None]:
    """Variables whose derefs somebody else than loads and stores reads."""
    return {
        instr.root_var
        for instr in instrs_of(impl)
        if isinstance(instr, Deref)
        for src in instr.result.uses
        if not isinstance(user := src.parent, Deref)
        and not (isinstance(user, Intrinsic) and user.name in ("load_deref", "store_deref"))
    }


def _elements(var: Variable) -> int:
    return var.type.array_elements * max(var.type.without_array.columns, 1)


def _declare(impl: FunctionImpl, var: Variable) -> Def:
    inner = var.type.without_array
    count = _elements(var)
    b = Builder(impl).at_start(impl.first)
    elements = count if var.type.is_array or inner.is_matrix else 0
    return declare_register(b, inner.rows, inner.bit_size, elements)


def _lower(b: Builder, access: Intrinsic, deref: Deref, register: Def) -> None:
    base, offset = 0, None
    for step in deref.path()[1:]:
        index = step.srcs[1].value
        t = step.type
        size = t.array_elements * (t.without_array.columns if t.without_array.is_matrix else 1)
        constant = const_int(index)
        if constant is not None:
            base += constant * size
            continue
        scaled = index if size == 1 else b.imul(index, b.imm_int(size, index.bit_size))
        offset = scaled if offset is None else b.iadd(offset, scaled)
    indirect = "" if offset is None else "_indirect"
    extra = [] if offset is None else [offset]
    if access.dest is not None:
        dest = access.dest
        value = b.intrinsic(
            f"load_reg{indirect}",
            [register, *extra],
            num_components=dest.num_components,
            bit_size=dest.bit_size,
            base=base,
        )
        access.replace_by(value)
        return
    b.intrinsic(
        f"store_reg{indirect}",
        [access.srcs[1].value, register, *extra],
        base=base,
        write_mask=access["write_mask"],
    )
    access.remove()
