"""Threads that run compiled code: it does not hold Python's lock while it runs."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

__all__ = ["run_all", "thread_count"]


@functools.cache
def thread_count() -> int:
    """How many threads share a draw: GALLETTE_THREADS, by default one per processor."""
    given = os.environ.get("GALLETTE_THREADS", "")
    if given.isdigit() and int(given):
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(1, thread_count() - 1), "gallette-jit")


def run_all(jobs: Sequence[Callable[[], None]]) -> None:
    """Run jobs at once, the first in this thread.

    The jobs share what there is to do, so one that has not begun when the first is done would find
    nothing left: it is called off instead of waited for.
    """
    others = [_pool().submit(job) for job in jobs[1:]]
    try:
        jobs[0]()
    finally:
        for other in others:
            if not other.cancel():
                other.result()
