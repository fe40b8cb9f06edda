"""Reductions, scans and broadcasts of a workgroup become shared memory and barriers."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Intrinsic
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.ir.reduction_identities import identity
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.types import Base, Type, array, scalar
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.run.pass_runner import nir_pass

_WORDS = {8: Base.UINT8, 16: Base.UINT16, 32: Base.UINT, 64: Base.UINT64}


@nir_pass("lower_workgroup_collectives", preserves=Metadata.CONTROL_FLOW)
def lower_workgroup_collectives(shader: Shader) -> bool:
    """Use one array of shared memory per bit size, with a step per doubling of the distance.

    Before: `%2 = workgroup_reduce(%1) [reduction_op=fadd]` in workgroups of 4; after: %1 is stored
    in the invocation's element, then twice `barrier; %o = load (element - 1, then 2); barrier;
    store (%o + it)`, and the last element has the sum. Every invocation adds in the same order, so
    all get the same bits. Needs the size of the workgroup; `lower_explicit_io` places the array.
    """
    x, y, z = shader.info.workgroup_size
    arrays: dict[int, Variable] = {}
    progress = False
    for impl in shader.impls():
        for instr in intrinsics_of(impl, "workgroup_reduce", "workgroup_broadcast"):
            b = Builder(impl).at_before(instr)
            value = instr.srcs[0].value
            width = 32 if value.bit_size == 1 else value.bit_size
            if width not in arrays:
                kind: Type = array(scalar(_WORDS[width]), max(x * y * z, 1))
                arrays[width] = shader.add_variable(f"collective{width}", kind, Mode.SHARED)
            place = _Place(b, arrays[width], max(x * y * z, 1))
            instr.replace_by(_lower(b, instr, place, value))
            progress = True
    return progress


class _Place:
    """Shared memory with an element per invocation."""

    def __init__(self, b: Builder, var: Variable, count: int) -> None:
        self.b, self.var, self.count = b, var, count
        self.number = b.intrinsic("load_local_invocation_index")

    def barrier(self) -> None:
        self.b.intrinsic("barrier", execution_scope="workgroup", memory_scope="workgroup")

    def store(self, value: Def) -> None:
        b = self.b
        b.store_deref(b.deref_array(b.deref_var(self.var), self.number), value)
        self.barrier()

    def load(self, at: Def) -> Def:
        b = self.b
        return b.load_deref(b.deref_array(b.deref_var(self.var), at))


def _lower(b: Builder, instr: Intrinsic, place: _Place, value: Def) -> Def:
    if value.bit_size == 1:
        return b.ine(_lower(b, instr, place, b.b2i32(value)), b.imm_int(0))
    place.store(value)
    if instr.name == "workgroup_broadcast":
        last = b.imm_int(place.count - 1)
        result = place.load(b.umin(b.u2u32(instr.srcs[1].value), last))
        place.barrier()
        return result
    op, scan = str(instr["reduction_op"]), instr["scan"]
    for k in range(max(place.count - 1, 0).bit_length()):
        distance = b.imm_int(1 << k)
        inside = b.uge(place.number, distance)
        before = place.load(b.bcsel(inside, b.isub(place.number, distance), b.imm_int(0)))
        value = b.bcsel(inside, b.alu(op, before, value), value)
        place.barrier()
        place.store(value)
    if scan == "inclusive":
        return value
    if scan == "reduce":
        value = place.load(b.imm_int(place.count - 1))
    else:
        first = b.ieq(place.number, b.imm_int(0))
        before = place.load(b.bcsel(first, b.imm_int(0), b.isub(place.number, b.imm_int(1))))
        value = b.bcsel(first, b.const((identity(op, value.bit_size),), value.bit_size), before)
    place.barrier()
    return value
