"""Which of two instructions of a block comes first, without a walk from the one to the other."""

from __future__ import annotations

from gallette.compiler.nir.ir.cf import Block
from gallette.compiler.nir.ir.instrs import Instr

__all__ = ["BlockOrder"]

_LEAST = 1e-6
"""Between the numbers of two instructions: below that, floats might not tell them apart."""


class BlockOrder:
    """Numbers for the instructions of blocks, in order; a pass may go on inserting and removing.

    What was inserted since gets a number between those of its neighbours when it is asked for. No
    instruction may move.
    """

    __slots__ = ("_numbers",)

    def __init__(self) -> None:
        self._numbers: dict[Instr, float] = {}

    def comes_before(self, one: Instr, other: Instr) -> bool:
        """Of two instructions of a block: is `one` the first?"""
        for instr in (one, other):
            if instr not in self._numbers:
                self._number(instr)
        return self._numbers[one] < self._numbers[other]

    def _number(self, instr: Instr) -> None:
        """Give numbers to an instruction and to its neighbours that have none either."""
        numbers = self._numbers
        first: Instr | None = instr
        while first is not None and first.prev is not None and first.prev not in numbers:
            first = first.prev
        gap: list[Instr] = []
        at = first
        while at is not None and at not in numbers:
            gap.append(at)
            at = at.next
        assert first is not None
        low = numbers[first.prev] if first.prev is not None else 0.0
        if at is None:
            step = 1.0
        else:
            low = low if first.prev is not None else numbers[at] - len(gap) - 1
            step = (numbers[at] - low) / (len(gap) + 1)
        if step < _LEAST:
            assert instr.block is not None
            self._number_all(instr.block)
            return
        for count, one in enumerate(gap, 1):
            numbers[one] = low + count * step

    def _number_all(self, block: Block) -> None:
        for count, instr in enumerate(block.instrs()):
            self._numbers[instr] = float(count)
