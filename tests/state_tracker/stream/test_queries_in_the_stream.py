"""Hundreds of queries that begin and end between draws in the command stream."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.drivers.common.context import HostContext
from gallette.drivers.common.draw import queue
from gallette.drivers.common.draw.queue import DrawQueue
from gallette.state_tracker import GL
from gallette.state_tracker.entry_points import machine_code
from gallette.state_tracker.stream.batch import Batch
from tests.state_tracker.stream.worlds import SIZE, Recorded, draw, pending

pytestmark = pytest.mark.skipif(
    not machine_code.possible(), reason="there is a command stream on x86-64 with Linux only"
)


"""At random numbers above comes something other than draws and queries."""


@pytest.fixture
def agreed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Whenever something is done the long way, and in the end, queries are active that are for the
    driver: how often that was looked at."""
    looked: list[int] = []

    def look(self: Batch) -> None:
        queries = [query for query in self._ctx.queries.names._objects.values() if query]
        active = [query for query in queries if query.handle and query.handle.active]
        assert [query for query in queries if query.active] == active
        assert list(self._ctx.queries.active.values()) == active
        looked.append(len(active))

    make, every = Batch._make, Batch.execute

    def made(self: Batch, place: int, entry: int) -> None:
        look(self)
        make(self, place, entry)

    def end(self: Batch) -> int:
        done = every(self)
        look(self)
        return done

    monkeypatch.setattr(Batch, "_make", made)
    monkeypatch.setattr(Batch, "execute", end)
    return looked


@pytest.mark.parametrize("states", [1, 40])
def test_one_look_is_enough(
    states: int, world: Recorded, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once draws are known, those of any state and the queries around them are done together."""
    done: list[int] = []
    extend = DrawQueue.extend

    def counted(self: DrawQueue, *args: Any) -> tuple[int, bool]:
        found = extend(self, *args)
        done.append(found[0])
        return found

    gl = world.gl
    gl.uniform4fv(world.place, 1, np.array([0, 0, 0, 1], np.float32))
    gl.enable(GL.SCISSOR_TEST)
    monkeypatch.setattr(DrawQueue, "extend", counted)
    for frame in range(6):
        if frame == 5:
            gl.finish()
            del sizes[:], done[:]
        for number in range(120):
            gl.scissor(0, 0, 1 + number % states, 2)
            gl.begin_query(GL.SAMPLES_PASSED, world.queries[number % 4])
            draw(world, 1 + number % 3)
            gl.end_query(GL.SAMPLES_PASSED)
    gl.finish()
    assert len(sizes) == 1
    assert sizes[0] > 460
    assert len(done) <= 2
    assert sum(done) >= sizes[0] - 4
    assert gl.get_query_objectuiv(world.queries[0], GL.QUERY_RESULT)[0] > 0


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
@pytest.mark.parametrize("before", [0, 1, 9])
def test_queries_are_distinguished_in_the_middle_of_many_draws(before: int, driver: str) -> None:
    """Many draws are looked at together, some of them in a query."""
    world = Recorded(driver, 5)
    gl, counted = world.gl, world.queries[0]
    gl.uniform4fv(world.place, 1, np.array([0, 0, 0, 1], np.float32))
    draw(world, 30)
    for inside in (5, 1, 12, 0, 7):
        draw(world, before)
        gl.begin_query(GL.SAMPLES_PASSED, counted)
        draw(world, inside)
        gl.end_query(GL.SAMPLES_PASSED)
        draw(world, before)
        assert pending()
        assert gl.get_query_objectuiv(counted, GL.QUERY_RESULT) == [SIZE * SIZE * inside]
        draw(world, 200)
    gl.release()


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_queries_are_distinguished_far_into_a_series(driver: str) -> None:
    """No more than some are looked at together: the next ones when another number counts."""
    world = Recorded(driver, 5)
    gl, (one, two, *_) = world.gl, world.queries
    gl.uniform4fv(world.place, 1, np.array([0, 0, 0, 1], np.float32))
    draw(world, 30)
    for inside in (0, 7):
        gl.enable(GL.SCISSOR_TEST)
        gl.scissor(0, 0, 10, 1)
        gl.begin_query(GL.SAMPLES_PASSED, one)
        draw(world, 900)
        gl.end_query(GL.SAMPLES_PASSED)
        gl.disable(GL.SCISSOR_TEST)
        draw(world, 300)
        gl.begin_query(GL.SAMPLES_PASSED, two)
        draw(world, inside)
        gl.end_query(GL.SAMPLES_PASSED)
        assert pending()
        assert gl.get_query_objectuiv(one, GL.QUERY_RESULT) == [9000]
        assert gl.get_query_objectuiv(two, GL.QUERY_RESULT) == [SIZE * SIZE * inside]
    gl.release()


@pytest.mark.parametrize("every", [1, 3])
def test_a_driver_may_refuse_anything(
    every: int, world: Recorded, agreed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of a series, each time or often: then that is made by the ordinary entry points."""
    gl, calls = world.gl, 0
    draw_series = HostContext.draw_series

    def some(self: HostContext, series: Any) -> int:
        nonlocal calls
        calls += 1
        return draw_series(self, series) if calls % every else 0

    gl.uniform4fv(world.place, 1, np.array([0, 0, 0, 1], np.float32))
    for _ in range(3):
        draw(world, 10)
        monkeypatch.setattr(HostContext, "draw_series", some)
        for number in range(20):
            gl.begin_query(GL.SAMPLES_PASSED, world.queries[number % 4])
            draw(world, number % 4)
            gl.end_query(GL.SAMPLES_PASSED)
        found = [gl.get_query_objectuiv(query, GL.QUERY_RESULT)[0] for query in world.queries]
        assert found == [SIZE * SIZE * number for number in range(4)]
    assert len(agreed) > 5
    assert calls > 2


@pytest.mark.parametrize("most", [7, 60, 4096])
def test_objects_of_a_series_are_released(
    most: int, world: Recorded, agreed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However early it ends, because no more draws may wait."""
    monkeypatch.setattr(queue, "MOST", most)
    gl = world.gl
    gl.enable(GL.SCISSOR_TEST)
    told = []
    for _ in range(4):
        for number in range(100):
            gl.scissor(number % 10, number // 10, 40, 40)
            gl.begin_query(GL.SAMPLES_PASSED, world.queries[number % 4])
            draw(world, 1)
            gl.end_query(GL.SAMPLES_PASSED)
        assert pending()
        told.append([gl.get_query_objectuiv(name, GL.QUERY_RESULT) for name in world.queries])
    assert told == [told[0]] * 4
    assert len(agreed) > (4 if most > 100 else 8)
    assert told[0][0] != [0]
    memory = world.plain.pipe._queue._memory
    assert len(memory._found) >= 100
    assert not [given for given in memory._found.values() if given.held]
