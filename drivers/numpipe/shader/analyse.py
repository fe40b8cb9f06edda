"""Analyses of the lane program: what is dead, what differs between lanes, dtypes, lifetimes.

They run in this order, each one walk or a short fixed point over the tree:

* `prune` drops operations nobody needs, component by component;
* `find_divergence` decides which values vary between lanes, and which ifs and loops divide them;
* `choose_kinds` (in `kinds`) settles the dtype of values whose producer does not care;
* `find_lifetimes` (in `lifetimes`) notes where each value is last read, and which outer values each
  region reads (those are gathered when the region runs on fewer lanes).
"""

from __future__ import annotations

from gallette.compiler.nir.ir.intrinsics import INTRINSICS

from .kinds import choose_kinds
from .lane_ir import (
    BreakOp,
    ContinueOp,
    IfOp,
    Item,
    LaneArray,
    LaneProgram,
    LaneValue,
    LoopOp,
    Op,
    Region,
)
from .lifetimes import find_lifetimes
from .walking import EFFECTS, is_quad_op, walk

__all__ = ["analyse"]

_PER_LANE = frozenset(
    {"input", "input_indirect", "corner_at", "peer_load", "output_load", "choose", "helper"}
)


def analyse(program: LaneProgram) -> None:
    """Run all analyses."""
    prune(program)
    find_divergence(program)
    watch_loops(program)
    choose_kinds(program)
    find_lifetimes(program)


# -- dead code ---------------------------------------------------------------------------------


def prune(program: LaneProgram) -> None:
    """Drop every operation without an effect on what the shader writes."""
    pending: list[LaneValue] = []

    def need(value: LaneValue) -> None:
        if not value.used:
            value.used = True
            if value.const is None:
                pending.append(value)

    def need_conditions(region: Region | None) -> None:
        while region is not None:
            if isinstance(region.owner, IfOp):
                need(region.owner.cond)
            region = region.parent

    for item, region in walk(program.root):
        if isinstance(item, (BreakOp, ContinueOp)):
            need_conditions(region)
        elif isinstance(item, Op) and item.what in EFFECTS:
            need_conditions(region)
            for src in item.srcs:
                need(src)
    while pending:
        value = pending.pop()
        op = value.op
        if isinstance(op, Op):
            for src in op.srcs:
                need(src)
        elif isinstance(op, IfOp):
            need(op.cond)
            for result, a, b in op.joins:
                if result is value:
                    need(a)
                    need(b)
        elif isinstance(op, LoopOp):
            if value in op.carried:
                i = op.carried.index(value)
                need(op.initial[i])
                for again in op.continues:
                    need(again.values[i])
            else:
                i = op.exits.index(value)
                for leave in op.breaks:
                    need(leave.values[i])
    _sweep(program.root)


def _sweep(region: Region) -> None:
    kept: list[Item] = []
    for item in region.items:
        if isinstance(item, Op):
            if item.what in EFFECTS or any(d.used for d in item.dsts):
                kept.append(item)
        elif isinstance(item, IfOp):
            item.joins = [j for j in item.joins if j[0].used]
            _sweep(item.then)
            _sweep(item.else_)
            if item.then.items or item.else_.items or item.joins:
                kept.append(item)
        elif isinstance(item, LoopOp):
            carried = [v.used for v in item.carried]
            exits = [v.used for v in item.exits]
            item.carried = _keep(item.carried, carried)
            item.initial = _keep(item.initial, carried)
            for again in item.continues:
                again.values = _keep(again.values, carried)
            item.exits = _keep(item.exits, exits)
            for leave in item.breaks:
                leave.values = _keep(leave.values, exits)
            _sweep(item.body)
            kept.append(item)
        else:
            kept.append(item)
            break  # nothing behind a jump is reached
    region.items = kept


def _keep(values: list[LaneValue], mask: list[bool]) -> list[LaneValue]:
    return [v for v, m in zip(values, mask, strict=True) if m]


# -- divergence --------------------------------------------------------------------------------


def find_divergence(program: LaneProgram) -> None:
    """Start from "everything is uniform" and spread what lanes can tell apart."""
    changed = True
    items = list(walk(program.root))
    stores: list[tuple[LaneArray, Op, Region]] = []
    for item, region in items:
        if isinstance(item, Op) and item.what == "array_store":
            stores.append((item.data[0], item, region))
    while changed:
        changed = False
        for item, region in items:
            changed |= _spread(item, region)
        for array, store, region in stores:
            if not array.varying and (
                any(s.varying for s in store.srcs) or _in_divergent_flow(region)
            ):
                array.varying = changed = True


def watch_loops(program: LaneProgram) -> None:
    """Helper lanes, and lanes that were discarded, go on only for the others' derivatives.

    Alone in a loop they might never find its end: nothing they do there matters any more.
    """
    items = [item for item, _ in walk(program.root)]
    quads = any(isinstance(item, Op) and is_quad_op(item) for item in items)
    if program.stage == "fragment" and (quads or program.uses_discard):
        for item in items:
            if isinstance(item, LoopOp):
                item.watched = item.divergent


def _in_divergent_flow(region: Region | None, inside: LoopOp | None = None) -> bool:
    """Is the region (below the body of `inside`, if given) run by only some of the lanes?"""
    while region is not None:
        if inside is not None and region.owner is inside:
            return False
        if region.owner is not None and region.owner.divergent:
            return True
        region = region.parent
    return False


def _spread(item: Item, region: Region) -> bool:
    if isinstance(item, Op):
        if not item.dsts or item.dsts[0].varying or not _varies(item):
            return False
        for dst in item.dsts:
            dst.varying = True
        return True
    if isinstance(item, IfOp):
        changed = item.cond.varying and not item.divergent
        item.divergent = item.cond.varying
        for result, a, b in item.joins:
            same = a is b or (a.const is not None and a.const == b.const)
            if not result.varying and (a.varying or b.varying or (item.divergent and not same)):
                result.varying = changed = True
        return changed
    if isinstance(item, LoopOp):
        return _spread_loop(item)
    return False


def _spread_loop(loop: LoopOp) -> bool:
    changed = False
    if not loop.divergent_continue and any(
        _in_divergent_flow(again.region, loop) for again in loop.continues
    ):
        loop.divergent_continue = loop.divergent = changed = True
    if not loop.divergent and any(_in_divergent_flow(b.region, loop) for b in loop.breaks):
        loop.divergent = changed = True
    for i, value in enumerate(loop.carried):
        sources = [loop.initial[i], *(again.values[i] for again in loop.continues)]
        differ = loop.divergent_continue and len({id(s) for s in sources[1:]}) > 1
        if not value.varying and (differ or any(s.varying for s in sources)):
            value.varying = changed = True
    for i, value in enumerate(loop.exits):
        if not value.varying and (loop.divergent or any(b.values[i].varying for b in loop.breaks)):
            value.varying = changed = True
    return changed


def _varies(op: Op) -> bool:
    if op.what == "system":
        return not INTRINSICS[f"load_{op.data[0]}"].is_uniform
    if op.what in _PER_LANE or op.what in ("storage_read", "storage_write"):
        return True
    if op.what == "array_load" and op.data[0].varying:
        return True
    if op.what == "tex" and op.data[0].info.implicit_lod:
        return True
    return any(src.varying for src in op.srcs)
