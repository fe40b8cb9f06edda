"""The screen of simd: its options, and the compiler of its shaders."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, get_args

from gallette.compiler import debug
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Shader, Stage
from gallette.drivers.common.gem.regions import MIB
from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.options import SharedOptions
from gallette.drivers.common.screen import HostScreen
from gallette.drivers.common.variants.compiler import LoweringOptions
from gallette.drivers.common.variants.keys import FragmentKey, VariantKey, VertexKey
from gallette.drivers.machines.program import Counters, MachineCompiler
from gallette.drivers.machines.register_picture import map_picture
from gallette.pipe.interface import Context
from gallette.pipe.loader import DriverError
from gallette.pipe.resource import Resource, ResourceDesc
from gallette.pipe.settings import TRUSTED

from .backend.code import ROOM
from .backend.liveness import LiveRanges
from .backend.register_map import register_map
from .compile import BackendOptions, Compiled, compile_shader
from .memory import DeviceMemory, SimdContext


@lazy_dataclass(frozen=True)
class ScreenOptions(SharedOptions):
    """The options of a simd screen; GALLETTE_DEBUG changes the defaults.

    `live_ranges` concerns channels that wait: `naive` ignores them (with wrong pictures), the other
    two are remedies (see `backend/liveness.py`).
    """

    live_ranges: str = ""  # "naive", "loop_extended" or "mask_aware" (the default)
    width: int = 0  # 8 or 16 channels per thread; 0: as many as registers allow
    registers: int = ROOM  # of a thread; fewer make shaders spill
    schedule: bool = True  # reorder instructions to hide latencies
    local_memory: Annotated[int, TRUSTED] = 256  # MiB of the device's own memory
    mixed_pages: bool = False  # break the rule that a directory has pages of one size

    def compiler(self) -> SimdCompiler:
        """The shader compiler for these options."""
        lowering = self.lowering()
        known = get_args(LiveRanges)
        ranges: Any = self.live_ranges or debug.flag_value("driver:live_ranges", "mask_aware")
        if ranges not in known:
            raise DriverError(f"live_ranges is {', '.join(known)}, not {ranges!r}")
        if self.width not in (0, 8, 16):
            raise DriverError(f"width is 8, 16 or 0 for either, not {self.width}")
        if not 48 <= self.registers <= ROOM:
            raise DriverError(f"registers is a number from 48 to {ROOM}, not {self.registers}")
        backend = BackendOptions(ranges, self.width, self.registers, self.schedule)
        return SimdCompiler(lowering, backend)


class SimdCompiler(MachineCompiler[VariantKey, Compiled]):
    """Compiles NIR to instructions of the execution unit."""

    name = "simd"

    def __init__(self, options: LoweringOptions | None, backend: BackendOptions) -> None:
        super().__init__(options)
        self.backend = backend

    def null_key(self, stage: Stage) -> VariantKey:
        return FragmentKey() if stage is Stage.FRAGMENT else VertexKey()

    def compiled(self, shader: Shader, key: VariantKey | None = None) -> Compiled:
        return self._compiled(shader, key, self.backend)

    def _compiled(
        self, shader: Shader, key: VariantKey | None, backend: BackendOptions
    ) -> Compiled:
        return compile_shader(shader, backend, isinstance(key, FragmentKey) and key.flat_colors)

    def pictures(self, shader: Shader, key: VariantKey) -> list[tuple[str, Any]]:
        """An image of the registers over time."""
        made = self._compiled(shader, key, replace(self.backend, record=True)).allocation
        if made.virtual is None:
            return []
        table = register_map(made.virtual, made.places, self.backend.live_ranges)
        caption = "registers (rows) over instructions before scheduling (columns); dark: kept for "
        return [(f"{caption}channels that wait", map_picture(table))]


class SimdScreen(HostScreen):
    """A simd screen."""

    name = "simd"

    def __init__(self, options: ScreenOptions | None = None) -> None:
        self.options = options or ScreenOptions()
        self.simd_compiler = self.options.compiler()
        super().__init__(self.simd_compiler, self.options.budget, self.options.time_limit)
        mixed = self.options.mixed_pages or debug.is_set("driver:mixed_pages")
        self.memory = DeviceMemory(self.options.local_memory * MIB, mixed)

    def resource_create(self, desc: ResourceDesc) -> Resource:
        made = super().resource_create(desc)
        assert isinstance(made, HostResource)
        self.memory.adopt(made)
        return made

    def context_create(self) -> Context:
        return SimdContext(self, self.memory)

    @property
    def counters(self) -> Counters:
        """The counts of the machine: threads, instructions, cycles."""
        return self.simd_compiler.counters

    def describe(self) -> str:
        return f"simd (execution units of SIMD8 and SIMD16, {self.options.registers} registers)"


def create_screen(**options: Any) -> SimdScreen:
    """The entry point `simd` of the group `gallette.drivers`."""
    return SimdScreen(ScreenOptions(**options))
