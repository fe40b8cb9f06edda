"""Stack use of compiled code, and threads with larger stacks.

LLVM keeps values that do not fit the registers in a function's frame: in quick compilation, nearly
all. A value of all lanes of a large workgroup has kilobytes, and a shader may have thousands, so
that the frame exceeds the calling thread's stack and the process crashes. Such code runs in a
thread of its own with a stack large enough.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from gallette.compiler.errors import OutOfMemoryError

__all__ = ["LIMIT", "call_in_thread", "frame_bytes", "raise_interruption"]

LIMIT = 1 << 19
"""A frame size, in bytes, that every thread's stack has room for."""

_MOST = 1 << 30
_MORE = 1 << 22  # for what the code calls
_SHORT = 100_000
"""Texts shorter than this reach the limit only with wide vectors."""

_WIDE = tuple(f"<{1 << n} x " for n in range(6, 12))
_VALUE = re.compile(r"^%[^<\n]*<(\d+) x (\w+)>(?:.*<(\d+) x (\w+)>)?", re.MULTILINE)
"""The first and the last vector type in a value's line: the value is no wider than one of them."""
_ARRAY = re.compile(r"^%.*alloca \[(\d+) x (?:<(\d+) x (\w+)>)?", re.MULTILINE)
_BYTES = {"i1": 1, "i8": 1, "i16": 2, "half": 2, "i32": 4, "float": 4}

_starting = threading.Lock()
_interruptions: dict[int, BaseException] = {}
"""By thread: the exception, such as KeyboardInterrupt, raised in the thread that waits for it."""


def frame_bytes(text: str) -> int:
    """An upper bound of the frame sizes of a module's functions; 0 if they are small."""
    if len(text) < _SHORT and not any(wide in text for wide in _WIDE):
        return 0
    total = 8 * ("\n" + text).count("\n%")
    for types, times in Counter(_VALUE.findall(text)).items():
        total += times * (max(map(_size, types[::2], types[1::2])) - 8)
    for count, lanes, type in _ARRAY.findall(text):
        total += (int(count) - 1) * _size(lanes, type)
    return total


def _size(lanes: str, type: str) -> int:
    """The bytes of a vector, or of a number where none was found."""
    return int(lanes or 1) * _BYTES.get(type, 8)


def call_in_thread(function: Callable[..., Any], args: tuple[int, ...], frame: int) -> None:
    """Call a function with a large frame in a thread of its own, and wait for it."""
    if frame > _MOST:
        raise OutOfMemoryError(
            f"out of memory: the values of a shader's lanes take {frame >> 20} MiB of stack"
        )
    thread = threading.Thread(target=function, args=args)
    with _starting:
        before = threading.stack_size((frame + _MORE) // 4096 * 4096)
        try:
            thread.start()
        except RuntimeError as error:
            raise OutOfMemoryError(f"out of memory: {frame >> 20} MiB of stack") from error
        finally:
            threading.stack_size(before)
    number, interruption = thread.ident or 0, None
    while thread.is_alive():  # whatever is raised, because the code uses the caller's memory
        try:
            thread.join()
        except BaseException as error:
            interruption = _interruptions[number] = error
    if interruption is not None and _interruptions.pop(number, None) is not None:
        raise interruption  # the code ended without calling back


def raise_interruption() -> None:
    """Raise the exception that interrupted the thread waiting for this one, if any."""
    interruption = _interruptions.pop(threading.get_ident(), None)
    if interruption is not None:
        raise interruption
