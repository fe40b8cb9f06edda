"""What a back end's last step leaves: the executable, and all the compiler knows about it."""

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
    """How long a straight run of instructions takes."""

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
    """Where virtual registers went."""

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
    stalls: list[int] = field(default_factory=list)  # before each instruction
    notes: list[str] = field(default_factory=list)

    def annotate(self, timing: Callable[[list[Any]], Timing]) -> None:
        """Note the NIR operation of each instruction, and the time each block takes."""
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
        """Of every block once."""
        return sum(self.block_cycles)

    def measures(self) -> dict[str, int]:
        """What `shader-db` counts on every machine."""
        return {
            "instructions": self.instructions,
            "cycles": self.cycles,
            "registers": self.registers,
            "spills": self.allocation.spills,
        }


def facts_of(
    selector: MessageSelector, code: Code, *, registers: int, scratch: int = 0
) -> ExecutableFacts:
    """What a launch must know, from what selection has found out."""
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
