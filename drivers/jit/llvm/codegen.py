"""Code generation: from a module's text to an object file, for this processor.

LLVM works in several threads at once if each has its own objects: `Tools`. llvmlite still allows
only one thread into LLVM, so that a draw would wait for code compiled in the background; therefore
the two long calls bypass its lock.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
from typing import Any

import llvmlite
import llvmlite.binding as llvm
from llvmlite.binding import ffi

from gallette.compiler import debug
from gallette.compiler.errors import OutOfMemoryError
from gallette.compiler.lazy_dataclass import lazy_dataclass

from .text import has_too_many_variables, is_cut


@lazy_dataclass(frozen=True, eq=False)
class Machine:
    """The processor that code is compiled for."""

    cpu: str
    features: str
    lanes: int  # 32-bit lanes of a vector register
    target: Any

    @property
    def key(self) -> str:
        """Everything but its text that compiled code depends on."""
        versions = f"{llvmlite.__version__} {'.'.join(map(str, llvm.llvm_version_info))}"
        return f"{versions} {self.cpu} {self.features} {_MODEL} {_WITHOUT}"


@functools.cache
def machine() -> Machine:
    """The machine this process runs on."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    if llvm.get_default_triple().startswith("x86_64"):
        llvm.set_option("gallette", _WITHOUT)
    features = llvm.get_host_cpu_features()
    names = {name for name, present in features.items() if present}
    lanes = 16 if "avx512f" in names else 8 if "avx2" in names else 4
    if lanes == 16:  # LLVM prefers to use half of these registers
        features["prefer-256-bit"] = False
    flags = features.flatten()
    cpu = llvm.get_host_cpu_name()
    return Machine(cpu, flags, lanes, _target(cpu, flags, 2))


_MODEL = "small"
"""Constants lie next to the code that reads them, because the linker allocates both at once.
(LLVM's older linker allocates them separately, possibly too far apart in a program with large
mappings, and then ends the process: see `linker`.)
"""


_WITHOUT = "-x86-cmov-converter=false"
"""Leaves out the pass that turns conditional moves into branches: it may end the process with
"Should never fail to unfold a loading cmov!" (LLVM 22 in Chromium, with a shader of vtk.js).
"""


def linker() -> Any:
    """The linker that loads object files into this process."""
    return llvm.create_lljit_compiler(machine().target, use_jit_link=True)


def _target(cpu: str, features: str, level: int) -> Any:
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=cpu, features=features, opt=level, reloc="pic", codemodel=_MODEL, jit=True
    )


_MOST_IMAGES = 256
"""The number of modules per LLVM context, which keeps the constants of each."""


class Tools:
    """The LLVM objects that one thread at a time compiles with."""

    def __init__(self) -> None:
        found = machine()
        self._targets = [_target(found.cpu, found.features, level) for level in (2, 0)]
        self._context, self._images = llvm.create_context(), 0

    def warm_up(self) -> None:
        """Make LLVM create its process-wide objects (see `compile_thread.wait_at_exit`)."""
        self.image(_SMALLEST, False)

    def image(self, text: str, quick: bool) -> bytes:
        """The object file of a module."""
        self._images += 1
        if self._images % _MOST_IMAGES == 0:
            self._context = llvm.create_context()
        _require_memory(len(text) * _MEMORY + _LEAST_MEMORY)
        target = self._targets[quick]
        module = optimised(text, quick, target, self._context)
        try:
            return _emitted(target, module)
        finally:
            module.close()


_MEMORY, _LEAST_MEMORY = 64, 32 << 20
"""Bytes that LLVM needs per character of a module, at most, and for the smallest module."""


def _require_memory(size: int) -> None:
    """Raise an error if this much memory is not available, because LLVM would end the process."""
    try:
        mmap.mmap(-1, size).close()
    except OSError as error:
        raise OutOfMemoryError(f"out of memory: {size >> 20} MiB to compile a shader") from error


_SMALLEST = """
define void @warm(ptr %at) {
  %x = load <16 x float>, ptr %at
  %y = fadd <16 x float> %x, splat (float 1.5)
  store <16 x float> %y, ptr %at
  ret void
}
"""
"""A function that is enough for LLVM to create all of its objects that `exit` destroys: those of
passes, of types, and of vectors of equal constants.
"""


@functools.cache
def own_tools() -> Tools:
    """The objects of the thread that holds the engine's lock."""
    return Tools()


def optimised(text: str, quick: bool = False, target: Any = None, context: Any = None) -> Any:
    """A module in LLVM's memory after optimisation (or only the passes that keep code from being
    huge).
    """
    target = target or machine().target
    module = llvm.parse_assembly(text, context)
    verifies = debug.is_set("driver:verify")
    if verifies:
        module.verify()
    module.triple = machine().target.triple
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = False
    options.loop_unrolling = False
    builder = llvm.create_pass_builder(target, options)
    manager = llvm.create_new_module_pass_manager()
    left_out = set()
    if is_cut(text):
        left_out.add("simplify_cfg")  # it would join the blocks
    if has_too_many_variables(text):
        left_out.add("sroa")
    for name in _FEW_PASSES if quick else _PASSES:
        if name in left_out:
            continue
        getattr(manager, f"add_{name}_pass")()
    _unguarded("LLVMPY_RunNewModulePassManager")(manager, module, builder)
    if verifies:
        module.verify()
    return module


_FEW_PASSES = ("sroa", "simplify_cfg", "aggressive_dce")
_PASSES = (
    "sroa",
    "instruction_combine",
    "simplify_cfg",
    "new_gvn",
    "simplify_cfg",
    "instruction_combine",
    "dead_store_elimination",
    "aggressive_dce",
)


def _unguarded(name: str) -> Any:
    """A function of llvmlite's library, without its lock."""
    guarded = getattr(ffi.lib, name)
    return getattr(guarded, "_cfn", guarded)


def _emitted(target: Any, module: Any) -> bytes:
    with ffi.OutputString() as error:
        memory = _unguarded("LLVMPY_TargetMachineEmitToMemory")(target, module, 1, error)
        if not memory:
            raise RuntimeError(str(error))
    try:
        start = ffi.lib.LLVMPY_GetBufferStart(memory)
        return ctypes.string_at(start, ffi.lib.LLVMPY_GetBufferSize(memory))
    finally:
        ffi.lib.LLVMPY_DisposeMemoryBuffer(memory)


def explain(text: str) -> tuple[str, str]:
    """The module after optimisation, and its assembly."""
    module = optimised(text)
    return str(module), machine().target.emit_assembly(module)
