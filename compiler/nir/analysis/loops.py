"""Loop analysis: trip count, exits and induction variables.

A loop whose exit conditions depend only on constants and on phis of its header that are updated
from each other and constants is simply simulated: the analysis evaluates the update and the
conditions iteration by iteration with the opcode table's semantics, up to a limit. That handles any
step, comparison and type without special cases. The result is a `LoopInfo`.
"""

from __future__ import annotations

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir.cf import Block, If, Loop, enclosing_loop, walk
from gallette.compiler.nir.ir.fold import evaluate
from gallette.compiler.nir.ir.instrs import Alu, Jump, LoadConst, Phi
from gallette.compiler.nir.ir.values import Def

MAX_TRIPS = 512
_MAX_DEPTH = 24


@lazy_dataclass()
class Terminator:
    """An `if` at the top level of the loop with a side that is only a break."""

    node: If
    breaks_on: bool


@lazy_dataclass()
class LoopInfo:
    """The result for a loop; `trip_count` is the number of complete iterations before the exit."""

    terminators: list[Terminator] = field(default_factory=list)
    trip_count: int | None = None
    exiting: Terminator | None = None
    instr_count: int = 0
    header_phis: list[Phi] = field(default_factory=list)
    has_other_exits: bool = False
    nested_loops: int = 0


def _only_break(body: list[Block | If | Loop]) -> bool:
    block = body[0]
    return (
        len(body) == 1
        and isinstance(block, Block)
        and isinstance(block.last, Jump)
        and block.last.type == "break"
        and block.last.prev is None
    )


def analyse_loop(loop: Loop, max_trips: int = MAX_TRIPS) -> LoopInfo:
    """Analyse one loop; trips are counted up to `max_trips`."""
    info = LoopInfo()
    accounted: set[Block] = set()
    for node in loop.body:
        if isinstance(node, If):
            if _only_break(node.then_body):
                info.terminators.append(Terminator(node, True))
                accounted.add(node.then_first)
            elif _only_break(node.else_body):
                info.terminators.append(Terminator(node, False))
                accounted.add(node.else_first)
    depth_loops: list[Loop] = []
    for node in walk(loop.body):
        if isinstance(node, Loop):
            info.nested_loops += 1
            depth_loops.append(node)
        elif isinstance(node, Block):
            info.instr_count += sum(1 for _ in node.instrs())
            jump = node.jump
            if jump is not None and node not in accounted:
                inner = _inside(node, depth_loops, loop)
                if jump.type in ("return", "halt") or not inner:
                    info.has_other_exits = True
    info.header_phis = list(loop.first.phis())
    _count_trips(loop, info, max_trips)
    return info


def _inside(block: Block, loops: list[Loop], outer: Loop) -> bool:
    """Whether a break in `block` leaves a loop nested in `outer`."""
    return enclosing_loop(block) is not outer and bool(loops)


def _count_trips(loop: Loop, info: LoopInfo, max_trips: int) -> None:
    """Simulate the loop as far as its conditions can be computed."""
    preds = {src.pred for phi in info.header_phis for src in phi.phi_srcs}
    if not info.terminators or len(preds) != 2:
        return
    latch = loop.last
    known: dict[Def, tuple[int, ...]] = {}
    for phi in info.header_phis:
        for src in phi.phi_srcs:
            const = src.value.instr
            if src.pred is not latch and isinstance(const, LoadConst):
                known[phi.result] = const.values
    if not known:
        return
    conditions = []
    for t in info.terminators:
        value = t.node.condition.value
        if _computable(value, set(known)):
            conditions.append((t, value))
    if not conditions:
        return
    updates = _closed_updates(info.header_phis, known, latch)
    for trip in range(max_trips + 1):
        cache: dict[Def, tuple[int, ...]] = {}
        for terminator, value in conditions:
            result = _value(value, known, cache)
            if result is not None and bool(result[0]) == terminator.breaks_on:
                info.trip_count = trip
                info.exiting = terminator
                return
        following: dict[Def, tuple[int, ...]] = {}
        for phi_def, update in updates.items():
            new = _value(update, known, cache)
            if new is not None:
                following[phi_def] = new
        if following == known:
            return
        known = following
        conditions = [(t, v) for t, v in conditions if _computable(v, set(known))]
        if not conditions:
            return


def _closed_updates(
    phis: list[Phi], known: dict[Def, tuple[int, ...]], latch: Block
) -> dict[Def, Def]:
    """Header phis whose next value can be computed from known ones."""
    updates = {}
    for phi in phis:
        if phi.result in known:
            for src in phi.phi_srcs:
                if src.pred is latch:
                    updates[phi.result] = src.value
    while True:
        closed = {p: u for p, u in updates.items() if _computable(u, set(updates))}
        if len(closed) == len(updates):
            return closed
        updates = closed


def _computable(value: Def, known: set[Def]) -> bool:
    stack = [(value, 0)]
    while stack:
        v, depth = stack.pop()
        if v in known or isinstance(v.instr, LoadConst):
            continue
        if not isinstance(v.instr, Alu) or depth > _MAX_DEPTH or v.instr.op.is_derivative:
            return False
        stack.extend((src.value, depth + 1) for src in v.instr.srcs)
    return True


def _value(
    value: Def, known: dict[Def, tuple[int, ...]], cache: dict[Def, tuple[int, ...]]
) -> tuple[int, ...] | None:
    """Evaluate an expression tree (its depth was bounded by `_computable`)."""
    found = known.get(value) or cache.get(value)
    if found is not None:
        return found
    instr = value.instr
    if isinstance(instr, LoadConst):
        return instr.values
    if not isinstance(instr, Alu):
        return None
    srcs = []
    for src in instr.srcs:
        v = _value(src.value, known, cache)
        if v is None:
            return None
        srcs.append(tuple(v[c] for c in src.swizzle))
    bits = [src.value.bit_size for src in instr.srcs]
    result = cache[value] = evaluate(instr.op, srcs, bits, value.bit_size)
    return result
