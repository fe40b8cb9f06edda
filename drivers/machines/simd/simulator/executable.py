"""Executable code of the execution unit: 128-bit instructions as blocks of steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.machines.simd.isa.instruction import Instruction
from gallette.drivers.machines.simd.isa.table import ISA
from gallette.drivers.machines.simulator import executable
from gallette.drivers.machines.simulator.executable import ExecutableFacts, Leave
from gallette.drivers.machines.simulator.units.port import Step

from .alu import alu_step
from .flow import leave
from .port import send_step


class Executable(executable.Executable[Instruction]):
    """A program in the machine's memory."""

    isa = ISA

    def __init__(
        self, words: list[int], width: int, constants: range, facts: ExecutableFacts
    ) -> None:
        self.width = width
        self.constants = constants  # registers that hold constants
        super().__init__(words, facts)

    def leave(self, instr: Instruction, at: int) -> Leave | None:
        return leave(instr, at) if instr.op.kind == "flow" else None

    def steps(self, code: Sequence[Instruction]) -> list[Step]:
        return [self._step(instr) for instr in code if instr.op.kind != "none"]

    def _step(self, instr: Instruction) -> Step:
        return send_step(instr) if instr.message is not None else alu_step(instr, self.constants)

    def register_name(self, nr: int) -> str:
        return f"g{nr:<3}"

    def prepare(self, words: npt.NDArray[np.uint32], constants: npt.NDArray[Any]) -> None:
        if constants.size:
            first = self.constants.start
            rows = constants.view(np.uint32).reshape(-1, 1, 8)
            words[first : first + len(rows)] = rows
        if self.registers:
            words[0, :, 0] = np.arange(words.shape[1], dtype=np.uint32)
