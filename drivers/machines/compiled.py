"""The result of a back end: the executable, and what the compiler knows about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from gallette.compiler.nir.ir import Shader
from gallette.drivers.machines.selection.core import MessageSelector
from gallette.drivers.machines.simulator.executable import Executable, ExecutableFacts

from .backend.allocate import Allocation
from .backend.code import Code, CodeOf
from .backend.schedule import Timing

__all__ = ["Compiled", "facts_of"]

Machine = TypeVar("Machine", bound=Executable[Any])
Selection = TypeVar("Selection", bound=MessageSelector)


@dataclass(slots=True)
class Compiled(Generic[Machine, Selection, CodeOf]):
    """A shader as machine code."""

    executable: Machine
    selector: Selection
    code: CodeOf
    allocation: Allocation[CodeOf]
    block_cycles: list[int] = field(default_factory=list)
    stalls: list[int] = field(default_factory=list)  # cycles before each instruction
    notes: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    def annotate(self, timing: Callable[[list[Any]], Timing]) -> None:
        """Record NIR operation and source line of each instruction, and the cycles of blocks."""
        self.notes = [instr.note for instr in self.code.instrs]
        self.lines = [instr.line for instr in self.code.instrs]
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
    selector: MessageSelector, code: Code[Any], *, registers: int, scratch: int = 0
) -> ExecutableFacts:
    """The facts that a launch needs, as instruction selection found them."""
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
