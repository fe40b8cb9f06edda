"""Packed varyings lose their dynamic indices: elements do not lie a whole slot apart."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Deref, Intrinsic
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.questions import const_int, intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.surgery import remove_dead_deref
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.passes.io.lower_io import ACCESSES
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("lower_packed_indirects", preserves=Metadata.NONE)
def lower_packed_indirects(shader: Shader) -> bool:
    """A dynamically indexed element of a packed varying is chosen among all elements.

    Before: `%2 = load_deref(&v[%1])`; after: a load of every element and a chain of selects. A
    store becomes one store per element, each in an `if`. Runs before `lower_io`, which needs
    constant indices where the linker packed (`Variable.packed`).
    """
    if not any(var.packed for var in shader.variables):
        return False
    progress = False
    for impl in shader.impls():
        work = list(intrinsics_of(impl, *ACCESSES))
        while work:
            access = work.pop()
            deref = access.deref
            var = deref.root_var if deref is not None else None
            if deref is None or var is None or not var.packed:
                continue
            step = _dynamic_step(deref, 1 if var.per_vertex else 0)
            if step < 0:
                continue
            work += _choose(Builder(impl).at_before(access), access, deref, step)
            remove_dead_deref(deref)
            progress = True
    return progress


def _dynamic_step(deref: Deref, skipped: int) -> int:
    """Which step of the path has an index that is no constant; -1 for none."""
    for i, step in enumerate(deref.path()):
        if i > skipped and step.form == "array" and const_int(step.array_index.value) is None:
            return i
    return -1


def _choose(b: Builder, access: Intrinsic, deref: Deref, step: int) -> list[Intrinsic]:
    """Replace an access by accesses with every value of one index; these are returned."""
    path = deref.path()
    index = path[step].array_index.value
    others = [s.value for s in access.srcs[1:]]
    made: list[Intrinsic] = []

    def one(element: int) -> Intrinsic:
        srcs = [_rebuilt(b, path, step, element).result, *others]
        dest = access.dest
        sizes = (dest.num_components, dest.bit_size) if dest is not None else (0, 0)
        instr = Intrinsic(access.info, srcs, *sizes, dict(access.indices))
        b.insert(instr)
        made.append(instr)
        return instr

    length = path[step - 1].type.indexed_length()
    if access.name == "store_deref":
        for i in range(length):
            b.push_if(b.ieq(index, b.imm_int(i, index.bit_size)))
            one(i)
            b.pop_if()
        access.remove()
        return made
    result: Def = one(0).result
    for i in range(1, length):
        chosen = b.ieq(index, b.imm_int(i, index.bit_size))
        result = b.bcsel(chosen, one(i).result, result)
    access.replace_by(result)
    return made


def _rebuilt(b: Builder, path: list[Deref], constant_step: int, element: int) -> Deref:
    head = b.deref_var(path[0].root_var) if path[0].root_var is not None else path[0]
    for i, step in enumerate(path[1:], 1):
        if i == constant_step:
            head = b.deref_array_imm(head, element)
        elif step.form == "struct":
            head = b.deref_struct(head, step.field)
        else:
            head = b.deref_array(head, step.array_index.value)
    return head
