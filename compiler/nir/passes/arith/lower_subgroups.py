"""For drivers without access to other lanes: every subgroup has one lane."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Intrinsic
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.ir.reduction_identities import identity
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.run.pass_runner import nir_pass

_VALUES = (
    "vote_any",
    "vote_all",
    "read_first_invocation",
    "read_invocation",
    "reduce",
)
_NUMBERS = {
    "load_subgroup_size": (1,),
    "load_subgroup_invocation": (0,),
    "load_subgroup_eq_mask": (1, 0, 0, 0),
    "load_subgroup_ge_mask": (1, 0, 0, 0),
    "load_subgroup_gt_mask": (0, 0, 0, 0),
    "load_subgroup_le_mask": (1, 0, 0, 0),
    "load_subgroup_lt_mask": (0, 0, 0, 0),
}
_COUNTS = ("load_num_subgroups", "load_subgroup_id")
_TRUE = ("vote_feq", "vote_ieq", "elect")


@nir_pass("lower_subgroups", preserves=Metadata.CONTROL_FLOW)
def lower_subgroups(shader: Shader) -> bool:
    """Compute votes, ballots and reads of other lanes from the lane itself.

    Before: `%2 = ballot(%1)`; after: `%2 = vec4(b2i32(%1), 0, 0, 0)`. The languages leave the size
    of subgroups to the implementation; only groups of one are independent of how lanes are assigned
    to chunks.
    """
    progress = False
    for impl in shader.impls():
        for instr in intrinsics_of(impl, *_VALUES, *_NUMBERS, *_COUNTS, *_TRUE, "ballot"):
            instr.replace_by(_answer(Builder(impl).at_before(instr), instr))
            progress = True
    return progress


def _answer(b: Builder, instr: Intrinsic) -> Def:
    if instr.name == "reduce" and instr["scan"] == "exclusive":
        value = instr.result
        neutral = identity(str(instr["reduction_op"]), value.bit_size)
        return b.const((neutral,) * value.num_components, value.bit_size)
    if instr.name in _VALUES:
        return instr.srcs[0].value
    if instr.name == "load_subgroup_id":
        return b.intrinsic("load_local_invocation_index")
    if instr.name == "load_num_subgroups":
        x, y, z = b.channels(b.intrinsic("load_workgroup_size"))
        return b.imul(x, b.imul(y, z))
    if instr.name in _TRUE:
        return b.const([1], 1)
    if instr.name in _NUMBERS:
        return b.const(list(_NUMBERS[instr.name][: instr.result.num_components]), 32)
    zero = b.imm_int(0)
    return b.vec([b.b2i32(instr.srcs[0].value), zero, zero, zero][: instr.result.num_components])
