"""Instructions of the execution unit and their operands.

A region names bytes of the register file: `offset` bytes after register `nr`, one element of `type`
per channel, `stride` elements apart; stride 0 is one scalar for all channels. Before allocation
`file` is "v" and `nr` a virtual register; afterwards it is "g" and one of the 128.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.drivers.machines.isa import instruction
from gallette.drivers.machines.isa.messages import LIVE_FLAG
from gallette.drivers.machines.isa.types import TYPES, RegType

from .opcodes import OPCODES, Opcode

REG_BYTES = 32
"""A register: eight channels of 32 bits."""


class Region(NamedTuple):
    """An operand."""

    file: str  # "v" virtual, "g" register, "i" immediate, "n" nothing
    nr: int = 0
    type: RegType = TYPES["UD"]
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

    @property
    def normalized(self) -> Region:
        """The region in normal form: the register in which it begins, with an offset below 32; none
        for the null register.
        """
        if self.offset < REG_BYTES or self.file not in "gn":
            return self
        if self.file == "n":
            return self._replace(offset=0)
        return self._replace(nr=self.nr + self.offset // REG_BYTES, offset=self.offset % REG_BYTES)

    def end(self, width: int) -> int:
        """One past the last byte that `width` channels use."""
        if self.stride == 0:
            return self.offset + self.type.size
        return self.offset + ((width - 1) * self.stride + 1) * self.type.size

    @property
    def modified(self) -> bool:
        return self.neg or self.abs or bool(self.swizzle)


NULL = Region("n")


def immediate(bits: int, type: RegType) -> Region:
    return Region("i", 0, type, 0, 0, bits=bits & (1 << type.size * 8) - 1)


@lazy_dataclass(eq=False)
class Instruction(instruction.Instruction):
    """One instruction; `group` is its first channel."""

    table: ClassVar = OPCODES
    unencoded: ClassVar = frozenset({"fresh", "line", "note", "uniform"})
    op: Opcode = field(init=False)
    dst: Region = NULL
    srcs: tuple[Region, ...] = ()
    width: int = field(default=8, kw_only=True)
    group: int = field(default=0, kw_only=True)
    no_mask: bool = field(default=False, kw_only=True)
    pred: str = field(default="", kw_only=True)  # "" always, "+" flag, "-" no flag, "!" dead quads
    flag: int = field(default=0, kw_only=True)
    cond: str = field(default="", kw_only=True)
    uniform: bool = field(default=False, kw_only=True)  # a branch that all channels take together

    # -- registers read and written ----------------------------------------------------------------

    def written(self) -> range:
        return _registers(self.dst, *self.bytes_written())

    def read(self, k: int) -> range:
        return _registers(self.srcs[k], *self.bytes_read(k))

    def bytes_written(self) -> tuple[int, int]:
        """First and one past the last byte of the destination."""
        if self.message is not None:
            return self.dst.offset, self.dst.offset + self.message.result * REG_BYTES
        return self.dst.offset, self.dst.end(self.width)

    def bytes_read(self, k: int) -> tuple[int, int]:
        """First and one past the last byte of source `k`."""
        src = self.srcs[k]
        if self.message is not None:
            count = 1 if k == 0 else self.message.length
            return src.offset, src.offset + count * REG_BYTES
        if src.swizzle:
            return src.offset, src.offset + self.width * src.type.size
        return src.offset, src.end(self.width)

    # -- what a back end asks ----------------------------------------------------------------------

    @property
    def falls(self) -> bool:
        return self.op.name not in _LEAVES or bool(self.pred)

    @property
    def jumps(self) -> bool:
        """Whether channels may jump to the target; dead quads do not count."""
        return self.op.name in _LEAVES and self.pred != "!"

    @property
    def ends_block(self) -> bool:
        return self.op.kind == "flow" or (self.message is not None and self.message.end)

    @property
    def replaces(self) -> bool:
        return self.fresh and (not self.pred or self.op.kind == "select")

    @property
    def flags_read(self) -> tuple[int, ...]:
        return (self.flag,) if self.pred else ()

    @property
    def flags_written(self) -> tuple[int, ...]:
        return (self.flag,) if self.cond and self.op.kind != "select" else ()

    @property
    def replaces_flag(self) -> bool:
        return not self.pred and self.flag != LIVE_FLAG and not self.group


def _registers(region: Region, start: int, stop: int) -> range:
    """The assigned registers with these bytes of a region."""
    if region.file != "g":
        return range(0)
    nr, last = region.nr, (max(stop, start + 1) - 1) // REG_BYTES
    return range(nr + start // REG_BYTES, nr + last + 1)


_LEAVES = frozenset({"if", "else", "while", "break", "cont"})
"""What has a target; `halt` is no instruction of compiled code."""
