"""The screen of jit: its options, and the compiler of its shaders."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from gallette.compiler.disk_cache import DiskCache, shared_cache
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Shader, Stage
from gallette.drivers.common.context import HostContext
from gallette.drivers.common.options import SharedOptions
from gallette.drivers.common.program import Program
from gallette.drivers.common.screen import HostScreen
from gallette.drivers.common.variants.compiler import LoweringOptions, VariantCompiler
from gallette.drivers.common.variants.disk_cache import VariantDiskCache
from gallette.drivers.common.variants.keys import FragmentKey, VariantKey, VertexKey
from gallette.drivers.jit.llvm.codegen import machine
from gallette.pipe.interface import Context
from gallette.pipe.settings import TRUSTED

from .blocks import begin_setup
from .draw_plan import begin_placing
from .explain import explained
from .llvm.engine import load_engine
from .program import JitProgram, compile_program
from .shader.clip_code import clip_functions

_MOST_BYTES = 64 << 20  # of object files


@lazy_dataclass(frozen=True)
class ScreenOptions(SharedOptions):
    """The options of a jit screen; GALLETTE_DEBUG changes the defaults."""

    # a folder for compiled code, from which it is loaded; the usual one, or none
    cache: Annotated[str | bool, TRUSTED] = True

    def compiler(self) -> JitCompiler:
        """The shader compiler for these options."""
        lowering = self.lowering()
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
        variants = VariantDiskCache.of(self)
        made = compile_program(shader, flat_colors=flat, cache=self.cache, variants=variants)
        made.begin()
        return made

    def machine(self) -> str:
        return machine().key

    def pack(self, code: Program) -> bytes:
        return code.pack() if isinstance(code, JitProgram) else b""

    def unpack(self, data: bytes, shader: Shader) -> Program:
        made = JitProgram.unpack(data, shader, self.cache, VariantDiskCache.of(self))
        made.begin()
        return made

    def text(self, code: Program) -> str:
        return explained(code) if isinstance(code, JitProgram) else code.code


class JitScreen(HostScreen):
    """A jit screen."""

    name = "jit"
    loads_early = True
    plans = True

    def __init__(self, options: ScreenOptions | None = None) -> None:
        self.options = options or ScreenOptions()
        compiler = self.options.compiler()
        super().__init__(compiler, self.options.budget, self.options.time_limit)
        VariantDiskCache.of(compiler)  # hash all source files before the first shader is compiled
        load_engine()
        begin_setup(compiler.cache)
        clip_functions(compiler.cache)
        begin_placing(compiler.cache)

    def context_create(self) -> Context:
        return HostContext(self)

    def describe(self) -> str:
        found = machine()
        return f"jit (LLVM, {found.lanes} lanes, {found.cpu})"


def create_screen(**options: Any) -> JitScreen:
    """The entry point `jit` of the group `gallette.drivers`."""
    return JitScreen(ScreenOptions(**options))
