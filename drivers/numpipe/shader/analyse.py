"""Analyses of the lane program: what is dead, what differs between lanes, dtypes, lifetimes.

They run in this order, each one walk or a short fixed point over the tree:

* `prune` drops operations nobody needs, component by component;
* `find_divergence` decides which values vary between lanes, and which ifs and loops divide them;
* `choose_kinds` gives values whose producer does not care the dtype most of their users want;
* `find_lifetimes` numbers the program and notes, per value, where it is last read, and per region,
  which outer values it reads (those are gathered when the region runs on fewer lanes).
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler.nir.opcodes import Opcode

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

__all__ = ["IMPLICIT_LOD", "analyse", "has_jump", "is_quad_op", "touches_memory", "walk"]

IMPLICIT_LOD = frozenset({"tex", "txb", "lod"})
EFFECTS = frozenset(
    {"output", "output_indirect", "discard", "array_store", "emit_vertex", "end_primitive"}
)
_BY_LANE = frozenset({"array_load", "helper", "input", "input_indirect", "input_select", "system"})
UNIFORM_SYSTEM_VALUES = frozenset(
    {
        "base_vertex",
        "first_vertex",
        "base_instance",
        "draw_id",
        "num_samples",
        "alpha_ref",
        "fog_color",
        "fog_params",
    }
)
AGNOSTIC = frozenset(
    {"iadd", "isub", "imul", "iand", "ior", "ixor", "inot", "ieq", "ine", "ishl", "ineg"}
)
"""Integer operations whose result bits do not depend on signedness."""


def analyse(program: LaneProgram) -> None:
    """Run all analyses."""
    prune(program)
    find_divergence(program)
    choose_kinds(program)
    find_lifetimes(program)


def walk(region: Region) -> Iterator[tuple[Item, Region]]:
    """Every item with the region it is in, in program order."""
    for item in region.items:
        yield item, region
        if isinstance(item, IfOp):
            yield from walk(item.then)
            yield from walk(item.else_)
        elif isinstance(item, LoopOp):
            yield from walk(item.body)


def is_quad_op(op: Op) -> bool:
    """Does it combine the lanes of a 2x2 quad?"""
    if op.what == "tex":
        return op.data[0].op in IMPLICIT_LOD
    return op.what == "alu" and op.data.is_derivative


def has_jump(region: Region) -> bool:
    """Can lanes leave the region's loop from inside it?"""
    for item in region.items:
        if isinstance(item, (BreakOp, ContinueOp)):
            return True
        if isinstance(item, IfOp) and (has_jump(item.then) or has_jump(item.else_)):
            return True
    return False


def touches_memory(region: Region) -> bool:
    """Does it hold something addressed by the lane's number in the whole chunk?"""
    return any(
        isinstance(item, Op) and (item.what in EFFECTS or item.what in _BY_LANE)
        for item, _ in walk(region)
    )


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
        return op.data[0] not in UNIFORM_SYSTEM_VALUES
    if op.what in ("input", "input_indirect", "input_select", "helper"):
        return True
    if op.what == "array_load" and op.data[0].varying:
        return True
    if op.what == "tex" and op.data[0].op in IMPLICIT_LOD:
        return True
    return any(src.varying for src in op.srcs)


# -- dtypes ------------------------------------------------------------------------------------


def choose_kinds(program: LaneProgram) -> None:
    """Settle the dtype of values that loads, joins and selections pass on without looking."""
    items = [item for item, _ in walk(program.root)]
    for item in items:
        for a, b in _same_kind(item):
            _unite(a, b)
    for item in items:
        if isinstance(item, Op) and item.what in ("alu", "alu_n"):
            _vote_alu(item)
        for a, b in _same_kind(item):
            _vote(a, b.kind)
            _vote(b, a.kind)
    for value in program.values:
        if not value.kind and value.const is None:
            root = _find(value)
            votes = root.votes
            if votes:
                value.kind = _winner(votes)
            else:
                value.kind = f"f{value.bits // 8}" if value.bits >= 16 else f"u{value.bits // 8}"
    for item in items:
        if isinstance(item, Op) and item.what == "alu" and item.data.name in AGNOSTIC:
            _settle_agnostic(item)
        elif isinstance(item, Op) and item.what == "array_store":
            array, kind = item.data[0], item.srcs[0].kind
            if kind:
                array.votes[kind] = array.votes.get(kind, 0) + 1
        elif isinstance(item, Op) and item.what == "array_load":
            array, kind = item.data[0], item.dsts[0].kind
            array.votes[kind] = array.votes.get(kind, 0) + 1
    for array in program.arrays.values():
        array.kind = "b1" if array.bits == 1 else _winner(array.votes)


def _winner(votes: dict[str, int]) -> str:
    return max(votes, key=lambda k: (votes[k], k)) if votes else "f4"


