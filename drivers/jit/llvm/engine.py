"""From the text of a module to functions that can be called: made, loaded, made better.

`compile_module` is the one way in. What it does is cached by content: in memory for this process,
and as object files on disk (`compiler.disk_cache`) for the next one. A thread in the background
(`background`) makes what is asked for ahead of time, and makes code well while it is used.
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
from concurrent.futures import Future
from typing import Any

import llvmlite.binding as llvm

from gallette.compiler.disk_cache import DiskCache
from gallette.compiler.errors import OutOfMemoryError
from gallette.drivers.common.threads import thread_count
from gallette.drivers.common.work import Work

from .codegen import Tools, explain, linker, machine, optimised, own_tools
from .compile_thread import LATER, SOON, begin, wait_at_exit
from .stack import LIMIT, call_in_thread, frame_bytes
from .text import has_too_many_variables, is_cut

__all__ = [
    "Code",
    "Function",
    "compile_module",
    "explain",
    "load_engine",
    "loads",
    "machine",
    "optimised",
]


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
        self.frame = frame_bytes(text)
        self.quick = True
        self.seconds = len(text) * _SECONDS  # it took to make, or does if it was kept
        self._functions: dict[str, int] = {}
        self._cache = cache
        self._spent = 0.0
        self._better: Future[None] | None = None  # once it is to be made well
        self._coming: Future[bytes] | None = None
        self._libraries: list[Any] = []  # each stays: somebody may be in it
        self._made = weakref.WeakSet[Function]()
        well = self._kept(key)
        image = well or self._kept(_quick(key))
        if image is not None or thread_count() == 1:
            self._load(image or self._image(True, own_tools()), well is None)
        else:
            self._coming = begin(SOON, functools.partial(_first_image, weakref.ref(self)))

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
        """Where they are, by name."""
        self.ready()
        return self._functions

    def ready(self) -> None:
        """Wait until there is code, or make it if nobody has begun."""
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
                    self._coming = Future()  # whoever calls next tries again
                    raise
                finally:
                    Work.exclude(time.monotonic() - start)
                self._coming = None  # now: other threads look without the lock

    def used(self, seconds: float) -> None:
        """It ran for so long: what is worth it is made anew, well."""
        self._spent += seconds
        if self._better is not None:
            if self._better.done():
                self._better.result()  # what went wrong, if it did
            return
        worth = _WORTH_BESIDE if thread_count() > 1 else _WORTH
        if self._spent < max(_LEAST_USE, worth * self.seconds) or not worth_making_well(self.text):
            return
        if thread_count() > 1:
            self._better = begin(LATER, lambda: self._improve(_others_tools()))
        else:
            with _lock:
                self._improve(own_tools())

    def _improve(self, tools: Tools) -> None:
        with contextlib.suppress(OutOfMemoryError):  # what there is, is good enough
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
    """A function of some `Code`, wherever that is now."""

    __slots__ = ("__weakref__", "_call", "_code", "_name", "_type")

    def __init__(self, code: Code, name: str, type: Any) -> None:
        self._code, self._name, self._type = code, name, type
        self._call: Any = None

    def point(self) -> None:
        """The code is there, or has moved."""
        call = self._type(self._code._functions[self._name])
        if self.deep:
            frame = self._code.frame
            self._call = lambda *args: call_in_thread(call, args, frame)
        else:
            self._call = call

    @property
    def quick(self) -> bool:
        """Is its code still that which was made quickly?"""
        return self._code.quick

    @property
    def deep(self) -> bool:
        """Does it take more stack than a thread may have? Then only `__call__` may call it."""
        return self._code.frame > LIMIT

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
        if self._call is None:
            self._code.ready()
        start = time.perf_counter()
        self._call(*args)
        self._code.used(time.perf_counter() - start)


_WORTH = 2.0
"""Making code well takes about five times as long as making it quickly; it pays for itself."""

_WORTH_BESIDE = 0.25
"""In the background nobody waits for it: what was used for some frames will be for more."""

_SECONDS = 4e-7
"""Making code quickly takes for each character of its text, roughly."""

_LEAST_USE = 0.004
_LONGEST, _LONGEST_CUT = 4 << 20, 1 << 20
"""Characters of a module that is made well, the second if blocks of it were cut: the passes that
make code good take more than proportionally longer for it, and most of all for long blocks."""


def worth_making_well(text: str) -> bool:
    """Whether the time that the slow passes take for a module has a bound."""
    most = _LONGEST_CUT if is_cut(text) else _LONGEST
    return len(text) <= most and not has_too_many_variables(text)


def _first_image(code: weakref.ref[Code]) -> bytes:
    """What `ready` waits for; nothing if nobody can."""
    wanted = code()
    return b"" if wanted is None else wanted._image(True, _others_tools())


@functools.cache
def _others_tools() -> Tools:
    """The background's."""
    tools = Tools()
    tools.warm_up()
    wait_at_exit()
    return tools


def _quick(key: str) -> str:
    return f"{key}.quick"


_MOST_LOADED = 256
"""Libraries that one linker loads: it keeps some kilobytes of each that was unloaded."""

_linker: Any = None


def _session(number: int) -> Any:
    """The linker that loads the library of that number; it lives as long as any of its own."""
    global _linker
    if _linker is None or number % _MOST_LOADED == 0:
        _linker = linker()
    return _linker


_lock = threading.RLock()
_loaded = weakref.WeakValueDictionary[str, Code]()
_recent: OrderedDict[str, Code] = OrderedDict()
_MOST_RECENT = 256
"""Modules that are kept though nobody holds their functions: the next context may want them."""

_number = 0


def compile_module(text: str, names: tuple[str, ...], cache: DiskCache | None) -> Code:
    """The functions `names` of a module: being made, and waited for when they are called."""
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
    """Goes up when code is loaded: as long as it does not, functions stay where they are."""
    return _number


def load_engine() -> None:
    """Have LLVM ready before the first code is wanted."""
    with _lock:
        _session(1)
    own_tools()
