"""Instructions nobody needs go."""

from __future__ import annotations

from gallette.compiler.nir.ir.cf import Block, If, Loop, list_blocks, walk
from gallette.compiler.nir.ir.instrs import Instr
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.questions import has_side_effects
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("dce", preserves=Metadata.CONTROL_FLOW)
def dce(shader: Shader) -> bool:
    """Remove what neither side effects nor control flow need.

    Cycles of phis that only feed each other die too.
    """
    progress = False
    for impl in shader.impls():
        progress |= remove_dead_code(impl)
    return progress


def has_loops(impl: FunctionImpl) -> bool:
    """May values be used in front of where they are defined?"""
    return len(impl.body) > 1 and any(node.__class__ is Loop for node in walk(impl.body))


def remove_dead_code(impl: FunctionImpl) -> bool:
    """`dce` of one function."""
    if has_loops(impl):
        return _mark_and_sweep(impl)
    # Without loops users come behind what they use: walked backwards, whoever has none has none.
    progress = False
    for block in reversed(list_blocks(impl.body)):
        at = block.last
        while at is not None:
            instr, at = at, at.prev
            if (instr.dest is None or not instr.dest.uses) and not has_side_effects(instr):
                instr.remove()
                progress = True
    return progress


def _mark_and_sweep(impl: FunctionImpl) -> bool:
    """Mark everything that side effects and conditions need, backwards; remove the rest."""
    live: set[Instr] = set()
    work: list[Instr] = []
    everything: list[Instr] = []
    for node in walk(impl.body):
        if isinstance(node, Block):
            at = node.first
            while at is not None:
                everything.append(at)
                if at.may_have_effects and has_side_effects(at):
                    live.add(at)
                    work.append(at)
                at = at.next
        elif isinstance(node, If):
            needed = node.condition.value.instr
            if needed not in live:
                live.add(needed)
                work.append(needed)
    while work:
        instr = work.pop()
        for src in instr.srcs:
            needed = src.value.instr
            if needed not in live:
                live.add(needed)
                work.append(needed)
    if len(live) == len(everything):
        return False
    for instr in everything:
        if instr not in live:
            instr.remove()
    return True
