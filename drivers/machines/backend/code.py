"""Code between selection and encoding: instructions over virtual registers, in blocks.

A virtual register is a run of whole registers. What allocation needs to know about a machine are
methods of its `Code`: branch targets, what a copy is, and how registers are spilled and filled.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.drivers.machines.constants import ConstantSlot
from gallette.drivers.machines.isa.instruction import Instruction

if TYPE_CHECKING:
    from .liveness import Liveness

Instr = TypeVar("Instr", bound=Instruction)


@lazy_dataclass()
class Block:
    """A straight run of instructions, and its live registers (bit masks)."""

    start: int
    stop: int
    next: list[int] = field(default_factory=list)  # starts of the blocks that may follow
    uses: int = 0
    kills: int = 0
    live_in: int = 0
    live_out: int = 0
    parked: int = 0  # what channels that wait elsewhere may still need


class Code(ABC, Generic[Instr]):
    """A shader as instructions."""

    machine: ClassVar[str]
    near: ClassVar[int]  # a payload is begun no earlier than so many instructions before it is sent
    most_spilled: ClassVar[int] = 1 << 30  # registers a spilled value may have

    def __init__(self) -> None:
        self.instrs: list[Instr] = []
        self.sizes: list[int] = []  # of virtual registers, in registers
        self.constants: list[ConstantSlot] = []
        self.fixed: set[int] = set()  # virtual registers that must not be spilled
        self.private = 0  # bytes of memory per channel
        self.scratch = 0  # registers of scratch per thread

    def new(self, size: int) -> int:
        """A new virtual register."""
        self.sizes.append(size)
        return len(self.sizes) - 1

    def copy(self) -> Self:
        """A copy of the code, unaffected by changes of this one."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.instrs = [instr.copy() for instr in self.instrs]
        made.sizes, made.fixed = list(self.sizes), set(self.fixed)
        return made

    # -- control flow ------------------------------------------------------------------------------

    @abstractmethod
    def jumps(self) -> dict[int, int]:
        """For each branch, the instructions its channels may jump to."""

    def weights(self) -> list[float]:
        """For each instruction, ten to the power of the number of loops around it."""
        found = [1.0] * len(self.instrs)
        for at, target in self.jumps().items():
            for k in range(target, at + 1):  # nothing, but for a jump back
                found[k] *= 10.0
        return found

    def block_numbers(self) -> list[int]:
        """For each instruction, the number of its basic block."""
        number, found = 0, []
        for instr in self.instrs:
            number += instr.is_label
            found.append(number)
            number += instr.op.kind == "flow"
        return found

    # -- registers ---------------------------------------------------------------------------------

    @abstractmethod
    def liveness(self) -> Liveness[Instr]:
        """The live ranges of the code."""

    @abstractmethod
    def is_copy(self, instr: Instr) -> bool:
        """Whether the instruction copies the bits of one virtual register into another."""

    @abstractmethod
    def may_write(self, maker: Instr, copy: Instr) -> bool:
        """Whether an instruction can write directly to the destination of a copy of its value."""

    @abstractmethod
    def retargeted(self, maker: Instr, copy: Instr) -> Any:
        """The destination of an instruction that writes directly to the copy's destination."""

    @abstractmethod
    def coalescable(self) -> tuple[list[Instr], Callable[[int, int], bool]]:
        """The copies of whole registers, and a predicate: whether two registers may be coalesced at
        all.
        """

    @property
    def first_register(self) -> int:
        """The first register that can be assigned; those below are reserved."""
        return 0

    def alignments(self) -> dict[int, int]:
        """The alignment of virtual registers, where it is not 1."""
        return {}

    def misplaced(self, places: dict[int, int]) -> list[int]:
        """Virtual registers whose assigned registers their instructions cannot use."""
        return []

    def reluctance(self, operand: Any) -> float:
        """The extra cost of spilling the register of an operand, besides its uses."""
        return 0.0

    @abstractmethod
    def whole_writes(self) -> list[bool]:
        """For each instruction, whether it writes all of its destination, in all channels."""

    @abstractmethod
    def reserve(self, size: int) -> int:
        """Reserve memory for a spilled register."""

    @abstractmethod
    def fill(self, register: int, slot: int, size: int) -> list[Instr]:
        """Instructions that load a spilled register."""

    @abstractmethod
    def spill(self, register: int, slot: int, size: int) -> list[Instr]:
        """Instructions that store a spilled register."""

    @abstractmethod
    def real(self, operand: Any, place: int) -> Any:
        """The operand in the assigned register."""


CodeOf = TypeVar("CodeOf", bound=Code[Any])


def blocks_of(instrs: Sequence[Instr], jumps: dict[int, int]) -> dict[int, Block]:
    """The basic blocks by their first instruction: labels and targets begin one, branches end
    one.
    """
    starts = {0, *jumps.values()}
    starts.update(at for at, instr in enumerate(instrs) if instr.is_label)
    starts.update(at + 1 for at, instr in enumerate(instrs) if instr.op.kind == "flow")
    ordered = [*sorted(at for at in starts if at < len(instrs)), len(instrs)]
    found: dict[int, Block] = {}
    for start, stop in pairwise(ordered):
        block = found[start] = Block(start, stop)
        if instrs[stop - 1].falls:
            block.next.append(stop)
        if stop - 1 in jumps:
            block.next.append(jumps[stop - 1])
    end = Block(len(instrs), len(instrs))
    if any(end.start in block.next for block in found.values()):
        found[end.start] = end
    return found


def renamed(instr: Instr, names: dict[int, int]) -> None:
    """Renumber virtual registers."""
    if instr.dst.file == "v" and instr.dst.nr in names:
        instr.dst = instr.dst._replace(nr=names[instr.dst.nr])
    if any(src.file == "v" and src.nr in names for src in instr.srcs):
        instr.srcs = tuple(
            src._replace(nr=names.get(src.nr, src.nr)) if src.file == "v" else src
            for src in instr.srcs
        )


def reader_counts(instrs: Iterable[Instruction]) -> dict[int, int]:
    """How often each virtual register is read."""
    found: dict[int, int] = {}
    for instr in instrs:
        for src in instr.srcs:
            if src.file == "v":
                found[src.nr] = found.get(src.nr, 0) + 1
    return found
