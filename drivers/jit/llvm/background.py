"""A thread that makes code while others draw: what will be wanted soon, and what can be better.

It ends with the process: what nobody has begun is dropped, what has is waited for, because LLVM
must not be taken away from under it.
"""

from __future__ import annotations

import atexit
import itertools
import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

__all__ = ["LATER", "SOON", "begin", "settle"]

Made = TypeVar("Made")
SOON, LATER = 0, 1
"""What somebody will wait for comes before what only makes things better."""
_LAST = 2
_STACK = 64 << 20  # LLVM goes down long chains of operations by recursion


class _Background:
    def __init__(self) -> None:
        self._jobs: queue.PriorityQueue[tuple[int, int, Any, Any]] = queue.PriorityQueue()
        self._numbers = itertools.count()
        self.closed = False
        self._thread = threading.Thread(target=self._run, name="gallette-jit", daemon=True)
        before = threading.stack_size(_STACK)
        try:
            self._thread.start()
        finally:
            threading.stack_size(before)

    def put(self, rank: int, future: Future[Any], job: Callable[[], Any]) -> None:
        self._jobs.put((rank, next(self._numbers), future, job))

    def _run(self) -> None:
        while True:
            rank, _, future, job = self._jobs.get()
            if rank == _LAST:
                return
            with _working:
                if not self.closed and future.set_running_or_notify_cancel():
                    try:
                        future.set_result(job())
                    except BaseException as error:  # it is told to whoever asks for the result
                        future.set_exception(error)
            del future, job

    def close(self) -> None:
        self.closed = True
        self._jobs.put((_LAST, 0, None, None))
        self._thread.join()


_lock = threading.Lock()
_working = threading.Lock()  # held while LLVM is at work
_background: list[_Background] = []


def begin(rank: int, job: Callable[[], Made]) -> Future[Made]:
    """Have a job done; the future can be cancelled until somebody has begun."""
    future: Future[Made] = Future()
    with _lock:
        if not _background:
            _background.append(_Background())
        _background[0].put(rank, future, job)
    return future


def settle() -> None:
    """Wait until everything begun so far is done."""
    begin(LATER, lambda: None).result()


def _close() -> None:
    for background in _background:
        background.close()


def _go_on_alone() -> None:
    """A child has no such thread; what nobody had begun is made by whoever wants it."""
    _working.release()
    _background.clear()


atexit.register(_close)
if hasattr(os, "register_at_fork"):  # a child must not find LLVM in the middle of something
    os.register_at_fork(
        before=_working.acquire, after_in_parent=_working.release, after_in_child=_go_on_alone
    )
