"""Instruction selection of arithmetic that machines share: vectors, copies, and a table
of opcodes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

from gallette.compiler.nir.ir import Alu
from gallette.drivers.common.machine.types import type_of

from .core import Operand
from .memory import MemorySelector

__all__ = ["ArithmeticSelector", "Special"]

Special: TypeAlias = Callable[[Any, Alu], list[Operand]]
"""Selects an opcode that is not one instruction: a method of the selector."""


class ArithmeticSelector(MemorySelector):
    """Treats copies and vectors as renamings of components; each machine selects the
    other opcodes.
    """

    special: ClassVar[dict[str, Special]] = {}

    def alu(self, instr: Alu) -> None:
        op, dest = instr.op, instr.result
        if op.name == "mov":
            src = instr.srcs[0]
            self.values[dest] = [self.value(src, k) for k in range(dest.num_components)]
        elif op.is_vec:
            self.values[dest] = [self.value(src) for src in instr.srcs]
        elif (special := self.special.get(op.name)) is not None:
            self.values[dest] = special(self, instr)
        elif dest.num_components != 1:
            raise self.fail(f"the vector operation {op.name!r}")
        else:
            self.values[dest] = [self.scalar_alu(instr)]

    @abstractmethod
    def scalar_alu(self, instr: Alu) -> Operand:
        """Select an operation with one result."""

    def operands(self, instr: Alu) -> list[Any]:
        """The sources, as operands of the types that the operation reads."""
        return [
            self.read(src, type_of(t.base, t.bits or src.value.bit_size))
            for src, t in zip(instr.srcs, instr.op.input_types, strict=True)
        ]
