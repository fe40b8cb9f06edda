"""Timing: delays that the compiler must fill, and results that (ss) and (sy) wait for.

The machine has no interlocks for arithmetic. Results of categories 1 to 3 can be read by these
categories `ALU` cycles later, by the other categories and by branches `FAR` cycles later; a third
source is read only at the end. Only `nop`s protect an instruction that would read too early.
"""

from __future__ import annotations

from collections.abc import Sequence

from gallette.drivers.machines.backend import schedule
from gallette.drivers.machines.backend.schedule import Timing
from gallette.drivers.machines.isa.messages import latency_of
from gallette.drivers.machines.tiler.isa.instruction import Instruction

ALU, FAR = 4, 7
LATENCY = {"special": 10, "quad": 24}

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


class Pipe(schedule.Pipe[Instruction]):
    """The pipe of the tiler, whose instructions wait only if their flags are set."""

    def latency(self, instr: Instruction) -> int:
        if instr.message is not None:
            return latency_of(instr.message.unit)
        return LATENCY.get(instr.op.kind, ALU)

    def issue_cycles(self, instr: Instruction) -> int:
        return instr.repeat + 1

    def until_read(self, maker: Instruction, reader: Instruction, place: int) -> int:
        return delay(maker, reader, place) or self.latency(maker)

    def until_overwritten(self, maker: Instruction) -> int:
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
