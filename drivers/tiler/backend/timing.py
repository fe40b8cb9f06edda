"""What an instruction waits for: delays the compiler fills, and what (ss) and (sy) wait for.

The machine has no interlocks for arithmetic. What categories 1 to 3 write can be read by another of
them `ALU` cycles later, by the other categories and by branches `FAR` cycles later; a third source
is needed only at the end. Nothing else protects a reader that comes too early: `nop`s do.
"""

from __future__ import annotations

from gallette.drivers.common.machine.launch import LIVE_FLAG
from gallette.drivers.common.machine.messages import (
    latency_of,
    only_reads,
    sees_live_pixels,
)
from gallette.drivers.tiler.isa.instruction import Instruction

__all__ = [
    "ALU",
    "FAR",
    "LATENCY",
    "PREDICATE",
    "delay",
    "issue_cycles",
    "latency",
    "loads_only",
    "places_read",
    "places_written",
    "queue_of",
    "touches_memory",
]

ALU, FAR = 4, 7
LATENCY = {"special": 10, "quad": 24}
PREDICATE = 1000
"""Numbers of p0.x and its siblings among the places instructions touch."""

_NEARBY = frozenset({"input", "constant", "urb", "render", "scratch", "gateway"})


def queue_of(instr: Instruction) -> str:
    """What a reader of the result waits with: ss, sy, or nothing."""
    if instr.op.kind == "special":
        return "ss"
    if instr.op.kind == "quad":
        return "sy"
    if instr.message is None:
        return ""
    return "ss" if instr.unit in _NEARBY else "sy"


def latency(instr: Instruction) -> int:
    """Cycles until what an instruction writes can be read by arithmetic."""
    if instr.message is not None:
        return latency_of(instr.unit)
    return LATENCY.get(instr.op.kind, ALU)


def issue_cycles(instr: Instruction) -> int:
    """Cycles an instruction keeps the pipe."""
    return instr.repeat + 1


def delay(maker: Instruction, reader: Instruction, place: int) -> int:
    """Cycles that must lie between issuing the two, if `reader` reads what `maker` writes there.

    Only of arithmetic results: for the others a reader waits by itself, if it is told to.
    """
    if queue_of(maker) or maker.op.cat == 0:
        return 0
    if reader.op.cat not in (1, 2, 3):
        return FAR + maker.repeat
    if reader.op.cat == 3 and place not in reader.read(0) and place not in reader.read(1):
        return 2 + maker.repeat
    return ALU + maker.repeat


def places_read(instr: Instruction) -> set[int]:
    """Registers and predicates an instruction reads."""
    found: set[int] = set()
    for k in range(len(instr.srcs)):
        found.update(instr.read(k))
    if instr.op.name in ("br", "brdead", "kill"):
        found.add(PREDICATE + instr.pred)
    if instr.message is not None and sees_live_pixels(instr.unit, instr.message.desc):
        found.add(PREDICATE + LIVE_FLAG)
    if instr.dst.file == "h":  # the other half stays
        found.update(instr.written())
    return found


def places_written(instr: Instruction) -> set[int]:
    """Registers and predicates an instruction writes."""
    found = set(instr.written())
    if instr.dst.file == "p":
        found.add(PREDICATE + instr.dst.nr)
    if instr.op.name == "kill":
        found.add(PREDICATE + LIVE_FLAG)
    return found


def touches_memory(instr: Instruction) -> bool:
    """Must it keep its place among its like?"""
    return instr.message is not None and instr.unit not in ("input", "constant", "sampler")


def loads_only(instr: Instruction) -> bool:
    """It may change places with others that only load."""
    assert instr.message is not None
    return instr.unit in ("memory", "image") and only_reads(instr.unit, instr.message.desc)
