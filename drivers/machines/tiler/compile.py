"""From a lowered shader to an executable: every step of the back end, in order."""

from __future__ import annotations

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Shader
from gallette.drivers.machines import compiled
from gallette.drivers.machines.backend.allocate import allocate
from gallette.drivers.machines.backend.cleanup import cleaned
from gallette.drivers.machines.backend.schedule import schedule
from gallette.drivers.machines.compiled import facts_of

from .backend.code import ROOM, Code, laid_out
from .backend.repeats import fold_repeats
from .backend.scoreboard import Barriers, fill, scoreboard
from .backend.select import Selector
from .backend.timing import PIPE
from .isa.table import ISA
from .simulator.executable import Executable, TextureWrites


@lazy_dataclass(frozen=True)
class BackendOptions:
    """Options of the back end and of its machine."""

    barriers: Barriers = "writes"  # readers wait for textures, or writers too
    texture_writes: TextureWrites = "late"
    registers: int = ROOM  # fewer make it spill
    schedule: bool = True


class Compiled(compiled.Compiled[Executable, Selector, Code]):
    """A shader as the tiler's machine code."""

    __slots__ = ()

    def measures(self) -> dict[str, int]:
        instrs = self.code.instrs
        nops = sum(i.repeat + 1 for i in instrs if i.op.kind == "nop")
        found = compiled.Compiled.measures(self)
        return {**found, "nops": nops, "(sy)": sum(i.sy for i in instrs)}


def compile_shader(
    shader: Shader,
    options: BackendOptions,
    flat_colors: bool = False,
    half_colors: bool = False,
) -> Compiled:
    """Compile a shader, step by step."""
    selector = Selector(shader, flat_colors, half_colors)
    code = selector.run()
    cleaned(code)
    allocation = allocate(code, options.registers, record=True)
    assert allocation is not None
    code.drop_idle_moves()
    if options.schedule:
        code.instrs = schedule(code.instrs, PIPE)
    code.instrs = fold_repeats(code.instrs)
    scoreboard(code, options.barriers)
    code.instrs = laid_out(fill(code.instrs))
    facts = facts_of(selector, code)
    words = [ISA.encode(instr) for instr in code.instrs]
    executable = Executable(words, facts, options.texture_writes)
    made = Compiled(executable, selector, code, allocation, PIPE)
    made.annotate()
    return made
