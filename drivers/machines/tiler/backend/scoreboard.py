"""Flags by which instructions wait, and `nop`s that fill delays, after scheduling.

`scoreboard` sets (ss) and (sy) on instructions that read a result that may be outstanding and,
under `writes`, also on those that write a register in which such a result will arrive. `fill`
inserts the `nop`s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from gallette.drivers.machines.backend.code import blocks_of
from gallette.drivers.machines.backend.schedule import places_read, places_written
from gallette.drivers.machines.tiler.isa.instruction import Instruction

from .code import Code
from .timing import PIPE, delay, queue_of

Barriers: TypeAlias = Literal["writes", "reads"]
_State = dict[str, frozenset[int]]
_NOTHING: _State = {"ss": frozenset(), "sy": frozenset()}


def scoreboard(code: Code, barriers: Barriers) -> None:
    """Set (ss) and (sy).

    The results that may be outstanding at a block's start are those at the end of its predecessors.
    Under `reads` only readers wait, which suffices on a machine whose results arrive in the order
    of instructions.
    """
    instrs = code.instrs
    blocks = blocks_of(instrs, code.jumps())
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
    """Set the flags of a block, given the results outstanding before it; returns those outstanding
    at its end.
    """
    outstanding = {queue: set(places) for queue, places in state.items()}
    for instr in block:
        if instr.is_label:
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
        for places in outstanding.values():  # overwritten: no reader waits for it any more
            places -= written
        mine = queue_of(instr)
        if mine:
            outstanding[mine] |= written
    return {queue: frozenset(places) for queue, places in outstanding.items()}


def fill(instrs: list[Instruction]) -> list[Instruction]:
    """The code with the `nop`s that its delays need.

    A taken branch drains the pipe; falling through to a label does not.
    """
    found: list[Instruction] = []
    made: dict[int, tuple[int, Instruction]] = {}  # by place: when it was written, and by what
    now = 0
    for instr in instrs:
        if instr.is_label:
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
        now = start + PIPE.issue_cycles(instr)
        if instr.op.name in ("jump", "end"):
            made.clear()
            continue
        for place in places_written(instr):
            made[place] = (start, instr)
    return found
