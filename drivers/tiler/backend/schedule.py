"""Scheduling: an order that hides latencies, `nop`s in delay slots, and flags for waiting.

`schedule` reorders blocks after allocation. `scoreboard` sets the flags (ss) and (sy): on readers
of a result that may be outstanding and, under `writes`, on instructions that write a register in
which such a result is still to arrive. `fill` inserts the `nop`s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from gallette.drivers.common.machine.dependence import (
    Node,
    Timing,
    block_by_block,
    dependence_graph,
    list_scheduled,
)
from gallette.drivers.tiler.isa.instruction import Instruction

from .code import LABEL, blocks_of
from .timing import (
    PREDICATE,
    delay,
    issue_cycles,
    latency,
    loads_only,
    places_read,
    places_written,
    queue_of,
    touches_memory,
)

__all__ = ["Barriers", "Timing", "fill", "schedule", "scoreboard", "timing"]

Barriers: TypeAlias = Literal["writes", "reads"]
_MEMORY = 2000
MOST = 1200
"""Longer blocks are not reordered, because finding dependences takes time."""


# -- order -----------------------------------------------------------------------------------------


def dependencies(block: Sequence[Instruction]) -> list[Node[Instruction]]:
    """The dependence graph of a block, with the cycles between instructions."""

    def touched(instr: Instruction) -> tuple[set[int], set[int]]:
        reads, writes = places_read(instr), places_written(instr)
        if touches_memory(instr):
            (reads if loads_only(instr) else writes).add(_MEMORY)
        if instr.op.name == "kill":
            writes.add(_MEMORY)  # what pixels write depends on which are alive
        return reads, writes

    def until_read(maker: Instruction, reader: Instruction, place: int) -> int:
        return (delay(maker, reader, place) or latency(maker)) if place < _MEMORY else 1

    def until_overwritten(maker: Instruction, place: int) -> int:
        return 4 if queue_of(maker) else 1

    return dependence_graph(block, touched, until_read, until_overwritten, latency)


def schedule(instrs: list[Instruction]) -> list[Instruction]:
    """Reorder the code within blocks; branches and labels stay where they are."""

    def ends(instr: Instruction) -> bool:
        return instr.op is LABEL or instr.op.kind == "flow"

    return block_by_block(instrs, ends, _order)


def _order(block: list[Instruction]) -> list[Instruction]:
    if len(block) < 3 or len(block) > MOST:
        return block
    return list_scheduled(dependencies(block), issue_cycles)


# -- flags -----------------------------------------------------------------------------------------

_State = dict[str, frozenset[int]]
_NOTHING: _State = {"ss": frozenset(), "sy": frozenset()}


def scoreboard(instrs: list[Instruction], barriers: Barriers) -> None:
    """Set (ss) and (sy).

    Results outstanding at a block's start are those at the end of its predecessors. Under `reads`
    only readers wait, which is right on a machine whose results arrive in program order.
    """
    blocks = blocks_of(instrs)
    before = dict.fromkeys(blocks, _NOTHING)
    work = list(blocks)
    while work:
        start = work.pop(0)
        block = blocks[start]
        out = _flags(instrs[block.start : block.stop], before[start], barriers)
        for at in block.next:
            joined = {queue: before[at][queue] | out[queue] for queue in out}
            if joined != before[at]:
                before[at] = joined
                if at not in work:
                    work.append(at)
    for start, block in blocks.items():
        _flags(instrs[block.start : block.stop], before[start], barriers)


def _flags(block: Sequence[Instruction], state: _State, barriers: Barriers) -> _State:
    """Set the flags of a block, given the outstanding results; returns those at its end."""
    outstanding = {queue: set(places) for queue, places in state.items()}
    for instr in block:
        if instr.op is LABEL:
            continue
        touched = places_read(instr)
        if barriers == "writes":
            touched = touched | places_written(instr)
        for queue, places in outstanding.items():
            waits = bool(places & touched)
            setattr(instr, queue, waits)
            if waits:
                places.clear()
        written = places_written(instr)
        for places in outstanding.values():  # overwritten, so no instruction waits for it
            places -= written
        mine = queue_of(instr)
        if mine:
            outstanding[mine] |= written
    return {queue: frozenset(places) for queue, places in outstanding.items()}


# -- delays ----------------------------------------------------------------------------------------


def fill(instrs: list[Instruction]) -> list[Instruction]:
    """The code with the `nop`s that its delays need.

    A taken branch drains the pipe; falling through to a label does not.
    """
    found: list[Instruction] = []
    made: dict[int, tuple[int, Instruction]] = {}  # by register: time and instruction of the write
    now = 0
    for instr in instrs:
        if instr.op is LABEL:
            found.append(instr)
            continue
        start = now
        for place in places_read(instr):
            if place in made:
                at, maker = made[place]
                start = max(start, at + delay(maker, instr, place))
        missing = start - now
        while missing > 0:
            found.append(Instruction("nop", repeat=min(missing, 8) - 1))
            missing -= 8
        found.append(instr)
        now = start + issue_cycles(instr)
        if instr.op.name in ("jump", "end"):
            made.clear()
            continue
        for place in places_written(instr):
            made[place] = (start, instr)
    return found


def timing(block: Sequence[Instruction]) -> Timing:
    """What a block costs: cycles, and how long each instruction waits by its flags.

    Results outstanding before the block are assumed to have half their latency left.
    """
    ready: dict[str, int] = {"ss": 6, "sy": 40}
    now, stalls = 0, []
    for instr in block:
        start = now
        for queue in ("ss", "sy"):
            if getattr(instr, queue):
                start = max(start, ready[queue])
                ready[queue] = 0
        stalls.append(start - now)
        now = start + issue_cycles(instr)
        queue = queue_of(instr)
        if queue:
            ready[queue] = max(ready[queue], start + latency(instr))
    return Timing(now, stalls)


assert PREDICATE < _MEMORY
