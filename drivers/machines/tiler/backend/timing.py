"""Timing: delays that the compiler must fill, and results that (ss) and (sy) wait for.

The machine has no interlocks for arithmetic. Results of categories 1 to 3 can be read by these
categories `ALU` cycles later, by the other categories and by branches `FAR` cycles later; a third
source is read only at the end. Only `nop`s protect an instruction that would read too early.
"""

from __future__ import annotations

from collections.abc import Sequence

from gallette.drivers.machines.backend import schedule
from gallette.drivers.machines.backend.schedule import MEMORY, Timing
from gallette.drivers.machines.isa.messages import (
    LIVE_FLAG,
    latency_of,
    only_reads,
    sees_live_pixels,
)
from gallette.drivers.machines.tiler.isa.instruction import Instruction

__all__ = ["PIPE", "PREDICATE", "Pipe", "delay", "places_read", "places_written", "queue_of"]

ALU, FAR = 4, 7
LATENCY = {"special": 10, "quad": 24}
PREDICATE = 1000
"""The numbers of p0.x and the other predicates among the registers of instructions."""

_NEARBY = frozenset({"input", "constant", "urb", "render", "scratch", "gateway"})


def queue_of(instr: Instruction) -> str:
    """The flag with which a reader of the result must wait: ss, sy, or none."""
    if instr.op.kind == "special":
        return "ss"
    if instr.op.kind == "quad":
        return "sy"
    if instr.message is None:
        return ""
    return "ss" if instr.message.unit in _NEARBY else "sy"


def delay(maker: Instruction, reader: Instruction, place: int) -> int:
    """The cycles between issuing the two, if `reader` reads what `maker` writes there.

    Only arithmetic results need a delay: for others the reader waits by its flags.
    """
    if queue_of(maker) or maker.op.cat == 0:
        return 0
    if reader.op.cat not in (1, 2, 3):
        return FAR + maker.repeat
    if reader.op.cat == 3 and place not in reader.read(0) and place not in reader.read(1):
        return 2 + maker.repeat
    return ALU + maker.repeat


def places_read(instr: Instruction) -> set[int]:
    """The registers and predicates that an instruction reads."""
    found: set[int] = set()
    for k in range(len(instr.srcs)):
        found.update(instr.read(k))
    found.update(PREDICATE + flag for flag in instr.flags_read)
    if instr.message is not None and sees_live_pixels(instr.message.unit, instr.message.desc):
        found.add(PREDICATE + LIVE_FLAG)
    if instr.dst.file == "h":  # the other half remains
        found.update(instr.written())
    return found


def places_written(instr: Instruction) -> set[int]:
    """The registers and predicates that an instruction writes."""
    return {*instr.written(), *(PREDICATE + flag for flag in instr.flags_written)}


class Pipe(schedule.Pipe[Instruction]):
    """The pipe of the tiler, whose instructions wait only if their flags are set."""

    def reads(self, instr: Instruction) -> set[int]:
        found = places_read(instr)
        return found | {MEMORY} if _ordered(instr) and _only_loads(instr) else found

    def writes(self, instr: Instruction) -> set[int]:
        found = places_written(instr)
        # What pixels write depends on which are alive.
        written = instr.op.name == "kill" or (_ordered(instr) and not _only_loads(instr))
        return found | {MEMORY} if written else found

    def latency(self, instr: Instruction) -> int:
        if instr.message is not None:
            return latency_of(instr.message.unit)
        return LATENCY.get(instr.op.kind, ALU)

    def issue_cycles(self, instr: Instruction) -> int:
        return instr.repeat + 1

    def until_read(self, maker: Instruction, reader: Instruction, place: int) -> int:
        return (delay(maker, reader, place) or self.latency(maker)) if place < MEMORY else 1

    def until_overwritten(self, maker: Instruction, place: int) -> int:
        return 4 if queue_of(maker) else 1

    def timing(self, block: Sequence[Instruction]) -> Timing:
        """The time that a block takes: cycles, and how long each instruction waits by its flags.

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
            now = start + self.issue_cycles(instr)
            queue = queue_of(instr)
            if queue:
                ready[queue] = max(ready[queue], start + self.latency(instr))
        return Timing(now, stalls)


PIPE = Pipe()


def _ordered(instr: Instruction) -> bool:
    """Whether it must keep its order among instructions of its kind."""
    message = instr.message
    return message is not None and message.unit not in ("input", "constant", "sampler")


def _only_loads(instr: Instruction) -> bool:
    """Whether the instruction only loads, so that it may be reordered with other loads."""
    message = instr.message
    assert message is not None
    return message.unit in ("memory", "image") and only_reads(message.unit, message.desc)
