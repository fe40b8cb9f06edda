"""From a lowered shader to an executable: every step of the back end, in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.ir import Shader
from gallette.drivers.common.machine import compiled
from gallette.drivers.common.machine.compiled import facts_of

from .backend.allocate import Allocation, allocate
from .backend.cleanup import coalesce, dead_code, forward
from .backend.code import ROOM, Code, set_targets
from .backend.liveness import LiveRanges
from .backend.schedule import schedule, timing
from .backend.select import Selector
from .isa.encoding import encode
from .machine.executable import Executable

__all__ = ["BackendOptions", "Compiled", "compile_shader", "finish"]


@dataclass(frozen=True, slots=True)
class BackendOptions:
    """Options of the back end."""

    live_ranges: LiveRanges = "mask_aware"
    width: int = 0  # 8 or 16 channels per thread; 0: 16 for fragments and compute if it fits
    registers: int = ROOM  # fewer make it spill
    schedule: bool = True
    record: bool = False  # keep the code as it was before registers were assigned


Compiled: TypeAlias = compiled.Compiled[Executable, Selector, Code, Allocation]


def compile_shader(shader: Shader, options: BackendOptions, flat_colors: bool = False) -> Compiled:
    """Compile to SIMD16 if that needs no spills, else to SIMD8."""
    widths = [options.width] if options.width else [8]
    if not options.width and shader.stage.value in ("fragment", "compute"):
        widths = [16, 8]
    for width in widths:
        selector = Selector(shader, width, flat_colors)
        code = selector.run()
        made = _backend(code, selector, options, width == widths[-1])
        if made is not None:
            return made
    raise GalletteError(f"simd cannot compile {shader.name!r}")


def _backend(
    code: Code, selector: Selector, options: BackendOptions, may_spill: bool
) -> Compiled | None:
    dead_code(code)
    forward(code)
    coalesce(code, options.live_ranges)
    found = allocate(code, options.live_ranges, options.registers, may_spill, options.record)
    if found is None:
        return None
    return finish(code, selector, found, options)


def finish(
    code: Code, selector: Selector, allocation: Allocation, options: BackendOptions
) -> Compiled:
    """Schedule and encode allocated code."""
    if options.schedule:
        code.instrs = schedule(code.instrs)
    set_targets(code.instrs)
    executable = Executable(
        [encode(instr) for instr in code.instrs],
        code.width,
        code.constant_registers,
        facts_of(selector, code, registers=used_registers(code), scratch=code.scratch),
    )
    made = Compiled(executable, selector, code, allocation)
    made.annotate(timing)
    return made


def used_registers(code: Code) -> int:
    """One past the highest register that is used."""
    most = code.constant_registers.stop
    for instr in code.instrs:
        if instr.dst.file == "g":
            most = max(most, instr.dst.nr + -(-instr.written()[1] // 32))
        for k, src in enumerate(instr.srcs):
            if src.file == "g":
                most = max(most, src.nr + -(-instr.read(k)[1] // 32))
    return most
