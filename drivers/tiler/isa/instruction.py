"""Instructions and operands, used before and after register allocation.

Registers are scalars: `r3.y` is 32 bits of every channel, number 4 * 3 + 1. Half registers overlap
the first of them: `hr0.x` and `hr0.y` are the halves of `r0.x`. Constants are the read-only file
`c`. Before allocation an operand is part `offset` of a virtual register.
"""

from __future__ import annotations

from typing import NamedTuple

from gallette.drivers.common.machine.copying import Copied

from .opcodes import OPCODES, UNIT_OF, Opcode

__all__ = ["NONE", "Instruction", "Message", "Operand", "immediate", "name_of", "width_of"]


class Operand(NamedTuple):
    """A source or destination."""

    file: str  # "v" virtual, "r" register, "h" half, "c" constant, "i" immediate, "p" predicate
    nr: int
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


NONE = Operand("", 0)


def immediate(bits: int) -> Operand:
    return Operand("i", 0, bits=bits & 0xFFFFFFFF)


def name_of(operand: Operand) -> str:
    """A register's name."""
    if operand.file == "v":
        return f"{'h' if operand.half else ''}v{operand.nr}+{operand.offset}"
    prefix = {"h": "hr"}.get(operand.file, operand.file)
    if operand.file == "p":
        return f"p0.{'xyzw'[operand.nr]}"
    return f"{prefix}{operand.nr // 4}.{'xyzw'[operand.nr % 4]}"


class Message(NamedTuple):
    """A message: its descriptor, payload registers, and answer registers."""

    desc: int
    length: int
    result: int = 0


class Instruction(Copied):
    """One instruction; `target` is the target of a branch."""

    __slots__ = (
        "dst",
        "fresh",
        "inverse",
        "message",
        "note",
        "op",
        "pred",
        "repeat",
        "sat",
        "srcs",
        "ss",
        "sy",
        "target",
    )

    def __init__(
        self,
        op: Opcode | str,
        dst: Operand = NONE,
        srcs: tuple[Operand, ...] = (),
        *,
        sat: bool = False,
        ss: bool = False,
        sy: bool = False,
        repeat: int = 0,
        pred: int = 0,
        inverse: bool = False,
        message: Message | None = None,
        target: int = 0,
        fresh: bool = True,
        note: str = "",
    ) -> None:
        self.op = OPCODES[op] if isinstance(op, str) else op
        self.dst = dst
        self.srcs = srcs
        self.sat = sat
        self.ss = ss  # waits for special functions and nearby units
        self.sy = sy  # waits for textures and memory
        self.repeat = repeat
        self.pred = pred  # of br, brdead and kill: p0.x, p0.y, ...
        self.inverse = inverse  # inverts the predicate
        self.message = message
        self.target = target  # of a branch: a label before layout, then an instruction number
        self.fresh = fresh  # begins a new value: the destination's old contents are dead
        self.note = note

    @property
    def unit(self) -> str:
        return UNIT_OF[self.op.name]

    # -- registers read and written ----------------------------------------------------------------

    @property
    def writes_registers(self) -> bool:
        return self.dst.file in ("r", "h", "v")

    def written(self) -> range:
        """Numbers of the full registers that are written."""
        if not self.writes_registers:
            return range(0)
        count = self.message.result if self.message is not None else self.repeat + 1
        return width_of(self.dst, count)

    def read(self, k: int) -> range:
        """Numbers of the full registers source `k` reads."""
        src = self.srcs[k]
        if src.file not in ("r", "h"):
            return range(0)
        if self.message is not None:
            return range(src.nr, src.nr + self.message.length)
        return width_of(src, self.repeat + 1 if src.rep else 1)


def width_of(operand: Operand, count: int) -> range:
    """The full registers that `count` registers from an operand on overlap."""
    if operand.file == "h":
        return range(operand.nr // 2, (operand.nr + count - 1) // 2 + 1)
    return range(operand.nr, operand.nr + count)
