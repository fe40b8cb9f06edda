"""Code of the tiler between selection and encoding, with labels.

A virtual register is a run of scalar registers; a message's payload and its reply are one each. A
`label` marks a branch target; `laid_out` replaces labels by instruction numbers. Registers are
spilled to private memory of the channel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gallette.drivers.machines.backend.code import Code as BaseCode
from gallette.drivers.machines.backend.liveness import Liveness
from gallette.drivers.machines.isa.instruction import Message
from gallette.drivers.machines.isa.messages import MEMORY_OPS, SPACES, pack
from gallette.drivers.machines.tiler.isa.instruction import NONE, Instruction, Operand, immediate
from gallette.drivers.machines.tiler.isa.table import LIMITS

ROOM = 192
"""Registers of a channel: r0.x to r47.w."""


class Code(BaseCode[Instruction]):
    """A shader as instructions."""

    machine = "tiler"
    near = 12
    most_spilled = 8

    def __init__(self) -> None:
        super().__init__()
        self.labels = 0

    def label(self) -> int:
        self.labels += 1
        return self.labels - 1

    def jumps(self) -> dict[int, int]:
        places = label_places(self.instrs)
        return {at: places[instr.target] for at, instr in enumerate(self.instrs) if instr.jumps}

    def liveness(self) -> Liveness[Instruction]:
        """The live ranges. A channel writes only its own part of a register, so waiting channels
        keep theirs.
        """
        return Liveness(self)

    # -- copies ------------------------------------------------------------------------------------

    def is_copy(self, instr: Instruction) -> bool:
        if instr.op.name != "mov" or instr.dst.file != "v" or instr.sat:
            return False
        src = instr.srcs[0]
        return src.file == "v" and not src.modified and not src.half and not instr.dst.half

    def may_write(self, maker: Instruction, copy: Instruction) -> bool:
        return not maker.dst.half

    def retargeted(self, maker: Instruction, copy: Instruction) -> Operand:
        return copy.dst

    def coalescable(self) -> tuple[list[Instruction], Callable[[int, int], bool]]:
        copies = [
            instr
            for instr in self.instrs
            if self.is_copy(instr) and self.sizes[instr.srcs[0].nr] == self.sizes[instr.dst.nr] == 1
        ]
        return copies, lambda a, b: True

    # -- places ------------------------------------------------------------------------------------

    def misplaced(self, places: dict[int, int]) -> list[int]:
        """Registers that are used by halves but are not among the lowest, which half registers
        overlap.
        """
        operands = (operand for instr in self.instrs for operand in (instr.dst, *instr.srcs))
        return [o.nr for o in operands if o.half and 2 * places.get(o.nr, 0) >= LIMITS["h"]]

    def reluctance(self, operand: Any) -> float:
        return 1e6 if operand.half else 0.0

    def whole_writes(self) -> list[bool]:
        return [
            instr.message is not None
            or (instr.dst.file == "v" and self.sizes[instr.dst.nr] == 1 and not instr.dst.half)
            for instr in self.instrs
        ]

    def reserve(self, size: int) -> int:
        self.private += 4 * size
        return self.private - 4 * size

    def fill(self, register: int, slot: int, size: int) -> list[Instruction]:
        address = self._fixed(1)
        message = Message("memory", _described("load", size), 1, size)
        return [
            Instruction("mov", address, (immediate(slot),), note="fill"),
            Instruction("memory", Operand("v", register), (address,), message=message, note="fill"),
        ]

    def spill(self, register: int, slot: int, size: int) -> list[Instruction]:
        found: list[Instruction] = []
        for k in range(size):
            payload, part = self._fixed(2), Operand("v", register, k)
            message = Message("memory", _described("store", 1), 2)
            found += [
                Instruction("mov", payload, (immediate(slot + 4 * k),), note="spill"),
                Instruction("mov", payload._replace(offset=1), (part,), fresh=False),
                Instruction("memory", NONE, (payload,), message=message, note="spill"),
            ]
        return found

    def _fixed(self, size: int) -> Operand:
        """A new register that is never spilled."""
        nr = self.new(size)
        self.fixed.add(nr)
        return Operand("v", nr)

    def real(self, operand: Operand, place: int) -> Operand:
        if operand.half:
            return operand._replace(file="h", nr=2 * place + operand.offset, offset=0, half=False)
        return operand._replace(file="r", nr=place + operand.offset, offset=0)

    def drop_idle_moves(self) -> None:
        """Remove moves whose source and destination are the same assigned register."""
        self.instrs = [i for i in self.instrs if i.op.name != "mov" or i.srcs[0] != i.dst]


def _described(op: str, count: int) -> int:
    space = SPACES.index("scratch")
    return pack("memory", op=MEMORY_OPS.index(op), space=space, size=2, count=count)


def label_places(instrs: list[Instruction]) -> dict[int, int]:
    """The position of each label."""
    return {instr.target: at for at, instr in enumerate(instrs) if instr.is_label}


def laid_out(instrs: list[Instruction]) -> list[Instruction]:
    """The code without labels; branches name instruction numbers."""
    places = {label: at - k for k, (label, at) in enumerate(label_places(instrs).items())}
    kept = [instr for instr in instrs if not instr.is_label]
    for instr in kept:
        if instr.jumps:
            instr.target = places[instr.target]
    return kept
