"""Instructions and operands, used before and after register allocation.

A region names bytes of the register file: `offset` bytes after register `nr`, one element of `type`
per channel, `stride` elements apart; stride 0 is one scalar for all channels. Before allocation
`file` is "v" and `nr` a virtual register; afterwards it is "g" and one of the 128.
"""

from __future__ import annotations

from typing import NamedTuple

from gallette.drivers.common.machine.copying import Copied

from .opcodes import OPCODES, Opcode
from .types import REG_BYTES, TYPES, RegType

__all__ = ["NULL", "Instruction", "Message", "Region", "flagged", "immediate"]


class Region(NamedTuple):
    """An operand."""

    file: str  # "v" virtual, "g" register, "i" immediate, "n" nothing
    nr: int
    type: RegType
    offset: int = 0
    stride: int = 1
    neg: bool = False
    abs: bool = False
    swizzle: tuple[int, ...] = ()  # within each group of four channels
    bits: int = 0  # of an immediate

    def retyped(self, type: RegType) -> Region:
        return self._replace(type=type)

    def at(self, channel: int) -> Region:
        """The part of the region from a later channel on."""
        if self.file in "in" or self.stride == 0 or not channel:
            return self
        return self._replace(offset=self.offset + channel * self.type.size * self.stride)

    def plus(self, bytes: int) -> Region:
        return self._replace(offset=self.offset + bytes)

    def end(self, width: int) -> int:
        """One past the last byte that `width` channels use."""
        if self.stride == 0:
            return self.offset + self.type.size
        return self.offset + ((width - 1) * self.stride + 1) * self.type.size

    @property
    def modified(self) -> bool:
        return self.neg or self.abs or bool(self.swizzle)


NULL = Region("n", 0, TYPES["UD"])


def immediate(bits: int, type: RegType) -> Region:
    return Region("i", 0, type, 0, 0, bits=bits & (1 << type.size * 8) - 1)


class Message(NamedTuple):
    """What a `send` has besides its payload: the unit, its descriptor, and lengths."""

    unit: str
    desc: int
    length: int  # registers of payload
    result: int  # registers of the answer
    header: bool = False  # source 0 is a header register
    end: bool = False  # the thread ends


class Instruction(Copied):
    """One instruction; `group` is its first channel, `target` where channels go."""

    __slots__ = (
        "cond",
        "dst",
        "flag",
        "fresh",
        "group",
        "message",
        "no_mask",
        "note",
        "op",
        "pred",
        "sat",
        "srcs",
        "target",
        "uniform",
        "width",
    )

    def __init__(
        self,
        op: Opcode | str,
        width: int,
        dst: Region = NULL,
        srcs: tuple[Region, ...] = (),
        *,
        group: int = 0,
        no_mask: bool = False,
        pred: str = "",
        flag: int = 0,
        cond: str = "",
        sat: bool = False,
        message: Message | None = None,
        target: int = 0,
        fresh: bool = True,
        note: str = "",
    ) -> None:
        self.op = OPCODES[op] if isinstance(op, str) else op
        self.width = width
        self.dst = dst
        self.srcs = srcs
        self.group = group
        self.no_mask = no_mask
        self.pred = pred  # "" always, "+" flag, "-" no flag, "!" no channel of the quad has it set
        self.flag = flag
        self.cond = cond
        self.sat = sat
        self.message = message
        self.target = target
        self.fresh = fresh  # begins a new value: the destination's old contents are dead
        self.note = note  # a line of NIR, for listings
        self.uniform = False  # a branch or loop that all channels take together

    # -- registers read and written ----------------------------------------------------------------

    def written(self) -> tuple[int, int]:
        """First and one past the last byte of the destination."""
        if self.message is not None:
            return self.dst.offset, self.dst.offset + self.message.result * REG_BYTES
        return self.dst.offset, self.dst.end(self.width)

    def read(self, k: int) -> tuple[int, int]:
        """First and one past the last byte of source `k`."""
        src = self.srcs[k]
        if self.message is not None:
            count = 1 if k == 0 else self.message.length
            return src.offset, src.offset + count * REG_BYTES
        if src.swizzle:
            return src.offset, src.offset + self.width * src.type.size
        return src.offset, src.end(self.width)

    @property
    def writes_flag(self) -> bool:
        return bool(self.cond) and self.op.kind != "select"

    @property
    def reads_flag(self) -> bool:
        return bool(self.pred)

    def key(self) -> tuple[object, ...]:
        """Everything that is encoded, for comparisons."""
        return (
            self.op.name,
            self.width,
            self.dst,
            self.srcs,
            self.group,
            self.no_mask,
            self.pred,
            self.flag,
            self.cond,
            self.sat,
            self.message,
            self.target,
        )


def flagged(instr: Instruction) -> bool:
    """Whether the instruction uses a flag."""
    return instr.reads_flag or instr.writes_flag
