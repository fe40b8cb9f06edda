"""Loop-invariant code is moved out of loops."""

from __future__ import annotations

from gallette.compiler.nir.ir.cf import Block, Loop, blocks_in, prev_block, walk
from gallette.compiler.nir.ir.instrs import Deref, Instr, Intrinsic, LoadConst, Phi, Tex
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.queries import can_speculate, impls_with_branches
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("opt_licm", preserves=Metadata.CONTROL_FLOW)
def opt_licm(shader: Shader) -> bool:
    """Move instructions whose sources are defined outside a loop in front of it.

    This applies only to instructions that may be speculated: arithmetic, constants, uniform and
    input loads, and texture lookups with an explicit level. Only cheap ones are moved from inside
    an `if`. Inner loops come first, so that values move out of all loops.
    """
    progress = False
    for impl in impls_with_branches(shader):
        loops = [n for n in walk(impl.body) if isinstance(n, Loop)]
        for loop in reversed(loops):
            progress |= _hoist(loop)
    return progress


def _movable(instr: Instr) -> bool:
    if isinstance(instr, Phi):
        return False
    if isinstance(instr, Tex):
        return not instr.info.implicit_lod
    return can_speculate(instr)


def _is_cheap(instr: Instr) -> bool:
    """Whether an instruction may run even if its branch is never taken."""
    return isinstance(instr, (LoadConst, Deref)) or (
        isinstance(instr, Intrinsic) and instr.info.name == "load_ubo"
    )


def _hoist(loop: Loop) -> bool:
    inside: set[Block] = set(blocks_in(loop.body))
    target = prev_block(loop)
    progress = False
    for block in list(blocks_in(loop.body)):
        conditional = block.parent is not loop
        for instr in block.instrs():
            if not _movable(instr) or (conditional and not _is_cheap(instr)):
                continue
            if any(src.value.instr.block in inside for src in instr.srcs):
                continue
            instr.unlink()
            target.insert_after(target.before_jump, instr)
            progress = True
    return progress
