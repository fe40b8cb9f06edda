"""Scheduling: an order that hides latencies, delays filled with `nop`s, and who waits with a flag.

`schedule` reorders blocks after allocation. `scoreboard` then says which instructions carry (ss)
and (sy): a reader of a result that may be outstanding and, under `writes`, whoever writes a
register that such a result is still to land in. `fill` puts in the `nop`s.
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
"""Longer blocks stay as they are: finding dependences is not free."""


# -- order -----------------------------------------------------------------------------------------


def dependencies(block: Sequence[Instruction]) -> list[Node[Instruction]]:
    """What must come before what, and how many cycles should lie between."""

    def touched(instr: Instruction) -> tuple[set[int], set[int]]:
        reads, writes = places_read(instr), places_written(instr)
        if touches_memory(instr):
            (reads if loads_only(instr) else writes).add(_MEMORY)
        if instr.op.name == "kill":
            writes.add(_MEMORY)  # what pixels write depends on who is alive
        return reads, writes

    def until_read(maker: Instruction, reader: Instruction, place: int) -> int:
        return (delay(maker, reader, place) or latency(maker)) if place < _MEMORY else 1

    def until_overwritten(maker: Instruction, place: int) -> int:
        return 4 if queue_of(maker) else 1

    return dependence_graph(block, touched, until_read, until_overwritten, latency)


def schedule(instrs: list[Instruction]) -> list[Instruction]:
    """The same code, block by block in a better order; branches and labels stay where they are."""

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

    What may be outstanding at a block's start is what may be at the end of any before it. Under
    `reads` only readers wait: right on a machine whose results land in the order of instructions.
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
    """Set the flags of a block after what may be outstanding; what is at its end."""
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
        for places in outstanding.values():  # overwritten: nobody waits for it any more
            places -= written
        mine = queue_of(instr)
        if mine:
            outstanding[mine] |= written
    return {queue: frozenset(places) for queue, places in outstanding.items()}


# -- delays ----------------------------------------------------------------------------------------


def fill(instrs: list[Instruction]) -> list[Instruction]:
    """The code with the `nop`s that its delays need.

    A branch that is taken drains the pipe; what falls through to a label does not.
    """
    found: list[Instruction] = []
    made: dict[int, tuple[int, Instruction]] = {}  # by place: when it was written, and by what
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

    What was outstanding before the block is taken to have half its latency left.
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