def _same_kind(item: Item) -> Iterator[tuple[LaneValue, LaneValue]]:
    """Pairs of values that should have one dtype, so that nothing needs viewing."""
    if isinstance(item, IfOp):
        for result, a, b in item.joins:
            yield result, a
            yield result, b
    elif isinstance(item, LoopOp):
        yield from zip(item.carried, item.initial, strict=True)
    elif isinstance(item, ContinueOp):
        yield from zip(item.loop.carried, item.values, strict=True)
    elif isinstance(item, BreakOp):
        yield from zip(item.loop.exits, item.values, strict=True)
    elif isinstance(item, Op) and item.what == "alu" and item.data.name == "bcsel":
        item.dsts[0].kind = "b1" if item.dsts[0].bits == 1 else ""
        yield item.dsts[0], item.srcs[1]
        yield item.dsts[0], item.srcs[2]


def _open(value: LaneValue) -> bool:
    return not value.kind and value.const is None


def _find(value: LaneValue) -> LaneValue:
    while value.link is not None:
        value = value.link
    return value


def _unite(a: LaneValue, b: LaneValue) -> None:
    if _open(a) and _open(b):
        ra, rb = _find(a), _find(b)
        if ra is not rb:
            ra.link = rb


def _vote(value: LaneValue, kind: str) -> None:
    if kind and _open(value):
        root = _find(value)
        if root.votes is None:
            root.votes = {}
        root.votes[kind] = root.votes.get(kind, 0) + 1


def _vote_alu(op: Op) -> None:
    opcode: Opcode = op.data
    if opcode.name == "bcsel":
        return
    for type, src in zip(opcode.input_types, op.srcs, strict=False):
        if _open(src):
            base = "i" if opcode.name in AGNOSTIC else type.base[0]
            _vote(src, "b1" if src.bits == 1 else f"{base}{src.bits // 8}")


def _settle_agnostic(op: Op) -> None:
    """Stay unsigned when every operand is, else signed: either computes the same bits."""
    dst = op.dsts[0]
    if dst.kind == "b1":
        return
    kinds = {src.kind[0] for src in op.srcs if src.const is None}
    dst.kind = f"{'u' if kinds == {'u'} else 'i'}{dst.bits // 8}"


# -- lifetimes ---------------------------------------------------------------------------------


def find_lifetimes(program: LaneProgram) -> None:
    """Number the items; fill in `start`, `end`, `livein` and `quads`."""
    _Lifetimes(program).run()


LAST = 1 << 60
"""The end of values the shader hands out."""


class _Lifetimes:
    def __init__(self, program: LaneProgram):
        self.program = program
        self.at = 0
        self.loops: list[tuple[LoopOp, list[LaneValue]]] = []
        self.livein: dict[Region, dict[LaneValue, None]] = {}

    def run(self) -> None:
        self.region(self.program.root)
        for region, values in self.livein.items():
            region.livein = list(values)

    def use(self, value: LaneValue, region: Region, scalar: bool = True) -> None:
        if value.const is not None:
            return
        value.scalar_use |= scalar
        value.end = max(value.end, self.at)
        for loop, extended in self.loops:
            if value.region.depth < loop.body.depth:
                extended.append(value)
        if value.varying:
            at: Region | None = region
            while at is not None and at is not value.region:
                self.livein.setdefault(at, {})[value] = None
                at = at.parent

    def define(self, value: LaneValue) -> None:
        value.start = self.at
        value.end = max(value.end, self.at)

    def region(self, region: Region) -> None:
        for item in region.items:
            self.at += 1
            item.pos = self.at
            if isinstance(item, Op):
                arithmetic = item.what == "alu" and item.dsts[0].varying
                for src in item.srcs:
                    self.use(src, region, not arithmetic)
                    if item.what == "output":
                        src.end = LAST
                for dst in item.dsts:
                    self.define(dst)
                if is_quad_op(item):
                    at: Region | None = region
                    while at is not None:
                        at.quads = True
                        at = at.parent
            elif isinstance(item, IfOp):
                self.branch(item, region)
            elif isinstance(item, LoopOp):
                self.loop(item, region)
            else:
                for value in item.values:
                    self.use(value, region)

    def branch(self, item: IfOp, region: Region) -> None:
        self.use(item.cond, region)
        self.region(item.then)
        self.use(item.cond, region)
        self.region(item.else_)
        self.at += 1
        item.merge_pos = self.at
        self.use(item.cond, region)
        for result, a, b in item.joins:
            for value, side in ((a, item.then), (b, item.else_)):
                self.use(value, side if value.region is side else region)
            self.define(result)

    def loop(self, item: LoopOp, region: Region) -> None:
        for value in item.initial:
            self.use(value, region)
        for value in item.carried:
            self.define(value)
        self.loops.append((item, []))
        self.region(item.body)
        self.at += 1
        item.end_pos = self.at
        _, extended = self.loops.pop()
        for value in extended:
            value.end = max(value.end, self.at)
        for value in item.exits:
            self.define(value)
