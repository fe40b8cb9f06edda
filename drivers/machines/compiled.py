"""The result of a back end: the executable, and what the compiler knows about it."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir import Shader
from gallette.drivers.machines.selection.core import MessageSelector
from gallette.drivers.machines.simulator.executable import Executable, ExecutableFacts

from .backend.allocate import Allocation
from .backend.code import Code, CodeOf
from .backend.schedule import Pipe
from .isa.messages import describe

Machine = TypeVar("Machine", bound=Executable[Any])
_COLUMN = 72
"""Where a listing has its comments."""

Selection = TypeVar("Selection", bound=MessageSelector)


@lazy_dataclass()
class Compiled(Generic[Machine, Selection, CodeOf]):
    """A shader as machine code."""

    executable: Machine
    selector: Selection
    code: CodeOf
    allocation: Allocation[CodeOf]
    pipe: Pipe[Any]
    block_cycles: list[int] = field(default_factory=list)
    stalls: list[int] = field(default_factory=list)  # cycles before each instruction
    notes: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    def annotate(self) -> None:
        """Record NIR operation and source line of each instruction, and the cycles of blocks."""
        self.notes = [instr.note for instr in self.code.instrs]
        self.lines = [instr.line for instr in self.code.instrs]
        for start, stop in self.executable.blocks:
            found = self.pipe.timing(self.code.instrs[start:stop])
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

    def listing(self) -> str:
        """Numbered instructions; behind each, its cycle within the block, the cycles it stalls, the
        fields of a message, and the NIR operation that begins there.
        """
        executable = self.executable
        counts = ", ".join(f"{count} {name}" for name, count in self.measures().items())
        lines = [f"; {counts}; {sum(self.stalls)} cycles of stalls if every block runs once"]
        starts, now = {start for start, _ in executable.blocks}, 0
        rows = zip(executable.code, self.stalls, self.notes, strict=True)
        for at, (instr, stall, note) in enumerate(rows):
            now = stall + (0 if at in starts else now)
            when = f"{now} +{stall}" if stall else f"{now}"
            message = instr.message
            if message is not None:
                note = f"{note} {describe(message.unit, message.desc)}".strip()
            text = f"{at:4}: {executable.isa.line(instr)}"
            lines.append(f"{text:<{_COLUMN}} ; {when:<9}{note}".rstrip())
            now += self.pipe.issue_cycles(instr)
        return "\n".join(lines) + "\n"


def facts_of(selector: MessageSelector, code: Code[Any]) -> ExecutableFacts:
    """The facts that a launch needs, as instruction selection found them."""
    shader: Shader = selector.shader
    used = [
        touched
        for instr in code.instrs
        for touched in (instr.written(), *(instr.read(k) for k in range(len(instr.srcs))))
    ]
    control = shader.stage.value == "tess_ctrl"
    return ExecutableFacts(
        registers=max([code.first_register, *(touched.stop for touched in used)]),
        scratch=code.scratch,
        private=code.private,
        has_barriers=selector.has_barriers or control,
        patch_size=max(1, shader.info.vertices_out if control else 1),
        places=tuple(sorted(selector.places.items())),
    )
