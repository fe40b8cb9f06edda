"""The ring that commands are written into: one for the process, owned by one thread at a time.

See the package for its contents and for which threads may flush it.
"""

from __future__ import annotations

import ctypes
import threading
from _thread import get_ident
from typing import Protocol

from gallette.pipe.settings import may_defer
from gallette.state_tracker.entry_points import machine_code

from .calls import COMMAND_BYTES, NUMBERS
from .stubs import ARRAY_BUFFER, CLIENTS, MOST_WRITTEN, PLAIN_ROWS, WORDS, Word, stub

_COMMANDS = 1 << 14
_WRITTEN_BYTES = 1 << 22

words = (ctypes.c_int64 * WORDS)()
"""Words shared by stubs and Python, by `Word`."""

PENDING = int(Word.PENDING)
_NEXT, _WRITTEN, _LAST = int(Word.NEXT), int(Word.WRITTEN), int(Word.LAST)
_last = memoryview(words).cast("B")[8 * _LAST : 8 * CLIENTS]  # written faster than the array
_NOTHING = b"\xff" * len(_last)


class Recorder(Protocol):
    """The ring's interface to a context's stream."""

    @property
    def is_old(self) -> bool:
        """Whether calls of `Role.OLD` become commands, too."""
        ...

    @property
    def follows(self) -> bool:
        """Whether others than those of `Role.OLD` become commands."""
        ...

    @property
    def has_clients(self) -> bool:
        """Whether there ever were client arrays."""
        ...

    def find_clients(self) -> None:
        """Call `has_clients` if the context has had client arrays."""
        ...

    def may_record(self) -> bool:
        """Whether calls on the context may become commands now."""
        ...

    def execute(self, commands: memoryview, address: int, written: bytes, written_at: int) -> None:
        """Execute a batch at that address; `written`, recorded at address `written_at`, is data for
        buffers.
        """
        ...


class _Block:
    """Memory for a batch: commands, followed by the data that they write to buffers."""

    def __init__(self) -> None:
        size = _COMMANDS * COMMAND_BYTES
        memory = (ctypes.c_char * (size + _WRITTEN_BYTES + MOST_WRITTEN))()
        self.start, self.view = ctypes.addressof(memory), memoryview(memory).cast("B")
        self.middle = self.start + size
        end = self.middle - COMMAND_BYTES
        self.empty: list[ctypes.c_int64 | int]
        self.empty = [0, self.start, end, self.middle, self.middle + _WRITTEN_BYTES]
        """The words from `PENDING` to `LAST` for an empty block."""


_blocks: list[_Block] = []
"""One for the next batch, one for the batch that is being executed, which must stay in place."""
_owners: list[tuple[Recorder, int]] = []
"""The owner of the ring and its thread, if any; held until the ring is flushed."""
_taken = threading.Lock()


def stub_address(name: str, pointer: int) -> int:
    """The address that C is given in place of a function's pointer."""
    if name not in NUMBERS or not may_defer() or not machine_code.possible():
        return pointer
    return machine_code.placed({name: stub(name, ctypes.addressof(words), pointer)})[name]


def _begin() -> None:
    """Direct commands into the first block, which is empty."""
    if not _blocks:
        _blocks.extend((_Block(), _Block()))
    words[PENDING : Word.LAST] = _blocks[0].empty


def own(recorder: Recorder | None) -> None:
    """Record calls of this thread as commands for this context from now on, or stop recording."""
    flush()
    thread = get_ident()
    with _taken:
        owner = words[Word.THREAD] or words[Word.OLD_THREAD]
        if owner != thread and (owner or words[PENDING]):
            return  # another thread owns it
        words[Word.THREAD] = words[Word.OLD_THREAD] = 0
        _owners.clear()
        if recorder is not None and recorder.may_record():
            _begin()
            _owners.append((recorder, thread))
            _last[:] = _NOTHING
            words[CLIENTS] = 0
            recorder.find_clients()
            words[Word.OLD_THREAD] = thread if recorder.is_old else 0
            words[Word.THREAD] = thread if recorder.follows else 0


def forget(recorder: Recorder) -> None:
    """Mark the context's state as unknown to the stubs: no redundant call may be skipped."""
    if _owners and _owners[0][0] is recorder:
        _last[:] = _NOTHING
        if recorder.has_clients:
            words[CLIENTS] = -1


def has_array_buffer(recorder: Recorder, name: int) -> None:
    """Tell the stubs which array buffer is bound, which they forget with everything else."""
    if _owners and _owners[0][0] is recorder:
        words[ARRAY_BUFFER] = name


def has_clients(recorder: Recorder, which: int, arrays: list[int]) -> None:
    """Tell the stubs which client arrays are enabled (see `array_stubs`), and where they are."""
    if _owners and _owners[0][0] is recorder:
        words[CLIENTS] = which
        if arrays:
            words[ARRAY_BUFFER] = 0
            words[CLIENTS + 1 : CLIENTS + 1 + len(arrays)] = [*arrays]
        words[Word.THREAD] = _owners[0][1] if recorder.follows else 0


def knows_clients(recorder: Recorder) -> bool:
    """Whether the stubs know which client arrays are enabled."""
    return bool(_owners) and _owners[0][0] is recorder and words[CLIENTS] >= 0


def rows_are_plain(recorder: Recorder, plain: bool) -> None:
    """Tell the stubs whether rows of 4-byte texels are plain (see `Stream`)."""
    if _owners and _owners[0][0] is recorder:
        words[PLAIN_ROWS] = plain


def drop(recorder: Recorder) -> None:
    """Stop a context from recording: execute its commands and release the reference to it."""
    if any(owner is recorder for owner, _ in _owners):
        words[Word.THREAD] = words[Word.OLD_THREAD] = 0
        flush(recorder)
        _owners.clear()


def flush(recorder: Recorder | None = None) -> None:
    """Execute the recorded commands of a context, by default the calling thread's."""
    if not words[PENDING] or not _owners:
        return
    owner, thread = _owners[0]
    if thread != get_ident() and owner is not recorder:
        return
    block = _blocks[0]
    used, more = words[_NEXT] - block.start, words[_WRITTEN] - block.middle
    _blocks.reverse()
    _begin()
    if 0 < used <= block.middle - block.start:  # unless a call raced with another thread's `drop`
        written = ctypes.string_at(block.middle, more) if more else b""
        owner.execute(block.view[:used], block.start, written, block.middle)
