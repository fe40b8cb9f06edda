"""The order of two instructions in a block, without walking from one to the other."""

from __future__ import annotations

from gallette.compiler.nir.ir.cf import Block
from gallette.compiler.nir.ir.instrs import Instr

_LEAST = 1e-6
"""The least difference between the numbers of two instructions, to keep floats distinct."""


class BlockOrder:
    """Numbers for the instructions of blocks, in order, valid while a pass inserts and removes.

    An inserted instruction gets a number between those of its neighbours when it is first compared.
    Instructions must not be moved.
    """

    __slots__ = ("_numbers",)

    def __init__(self) -> None:
        self._numbers: dict[Instr, float] = {}

    def comes_before(self, one: Instr, other: Instr) -> bool:
        """Whether `one` comes before `other`, in one block."""
        for instr in (one, other):
            if instr not in self._numbers:
                self._number(instr)
        return self._numbers[one] < self._numbers[other]

    def _number(self, instr: Instr) -> None:
        """Number an instruction and its unnumbered neighbours."""
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
