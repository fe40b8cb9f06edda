"""The latencies and dependencies of instructions, after registers are assigned."""

from __future__ import annotations

from collections.abc import Sequence

from gallette.drivers.machines.backend import schedule
from gallette.drivers.machines.backend.schedule import Timing, places_read, places_written
from gallette.drivers.machines.isa.messages import latency_of
from gallette.drivers.machines.simd.isa.instruction import Instruction


class Pipe(schedule.Pipe[Instruction]):
    """The execution unit's pipe; an instruction that needs a value stalls until it is there."""

    def latency(self, instr: Instruction) -> int:
        if instr.message is not None:
            return latency_of(instr.message.unit)
        return instr.op.latency + (self.issue_cycles(instr) - 1)

    def issue_cycles(self, instr: Instruction) -> int:
        cycles = instr.op.issue * (2 if instr.width == 16 else 1)
        if any(r.file != "n" and r.type.size == 8 for r in (instr.dst, *instr.srcs)):
            cycles *= 2
        return cycles

    def until_read(self, maker: Instruction, reader: Instruction, place: int) -> int:
        return self.latency(maker)

    def until_overwritten(self, maker: Instruction) -> int:
        return self.latency(maker)

    def timing(self, block: Sequence[Instruction]) -> Timing:
        """The time that a block takes when all earlier results have arrived."""
        ready: dict[int, int] = {}
        now, stalls = 0, []
        for instr in block:
            writes = places_written(instr)
            touched = places_read(instr) | writes
            start = max([now, *(ready.get(place, 0) for place in touched)])
            stalls.append(start - now)
            now = start + self.issue_cycles(instr)
            ready |= dict.fromkeys(writes, start + self.latency(instr))
        return Timing(now, stalls)


PIPE = Pipe()
