"""Scheduling: orders the instructions of a block so that latencies are hidden.

Registers are assigned, so dependences follow from the registers an instruction reads and writes: a
value it needs (its maker's latency), a register that is still to be read or written. Of the
instructions that could issue soonest, the list scheduler takes the one with the longest path to the
end of the block. `timing` computes what the block costs if nothing else hides its stalls.
"""

from __future__ import annotations

from collections.abc import Sequence

from gallette.drivers.common.machine.dependence import (
    Node,
    Timing,
    block_by_block,
    dependence_graph,
    list_scheduled,
)
from gallette.drivers.common.machine.launch import LIVE_FLAG
from gallette.drivers.common.machine.messages import (
    latency_of,
    only_reads,
    sees_live_pixels,
    unpack,
)
from gallette.drivers.simd.isa.instruction import Instruction
from gallette.drivers.simd.isa.types import REG_BYTES

__all__ = ["Node", "Timing", "dependencies", "issue_cycles", "latency", "schedule", "timing"]

_FLAG_BASE = 1000
_MEMORY = 2000
MOST = 1200
"""Longer blocks are not reordered, because finding dependences takes time."""


def latency(instr: Instruction) -> int:
    """Cycles until an instruction's result can be read."""
    if instr.message is not None:
        return latency_of(instr.message.unit)
    return instr.op.latency + (issue_cycles(instr) - 1)


def issue_cycles(instr: Instruction) -> int:
    """Cycles an instruction occupies the pipe."""
    cycles = instr.op.issue * (2 if instr.width == 16 else 1)
    if any(r.file != "n" and r.type.size == 8 for r in (instr.dst, *instr.srcs)):
        cycles *= 2
    return cycles


def _registers(start: int, stop: int, nr: int) -> range:
    return range(nr + start // REG_BYTES, nr + (max(stop, start + 1) - 1) // REG_BYTES + 1)


def reads_of(instr: Instruction) -> set[int]:
    """Registers, flags and memory an instruction reads."""
    found: set[int] = set()
    for k, src in enumerate(instr.srcs):
        if src.file == "g":
            found.update(_registers(*instr.read(k), src.nr))
    if instr.reads_flag:
        found.add(_FLAG_BASE + instr.flag)
    message = instr.message
    if message is not None:
        if sees_live_pixels(message.unit, message.desc):
            found.add(_FLAG_BASE + LIVE_FLAG)
        if _touches_memory(instr):
            found.add(_MEMORY)
    return found


def writes_of(instr: Instruction) -> set[int]:
    """Registers, flags and memory an instruction writes."""
    found: set[int] = set()
    if instr.dst.file == "g":
        found.update(_registers(*instr.written(), instr.dst.nr))
    if instr.writes_flag:
        found.add(_FLAG_BASE + instr.flag)
    message = instr.message
    if message is not None and _touches_memory(instr) and not _only_loads(instr):
        found.add(_MEMORY)
    return found


def _touches_memory(instr: Instruction) -> bool:
    message = instr.message
    assert message is not None
    return message.unit not in ("input", "constant")


def _only_loads(instr: Instruction) -> bool:
    message = instr.message
    assert message is not None
    if message.unit == "scratch":
        return bool(unpack("scratch", message.desc)["op"])
    return message.unit != "urb" and only_reads(message.unit, message.desc)


def dependencies(block: Sequence[Instruction]) -> list[Node[Instruction]]:
    """The dependence graph of a block."""
    return dependence_graph(
        block,
        lambda instr: (reads_of(instr), writes_of(instr)),
        lambda maker, reader, place: latency(maker),
        lambda maker, place: latency(maker) if place < _MEMORY else 1,
        latency,
    )


def schedule(instrs: list[Instruction]) -> list[Instruction]:
    """Reorder the code within blocks; branches stay where they are."""

    def ends(instr: Instruction) -> bool:
        return instr.op.kind == "flow" or (instr.message is not None and instr.message.end)

    return block_by_block(instrs, ends, _order)


def _order(block: list[Instruction]) -> list[Instruction]:
    if len(block) < 3 or len(block) > MOST:
        return block
    return list_scheduled(dependencies(block), issue_cycles)


def timing(block: Sequence[Instruction]) -> Timing:
    """What a block costs when all earlier results have arrived."""
    ready: dict[int, int] = {}
    now, stalls = 0, []
    for instr in block:
        start = max([now, *(ready.get(place, 0) for place in reads_of(instr) | writes_of(instr))])
        stalls.append(start - now)
        now = start + issue_cycles(instr)
        for place in writes_of(instr):
            if place < _MEMORY:
                ready[place] = start + latency(instr)
    return Timing(now, stalls)
