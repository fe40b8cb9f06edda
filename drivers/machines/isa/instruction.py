"""The parts of instructions of all machines: a row of the opcode table, operands, perhaps a
message.

An instruction is the same object before and after register allocation. An operand is a named tuple
with a `file` (`v`: a virtual register, `n`: nothing), a number `nr` and an `offset`; the rest
depends on the machine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import InitVar, fields
from typing import Any, ClassVar, NamedTuple, Self

from gallette.compiler.lazy_dataclass import field, lazy_dataclass


@lazy_dataclass(frozen=True, eq=False)
class Opcode:
    """One row of an opcode table."""

    name: str
    code: int
    sources: int
    kind: str  # flow, alu, compare, select, message and the like: what executes it
    format: str  # how it is encoded and written
    semantics: Callable[..., Any] | None  # over arrays of the sources' type
    doc: str
    unit: str = ""  # of a message, if the opcode says it

    def __repr__(self) -> str:
        return f"<{self.name}>"


class Message(NamedTuple):
    """A request to a shared unit: its descriptor, and lengths in registers."""

    unit: str
    desc: int
    length: int  # registers of payload
    result: int = 0  # registers that come back
    header: bool = False  # the first source describes the message
    end: bool = False  # the thread ends


@lazy_dataclass(eq=False)
class Instruction(ABC):
    """One instruction."""

    table: ClassVar[Mapping[str, Opcode]]
    unencoded: ClassVar[frozenset[str]] = frozenset({"fresh", "line", "note"})
    opcode: InitVar[Opcode | str]
    dst: Any
    srcs: tuple[Any, ...] = ()
    op: Opcode = field(init=False)
    sat: bool = field(default=False, kw_only=True)
    message: Message | None = field(default=None, kw_only=True)
    target: int = field(default=0, kw_only=True)  # where channels go: a label, then a number
    fresh: bool = field(default=True, kw_only=True)  # what the destination held is dead
    note: str = field(default="", kw_only=True)  # the NIR operation it begins, for people
    line: int = field(default=0, kw_only=True)  # of the source that it was made for

    def __post_init__(self, opcode: Opcode | str) -> None:
        self.op = self.table[opcode] if isinstance(opcode, str) else opcode

    # -- what a back end asks ----------------------------------------------------------------------

    @abstractmethod
    def written(self) -> range:
        """The numbers of the assigned registers that are written."""

    @abstractmethod
    def read(self, k: int) -> range:
        """The numbers of the assigned registers that source `k` reads."""

    @property
    def is_label(self) -> bool:
        """Whether this is a label, which branches lead to, and not an instruction of the
        machine.
        """
        return False

    @property
    def falls(self) -> bool:
        """Whether channels may continue at the next instruction."""
        return True

    @property
    def ends_block(self) -> bool:
        """Whether no instruction may be moved across it."""
        return self.op.kind == "flow" or self.is_label

    @property
    def replaces(self) -> bool:
        """Whether all of the destination is overwritten, in every channel that executes."""
        return self.fresh

    @property
    def writes_registers(self) -> bool:
        """Whether the destination is a register, not a flag."""
        return self.dst.file not in "np"

    @property
    def flags_read(self) -> tuple[int, ...]:
        """The flags (predicates) that its effect depends on."""
        return ()

    @property
    def flags_written(self) -> tuple[int, ...]:
        """The flags (predicates) that it sets."""
        return ()

    @property
    def replaces_flag(self) -> bool:
        """Whether all bits of the flag that is set are overwritten."""
        return True

    def copy(self) -> Self:
        made = object.__new__(type(self))
        for each in fields(self):
            setattr(made, each.name, getattr(self, each.name))
        return made

    def key(self) -> tuple[Any, ...]:
        """Everything that is encoded, for comparison."""
        names = (each.name for each in fields(self))
        return tuple(getattr(self, name) for name in names if name not in self.unencoded)

    def virtual(self) -> Iterator[int]:
        """The virtual registers among its operands."""
        if self.dst.file == "v":
            yield self.dst.nr
        for src in self.srcs:
            if src.file == "v":
                yield src.nr
