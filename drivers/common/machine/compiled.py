"""The result of a back end: the executable, and what the compiler knows about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from gallette.compiler.nir.ir import Shader

from .constants import ConstantSlot
from .executable import Executable, ExecutableFacts
from .selection.core import MessageSelector

__all__ = ["Compiled", "facts_of"]

Machine = TypeVar("Machine", bound=Executable[Any])
Selection = TypeVar("Selection", bound=MessageSelector)
CodeOf = TypeVar("CodeOf", bound="Code")


class Timing(Protocol):
    """How long a basic block takes."""

    @property
    def cycles(self) -> int: ...
    @property
    def stalls(self) -> Sequence[int]: ...


class Code(Protocol):
    """Instructions between selection and encoding."""

    instrs: list[Any]
    constants: list[ConstantSlot]
    private: int


class Allocation(Protocol):
    """The registers assigned to virtual registers."""

    @property
    def spills(self) -> int: ...


Allocated = TypeVar("Allocated", bound=Allocation)


@dataclass(slots=True)
class Compiled(Generic[Machine, Selection, CodeOf, Allocated]):
    """A shader as machine code."""

    executable: Machine
    selector: Selection
    code: CodeOf
    allocation: Allocated
    block_cycles: list[int] = field(default_factory=list)
    stalls: list[int] = field(default_factory=list)  # cycles before each instruction
    notes: list[str] = field(default_factory=list)

    def annotate(self, timing: Callable[[list[Any]], Timing]) -> None:
        """Record the NIR operation of each instruction, and the cycles of each block."""
        self.notes = [instr.note for instr in self.code.instrs]
        for start, stop in self.executable.blocks:
            found = timing(self.code.instrs[start:stop])
            self.block_cycles.append(found.cycles)
            self.stalls += found.stalls

    @property
    def instructions(self) -> int:
        return len(self.code.instrs)

    @property
    def registers(self) -> int:
        return self.executable.registers

    @property
    def cycles(self) -> int:
        """The cycles of all blocks, each counted once."""
        return sum(self.block_cycles)

    def measures(self) -> dict[str, int]:
        """The numbers that `shader-db` reports for every machine."""
        return {
            "instructions": self.instructions,
            "cycles": self.cycles,
            "registers": self.registers,
            "spills": self.allocation.spills,
        }


def facts_of(
    selector: MessageSelector, code: Code, *, registers: int, scratch: int = 0
) -> ExecutableFacts:
    """What a launch must know, as instruction selection found it."""
    shader: Shader = selector.shader
    control = shader.stage.value == "tess_ctrl"
    return ExecutableFacts(
        registers=registers,
        scratch=scratch,
        private=code.private,
        has_barriers=selector.has_barriers or control,
        patch_size=max(1, shader.info.vertices_out if control else 1),
        places=tuple(sorted(selector.places.items())),
    )
