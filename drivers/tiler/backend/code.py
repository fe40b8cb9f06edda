"""Code between selection and encoding: instructions over virtual registers, with labels.

A virtual register is a run of scalar registers; a message's payload and its answer are one each. A
`label` marks a branch target; `laid_out` replaces labels by instruction numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from gallette.drivers.common.machine.constants import ConstantSlot
from gallette.drivers.tiler.isa.instruction import Instruction, Operand
from gallette.drivers.tiler.isa.opcodes import Opcode

__all__ = ["LABEL", "ROOM", "Block", "Code", "blocks_of", "laid_out"]

ROOM = 192
"""Registers of a channel: r0.x to r47.w."""

LABEL = Opcode("label", 0, 63, 0, "label", "b", "b", None, "where branches lead")


@dataclass(slots=True)
class Code:
    """A shader as instructions."""

    instrs: list[Instruction] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)  # of virtual registers
    constants: list[ConstantSlot] = field(default_factory=list)
    fixed: set[int] = field(default_factory=set)  # virtual registers that must not be spilled
    private: int = 0  # bytes of memory per channel
    labels: int = 0

    def new(self, size: int) -> int:
        self.sizes.append(size)
        return len(self.sizes) - 1

    def label(self) -> int:
        self.labels += 1
        return self.labels - 1

    def operands(self) -> Iterator[Operand]:
        for instr in self.instrs:
            yield instr.dst
            yield from instr.srcs


@dataclass(slots=True)
class Block:
    """A basic block, and the values live around it (masks of virtual registers)."""

    start: int
    stop: int
    next: list[int] = field(default_factory=list)  # first instructions of the successors
    falls: bool = True  # falls through to the next block
    uses: int = 0
    kills: int = 0
    live_in: int = 0
    live_out: int = 0


def blocks_of(instrs: list[Instruction]) -> dict[int, Block]:
    """Blocks by their first instruction; labels begin one, branches end one."""
    at_label = {instr.target: at for at, instr in enumerate(instrs) if instr.op is LABEL}
    starts = {0}
    for at, instr in enumerate(instrs):
        if instr.op is LABEL:
            starts.add(at)
        elif instr.op.kind == "flow":
            starts.add(at + 1)
    ordered = sorted(at for at in starts if at < len(instrs))
    found: dict[int, Block] = {}
    for number, start in enumerate(ordered):
        stop = ordered[number + 1] if number + 1 < len(ordered) else len(instrs)
        block = found[start] = Block(start, stop)
        last = instrs[stop - 1]
        block.falls = last.op.name not in ("jump", "end") and stop < len(instrs)
        if block.falls:
            block.next.append(stop)
        if last.op.name in ("jump", "br", "brdead"):
            block.next.append(at_label[last.target])
    return found


def laid_out(instrs: list[Instruction]) -> list[Instruction]:
    """The code without labels; branches name instruction numbers."""
    places: dict[int, int] = {}
    kept: list[Instruction] = []
    for instr in instrs:
        if instr.op is LABEL:
            places[instr.target] = len(kept)
        else:
            kept.append(instr)
    for instr in kept:
        if instr.op.kind == "flow" and instr.op.name != "end":
            instr.target = places[instr.target]
    return kept
