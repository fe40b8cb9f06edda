"""How much of a thread's stack code takes, and threads with more of it.

LLVM keeps in a function's frame what does not fit the registers: when it works quickly, nearly
every value. A value of all lanes of a large workgroup has kilobytes, and a shader may have
thousands of them, so that its frame is larger than the calling thread's stack. Nothing would say so
before the process ends. Such code runs in a thread of its own, whose stack has room for it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

from gallette.compiler.errors import OutOfMemoryError

__all__ = ["LIMIT", "call_in_thread", "frame_bytes", "raise_interruption"]

LIMIT = 1 << 19
"""A frame that every thread has room for, in bytes."""

_MOST = 1 << 30
_MORE = 1 << 22  # for what the code calls
_SHORT = 100_000
"""Characters of text below which only wide vectors can come to the limit."""

_WIDE = tuple(f"<{1 << n} x " for n in range(6, 12))
_VECTOR = re.compile(r"<(\d+) x (\w+)>")
_ARRAY = re.compile(r"alloca \[(\d+) x ")
_BYTES = {"i1": 1, "i8": 1, "i16": 2, "half": 2, "i32": 4, "float": 4}

_starting = threading.Lock()
_interruptions: dict[int, BaseException] = {}
"""By thread: what was raised in the thread that waits for it, such as KeyboardInterrupt."""


def frame_bytes(text: str) -> int:
    """An upper bound of what a module's functions keep in their frames; 0 if that is little."""
    if len(text) < _SHORT and not any(wide in text for wide in _WIDE):
        return 0
    total = 0
    for line in text.splitlines():
        if not line.startswith("%"):
            continue
        size = max((int(n) * _BYTES.get(t, 8) for n, t in _VECTOR.findall(line)), default=8)
        array = _ARRAY.search(line)
        total += size * int(array[1]) if array else size
    return total


def call_in_thread(function: Callable[..., Any], args: tuple[int, ...], frame: int) -> None:
    """Call a function whose frame is so large, and wait for it."""
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
    while thread.is_alive():  # whatever happens, because the code uses the caller's memory
        try:
            thread.join()
        except BaseException as error:
            interruption = _interruptions[number] = error
    if interruption is not None and _interruptions.pop(number, None) is not None:
        raise interruption  # the code came to its end without asking


def raise_interruption() -> None:
    """Raise what the thread that waits for this one was interrupted by, if it was."""
    interruption = _interruptions.pop(threading.get_ident(), None)
    if interruption is not None:
        raise interruption
