"""From a module's text to callable functions: compile, load, recompile with more optimisation.

`compile_module` is the entry point. Results are cached by content: in memory for this process, and
as object files on disk (`compiler.disk_cache`) for the next one. A background thread
(`compile_thread`) compiles code that is needed soon, and recompiles code that is used often.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import llvmlite.binding as llvm

from gallette.compiler.disk_cache import DiskCache
from gallette.compiler.errors import OutOfMemoryError
from gallette.drivers.common.threads import thread_count
from gallette.drivers.common.work import Work

from .codegen import Tools, linker, machine, own_tools
from .compile_thread import LATER, SOON, Made, begin, main_waits_at_exit, wait_at_exit
from .stack import LIMIT, call_in_thread, frame_bytes
from .text import has_too_many_variables, is_cut


class Code:
    """Machine code in memory: compiled quickly at first, and optimised once it has been used for a
    while.

    Both versions have the same results: quick compilation omits only passes that make code shorter.
    `quick` says which version is loaded.
    """

    def __init__(
        self, key: str, text: str, names: tuple[str, ...], cache: DiskCache | None
    ) -> None:
        self.key = key
        self.text = text
        self.names = names
        self.cached = False
        self.frame = frame_bytes(text)
        self.quick = True
        self.seconds = len(text) * _SECONDS  # the time it takes, or took, to compile
        self._functions: dict[str, int] = {}
        self._cache = cache
        self._spent = 0.0
        self._better: Future[None] | None = None  # once recompilation is queued
        self._coming: Future[bytes] | None = None
        self._libraries: list[Any] = []  # all are kept, since a thread may execute them
        self._made = weakref.WeakSet[Function]()
        well = self._kept(key)
        image = well or self._kept(_quick(key))
        if image is not None or thread_count() == 1:
            self._load(image or self._image(True, own_tools()), well is None)
        else:
            self._coming = _begin(SOON, functools.partial(_first_image, weakref.ref(self)))

    def function(self, name: str, *argtypes: Any) -> Function:
        """A callable that releases the GIL while it runs."""
        made = Function(self, name, ctypes.CFUNCTYPE(None, *argtypes))
        with _lock:
            self._made.add(made)
            if self._functions:
                made.point()
        return made

    @property
    def functions(self) -> dict[str, int]:
        """The addresses of the functions, by name."""
        self.ready()
        return self._functions

    def ready(self) -> None:
        """Wait until there is code, or compile it in this thread if the job has not started."""
        if self._coming is None:
            return
        with _lock:
            coming = self._coming
            if coming is not None:
                start = time.monotonic()
                own = coming.cancel()
                try:
                    image = self._image(True, own_tools()) if own else coming.result()
                    self._load(image, True)
                except OutOfMemoryError:
                    self._coming = Future()  # the next caller tries again
                    raise
                finally:
                    Work.exclude(time.monotonic() - start)
                self._coming = None  # last, because other threads read it without the lock

    def used(self, seconds: float) -> None:
        """Add the time it ran; code that has run long enough is recompiled with optimisation."""
        self._spent += seconds
        if self._better is not None:
            if self._better.done():
                self._better.result()  # raises if it failed
            return
        worth = _WORTH_BESIDE if thread_count() > 1 else _WORTH
        if self._spent < max(_LEAST_USE, worth * self.seconds) or not is_worth_optimising(
            self.text
        ):
            return
        if thread_count() > 1:
            self._better = _begin(LATER, lambda: self._improve(_others_tools()))
        else:
            with _lock:
                self._improve(own_tools())

    def _improve(self, tools: Tools) -> None:
        with contextlib.suppress(OutOfMemoryError):  # the loaded code remains in use
            image = self._image(False, tools)
            with _lock:
                self._load(image, False)

    def _kept(self, key: str) -> bytes | None:
        image = self._cache.get(key) if self._cache is not None else None
        self.cached |= image is not None
        return image

    def _image(self, quick: bool, tools: Tools) -> bytes:
        start = time.perf_counter()
        image = tools.image(self.text, quick)
        if quick:
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
        session = _session(_number)
        tracker = library.link(session, f"gallette{_number}")
        self._libraries.append((session, tracker))
        self._functions = {name: int(tracker[name]) for name in self.names}
        self.quick = quick
        for made in self._made:
            made.point()


class Function:
    """A function of some `Code`, wherever that is loaded."""

    __slots__ = ("__weakref__", "_call", "_code", "_name", "_type")

    def __init__(self, code: Code, name: str, type: Any) -> None:
        self._code, self._name, self._type = code, name, type
        self._call: Any = None

    def point(self) -> None:
        """Update the address after the code was loaded or moved."""
        call = self._type(self._code._functions[self._name])
        if self.deep:
            frame = self._code.frame
            self._call = lambda *args: call_in_thread(call, args, frame)
        else:
            self._call = call

    @property
    def quick(self) -> bool:
        """Whether its code is still the quickly compiled one."""
        return self._code.quick

    @property
    def deep(self) -> bool:
        """Whether its stack frame is larger than a thread's stack, so that only `__call__` may call
        it.
        """
        return self._code.frame > LIMIT

    @property
    def address(self) -> int:
        """Its current address, for compiled callers, which report its time with `charge`."""
        return self._code.functions[self._name]

    def charge(self, seconds: float) -> None:
        """Add the time of a call by address."""
        if self._code.quick:
            self._code.used(seconds)

    def __call__(self, *args: int) -> None:
        if not self._code.quick:
            self._call(*args)
            return
        if self._call is None:
            self._code.ready()
        start = time.perf_counter()
        self._call(*args)
        self._code.used(time.perf_counter() - start)


_WORTH = 2.0
"""Optimised compilation takes about five times as long as quick compilation; this much use repays
it.
"""

_WORTH_BESIDE = 0.25
"""In the background less use suffices, since no draw waits for it."""

_SECONDS = 4e-7
"""Seconds that quick compilation takes per character of text, roughly."""

_LEAST_USE = 0.004
_LONGEST, _LONGEST_CUT = 4 << 20, 1 << 20
"""The most characters of a module that is optimised, the second if its blocks were cut: these
passes take more than proportional time, most of all for long blocks.
"""


def is_worth_optimising(text: str) -> bool:
    """Whether the time that slow passes take for a module is bounded."""
    most = _LONGEST_CUT if is_cut(text) else _LONGEST
    return len(text) <= most and not has_too_many_variables(text)


def _first_image(code: weakref.ref[Code]) -> bytes:
    """The job that `ready` waits for; None if there is no background thread."""
    wanted = code()
    return b"" if wanted is None else wanted._image(True, _others_tools())


def _begin(rank: int, job: Callable[[], Made]) -> Future[Made]:
    """Queue a job for the background thread.

    Its first job makes LLVM create process-wide objects. `exit` would destroy them meanwhile, so
    they are made here if it does not wait for that job.
    """
    with _lock:
        if not main_waits_at_exit():
            _others_tools()
    return begin(rank, job)


@functools.cache
def _others_tools() -> Tools:
    """The LLVM objects of the background thread."""
    tools = Tools()
    tools.warm_up()
    wait_at_exit()
    return tools


def _quick(key: str) -> str:
    return f"{key}.quick"


_MOST_LOADED = 256
"""Libraries per linker, which keeps some kilobytes of each that was unloaded."""

_linker: Any = None


def _session(number: int) -> Any:
    """The linker that loads the library of that number; it lives as long as any of its
    libraries.
    """
    global _linker
    if _linker is None or number % _MOST_LOADED == 0:
        _linker = linker()
    return _linker


_lock = threading.RLock()
_loaded = weakref.WeakValueDictionary[str, Code]()
_recent: OrderedDict[str, Code] = OrderedDict()
_MOST_RECENT = 256
"""Modules kept although no function is referenced, because the next context may need them."""

_number = 0


def compile_module(text: str, names: tuple[str, ...], cache: DiskCache | None) -> Code:
    """The functions `names` of a module, which is compiled in the background and awaited at the
    first call.
    """
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


def loads() -> int:
    """A counter of loads: while it is unchanged, functions keep their addresses."""
    return _number


def load_engine() -> None:
    """Initialise LLVM before the first compilation."""
    with _lock:
        _session(1)
    own_tools()
