"""Calls that are noted before Python hears of them, to be replayed together.

A program of many small draws says the same few things again and again: other uniforms, another
texture or vertex array, a switch, a draw. To come from C to Python for each takes longer than what
Python then has to do. So while nothing else is called, a few instructions in front of the pointers
(`code`) note what is asked for: uniforms go to the memory of the program in use at once, names and
switches to words that say what the state will be, and a draw leaves a record of all of that. What
machine code cannot judge, such as the name of an object that is not there, goes on to Python.

One context at a time is recorded (`begin`), in the thread it is current in. Whoever comes to Python
in between finds neither the thread's functions nor the context's attributes where they were: both
are put back (`end`) after what was recorded has been replayed. So nobody can tell. Other threads,
which may look at a context they share objects with, see it as it was when this began.
"""

from __future__ import annotations

import ctypes
import threading
from _thread import get_ident
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from gallette.state_tracker.entry_points import machine_code

from . import code
from .words import WORDS, Word

__all__ = [
    "LOG_BYTES",
    "MARK",
    "WRITTEN_BYTES",
    "Guard",
    "Noted",
    "Recorded",
    "is_free",
    "log",
    "possible",
    "put_in_front",
    "written",
]

LOG_BYTES = 1 << 22
WRITTEN_BYTES = 1 << 22
"""What is written to buffers, beside the log."""

MARK = "_recorded"
"""The one attribute a recorded context has: what ends it."""

words = (ctypes.c_int64 * WORDS)()
_log: list[Any] = []
_pointers: set[str] = set()
_current: list[Recorded] = []
_taken = threading.Lock()


class Recorded(Protocol):
    """A context whose calls are recorded."""

    def end(self) -> None:
        """Replay what was noted, and record no more."""
        ...

    def for_others(self) -> dict[str, Any]:
        """The context's attributes, for threads that are not recorded."""
        ...


class Guard(dict[str, Callable[..., Any]]):
    """The call table of a thread that is recorded: the first call that gets here ends that."""

    def __init__(self, recorded: Recorded, calls: dict[str, Callable[..., Any]]) -> None:
        super().__init__()
        self._recorded, self._calls = recorded, calls

    def __missing__(self, c_name: str) -> Callable[..., Any]:
        self._recorded.end()
        return self._calls[c_name]


def possible() -> bool:
    """Has anybody been given a pointer that notes draws?"""
    return bool(_pointers)


def put_in_front(name: str, pointer: int) -> int:
    """The address C is given in place of a function's pointer."""
    if name not in code.NAMES or not machine_code.possible():
        return pointer
    made = code.code(name, ctypes.addressof(words), pointer)
    if name.startswith("Draw"):
        _pointers.add(name)
    return machine_code.placed({name: made})[name]


def log() -> int:
    """The address of the memory that records go to."""
    if not _log:
        _log.append(ctypes.create_string_buffer(LOG_BYTES + WRITTEN_BYTES))
    return ctypes.addressof(_log[0])


def written() -> int:
    """The address of the memory for what is written to buffers."""
    return log() + LOG_BYTES


def is_free() -> bool:
    """Is no context recorded now, or about to be?"""
    return not _taken.locked()


@contextmanager
def beginning(recorded: Recorded) -> Iterator[bool]:
    """Meanwhile the words are made what they have to be, and from then on this is recorded, in this
    thread. False: another one is, so leave them alone."""
    if not _taken.acquire(blocking=False):
        yield False
        return
    try:
        yield True
    except BaseException:
        _taken.release()
        raise
    _current.append(recorded)
    words[Word.PENDING] = 0
    words[Word.THREAD] = get_ident()


@dataclass(frozen=True, slots=True)
class Noted:
    """What was recorded: the words, the records, and what was written to buffers."""

    words: list[int]
    log: bytes
    written: bytes


def stop(recorded: Recorded) -> Noted | None:
    """Note nothing any more; None if that context was not recorded.

    What was noted is copied before another context, in whatever thread, may be recorded.
    """
    if recorded not in _current or not words[Word.THREAD]:
        return None
    words[Word.THREAD] = 0
    noted = Noted(
        list(words),
        ctypes.string_at(log(), words[Word.NEXT] - log()),
        ctypes.string_at(written(), words[Word.COPY_NEXT] - written()),
    )
    _current.remove(recorded)
    _taken.release()
    return noted


def end_here() -> None:
    """Another context becomes current, or none: nothing of this thread is recorded."""
    if _current and words[Word.THREAD] == get_ident():
        _current[0].end()
