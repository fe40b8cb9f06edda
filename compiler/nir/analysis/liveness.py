"""Liveness: the values that are live at the start and at the end of a block."""

from __future__ import annotations

from gallette.compiler.nir.ir.cf import (
    Block,
    If,
    place_of,
)
from gallette.compiler.nir.ir.instrs import Phi
from gallette.compiler.nir.ir.metadata import Analysis, Metadata, register
from gallette.compiler.nir.ir.shader import FunctionImpl
from gallette.compiler.nir.ir.values import Def


def compute_liveness(impl: FunctionImpl) -> None:
    """`live_in` and `live_out` of every block.

    A phi's result is live into its block only from its definition on; its sources are live out of
    the predecessor they come from. An `If` reads its condition at the end of the block before it.
    """
    blocks = list(impl.blocks())
    condition_of: dict[Block, Def] = {}
    for block in blocks:
        i = place_of(block) + 1
        node = block.owner[i] if i < len(block.owner) else None
        if isinstance(node, If):
            condition_of[block] = node.condition.value
        block.live_in = set()
        block.live_out = set()
    work = list(blocks)
    queued = set(blocks)
    while work:
        block = work.pop()
        queued.discard(block)
        live: set[Def] = set()
        for successor in block.successors:
            live |= successor.live_in
            for phi in successor.phis():
                for arriving in phi.phi_srcs:
                    if arriving.pred is block:
                        live.add(arriving.value)
        block.live_out = set(live)
        if block in condition_of:
            live.add(condition_of[block])
        at = block.last
        while at is not None:
            if at.dest is not None:
                live.discard(at.dest)
            if not isinstance(at, Phi):
                for src in at.srcs:
                    live.add(src.value)
            at = at.prev
        if live != block.live_in:
            block.live_in = live
            for pred in block.predecessors:
                if pred not in queued:
                    queued.add(pred)
                    work.append(pred)


def describe_liveness(impl: FunctionImpl) -> list[tuple[frozenset[Def], frozenset[Def]]]:
    return [(frozenset(b.live_in), frozenset(b.live_out)) for b in impl.blocks()]


register(Analysis(Metadata.LIVENESS, Metadata.CFG, compute_liveness, describe_liveness))
