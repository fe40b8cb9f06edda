"""Threads that execute one draw, since compiled code and NumPy on long arrays release Python's
lock.

Results are combined in order, so that they do not depend on the number of threads.
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

Item = TypeVar("Item")
Result = TypeVar("Result")


@functools.cache
def thread_count(unless_told: int = 0) -> int:
    """How many threads execute a draw: GALLETTE_THREADS, else `unless_told` (0: one per
    processor).
    """
    given = os.environ.get("GALLETTE_THREADS", "")
    if given.isdigit() and int(given):
        return int(given)
    if unless_told:
        return unless_told
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Pool(ThreadPoolExecutor):
    """A pool that works with fewer threads if the system cannot allocate a stack for another: jobs
    queue for the existing threads, and the submitter takes back jobs that have not started.
    """

    def _adjust_thread_count(self) -> None:
        with contextlib.suppress(RuntimeError):
            super()._adjust_thread_count()


@functools.cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return _Pool(max(1, threads - 1), "gallette")


def run_all(jobs: Sequence[Callable[[], None]], stop: Callable[[BaseException], None]) -> None:
    """Run jobs at once, the first in this thread.

    The jobs draw from shared work, so a job that has not started when the first one is done would
    find none: it is cancelled. Running jobs are always awaited, because they use the caller's
    memory; if this thread is interrupted, `stop` makes them end soon.
    """
    pool = _pool(thread_count())
    others = [pool.submit(job) for job in jobs[1:]]
    try:
        jobs[0]()
    finally:
        for other in others:
            _wait_for(other, stop)


def _wait_for(job: Future[None], stop: Callable[[BaseException], None]) -> None:
    """Wait for the end of a running job, whatever interrupts this thread."""
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
    """Map `work` over items on several threads, including this one; yields results in order.

    The other threads run at most twice their number of items ahead, which bounds memory.
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
            # The job has not started: running it here is faster than waiting.
            result = work(item) if future.cancel() else future.result()
            yield item, result
    finally:
        for _, future in ahead:
            if not future.cancel():
                future.exception()
