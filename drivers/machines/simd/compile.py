"""From a lowered shader to an executable: every step of the back end, in order."""

from __future__ import annotations

from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Shader
from gallette.drivers.machines import compiled
from gallette.drivers.machines.backend.allocate import Allocation, allocate
from gallette.drivers.machines.backend.cleanup import cleaned
from gallette.drivers.machines.backend.schedule import schedule
from gallette.drivers.machines.compiled import facts_of

from .backend.code import ROOM, Code, set_targets
from .backend.liveness import LiveRanges
from .backend.select import Selector
from .backend.timing import PIPE
from .isa.table import ISA
from .simulator.executable import Executable


@lazy_dataclass(frozen=True)
class BackendOptions:
    """Options of the back end."""

    live_ranges: LiveRanges = "mask_aware"
    width: int = 0  # 8 or 16 channels per thread; 0: 16 for fragments and compute if it fits
    registers: int = ROOM  # fewer make it spill
    schedule: bool = True
    record: bool = False  # keep the code as it was before registers were assigned


class Compiled(compiled.Compiled[Executable, Selector, Code]):
    """A shader as simd's machine code."""

    __slots__ = ()

    def measures(self) -> dict[str, int]:
        found = compiled.Compiled.measures(self)
        return {**found, "SIMD16": int(self.executable.width == 16)}


def compile_shader(shader: Shader, options: BackendOptions, flat_colors: bool = False) -> Compiled:
    """Compile to SIMD16 if that needs no spills, else to SIMD8."""
    widths = [options.width] if options.width else [8]
    if not options.width and shader.stage.value in ("fragment", "compute"):
        widths = [16, 8]
    for width in widths:
        selector = Selector(shader, width, flat_colors)
        code = selector.run()
        code.live_ranges = options.live_ranges
        cleaned(code)
        last = width == widths[-1]
        found = allocate(code, options.registers, may_spill=last, record=options.record)
        if found is not None:
            return _finished(code, selector, found, options)
    raise GalletteError(f"simd cannot compile {shader.name!r}")


def _finished(
    code: Code, selector: Selector, allocation: Allocation[Code], options: BackendOptions
) -> Compiled:
    """Schedule and encode allocated code."""
    for instr in code.instrs:
        instr.dst = instr.dst.normalized
        instr.srcs = tuple([src.normalized for src in instr.srcs])
    if options.schedule:
        code.instrs = schedule(code.instrs, PIPE)
    set_targets(code.instrs)
    executable = Executable(
        [ISA.encode(instr) for instr in code.instrs],
        code.width,
        code.constant_registers,
        facts_of(selector, code),
    )
    made = Compiled(executable, selector, code, allocation, PIPE)
    made.annotate()
    return made
