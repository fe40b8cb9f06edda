"""Code between selection and encoding: instructions over virtual registers.

A virtual register is a run of whole registers. Nested control flow is flat: `if`, `else`, `endif`,
`do` and `while` are instructions among the others, and branch targets are filled in last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from gallette.drivers.common.machine.constants import ConstantSlot
from gallette.drivers.simd.isa.instruction import Instruction

__all__ = ["FIRST_CONSTANT", "ROOM", "Code", "set_targets"]

ROOM = 128
"""Registers of a thread."""

FIRST_CONSTANT = 1
"""Register 0 is the thread's header; constants follow it."""


@dataclass(slots=True)
class Code:
    """A shader as instructions."""

    width: int
    instrs: list[Instruction] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)  # of virtual registers, in registers
    constants: list[ConstantSlot] = field(default_factory=list)
    fixed: set[int] = field(default_factory=set)  # virtual registers that must not be spilled
    private: int = 0  # bytes of memory per channel
    scratch: int = 0  # registers of scratch per thread

    def new(self, size: int) -> int:
        self.sizes.append(size)
        return len(self.sizes) - 1

    @property
    def constant_registers(self) -> range:
        return range(FIRST_CONSTANT, FIRST_CONSTANT - (-len(self.constants) // 8))

    def virtual(self, instr: Instruction) -> Iterator[int]:
        """Every virtual register of an instruction."""
        if instr.dst.file == "v":
            yield instr.dst.nr
        for src in instr.srcs:
            if src.file == "v":
                yield src.nr

    def copy(self) -> Code:
        return Code(
            self.width,
            [instr.copy() for instr in self.instrs],
            list(self.sizes),
            self.constants,
            set(self.fixed),
            self.private,
            self.scratch,
        )


def set_targets(instrs: list[Instruction]) -> None:
    """Set the targets of branches according to their nesting."""
    stack: list[tuple[str, int, list[int]]] = []
    for at, instr in enumerate(instrs):
        name = instr.op.name
        if name in ("if", "do"):
            stack.append((name, at, []))
        elif name == "else":
            _, start, jumps = stack.pop()
            instrs[start].target = at + 1
            stack.append(("else", at, jumps))
        elif name == "endif":
            _, start, _ = stack.pop()
            instrs[start].target = at
        elif name in ("break", "cont"):
            loop = next(entry for entry in reversed(stack) if entry[0] == "do")
            loop[2].append(at)
        elif name == "while":
            _, start, jumps = stack.pop()
            instr.target = start + 1
            for jump in jumps:
                last = at - 1 if instrs[at - 1].pred == "!" else at
                instrs[jump].target = at + 1 if instrs[jump].op.name == "break" else last
