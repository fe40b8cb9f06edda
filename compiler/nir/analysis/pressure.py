"""Register pressure: the maximum number of live scalar components in a function."""

from __future__ import annotations

from gallette.compiler.nir.ir.cf import (
    Block,
    If,
    place_of,
)
from gallette.compiler.nir.ir.instrs import LoadConst, Phi
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.ir.values import Def


def register_pressure(shader: Shader) -> int:
    """The maximum number of live components, over all functions; constants count as free."""
    return max((_impl_pressure(impl) for impl in shader.impls()), default=0)


def _cost(value: Def) -> int:
    return 0 if isinstance(value.instr, LoadConst) else value.num_components


def _impl_pressure(impl: FunctionImpl) -> int:
    impl.require(Metadata.LIVENESS)
    return max(_block_pressure(block) for block in impl.blocks())


def _block_pressure(block: Block) -> int:
    live = set(block.live_out)
    at = place_of(block) + 1
    node = block.owner[at] if at < len(block.owner) else None
    if isinstance(node, If):
        live.add(node.condition.value)
    total = sum(_cost(value) for value in live)
    worst = total
    instr = block.last
    while instr is not None:
        if instr.dest is not None:
            if instr.dest in live:
                live.discard(instr.dest)
                total -= _cost(instr.dest)
            else:
                worst = max(worst, total + _cost(instr.dest))
        if not isinstance(instr, Phi):
            for src in instr.srcs:
                if src.value not in live:
                    live.add(src.value)
                    total += _cost(src.value)
        worst = max(worst, total)
        instr = instr.prev
    return worst
