"""Python's side of the shared libraries: resolves each function when it is first called.

`attach` runs once per library and process, out of the library's own code. It stores a function in
the first word of the library's table. That is called once with the number of each exported function
in use, finds its address and writes it into the function's slot. When Python ends before the
process does, every slot is set to a function that does nothing.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import gc
import importlib
import os
import re
import sys
from collections.abc import Callable, Container, Sequence
from pathlib import Path
from typing import Any

from gallette.compiler.gc_pause import loading
from gallette.egl.elf import BEFORE_SLOTS, TABLE_SYMBOL
from gallette.egl.embedding import take_lock_when_started_again

_LIBRARIES: list[Library] = []
_TABLES: list[tuple[ctypes.Array[ctypes.c_void_p], int]] = []
"""Of others, whose first entries are functions of ours."""
_RESOLVE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_long)
_COLLECTED = (10_000, 50, 10)
"""Garbage is looked for seldom: hardly any is left, and much that stays would be looked through."""

_ENDING = re.compile("(egl|glX)(Make.*Current|Destroy|Release|Swap|Terminate|Wait)")
"""Functions that have done what they are called for when everything is gone."""
_FIRST = len(BEFORE_SLOTS)

# Modules that register C functions, by the beginning of the names they are asked for.
_MODULES = {
    "egl": ("gallette.egl.functions", "gallette.egl.sync"),
    "__egl": ("gallette.egl.functions", "gallette.egl.sync", "gallette.egl.vendor"),
    "OSMesa": ("gallette.egl.osmesa",),
    "glX": ("gallette.egl.glx",),
}


def _opened(path: str) -> ctypes.CDLL:
    """The library, though apitrace's dlopen gives apitrace's own for the name of ours."""
    if not os.path.isdir("/proc/self/fd"):
        return ctypes.CDLL(path)
    # The loader keeps each name it was given, so a number that is used again gets another spelling.
    file = os.open(path, os.O_RDONLY)
    try:
        return ctypes.CDLL("/proc/self/fd/" + "./" * len(_LIBRARIES) + str(file))
    finally:
        os.close(file)


class Library:
    """One of our shared libraries in this process."""

    def __init__(self, path: str, names: Sequence[str]):
        self.path, self.names, self.dll = path, names, _opened(path)
        self.table: Any = (ctypes.c_void_p * (_FIRST + len(names))).in_dll(self.dll, TABLE_SYMBOL)
        self.resolve = _RESOLVE(self._resolve)
        self.lazy: dict[str, int] = {}

    def open(self) -> None:
        self.table[0] = ctypes.cast(self.resolve, ctypes.c_void_p).value

    def _resolve(self, index: int) -> int:
        found = 0
        try:
            found = address_of(self.names[index])
        except BaseException:
            import traceback

            traceback.print_exc()
        found = found or int(self.table[1])
        self.table[_FIRST + index] = found
        return found

    def stub(self, name: str) -> int:
        """The address of an exported function, valid before the function is resolved."""
        if not self.lazy:
            self.lazy = {n: i for i, n in enumerate(self.names)}
        if name not in self.lazy:
            return 0
        return ctypes.cast(getattr(self.dll, name), ctypes.c_void_p).value or 0

    def resolve_ahead(self, names: Container[str]) -> None:
        for index, name in enumerate(self.names):
            if name in names:
                self._resolve(index)

    def close(self) -> None:
        """Make all calls do nothing, because Python ends.

        Those that give back what is gone, and change contexts before, succeed all the same: Qt
        complains if they fail, and wgpu ends the process.
        """
        for index, name in enumerate(self.names, _FIRST):
            self.table[index] = self.table[2 if _ENDING.match(name) else 1]


def address_of(name: str) -> int:
    """The C function of an exported name; 0 if gallette has none."""
    from gallette.egl.registry import c_address

    for prefix, modules in _MODULES.items():
        if name.startswith(prefix):
            for module in modules:
                importlib.import_module(module)
            return c_address(name)
    importlib.import_module("gallette.state_tracker.context")
    from gallette.state_tracker.entry_points import abi

    return abi.address(name)


def lazy_address(name: str) -> int:
    """An address for a function without creating it: a stub of a library that is loaded.

    Stubs also outlive Python, which the functions themselves do not: clients may call these
    addresses while the process ends.
    """
    from gallette.egl.libraries import exports

    for library in _LIBRARIES:
        found = library.stub(name)
        if found:
            return found
    for library_name in ("libGL.so.1", "libEGL.so.1"):
        if name in (names := exports()[library_name]):
            attach(str(_folder() / library_name), " ".join(names))
            return _LIBRARIES[-1].stub(name)
    return address_of(name)


@functools.cache
def resolve_recorded() -> None:
    """Resolve, in all loaded libraries, the functions whose calls are recorded without Python.

    A program of Python may wait for a thread that draws and keep Python's lock. That thread could
    not resolve a function then.
    """
    from gallette.state_tracker.stream.calls import CALLS, Role

    if not sys.orig_argv:
        return  # only a program of Python has code that could keep the lock
    recorded = {f"gl{call.name}" for call in CALLS if call.role is not Role.OLD}
    _attach_others(_is_loaded)
    for library in _LIBRARIES:
        library.resolve_ahead(recorded)


def _attach_others(wanted: Callable[[str], bool]) -> None:
    """Attach libraries that were not called yet, by their paths."""
    from gallette.egl.libraries import exports

    attached = {library.path for library in _LIBRARIES}
    for file, names in exports().items():
        path = str(_folder() / file)
        if path not in attached and wanted(path):
            attach(path, " ".join(names))


def _folder() -> Path:
    """Where the libraries of this process are: `gallette run` may start another Python than its
    own, which would write others.
    """
    from gallette.egl.libraries import folder

    used = (Path(library.path).parent for library in _LIBRARIES)
    return next((each for each in used if (each / "libGL.so.1").exists()), None) or folder()


def _is_loaded(path: str) -> bool:
    try:
        ctypes.CDLL(path, mode=os.RTLD_NOLOAD)
    except OSError:
        return False
    return True


def stop_calling(table: ctypes.Array[ctypes.c_void_p], count: int) -> None:
    """Make the functions of another library's table do nothing when Python ends."""
    _TABLES.append((table, count))


@loading
def attach(path: str, names: str) -> None:
    """Resolve the functions of a library from now on; called by the library's own code."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # saves a fifth of the start-up
    if not _LIBRARIES:
        atexit.register(_close)
        if not sys.orig_argv:  # the library started this Python for itself
            gc.set_threshold(*_COLLECTED)
            take_lock_when_started_again()
        _observe()
    library = Library(path, names.split())
    _LIBRARIES.append(library)
    library.open()


def _observe() -> None:
    """Record this process's calls, or save its frames, if environment variables request it."""
    from gallette.egl import frames

    frames.begin()
    if os.environ.get("GALLETTE_CAPTURE"):
        from gallette.capture.recorder import from_environment

        from_environment()


def _close() -> None:
    _attach_others(lambda path: True)  # even one that is loaded after Python's end is called
    for library in _LIBRARIES:
        library.close()
    for table, count in _TABLES:
        for index in range(count):
            table[index] = _LIBRARIES[0].table[1]
