"""The screen of tiler: its options, and the compiler of its shaders."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Literal, TypeAlias, get_args

from gallette.compiler import debug
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.run.pass_runner import PassLog
from gallette.drivers.common.options import SharedOptions
from gallette.drivers.common.screen import HostScreen
from gallette.drivers.common.variants import keys
from gallette.drivers.common.variants.compiler import LoweringOptions
from gallette.drivers.machines.program import Counters, MachineCompiler
from gallette.drivers.machines.register_picture import map_picture
from gallette.pipe.interface import Context
from gallette.pipe.loader import DriverError
from gallette.pipe.state import FramebufferState

from .backend.code import ROOM
from .backend.register_map import register_map
from .backend.scoreboard import Barriers
from .compile import BackendOptions, Compiled, compile_shader
from .context import TilerContext
from .keys import FragmentKey, VariantKey, VertexKey
from .lower import lowered_for_tiler
from .simulator.executable import TextureWrites

HalfColors: TypeAlias = Literal["auto", "never", "always"]

REGISTER_CAPTION = (
    "registers (rows) over cycles (columns) of the code in its order; the strip above: green is an "
    "instruction, grey a nop, red a wait for (ss) or (sy)"
)


@lazy_dataclass(frozen=True)
class ScreenOptions(SharedOptions):
    """The options of a tiler screen; GALLETTE_DEBUG changes some defaults."""

    texture_writes: str = ""  # "late" (the default), or "in_order": answers land at once
    barriers: str = ""  # what waits for them: "writes", too (the default), or "reads" only
    special_functions: bool = True  # false: eight bits of a reciprocal, and nothing else
    half_colors: str = ""  # colours in 16 bits: "never", "always", or "auto" (the default)
    registers: int = ROOM  # of a channel; fewer make shaders spill
    schedule: bool = True  # reorder instructions to hide latencies
    tile_memory: int = 256  # KiB on the chip, which determine the size of tiles
    bypass: bool = False  # no bins: draw to memory directly
    resolve_in_tile: bool = True  # resolve samples before tiles are stored, not afterwards

    def compiler(self) -> TilerCompiler:
        """The shader compiler for these options."""
        lowering = self.lowering()
        if not 24 <= self.registers <= ROOM:
            raise DriverError(f"registers is a number from 24 to {ROOM}, not {self.registers}")
        backend = BackendOptions(
            self._chosen("barriers", get_args(Barriers)),
            self._chosen("texture_writes", get_args(TextureWrites)),
            self.registers,
            self.schedule,
        )
        half_colors = self._chosen("half_colors", get_args(HalfColors))
        return TilerCompiler(lowering, backend, half_colors, not self.special_functions)

    def _chosen(self, name: str, known: tuple[str, ...]) -> Any:
        """The given option, or the one in GALLETTE_DEBUG; the first known value is the default."""
        value = getattr(self, name) or debug.flag_value(f"driver:{name}", known[0])
        if value not in known:
            raise DriverError(f"{name} is {' or '.join(known)}, not {value!r}")
        return value


def _is_half(framebuffer: FramebufferState) -> bool:
    """Whether every colour buffer has at most 16 bits per channel, and no integers."""
    surfaces = [surface for surface in framebuffer.cbufs if surface is not None]
    return bool(surfaces) and all(
        not surface.format.is_pure_integer
        and all(channel.bits <= 16 for channel in surface.format.channels)
        for surface in surfaces
    )


class TilerCompiler(MachineCompiler[VariantKey, Compiled]):
    """Compiles NIR to instructions of the tiler."""

    name = "tiler"

    def __init__(
        self,
        options: LoweringOptions | None,
        backend: BackendOptions,
        half_colors: HalfColors = "auto",
        only_reciprocal: bool = False,
    ) -> None:
        super().__init__(options)
        self.only_reciprocal = only_reciprocal
        self.backend = backend
        self.half_colors = half_colors

    def null_key(self, stage: Stage) -> VariantKey:
        return FragmentKey() if stage is Stage.FRAGMENT else VertexKey()

    def first_round(self, shader: Shader, log: PassLog | None) -> None:
        super().first_round(shader, log)
        self._lower(shader, log)

    def second_round(self, shader: Shader, key: Any, log: PassLog | None) -> None:
        super().second_round(shader, key, log)
        self._lower(shader, log)

    def _lower(self, shader: Shader, log: PassLog | None) -> None:
        options = self.options.optimize_options()
        lowered_for_tiler(shader, options, log, only_reciprocal=self.only_reciprocal)

    def compiled(self, shader: Shader, key: VariantKey | None = None) -> Compiled:
        colors = key if isinstance(key, FragmentKey) else FragmentKey()
        return compile_shader(shader, self.backend, colors.flat_colors, colors.half_colors)

    def target_kind(self, framebuffer: FramebufferState) -> bool:
        if self.half_colors == "auto":
            return _is_half(framebuffer)
        return self.half_colors == "always"

    def adapted(self, key: Any, framebuffer: FramebufferState) -> VariantKey:
        shared = {f.name: getattr(key, f.name) for f in fields(key)}
        if isinstance(key, keys.VertexKey):
            return VertexKey(**shared)
        return FragmentKey(**shared, half_colors=self.target_kind(framebuffer))

    def pictures(self, shader: Shader, key: VariantKey) -> list[tuple[str, Any]]:
        """An image of the registers over time, with what the pipe does meanwhile."""
        made = self.compiled(shader, key)
        table, strip = register_map(made.executable.code, made.stalls)
        return [(REGISTER_CAPTION, map_picture(table, strip=strip))]


class TilerScreen(HostScreen):
    """A tiler screen."""

    name = "tiler"

    def __init__(self, options: ScreenOptions | None = None) -> None:
        self.options = options or ScreenOptions()
        self.tiler_compiler = self.options.compiler()
        super().__init__(self.tiler_compiler, self.options.budget, self.options.time_limit)

    def context_create(self) -> Context:
        options = self.options
        return TilerContext(
            self, options.tile_memory << 10, options.bypass, options.resolve_in_tile
        )

    @property
    def counters(self) -> Counters:
        """The counts of the machine: waves, instructions, cycles."""
        return self.tiler_compiler.counters

    def describe(self) -> str:
        return f"tiler (binning, waves of 64, {self.options.registers} registers)"


def create_screen(**options: Any) -> TilerScreen:
    """The entry point `tiler` of the group `gallette.drivers`."""
    return TilerScreen(ScreenOptions(**options))
