"""A thread that makes code while others draw: what will be wanted soon, and what can be better.

It ends with the process: what nobody has begun is dropped, what has is waited for, because LLVM
must not be taken away from under it. That holds for a C program, too, that calls `exit` and never
ends the Python inside it (see `_ExitLock`).
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import itertools
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

__all__ = ["LATER", "SOON", "begin", "settle", "wait_at_exit"]

Made = TypeVar("Made")
SOON, LATER = 0, 1
"""What somebody will wait for comes before what only makes things better."""
_LAST = 2
_STACK = 64 << 20  # LLVM goes down long chains of operations by recursion


class _ExitLock:
    """A lock that `exit` takes as well, before LLVM's own destructors run, and never gives back.

    So the process does not end while the lock is held, and afterwards nothing gets it. The exit
    handler is pthread_mutex_lock itself: Python may have ended by then. `exit` runs handlers from
    the last one registered to the first, and LLVM registers a destructor whenever it first uses
    some part of its own; so `register` is called once it has used what it needs.
    """

    def __init__(self) -> None:
        libc: Any = ctypes.CDLL(None)
        libc.calloc.restype = ctypes.c_void_p
        at = ctypes.c_void_p(libc.calloc(1, 128))  # which is never freed: `exit` comes last
        libc.pthread_mutex_init(at, None)
        handler = ctypes.cast(libc.pthread_mutex_lock, ctypes.c_void_p)
        self._libc, self._at, self._handler = libc, at, handler

    def acquire(self) -> None:
        self._libc.pthread_mutex_lock(self._at)

    def release(self) -> None:
        self._libc.pthread_mutex_unlock(self._at)

    def register(self) -> None:
        """Have `exit` take the lock before it runs what was registered so far."""
        self._libc["__cxa_atexit"](self._handler, self._at, None)

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


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
        with contextlib.suppress(AttributeError):
            # A handler that calls `exit` in this thread would wait for this thread for ever.
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
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
# Held while LLVM is at work.
_working: Any = _ExitLock() if sys.platform != "win32" else threading.Lock()
_background: list[_Background] = []


def begin(rank: int, job: Callable[[], Made]) -> Future[Made]:
    """Have a job done; the future can be cancelled until somebody has begun.

    Nobody begins if there is no memory for a thread.
    """
    future: Future[Made] = Future()
    with _lock, contextlib.suppress(RuntimeError):
        if not _background:
            _background.append(_Background())
        _background[0].put(rank, future, job)
    return future


def wait_at_exit() -> None:
    """From now on `exit` waits for the job that runs. LLVM has been used once."""
    if isinstance(_working, _ExitLock):
        _working.register()


def settle() -> None:
    """Wait until everything begun so far is done."""
    done = begin(LATER, lambda: None)
    if _background:
        done.result()


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
