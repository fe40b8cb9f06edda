"""Drop per-thread data when the thread ends, since the next thread may get its identifier.

Python reports the end only of threads that it started. Therefore the C library is used: a thread
that has a value for a key calls its destructor function when it ends.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

Hook = Callable[[], object]

H = TypeVar("H", bound=Hook)

_HOOKS: list[Hook] = []
_Ended = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def at_thread_end(hook: H) -> H:
    """Call this function in each thread that ends, if its end was expected; in reverse order."""
    _HOOKS.insert(0, hook)
    return hook


def expect_end() -> None:
    """Register the calling thread's end, because per-thread data exists from now on."""
    key = _key()
    if key is not None:
        library, number, _ = key
        library.pthread_setspecific(number, ctypes.c_void_p(1))


def _ended(value: int) -> None:
    for hook in _HOOKS:
        try:
            hook()
        except BaseException:  # nothing may propagate into C, and the other hooks must run
            traceback.print_exc()


@functools.cache
def _key() -> tuple[Any, ctypes.c_uint, Any] | None:
    """The C library, the key, and the destructor; None if this system lacks them.

    The key is deleted when Python ends: threads that end later must not call it.
    """
    try:
        library, number, function = ctypes.CDLL(None), ctypes.c_uint(), _Ended(_ended)
        failed = library.pthread_key_create(ctypes.byref(number), function)
    except (AttributeError, OSError, TypeError):
        return None
    if failed:
        return None
    atexit.register(library.pthread_key_delete, number)
    return library, number, function
