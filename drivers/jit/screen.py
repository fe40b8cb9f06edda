"""The screen of jit: its options, and the compiler of its shaders."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from gallette.compiler.disk_cache import DiskCache, shared_cache
from gallette.compiler.nir.ir import Shader, Stage
from gallette.drivers.common.program import Program
from gallette.drivers.common.screen import HostScreen
from gallette.drivers.common.variants.compiler import LoweringOptions, VariantCompiler
from gallette.drivers.common.variants.disk_cache import VariantDiskCache
from gallette.drivers.common.variants.keys import FragmentKey, VariantKey, VertexKey
from gallette.drivers.common.work import DEFAULT_BUDGET, DEFAULT_TIME_LIMIT
from gallette.pipe.interface import Context
from gallette.pipe.settings import TRUSTED

from .blocks import begin_setup
from .clipping import begin_clipping
from .context import JitContext
from .draw_plan import begin_placing
from .explain import explained
from .llvm.engine import load_engine, machine
from .program import JitProgram, compile_program

__all__ = ["JitCompiler", "JitScreen", "ScreenOptions", "create_screen"]


_MOST_BYTES = 64 << 20  # of object files


@dataclass(frozen=True, slots=True)
class ScreenOptions:
    """The options of a jit screen; GALLETTE_DEBUG changes the defaults."""

    inexact_used_once: str = ""  # "always", "never" or "not_position" (the default)
    position_invariant: bool | None = None
    fuse_ffma: bool | None = None
    # work one draw may do, in units of about a nanosecond
    budget: Annotated[int, TRUSTED] = DEFAULT_BUDGET
    # seconds one draw may take
    time_limit: Annotated[float, TRUSTED] = DEFAULT_TIME_LIMIT
    record_passes: bool = False
    ownership: str = "counted"
    # a folder for compiled code, from which it is loaded; the usual one, or none
    cache: Annotated[str | bool, TRUSTED] = True

    def compiler(self) -> JitCompiler:
        """The shader compiler for these options."""
        lowering = LoweringOptions.chosen(
            self.inexact_used_once,
            self.position_invariant,
            self.fuse_ffma,
            self.ownership,
            self.record_passes,
        )
        return JitCompiler(lowering, _object_files(self.cache))


def _object_files(where: str | bool) -> DiskCache | None:
    """The cache of compiled code: in a given folder, in the usual one, or None."""
    if isinstance(where, str) and where:
        return DiskCache(Path(where), _MOST_BYTES)
    return shared_cache("jit", _MOST_BYTES) if where else None


class JitCompiler(VariantCompiler[VariantKey, Program]):
    """Compiles NIR to machine code."""

    name = "jit"
    home = "drivers/jit"
    tells_time = True

    def __init__(self, options: LoweringOptions | None, cache: DiskCache | None) -> None:
        super().__init__(options)
        self.cache = cache

    def null_key(self, stage: Stage) -> VariantKey:
        return FragmentKey() if stage is Stage.FRAGMENT else VertexKey()

    def generate(self, shader: Shader, key: VariantKey) -> Program:
        flat = isinstance(key, FragmentKey) and key.flat_colors
        made = compile_program(shader, flat_colors=flat, cache=self.cache)
        made.begin()
        return made

    def text(self, code: Program) -> str:
        return explained(code) if isinstance(code, JitProgram) else code.code


class JitScreen(HostScreen):
    """A jit screen."""

    name = "jit"
    loads_early = True

    def __init__(self, options: ScreenOptions | None = None) -> None:
        self.options = options or ScreenOptions()
        compiler = self.options.compiler()
        super().__init__(compiler, self.options.budget, self.options.time_limit)
        self._cache = compiler.cache
        VariantDiskCache.of(compiler)  # hash all source files before the first shader is compiled
        load_engine()
        begin_setup(compiler.cache)
        begin_clipping(compiler.cache)
        begin_placing(compiler.cache)

    def context_create(self) -> Context:
        return JitContext(self, self._cache)

    def describe(self) -> str:
        found = machine()
        return f"jit (LLVM, {found.lanes} lanes, {found.cpu})"


def create_screen(**options: Any) -> JitScreen:
    """The entry point `jit` of the group `gallette.drivers`."""
    return JitScreen(ScreenOptions(**options))
