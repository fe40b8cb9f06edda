"""From a lowered shader to an executable: every step of the back end, in order."""

from __future__ import annotations

from dataclasses import dataclass, field

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.ir import Shader
from gallette.drivers.common.machine.executable import ExecutableFacts

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
    """What can be chosen of the back end."""

    live_ranges: LiveRanges = "mask_aware"
    width: int = 0  # 8 or 16 channels per thread; 0: 16 for fragments and compute if it fits
    registers: int = ROOM  # fewer make it spill
    schedule: bool = True
    record: bool = False  # keep the code as it was before registers were filled in


@dataclass(slots=True)
class Compiled:
    """A shader as machine code, with what the compiler knows about it."""

    executable: Executable
    selector: Selector
    code: Code
    allocation: Allocation
    block_cycles: list[int] = field(default_factory=list)
    stalls: list[int] = field(default_factory=list)  # before each instruction
    notes: list[str] = field(default_factory=list)
    virtual: Code | None = None  # with virtual registers, if recorded

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


def compile_shader(shader: Shader, options: BackendOptions, flat_colors: bool = False) -> Compiled:
    """SIMD16 where that needs no spills, else SIMD8."""
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
    made = finish(code, selector, found, options)
    made.virtual = found.virtual
    return made


def finish(
    code: Code, selector: Selector, allocation: Allocation, options: BackendOptions
) -> Compiled:
    """Schedule and encode allocated code."""
    if options.schedule:
        code.instrs = schedule(code.instrs)
    set_targets(code.instrs)
    shader = selector.shader
    patch = shader.info.vertices_out if shader.stage.value == "tess_ctrl" else 1
    executable = Executable(
        [encode(instr) for instr in code.instrs],
        code.width,
        code.constant_registers,
        ExecutableFacts(
            registers=used_registers(code),
            scratch=code.scratch,
            private=code.private,
            has_barriers=code.has_barriers or shader.stage.value == "tess_ctrl",
            patch_size=max(1, patch),
            places=tuple(sorted(selector.places.items())),
        ),
    )
    made = Compiled(executable, selector, code, allocation)
    made.notes = [instr.note for instr in code.instrs]
    for start, stop in executable.blocks:
        found = timing(code.instrs[start:stop])
        made.block_cycles.append(found.cycles)
        made.stalls += found.stalls
    return made


def used_registers(code: Code) -> int:
    """One past the highest register that is touched."""
    most = code.constant_registers.stop
    for instr in code.instrs:
        if instr.dst.file == "g":
            most = max(most, instr.dst.nr + -(-instr.written()[1] // 32))
        for k, src in enumerate(instr.srcs):
            if src.file == "g":
                most = max(most, src.nr + -(-instr.read(k)[1] // 32))
    return most
