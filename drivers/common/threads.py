"""Threads that share a draw: neither compiled code nor NumPy on long arrays holds Python's lock.

What they do is put together in order, so that nobody can tell how many there were.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

__all__ = ["in_order", "run_all", "thread_count"]

Item = TypeVar("Item")
Result = TypeVar("Result")


@functools.cache
def thread_count(unless_told: int = 0) -> int:
    """How many threads share a draw: GALLETTE_THREADS; without it so many (0: processors)."""
    given = os.environ.get("GALLETTE_THREADS", "")
    if given.isdigit() and int(given):
        return int(given)
    if unless_told:
        return unless_told
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Pool(ThreadPoolExecutor):
    """A pool that may have fewer threads than it wants: without memory for the stack of another
    one, jobs wait for those there are. Whoever submits takes back what nobody has begun."""

    def _adjust_thread_count(self) -> None:
        with contextlib.suppress(RuntimeError):
            super()._adjust_thread_count()


@functools.cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return _Pool(max(1, threads - 1), "gallette")


def run_all(jobs: Sequence[Callable[[], None]], stop: Callable[[BaseException], None]) -> None:
    """Run jobs at once, the first in this thread.

    The jobs share what there is to do, so one that has not begun when the first is done would find
    nothing left: it is called off instead of waited for. The others are always waited for, because
    they use the caller's memory; where this thread is interrupted, `stop` tells them to end soon.
    """
    pool = _pool(thread_count())
    others = [pool.submit(job) for job in jobs[1:]]
    try:
        jobs[0]()
    finally:
        for other in others:
            _wait_for(other, stop)


def _wait_for(job: Future[None], stop: Callable[[BaseException], None]) -> None:
    """Wait for the end of a job that has begun, whatever interrupts this thread."""
    interrupted: BaseException | None = None
    while not job.cancel() and not job.done():
        try:
            job.exception()
        except BaseException as error:
            interrupted = error
            stop(error)
    if interrupted is not None:
        raise interrupted
    if not job.cancelled():
        job.result()


def in_order(
    work: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Iterator[tuple[Item, Result]]:
    """Every item with its result, in order; the work is done by several threads, this one too.

    The others are at most twice their number of items ahead, which bounds what is kept.
    """
    if threads < 2:
        for item in items:
            yield item, work(item)
        return
    pool = _pool(threads)
    coming = iter(items)
    ahead: deque[tuple[Item, Future[Result]]] = deque()
    try:
        while True:
            for item in itertools.islice(coming, 2 * threads - len(ahead)):
                ahead.append((item, pool.submit(work, item)))
            if not ahead:
                return
            item, future = ahead.popleft()
            # Nobody has begun with it yet: it is quicker done than waited for.
            result = work(item) if future.cancel() else future.result()
            yield item, result
    finally:
        for _, future in ahead:
            if not future.cancel():
                future.exception()
