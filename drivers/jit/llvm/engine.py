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
import weakref
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from gallette.compiler.disk_cache import DiskCache

__all__ = ["Code", "Function", "Machine", "compile_module", "machine"]


@dataclass(frozen=True, slots=True)
class Machine:
    """The processor code is made for."""

    cpu: str
    features: str
    lanes: int  # 32-bit lanes of a vector register
    target: Any = field(compare=False, repr=False)
    quick_target: Any = field(compare=False, repr=False)

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
    well, quick = (
        llvm.Target.from_default_triple().create_target_machine(
            cpu=cpu, features=flags, opt=level, reloc="pic", codemodel="small", jit=True
        )
        for level in (2, 0)
    )
    return Machine(cpu, flags, lanes, well, quick)


class Code:
    """Machine code in memory: made quickly at first, and well once it has been used for a while.

    Both have the same results: what LLVM leaves out when it is quick are passes that make code
    shorter. `quick` says which one there is.
    """

    def __init__(
        self, key: str, text: str, names: tuple[str, ...], cache: DiskCache | None
    ) -> None:
        self.key = key
        self.text = text
        self.names = names
        self.cached = False
        self.quick = True
        self.seconds = 0.0  # it took to make
        self.functions: dict[str, int] = {}
        self._cache = cache
        self._spent = 0.0
        self._libraries: list[Any] = []  # each stays: somebody may be in it
        self._made = weakref.WeakSet[Function]()
        well = self._kept(key)
        self._load(well or self._kept(_quick(key)) or self._emitted(True), well is None)

    def function(self, name: str, *argtypes: Any) -> Function:
        """A callable that releases the GIL while it runs."""
        made = Function(self, name, ctypes.CFUNCTYPE(None, *argtypes))
        self._made.add(made)
        return made

    def used(self, seconds: float) -> None:
        """It ran for so long: what is worth it is made anew, well."""
        self._spent += seconds
        if self._spent < max(_LEAST_USE, _WORTH * self.seconds):
            return
        with _lock:
            if self.quick:
                self._load(self._emitted(False), False)

    def _kept(self, key: str) -> bytes | None:
        image = self._cache.get(key) if self._cache is not None else None
        self.cached |= image is not None
        return image

    def _emitted(self, quick: bool) -> bytes:
        start = time.perf_counter()
        target = machine().quick_target if quick else machine().target
        image: bytes = target.emit_object(optimised(self.text, quick))
        self.seconds = time.perf_counter() - start
        if self._cache is not None:
            self._cache.put(_quick(self.key) if quick else self.key, image)
        return image

    def _load(self, image: bytes, quick: bool) -> None:
        global _number
        _number += 1
        library = llvm.JITLibraryBuilder().add_object_img(image).add_current_process()
        for name in self.names:
            library.export_symbol(name)
        tracker = library.link(_session(), f"gallette{_number}")
        self._libraries.append(tracker)
        self.functions = {name: int(tracker[name]) for name in self.names}
        self.quick = quick
        for made in self._made:
            made.point()


class Function:
    """A function of some `Code`, wherever that is now."""

    __slots__ = ("__weakref__", "_call", "_code", "_name", "_type")

    def __init__(self, code: Code, name: str, type: Any) -> None:
        self._code, self._name, self._type = code, name, type
        self.point()

    def point(self) -> None:
        """The code has moved."""
        self._call = self._type(self._code.functions[self._name])

    @property
    def address(self) -> int:
        """Where it is now, for code that calls it; its time is to be told by `charge`."""
        return self._code.functions[self._name]

    def charge(self, seconds: float) -> None:
        """Somebody called it by its address, for so long."""
        if self._code.quick:
            self._code.used(seconds)

    def __call__(self, *args: int) -> None:
        if not self._code.quick:
            self._call(*args)
            return
        start = time.perf_counter()
        self._call(*args)
        self._code.used(time.perf_counter() - start)


_WORTH = 2.0
"""Making code well takes about five times as long as making it quickly; it pays for itself."""

_LEAST_USE = 0.01


def _quick(key: str) -> str:
    return f"{key}.quick"


@functools.cache
def _session() -> Any:
    machine()
    return llvm.create_lljit_compiler(machine().target)


_lock = threading.RLock()
_loaded = weakref.WeakValueDictionary[str, Code]()
_recent: OrderedDict[str, Code] = OrderedDict()
_MOST_RECENT = 256
"""Modules that are kept though nobody holds their functions: the next context may want them."""

_number = 0


def compile_module(text: str, names: tuple[str, ...], cache: DiskCache | None) -> Code:
    """The functions `names` of a module."""
    key = hashlib.sha256(f"{machine().key}\n{text}".encode()).hexdigest()
    with _lock:
        found = _loaded.get(key)
        if found is None:
            found = _loaded[key] = Code(key, text, names, cache)
        _recent[key] = found
        _recent.move_to_end(key)
        if len(_recent) > _MOST_RECENT:
            _recent.popitem(last=False)
        return found


def optimised(text: str, quick: bool = False) -> Any:
    """A module in LLVM's memory, after its passes (or the few without which code is huge)."""
    module = llvm.parse_assembly(text)
    module.triple = machine().target.triple
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = False
    options.loop_unrolling = False
    builder = llvm.create_pass_builder(machine().target, options)
    manager = llvm.create_new_module_pass_manager()
    for name in _FEW_PASSES if quick else _PASSES:
        getattr(manager, f"add_{name}_pass")()
    manager.run(module, builder)
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


def explain(text: str) -> tuple[str, str]:
    """The module after optimisation, and its assembly."""
    module = optimised(text)
    return str(module), machine().target.emit_assembly(module)
