"""Editing of control flow: splitting, merging and moving blocks and their contents.

Every function here keeps phis correct: sources from a block that was removed are attributed to the
block that replaces it, in *all* of its successors.
"""

from __future__ import annotations

from typing import Any

from gallette.compiler.nir.ir.cf import Block, Body, If, Loop, place_of, successors_of, walk
from gallette.compiler.nir.ir.instrs import Deref, Instr
from gallette.compiler.nir.ir.values import Def


def split_block(block: Block, after: Instr | None) -> Block:
    """Move what follows `after` (None: everything but phis) into a new block, and return that.

    The new block replaces the old one as a predecessor; the caller inserts an if or loop between
    the two (or merges them again).
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
    """Split `block` after `after` and insert a new node between the halves."""
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
    """Delete every instruction in `body`, so that none of them counts as a use."""
    for node in walk(body):
        if isinstance(node, Block):
            for instr in node.instrs():
                instr.remove()
        elif isinstance(node, If):
            node.condition.drop()


def remove_dead_deref(deref: Deref | None) -> None:
    """Remove an unused deref, and its parents as far as they become unused."""
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
    """Move all instructions of `source` (which has no jump) before an instruction."""
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
    """Insert the nodes of a body after `before`.

    `after` is the block that follows `before` (whose phis must have been resolved), or None if
    `before` ends its body. The first of `nodes` is appended to `before`, the last merges with
    `after`. Without `after`, the last of `nodes` takes over the successors of `before` outside the
    body. Phis of all successors are updated, including those of jumps.
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
    """Attribute phi sources from `old` to `new`, in every successor of `at` (or of `old`)."""
    if old is new:
        return
    for successor in successors_of(at or old):
        for phi in successor.phis():
            for src in phi.phi_srcs:
                if src.pred is old:
                    src.pred = new


def drop_phi_preds(block: Block, pred: Block) -> None:
    """Remove the phi sources of `block` from `pred`, which is no predecessor any more."""
    for phi in block.phis():
        phi.remove_pred(pred)
