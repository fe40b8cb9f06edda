"""Instructions of the tiler and their operands.

Registers are scalars: `r3.y` is 32 bits of every channel, number 4 * 3 + 1. Half registers overlap
the first of them: `hr0.x` and `hr0.y` are the halves of `r0.x`. Constants are the read-only file
`c`. Before allocation an operand is part `offset` of a virtual register.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.drivers.machines.isa import instruction
from gallette.drivers.machines.isa.messages import LIVE_FLAG

from .opcodes import LABEL, OPCODES, Opcode


class Operand(NamedTuple):
    """A source or destination."""

    file: str  # "v" virtual, "r" register, "h" half, "c" constant, "i" immediate, "p" predicate
    nr: int = 0
    offset: int = 0  # in a virtual register: components from its first
    half: bool = False  # of a virtual register: 16 bits, offset counts halves
    neg: bool = False
    abs: bool = False
    rep: bool = False  # (r): the next register in each repetition
    bits: int = 0  # of an immediate

    @property
    def modified(self) -> bool:
        return self.neg or self.abs

    @property
    def plain(self) -> Operand:
        return self._replace(neg=False, abs=False)


NONE = Operand("n")


def immediate(bits: int) -> Operand:
    return Operand("i", 0, bits=bits & 0xFFFFFFFF)


@lazy_dataclass(eq=False)
class Instruction(instruction.Instruction):
    """One instruction; with the opcode `LABEL`, the branch target `target`."""

    table: ClassVar = OPCODES
    op: Opcode = field(init=False)
    dst: Operand = NONE
    srcs: tuple[Operand, ...] = ()
    ss: bool = field(default=False, kw_only=True)  # waits for special functions, units nearby
    sy: bool = field(default=False, kw_only=True)  # waits for textures and memory
    repeat: int = field(default=0, kw_only=True)
    pred: int = field(default=0, kw_only=True)  # of br, brdead and kill: p0.x, p0.y, ...
    inverse: bool = field(default=False, kw_only=True)  # where the predicate is false

    # -- registers read and written ----------------------------------------------------------------

    def written(self) -> range:
        if self.dst.file not in ("r", "h", "v"):
            return range(0)
        count = self.message.result if self.message is not None else self.repeat + 1
        return width_of(self.dst, count)

    def read(self, k: int) -> range:
        src = self.srcs[k]
        if src.file not in ("r", "h"):
            return range(0)
        if self.message is not None:
            return range(src.nr, src.nr + self.message.length)
        return width_of(src, self.repeat + 1 if src.rep else 1)

    # -- what a back end asks ----------------------------------------------------------------------

    @property
    def is_label(self) -> bool:
        return self.op is LABEL

    @property
    def falls(self) -> bool:
        return self.op.name not in ("jump", "end")

    @property
    def jumps(self) -> bool:
        """Whether channels may jump to the target."""
        return self.op.name in ("br", "brdead", "jump")

    @property
    def flags_read(self) -> tuple[int, ...]:
        return (self.pred,) if self.op.name in ("br", "brdead", "kill") else ()

    @property
    def flags_written(self) -> tuple[int, ...]:
        if self.op.name == "kill":
            return (LIVE_FLAG,)
        return (self.dst.nr,) if self.dst.file == "p" else ()

    @property
    def replaces_flag(self) -> bool:
        return self.op.name != "kill"


def width_of(operand: Operand, count: int) -> range:
    """The full registers that `count` registers from an operand on overlap."""
    if operand.file == "h":
        return range(operand.nr // 2, (operand.nr + count - 1) // 2 + 1)
    return range(operand.nr, operand.nr + count)
