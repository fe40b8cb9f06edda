"""The latencies and dependencies of instructions, after registers are assigned."""

from __future__ import annotations

from collections.abc import Sequence

from gallette.drivers.machines.backend import schedule
from gallette.drivers.machines.backend.schedule import MEMORY, Timing
from gallette.drivers.machines.isa.messages import (
    LIVE_FLAG,
    latency_of,
    only_reads,
    sees_live_pixels,
    unpack,
)
from gallette.drivers.machines.simd.isa.instruction import REG_BYTES, Instruction, Message

__all__ = ["PIPE", "Pipe"]

_FLAGS = 1000


class Pipe(schedule.Pipe[Instruction]):
    """The execution unit's pipe; an instruction that needs a value stalls until it is there."""

    def reads(self, instr: Instruction) -> set[int]:
        found: set[int] = set()
        for k, src in enumerate(instr.srcs):
            if src.file == "g":
                found.update(_registers(*instr.read(k), src.nr))
        found.update(_FLAGS + flag for flag in instr.flags_read)
        message = instr.message
        if message is not None:
            if sees_live_pixels(message.unit, message.desc):
                found.add(_FLAGS + LIVE_FLAG)
            if _touches_memory(message):
                found.add(MEMORY)
        return found

    def writes(self, instr: Instruction) -> set[int]:
        found: set[int] = set()
        if instr.dst.file == "g":
            found.update(_registers(*instr.written(), instr.dst.nr))
        found.update(_FLAGS + flag for flag in instr.flags_written)
        message = instr.message
        if message is not None and _touches_memory(message) and not _only_loads(message):
            found.add(MEMORY)
        return found

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

    def until_overwritten(self, maker: Instruction, place: int) -> int:
        return self.latency(maker) if place < MEMORY else 1

    def timing(self, block: Sequence[Instruction]) -> Timing:
        """The time that a block takes when all earlier results have arrived."""
        ready: dict[int, int] = {}
        now, stalls = 0, []
        for instr in block:
            writes = self.writes(instr)
            touched = self.reads(instr) | writes
            start = max([now, *(ready.get(place, 0) for place in touched)])
            stalls.append(start - now)
            now = start + self.issue_cycles(instr)
            for place in writes:
                if place < MEMORY:
                    ready[place] = start + self.latency(instr)
        return Timing(now, stalls)


PIPE = Pipe()


def _registers(start: int, stop: int, nr: int) -> range:
    return range(nr + start // REG_BYTES, nr + (max(stop, start + 1) - 1) // REG_BYTES + 1)


def _touches_memory(message: Message) -> bool:
    return message.unit not in ("input", "constant")


def _only_loads(message: Message) -> bool:
    if message.unit == "scratch":
        return bool(unpack("scratch", message.desc)["op"])
    return message.unit != "urb" and only_reads(message.unit, message.desc)
