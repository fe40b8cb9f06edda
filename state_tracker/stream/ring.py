"""The ring that commands are written into: one for the process, owned by one thread at a time.

See the package for what may be in it, and who may flush it.
"""

from __future__ import annotations

import ctypes
import os
import threading
from _thread import get_ident
from typing import Any, Protocol

from gallette.state_tracker.entry_points import machine_code

from .calls import COMMAND_BYTES, NUMBERS
from .stubs import MOST_WRITTEN, WORDS, Word, stub

__all__ = ["PENDING", "Recorder", "drop", "flush", "in_front", "own", "words"]

_COMMANDS = 1 << 14
_WRITTEN_BYTES = 1 << 22

words = (ctypes.c_int64 * WORDS)()
"""What stubs and Python share, by `Word`."""

PENDING = int(Word.PENDING)


class Recorder(Protocol):
    """A context's stream, as the ring knows it."""

    def may_record(self) -> bool:
        """May calls on the context become commands now?"""
        ...

    def execute(self, commands: memoryview, written: bytes, written_at: int) -> None:
        """Execute a batch; `written`, which lies at that address, is for buffers."""
        ...


_memory: list[Any] = []
"""Two blocks of memory that take turns: a batch stays where it is while it is executed."""
_owners: list[tuple[Recorder, int]] = []
"""Who owns the ring, and the thread; nobody at first. Kept until it is flushed."""
_taken = threading.Lock()


def in_front(name: str, pointer: int) -> int:
    """The address that C is given in place of a function's pointer."""
    if name not in NUMBERS or not machine_code.possible():
        return pointer
    if os.environ.get("GALLETTE_STREAM", "").lower() == "off":
        return pointer
    return machine_code.placed({name: stub(name, ctypes.addressof(words), pointer)})[name]


def _reset() -> int:
    """Make the ring empty; answers where it begins."""
    if not _memory:
        size = _COMMANDS * COMMAND_BYTES + _WRITTEN_BYTES + MOST_WRITTEN
        _memory.extend((ctypes.c_char * size)() for _ in range(2))
    start = ctypes.addressof(_memory[0])
    middle = start + _COMMANDS * COMMAND_BYTES
    words[Word.PENDING] = 0
    words[Word.LAST : WORDS] = [-1] * (WORDS - Word.LAST)
    words[Word.NEXT], words[Word.END] = start, middle - COMMAND_BYTES
    words[Word.WRITTEN], words[Word.WRITTEN_END] = middle, middle + _WRITTEN_BYTES
    return start


def own(recorder: Recorder | None) -> None:
    """Calls of this thread are commands for this context from now on, or for none."""
    flush()
    thread = get_ident()
    with _taken:
        mine = words[Word.THREAD] == thread
        if not mine and (words[Word.THREAD] or words[PENDING]):
            return  # another thread owns it
        words[Word.THREAD] = 0
        _owners.clear()
        if recorder is not None and recorder.may_record():
            _reset()
            _owners.append((recorder, thread))
            words[Word.THREAD] = thread


def drop(recorder: Recorder) -> None:
    """A context may not record any more: execute what there is."""
    if any(owner is recorder for owner, _ in _owners):
        words[Word.THREAD] = 0
    flush(recorder)


def flush(recorder: Recorder | None = None) -> None:
    """Execute the commands of the calling thread, or those of a context."""
    if not words[PENDING] or not _owners:
        return
    owner, thread = _owners[0]
    if thread != get_ident() and owner is not recorder:
        return
    start = ctypes.addressof(_memory[0])
    middle = start + _COMMANDS * COMMAND_BYTES
    if not start < words[Word.NEXT] <= middle:  # a call raced with another thread's `drop`
        _reset()
        return
    commands = memoryview(_memory[0]).cast("B")[: words[Word.NEXT] - start]
    written = ctypes.string_at(middle, words[Word.WRITTEN] - middle)
    _memory.reverse()
    _reset()
    owner.execute(commands, written, middle)
