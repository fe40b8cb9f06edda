"""Threads that share a draw: all of the work is done, in order, and its errors arrive."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from gallette.drivers.common import threads
from gallette.drivers.common.threads import in_order, run_all, thread_count


def _never(error: BaseException) -> None:
    pytest.fail(f"nothing interrupts this thread: {error}")


@pytest.fixture
def counted() -> Iterator[None]:
    """What is remembered of the environment is forgotten before and after."""
    thread_count.cache_clear()
    yield
    thread_count.cache_clear()


@pytest.mark.usefixtures("counted")
def test_how_many_threads_share_a_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    for told, unless_told, wanted in (
        ("3", 0, 3),
        ("3", 7, 3),
        ("1", 7, 1),
        ("0", 7, 7),
        ("many", 7, 7),
        ("-2", 7, 7),
        ("", 1, 1),
        ("", 0, len(os.sched_getaffinity(0))),
    ):
        thread_count.cache_clear()
        monkeypatch.setenv("GALLETTE_THREADS", told)
        assert thread_count(unless_told) == wanted
    monkeypatch.delenv("GALLETTE_THREADS")
    thread_count.cache_clear()
    assert thread_count(5) == 5
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    monkeypatch.delattr(os, "sched_getaffinity")
    thread_count.cache_clear()
    assert thread_count() == 1
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    thread_count.cache_clear()
    assert thread_count() == 6


@pytest.mark.usefixtures("counted")
def test_the_first_job_is_done_here_and_others_that_began_are_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GALLETTE_THREADS", "3")
    begun, done = threading.Event(), threading.Event()
    found: list[str] = []

    def first() -> None:
        found.append(threading.current_thread().name)
        assert begun.wait(10)
        done.set()

    def second() -> None:
        begun.set()
        assert done.wait(10)
        found.append("second")

    run_all([first, second], _never)
    assert found == [threading.current_thread().name, "second"]
    assert [t.name for t in threading.enumerate() if t.name.startswith("gallette")]
    run_all([lambda: found.append("alone")], _never)
    assert found[2:] == ["alone"]


@pytest.mark.usefixtures("counted")
def test_an_error_of_another_thread_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GALLETTE_THREADS", "3")
    begun = threading.Event()

    def fails() -> None:
        begun.set()
        raise KeyError("of another thread")

    def waits() -> None:
        assert begun.wait(10)

    with pytest.raises(KeyError, match="of another thread"):
        run_all([waits, fails], _never)


def test_jobs_that_have_not_begun_are_called_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one thread that is busy."""
    busy, free = threading.Event(), threading.Event()
    pool = ThreadPoolExecutor(1)
    monkeypatch.setattr(threads, "_pool", lambda _: pool)
    pool.submit(lambda: busy.wait(10))
    found: list[int] = []
    run_all([lambda: found.append(1), lambda: found.append(2)], _never)
    assert found == [1]
    busy.set()
    pool.submit(free.set)
    assert free.wait(10) and found == [1]
    pool.shutdown()


def test_a_pool_has_one_thread_less_than_there_are() -> None:
    for count, wanted in ((1, 1), (2, 1), (3, 2), (9, 8)):
        assert threads._pool.__wrapped__(count)._max_workers == wanted


@pytest.mark.parametrize("count", [1, 2, 3])
def test_results_come_in_order(count: int) -> None:
    ahead: list[int] = []

    def items() -> Iterator[int]:
        for k in range(40):
            ahead.append(k)
            yield k

    for k, (item, result) in enumerate(in_order(lambda x: x * x, items(), count)):
        assert (item, result) == (k, k * k)
        most = 1 if count == 1 else 2 * count
        assert len(ahead) <= k + most  # what is kept has a bound
    assert k == 39
    assert list(in_order(lambda x: x, [], count)) == []


def test_an_early_stop_leaves_no_job_running(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has begun is waited for, with its error or without; what has not is called off."""
    pool = ThreadPoolExecutor(1)
    monkeypatch.setattr(threads, "_pool", lambda _: pool)
    begun, go_on = threading.Event(), threading.Event()
    finished: list[int] = []

    def work(item: int) -> int:
        if item == 0:
            return 0
        begun.set()
        assert go_on.wait(10)
        finished.append(item)
        raise KeyError(item)

    coming = in_order(work, range(10), 2)
    assert next(coming) == (0, 0)
    assert begun.wait(10)
    timer = threading.Timer(0.05, go_on.set)
    timer.start()
    coming.close()  # type: ignore[attr-defined]
    assert finished[:1] == [1]
    timer.join()
    pool.shutdown()
    assert finished == [*range(1, len(finished) + 1)] and len(finished) < 5
