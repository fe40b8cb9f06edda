"""What is kept for a thread goes when the thread ends: the next one may get its identifier.

Python tells of the end of threads it started itself only. So the C library is asked: a thread that
has a value for a key calls a function of ours at its end.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["at_thread_end", "expect_end"]

Hook = Callable[[], object]

H = TypeVar("H", bound=Hook)

_HOOKS: list[Hook] = []
_Ended = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def at_thread_end(hook: H) -> H:
    """Call this function in each thread that ends, if its end was expected; the last one first."""
    _HOOKS.insert(0, hook)
    return hook


def expect_end() -> None:
    """Something is kept for the calling thread from now on."""
    key = _key()
    if key is not None:
        library, number, _ = key
        library.pthread_setspecific(number, ctypes.c_void_p(1))


def _ended(value: int) -> None:
    for hook in _HOOKS:
        try:
            hook()
        except BaseException:  # nothing may escape into C, and the others have their turn
            traceback.print_exc()


@functools.cache
def _key() -> tuple[Any, ctypes.c_uint, Any] | None:
    """The C library, its key for us, and what it calls; None if this system has no such things.

    When Python ends the key is given back: threads that end later have nobody to call.
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
