"""Stack use of compiled code, and threads with larger stacks.

LLVM keeps values that do not fit the registers in a function's frame: in quick compilation, nearly
all. A value of all lanes of a large workgroup has kilobytes, and a shader may have thousands, so
that the frame exceeds the calling thread's stack and the process crashes. Such code runs in a
thread of its own with a stack large enough.
"""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Callable
from typing import Any

from gallette.compiler.errors import OutOfMemoryError

LIMIT = 1 << 19
"""A frame size, in bytes, that every thread's stack has room for."""

_MOST = 1 << 30
_MORE = 1 << 22  # for what the code calls
_TYPE = re.compile(r"<\d+ x \w+>")
_ARRAY = re.compile(r"alloca \[(\d+) x ")
_BYTES = {"i1": 1, "i8": 1, "i16": 2, "half": 2, "i32": 4, "float": 4}

_starting = threading.Lock()
_interruptions: dict[int, BaseException] = {}
"""By thread: the exception, such as KeyboardInterrupt, raised in the thread that waits for it."""


@functools.cache
def _size(vector: str) -> int:
    lanes, _, kind = vector[1:-1].split()
    return int(lanes) * _BYTES.get(kind, 8)


@functools.lru_cache(16)
def frame_bytes(text: str) -> int:
    """An upper bound of the frame sizes of a module's functions; 0 if they are below the limit."""
    widest = max(map(_size, set(_TYPE.findall(text))), default=8)
    values = 1 + text.count("\n%") + sum(map(int, _ARRAY.findall(text)))
    if values * widest <= LIMIT:
        return 0
    total = 0
    for line in text.splitlines():
        if not line.startswith("%"):
            continue
        size = max(map(_size, _TYPE.findall(line)), default=8)
        array = _ARRAY.search(line)
        total += size * int(array[1]) if array else size
    return total


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
