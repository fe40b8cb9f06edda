"""Executable code of the execution unit: 128-bit instructions as blocks of steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.machine import executable
from gallette.drivers.common.machine.executable import ExecutableFacts, Leave
from gallette.drivers.common.machine.hang import MachineHangError
from gallette.drivers.common.machine.units.port import Step
from gallette.drivers.simd.isa.assembly import line_of
from gallette.drivers.simd.isa.encoding import decode
from gallette.drivers.simd.isa.instruction import Instruction

from .alu import alu_step
from .flow import leave
from .port import send_step

__all__ = ["Executable", "MachineHangError"]


class Executable(executable.Executable[Instruction]):
    """A program in the machine's memory."""

    def __init__(
        self, words: list[int], width: int, constants: range, facts: ExecutableFacts
    ) -> None:
        self.width = width
        self.constants = constants  # registers that hold constants
        super().__init__(words, facts)

    def decode(self, word: int) -> Instruction:
        return decode(word)

    def starts(self, code: Sequence[Instruction]) -> set[int]:
        starts: set[int] = set()
        for at, instr in enumerate(code):
            if instr.op.kind == "flow":
                starts.update((at + 1, instr.target))
                if instr.op.name in ("else", "endif", "while"):
                    starts.add(at)
        return starts

    def leave(self, instr: Instruction, at: int) -> Leave | None:
        return leave(instr, at) if instr.op.kind == "flow" else None

    def steps(self, code: Sequence[Instruction]) -> list[Step]:
        return [self._step(instr) for instr in code if instr.op.kind != "none"]

    def _step(self, instr: Instruction) -> Step:
        return send_step(instr) if instr.message is not None else alu_step(instr, self.constants)

    def line(self, instr: Instruction) -> str:
        return line_of(instr)

    def register_name(self, nr: int) -> str:
        return f"g{nr:<3}"

    def prepare(self, words: npt.NDArray[np.uint32], constants: npt.NDArray[Any]) -> None:
        if constants.size:
            first = self.constants.start
            rows = constants.view(np.uint32).reshape(-1, 1, 8)
            words[first : first + len(rows)] = rows
        if self.registers:
            words[0, :, 0] = np.arange(words.shape[1], dtype=np.uint32)
