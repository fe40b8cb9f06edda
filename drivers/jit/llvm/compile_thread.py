"""A background thread that compiles code while others draw: code needed soon, and better code.

It ends with the process: jobs that have not started are dropped, the running one is awaited,
because LLVM's destructors must not run under it. That holds even for a C program that calls `exit`
without finalizing the Python inside it (see `_ExitLock`).
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import itertools
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

Made = TypeVar("Made")
SOON, LATER = 0, 1
"""Priorities: code that a draw will wait for, and code that only replaces slower code."""
_LAST = 2
_RECURSIVE = 1 if sys.platform == "linux" else 2  # PTHREAD_MUTEX_RECURSIVE
_STACK = 64 << 20  # LLVM recurses over long chains of operations


class _ExitLock:
    """A lock that `exit` takes, too, before LLVM's own destructors run, and never releases.

    So the process does not end while the lock is held, and afterwards no thread gets it. The exit
    handler is pthread_mutex_lock itself, since Python may have ended by then. `exit` runs handlers
    in reverse order of registration, and LLVM registers a destructor when it first uses some of its
    parts; so `register` is called once LLVM has used all it needs. Before that only a destructor of
    a thread's own objects comes first: glibc runs those of the thread that calls `exit`.
    """

    def __init__(self) -> None:
        libc: Any = ctypes.CDLL(None)
        libc.calloc.restype = ctypes.c_void_p
        at = ctypes.c_void_p(libc.calloc(1, 256))  # never freed: `exit` runs last
        kind = ctypes.c_void_p(at.value + 128)  # type: ignore[operator]
        libc.pthread_mutexattr_init(kind)
        libc.pthread_mutexattr_settype(kind, _RECURSIVE)  # both handlers take it
        libc.pthread_mutex_init(at, kind)
        handler = ctypes.cast(libc.pthread_mutex_lock, ctypes.c_void_p)
        self._libc, self._at, self._handler = libc, at, handler

    def acquire(self) -> None:
        self._libc.pthread_mutex_lock(self._at)

    def release(self) -> None:
        self._libc.pthread_mutex_unlock(self._at)

    def register(self) -> None:
        """Make `exit` take the lock before it runs the handlers registered so far."""
        self._libc["__cxa_atexit"](self._handler, self._at, None)

    def register_main(self) -> bool:
        """Make the main thread's `exit` take the lock first of all, if this is that thread."""
        first = getattr(self._libc, "__cxa_thread_atexit_impl", None)
        if first is None or threading.get_native_id() != os.getpid():
            return False
        return first(self._handler, self._at, self._handler) == 0  # type: ignore[no-any-return]

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
            # A handler that calls `exit` in this thread would wait for itself for ever.
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        while True:
            rank, _, future, job = self._jobs.get()
            if rank == _LAST:
                return
            with _working:
                if not self.closed and future.set_running_or_notify_cancel():
                    try:
                        future.set_result(job())
                    except BaseException as error:  # raised to the caller that asks for the result
                        future.set_exception(error)
            del future, job

    def close(self) -> None:
        self.closed = True
        self._jobs.put((_LAST, 0, None, None))
        self._thread.join()


_lock = threading.Lock()
# Held while LLVM runs.
_working: Any = _ExitLock() if sys.platform != "win32" else threading.Lock()
_background: list[_Background] = []


def begin(rank: int, job: Callable[[], Made]) -> Future[Made]:
    """Queue a job; the future can be cancelled until it starts.

    It never starts if there is no memory for a thread.
    """
    future: Future[Made] = Future()
    with _lock, contextlib.suppress(RuntimeError):
        if not _background:
            _background.append(_Background())
        _background[0].put(rank, future, job)
    return future


def wait_at_exit() -> None:
    """Make `exit` wait for the running job from now on. LLVM must have been used once."""
    if isinstance(_working, _ExitLock):
        _working.register()


@functools.cache
def main_waits_at_exit() -> bool:
    """Whether `exit` waits for the running job even before `wait_at_exit`, in the main thread."""
    return isinstance(_working, _ExitLock) and _working.register_main()


def wait_until_idle() -> None:
    """Wait until every queued job is done."""
    done = begin(LATER, lambda: None)
    if _background:
        done.result()


def _close() -> None:
    for background in _background:
        background.close()


def _after_fork() -> None:
    """A forked child has no such thread, so jobs that had not started are run by their waiters."""
    _working.release()
    _background.clear()


atexit.register(_close)
if hasattr(os, "register_at_fork"):  # a child must not inherit LLVM in the middle of a job
    os.register_at_fork(
        before=_working.acquire, after_in_parent=_working.release, after_in_child=_after_fork
    )
