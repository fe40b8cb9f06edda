"""Code of the execution unit between selection and encoding.

Nested control flow is flat already: `if`, `else`, `endif`, `do` and `while` stand among the other
instructions, and branch targets are filled in last.
"""

from __future__ import annotations

from collections.abc import Callable

from gallette.drivers.machines.backend.code import Code as BaseCode
from gallette.drivers.machines.isa.instruction import Message
from gallette.drivers.machines.isa.messages import pack
from gallette.drivers.machines.simd.isa.instruction import NULL, REG_BYTES, Instruction, Region

from .liveness import LiveRanges, MaskedLiveness, layouts

ROOM = 128
"""Registers of a thread."""

FIRST_CONSTANT = 1
"""Register 0 is the thread's header; constants follow it."""


class Code(BaseCode[Instruction]):
    """A shader as instructions."""

    machine = "simd"
    near = 10

    def __init__(self, width: int, live_ranges: LiveRanges = "mask_aware") -> None:
        super().__init__()
        self.width = width
        self.live_ranges = live_ranges

    @property
    def constant_registers(self) -> range:
        return range(FIRST_CONSTANT, FIRST_CONSTANT - (-len(self.constants) // 8))

    @property
    def first_register(self) -> int:
        return self.constant_registers.stop

    def jumps(self) -> dict[int, int]:
        set_targets(self.instrs)
        return {at: instr.target for at, instr in enumerate(self.instrs) if instr.jumps}

    def liveness(self) -> MaskedLiveness:
        return MaskedLiveness(self)

    # -- copies ------------------------------------------------------------------------------------

    def is_copy(self, instr: Instruction) -> bool:
        if instr.op.kind != "move" or instr.cond or instr.pred or instr.sat or instr.no_mask:
            return False
        src, dst = instr.srcs[0], instr.dst
        if dst.file != "v" or dst.stride != 1 or src.file != "v" or src.stride != 1 or src.modified:
            return False
        same = src.type is dst.type or "float" not in (src.type.base, dst.type.base)
        return same and src.type.size == dst.type.size

    def may_write(self, maker: Instruction, copy: Instruction) -> bool:
        return (
            (maker.width, maker.group) == (copy.width, copy.group)
            and maker.dst.stride == 1
            and not maker.dst.offset
            and maker.dst.type.size == copy.dst.type.size
            and not maker.no_mask
            and (not maker.pred or maker.op.kind == "select")
        )

    def retargeted(self, maker: Instruction, copy: Instruction) -> Region:
        return copy.dst.retyped(maker.dst.type)

    def coalescable(self) -> tuple[list[Instruction], Callable[[int, int], bool]]:
        keys, _ = layouts(self)
        copies = [
            instr
            for instr in self.instrs
            if self.is_copy(instr)
            and not instr.srcs[0].offset
            and instr.bytes_written() == (0, REG_BYTES * self.sizes[instr.dst.nr])
            and instr.width == self.width
            and self.sizes[instr.srcs[0].nr] == self.sizes[instr.dst.nr]
        ]
        return copies, lambda a, b: keys.get(a) is not None and keys.get(a) == keys.get(b)

    # -- places ------------------------------------------------------------------------------------

    def alignments(self) -> dict[int, int]:
        """The alignment of each virtual register, so that registers of equal layout line up."""
        keys, _ = layouts(self)
        found = {}
        for nr, key in keys.items():
            wanted = 1 if key is None or key[1] else max(1, self.width * key[0] // REG_BYTES)
            found[nr] = wanted if self.sizes[nr] % wanted == 0 else 1
        return found

    def whole_writes(self) -> list[bool]:
        found, depth = [], 0
        for instr in self.instrs:
            depth += (instr.op.name in ("if", "do")) - (instr.op.name in ("endif", "while"))
            size = self.sizes[instr.dst.nr] if instr.dst.file == "v" else 0
            whole = instr.bytes_written() == (0, REG_BYTES * size)
            found.append(whole and not depth and not instr.pred)
        return found

    def reserve(self, size: int) -> int:
        self.scratch += size
        return self.scratch - size

    def fill(self, register: int, slot: int, size: int) -> list[Instruction]:
        return [self._moved("fill", register, slot, size)]

    def spill(self, register: int, slot: int, size: int) -> list[Instruction]:
        return [self._moved("spill", register, slot, size)]

    def _moved(self, what: str, register: int, slot: int, size: int) -> Instruction:
        """A message that copies whole registers regardless of the mask."""
        region, fill = Region("v", register), what == "fill"
        desc = pack("scratch", op=int(fill), slot=slot, count=size)
        length, result = (0, size) if fill else (size, 0)
        return Instruction(
            "send",
            region if fill else NULL,
            (Region("g"), NULL if fill else region),
            no_mask=True,
            message=Message("scratch", desc, length, result, header=True),
            note=what,
        )

    def real(self, operand: Region, place: int) -> Region:
        return operand._replace(file="g", nr=place).normalized


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
