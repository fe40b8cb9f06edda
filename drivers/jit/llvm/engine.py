"""From the text of a module to functions that can be called: optimise, make machine code, load.

`compile_module` is the one way in. What it does is cached by content: in memory for this process,
and as object files on disk (`compiler.disk_cache`) for the next one.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from gallette.compiler.disk_cache import DiskCache

__all__ = ["Code", "Machine", "compile_module", "machine"]


@dataclass(frozen=True, slots=True)
class Machine:
    """The processor code is made for."""

    cpu: str
    features: str
    lanes: int  # 32-bit lanes of a vector register
    target: Any = field(compare=False, repr=False)

    @property
    def key(self) -> str:
        """What compiled code depends on besides its text."""
        versions = f"{llvmlite.__version__} {'.'.join(map(str, llvm.llvm_version_info))}"
        return f"{versions} {self.cpu} {self.features}"


@functools.cache
def machine() -> Machine:
    """The machine this process runs on."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    names = {name for name, present in features.items() if present}
    lanes = 16 if "avx512f" in names else 8 if "avx2" in names else 4
    if lanes == 16:  # the compiler would rather use half of the register
        features["prefer-256-bit"] = False
    flags = features.flatten()
    cpu = llvm.get_host_cpu_name()
    target = llvm.Target.from_default_triple().create_target_machine(
        cpu=cpu, features=flags, opt=2, reloc="pic", codemodel="small", jit=True
    )
    return Machine(cpu, flags, lanes, target)


@dataclass(slots=True)
class Code:
    """Machine code in memory: addresses of functions by name, and what it took to make them."""

    functions: dict[str, int]
    text: str
    seconds: float
    cached: bool
    _library: Any = field(default=None, repr=False)

    def function(self, name: str, *argtypes: Any) -> Any:
        """A callable that releases the GIL while it runs."""
        return ctypes.CFUNCTYPE(None, *argtypes)(self.functions[name])


@functools.cache
def _session() -> Any:
    machine()
    return llvm.create_lljit_compiler(machine().target)


_lock = threading.Lock()
_loaded: dict[str, Code] = {}
_number = 0


def compile_module(text: str, names: tuple[str, ...], cache: DiskCache | None) -> Code:
    """The functions `names` of a module."""
    key = hashlib.sha256(f"{machine().key}\n{text}".encode()).hexdigest()
    with _lock:
        found = _loaded.get(key)
        if found is None:
            found = _loaded[key] = _load(key, text, names, cache)
        return found


def _load(key: str, text: str, names: tuple[str, ...], cache: DiskCache | None) -> Code:
    global _number
    start = time.perf_counter()
    image = cache.get(key) if cache is not None else None
    cached = image is not None
    if image is None:
        module = optimised(text)
        image = machine().target.emit_object(module)
        if cache is not None:
            cache.put(key, image)
    _number += 1
    session = _session()
    library = llvm.JITLibraryBuilder().add_object_img(image).add_current_process()
    for name in names:
        library.export_symbol(name)
    tracker = library.link(session, f"gallette{_number}")
    functions = {name: int(tracker[name]) for name in names}
    return Code(functions, text, time.perf_counter() - start, cached, tracker)


def optimised(text: str) -> Any:
    """A module in LLVM's memory, after its passes."""
    module = llvm.parse_assembly(text)
    module.triple = machine().target.triple
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = False
    options.loop_unrolling = False
    builder = llvm.create_pass_builder(machine().target, options)
    manager = llvm.create_new_module_pass_manager()
    for name in _PASSES:
        getattr(manager, f"add_{name}_pass")()
    manager.run(module, builder)
    return module


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


def explain(text: str) -> tuple[str, str]:
    """The module after optimisation, and its assembly."""
    module = optimised(text)
    return str(module), machine().target.emit_assembly(module)
