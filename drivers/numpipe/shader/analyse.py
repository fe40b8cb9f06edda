"""Analyses of the lane program: dead operations, dtypes, lifetimes.

Divergence is known when the lane program is made: the translator takes it from NIR
(`compiler.nir.analysis.divergence`).

The analyses run in this order, each a walk or a short fixed point over the tree:

* `prune` drops operations without users, component by component;
* `watch_loops` finds loops that must end when only discarded lanes are left in them;
* `choose_kinds` (in `kinds`) chooses the dtype of values whose producer works with any;
* `find_lifetimes` (in `lifetimes`) records where each value is last read, and which outer values
  each region reads (these are gathered when the region runs on fewer lanes).
"""

from __future__ import annotations

from .kinds import choose_kinds
from .lane_ir import (
    BreakOp,
    ContinueOp,
    IfOp,
    Item,
    LaneProgram,
    LaneValue,
    LoopOp,
    Op,
    Region,
)
from .lifetimes import find_lifetimes
from .walking import EFFECTS, walk


def analyse(program: LaneProgram) -> None:
    """Run all analyses."""
    prune(program)
    watch_loops(program)
    choose_kinds(program)
    find_lifetimes(program)


# -- dead code ---------------------------------------------------------------------------------


def prune(program: LaneProgram) -> None:
    """Drop every operation that does not affect the shader's outputs."""
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
            break  # nothing after a jump is reached
    region.items = kept


def _keep(values: list[LaneValue], mask: list[bool]) -> list[LaneValue]:
    return [v for v, m in zip(values, mask, strict=True) if m]


# -- loops ---------------------------------------------------------------------------------------


def watch_loops(program: LaneProgram) -> None:
    """Find loops that must end when only discarded lanes are left in them, because `discard` is
    often what ends a loop. Helper lanes go on: derivatives after the loop read their values.
    """
    if program.uses_discard:
        for item, _ in walk(program.root):
            if isinstance(item, LoopOp):
                item.watched = item.divergent
