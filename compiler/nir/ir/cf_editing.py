"""Surgery on code: splitting, joining and moving blocks and what hangs on them.

Every edit here keeps phis right: what came from a block that went now comes from the one that took
its place, in *all* successors of that block.
"""

from __future__ import annotations

from typing import Any

from gallette.compiler.nir.ir.cf import Block, Body, If, Loop, place_of, successors_of, walk
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
    retarget_phis(block, tail)
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
    place = place_of(block) + 1
    block.owner.insert(place, tail)
    tail.place = place
    return tail


def insert_node_at(
    block: Block, after: Instr | None, make: type[If] | type[Loop], *args: Def
) -> Any:
    """Split `block` behind `after` and put a new node between the halves."""
    tail = split_block(block, after)
    node = make(block.parent, block.owner, *args)
    block.owner.insert(place_of(tail), node)
    block.impl.invalidate()
    return node


def merge_blocks(first: Block, second: Block) -> None:
    """Append `second` to its direct neighbour `first`; `second` must have no phis left."""
    retarget_phis(second, first)
    del second.owner[place_of(second)]
    pour(second, first)
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
    while deref is not None and not deref.dest.uses:
        parent = deref.srcs[0].value.instr if deref.srcs else None
        deref.remove()
        deref = parent if parent.__class__ is Deref else None


def pour(source: Block, target: Block) -> None:
    """Append all instructions of `source` to `target`, which has no jump."""
    at = source.first
    if at is None:
        return
    if target.last is None:
        target.first = at
    else:
        target.last.next = at
        at.prev = target.last
    target.last = source.last
    while at is not None:
        at.block = target
        at = at.next
    source.first = source.last = None


def insert_run(before: Instr, source: Block) -> None:
    """Move all instructions of `source` (which has no jump) in front of an instruction."""
    home, first, last = before.block, source.first, source.last
    assert home is not None
    if first is None or last is None:
        return
    at: Instr | None = first
    while at is not None:
        at.block = home
        at = at.next
    first.prev, last.next = before.prev, before
    if before.prev is not None:
        before.prev.next = first
    else:
        home.first = first
    before.prev = last
    source.first = source.last = None


def splice(before: Block, nodes: Body, after: Block | None) -> None:
    """Put a body's worth of `nodes` behind `before`.

    `after` is the block that follows `before` now (phis it has must have been resolved), or None
    if `before` ends its body. The first of `nodes` is poured into `before`, the last merges with
    `after`. If there is no `after`, what control took from `before` to the code behind the body it
    now takes from the last of `nodes`. Phis of all successors follow, jumps included.
    """
    first, last = nodes[0], nodes[-1]
    assert isinstance(first, Block)
    assert isinstance(last, Block)
    owner = before.owner
    if after is None:
        assert owner[-1] is before
        retarget_phis(before, before if first is last else last)
    pour(first, before)
    inner = nodes[1:]
    for node in inner:
        node.parent, node.owner = before.parent, owner
    at = place_of(before) + 1
    owner[at:at] = inner
    for place, node in enumerate(inner, at):
        node.place = place
    retarget_phis(first, before, at=before)
    if after is not None:
        merge_blocks(before if first is last else last, after)
    before.impl.invalidate()


def retarget_phis(old: Block, new: Block, at: Block | None = None) -> None:
    """What came from `old` now comes from `new`, in every successor of `at` (or of `old`)."""
    if old is new:
        return
    for successor in successors_of(at or old):
        for phi in successor.phis():
            for src in phi.phi_srcs:
                if src.pred is old:
                    src.pred = new


def drop_phi_preds(block: Block, pred: Block) -> None:
    """`pred` no longer leads to `block`: phis forget it."""
    for phi in block.phis():
        phi.remove_pred(pred)
