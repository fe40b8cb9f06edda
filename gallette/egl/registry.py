"""Python functions as C functions: EGL's own, OSMesa's, and those that glvnd requests from a
vendor.

`@c_function("pip:i")` above `def eglSomething(...)` is its C signature: a letter per parameter, a
colon, the result. Pointers and handles arrive as numbers, 0 for none. An `EglError` becomes the
thread's EGL error and the result 0; other exceptions must not escape either.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

from gallette.compiler.errors import GalletteError, print_message
from gallette.egl.constants import Error
from gallette.egl.errors import EglError, last_error, set_error

_LETTERS: dict[str, Any] = {
    "p": ctypes.c_void_p,
    "i": ctypes.c_int32,
    "u": ctypes.c_uint32,
    "b": ctypes.c_uint8,
    "a": ctypes.c_ssize_t,  # EGLAttrib
    "t": ctypes.c_uint64,  # EGLTime
    "v": None,
}
F = TypeVar("F", bound=Callable[..., Any])

LOCK = threading.RLock()
"""One thread at a time is in EGL (or GLX): displays, surfaces and contexts are everybody's."""

_FUNCTIONS: dict[str, tuple[Callable[..., Any], str]] = {}
_POINTERS: dict[str, Any] = {}
_REPORTED: set[str] = set()


def c_function(
    signature: str, *aliases: str, quiet: bool = False, waits: bool = False
) -> Callable[[F], F]:
    """Export the function to C under its name and the aliases.

    `quiet` functions leave the thread's last error unchanged; functions with `waits` release the
    lock while they wait for others.
    """

    def mark(function: F) -> F:
        guarded = _guard(function, signature, quiet, nullcontext() if waits else LOCK)
        for name in (function.__name__, *aliases):
            _FUNCTIONS[name] = (guarded, signature)
        return function

    return mark


def _guard(
    function: Callable[..., Any], signature: str, quiet: bool, turn: AbstractContextManager[Any]
) -> Callable[..., Any]:
    nothing = None if signature.endswith(":v") else 0

    def call(*args: Any) -> Any:
        try:
            if None in args:
                args = tuple(0 if a is None else a for a in args)
            if not quiet:
                last_error()
            with turn:
                answer = function(*args)
            return None if nothing is None else answer or 0
        except EglError as error:
            set_error(error.code)
        except MemoryError:
            set_error(Error.BAD_ALLOC)
        except BaseException as error:
            set_error(Error.BAD_ALLOC)
            _report(function.__name__, error)
        return nothing

    call.__name__ = function.__name__
    return call


def _report(name: str, error: BaseException) -> None:
    """Print, once per function, an exception that C code cannot receive."""
    if name in _REPORTED:
        return
    _REPORTED.add(name)
    if isinstance(error, GalletteError):
        print_message(f"gallette: {name}: {error}")
    else:
        print(f"gallette: bug in {name}:", file=sys.stderr)
        print_message("".join(traceback.format_exception(error)).rstrip())


def c_names(prefix: str = "") -> list[str]:
    """The names of all exported functions with this prefix."""
    return sorted(n for n in _FUNCTIONS if n.startswith(prefix))


def is_c_function(name: str) -> bool:
    """Whether there is an exported function of that name."""
    return name in _FUNCTIONS


def c_address(name: str) -> int:
    """The C function of that name, created on first request; 0 if there is none."""
    pointer = _POINTERS.get(name)
    if pointer is None:
        if name not in _FUNCTIONS:
            return 0
        function, signature = _FUNCTIONS[name]
        pointer = _POINTERS.setdefault(name, c_pointer(signature, function))
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


def c_pointer(signature: str, function: Callable[..., Any]) -> Any:
    """A ctypes function pointer; the caller keeps it alive."""
    return prototype(signature)(function)


def prototype(signature: str) -> Any:
    """The ctypes type of a function pointer."""
    letters, _, result = signature.partition(":")
    return ctypes.CFUNCTYPE(_LETTERS[result], *[_LETTERS[letter] for letter in letters])
