"""Timing: delays that the compiler must fill, and results that (ss) and (sy) wait for.

The machine has no interlocks for arithmetic. Results of categories 1 to 3 can be read by these
categories `ALU` cycles later, by the other categories and by branches `FAR` cycles later; a third
source is read only at the end. Only `nop`s protect a reader that would come too early.
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
"""The numbers of p0.x and the other predicates among the registers of instructions."""

_NEARBY = frozenset({"input", "constant", "urb", "render", "scratch", "gateway"})


def queue_of(instr: Instruction) -> str:
    """What a reader of the result must wait for: ss, sy, or nothing."""
    if instr.op.kind == "special":
        return "ss"
    if instr.op.kind == "quad":
        return "sy"
    if instr.message is None:
        return ""
    return "ss" if instr.unit in _NEARBY else "sy"


def latency(instr: Instruction) -> int:
    """Cycles until arithmetic can read an instruction's result."""
    if instr.message is not None:
        return latency_of(instr.unit)
    return LATENCY.get(instr.op.kind, ALU)


def issue_cycles(instr: Instruction) -> int:
    """Cycles an instruction occupies the pipe."""
    return instr.repeat + 1


def delay(maker: Instruction, reader: Instruction, place: int) -> int:
    """Cycles that must lie between issuing the two, if `reader` reads what `maker` writes there.

    Only for arithmetic results: for others the reader waits itself, if its flags say so.
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
    if instr.dst.file == "h":  # the other half remains
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
    """Whether it must keep its order relative to other memory instructions."""
    return instr.message is not None and instr.unit not in ("input", "constant", "sampler")


def loads_only(instr: Instruction) -> bool:
    """Whether it may be reordered with other loads."""
    assert instr.message is not None
    return instr.unit in ("memory", "image") and only_reads(instr.unit, instr.message.desc)
