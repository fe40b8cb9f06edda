"""Surgery on code: splitting, joining and moving blocks and what hangs on them.

Every edit here keeps phis right: what came from a block that went now comes from the one that took
its place, in *all* successors of that block.
"""

from __future__ import annotations

from typing import Any

from gallette.compiler.nir.ir.cf import Block, Body, If, Loop, Parent, successors_of, walk
from gallette.compiler.nir.ir.instrs import Deref, Instr
from gallette.compiler.nir.ir.values import Def


def split_block(block: Block, after: Instr | None) -> Block:
    """Move what follows `after` (None: everything but phis) into a new block and return it.

    The new block takes the old one's place as a predecessor; the caller puts an if or loop
    between the two (or merges them again).
    """
    tail = Block(block.parent, block.owner)
    start = after.next if after is not None else block.first
    if after is None:
        while start is not None and start.is_phi:
            after, start = start, start.next
    for succ in successors_of(block):
        for phi in succ.phis():
            for src in phi.phi_srcs:
                if src.pred is block:
                    src.pred = tail
    if start is not None:
        tail.first, tail.last = start, block.last
        block.last = after
        if after is None:
            block.first = None
        else:
            after.next = None
        start.prev = None
        at: Instr | None = start
        while at is not None:
            at.block = tail
            at = at.next
    block.owner.insert(block.owner.index(block) + 1, tail)
    return tail


def insert_node_at(
    block: Block, after: Instr | None, make: type[If] | type[Loop], *args: Def
) -> Any:
    """Split `block` behind `after` and put a new node between the halves."""
    tail = split_block(block, after)
    node = make(block.parent, block.owner, *args)
    block.owner.insert(block.owner.index(tail), node)
    block.impl.invalidate()
    return node


def merge_blocks(first: Block, second: Block) -> None:
    """Append `second` to its direct neighbour `first`; `second` must have no phis left."""
    for succ in successors_of(second):
        for phi in succ.phis():
            for src in phi.phi_srcs:
                if src.pred is second:
                    src.pred = first
    second.owner.remove(second)
    at = second.first
    while at is not None:
        at.block = first
        at = at.next
    if second.first is not None:
        second.first.prev = first.last
        if first.last is None:
            first.first = second.first
        else:
            first.last.next = second.first
        first.last = second.last
    second.first = second.last = None
    first.impl.invalidate()


def drop_body(body: Body) -> None:
    """Delete every instruction in `body`, so that nothing in it counts as a use any more."""
    for node in walk(body):
        if isinstance(node, Block):
            for instr in node.instrs():
                instr.remove()
        elif isinstance(node, If):
            node.condition.drop()


def remove_dead_deref(deref: Deref | None) -> None:
    """Remove a deref nobody uses, and its parents as far as they become unused."""
    while deref is not None and deref.dest is not None and not deref.dest.uses:
        parent = deref.parent
        deref.remove()
        deref = parent


def move_nodes(nodes: list[Block | If | Loop], body: Body, parent: Parent) -> None:
    """Append nodes (already out of their old body) to `body`, whose last block gets merged.

    `nodes` starts with a block without phis; it is poured into the last block of `body`. If it is
    the only one, phis behind it are the caller's business (`retarget_phis`).
    """
    first = nodes[0]
    last = body[-1]
    assert isinstance(first, Block)
    assert isinstance(last, Block)
    at = first.first
    while at is not None:
        at.block = last
        at = at.next
    if first.first is not None:
        first.first.prev = last.last
        if last.last is None:
            last.first = first.first
        else:
            last.last.next = first.first
        last.last = first.last
    first.first = first.last = None
    for node in nodes[1:]:
        node.parent = parent
        node.owner = body
        body.append(node)
    if len(nodes) > 1 and isinstance(nodes[1], Loop):
        retarget_phis(first, last)


def retarget_phis(old: Block, new: Block) -> None:
    """What came from `old` now comes from `new` (which is already in place)."""
    for successor in successors_of(new):
        for phi in successor.phis():
            for src in phi.phi_srcs:
                if src.pred is old:
                    src.pred = new


def drop_phi_preds(block: Block, pred: Block) -> None:
    """`pred` no longer leads to `block`: phis forget it, those left with one source dissolve."""
    for phi in list(block.phis()):
        if any(s.pred is pred for s in phi.phi_srcs):
            phi.remove_pred(pred)
