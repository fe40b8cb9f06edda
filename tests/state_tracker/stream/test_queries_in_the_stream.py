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
from tests.state_tracker.stream.worlds import SIZE, Recorded, draw, pending, switch_off

pytestmark = pytest.mark.skipif(
    not machine_code.possible(), reason="there is a command stream on x86-64 with Linux only"
)


RARE = {"nothing": 1, "writes": 0.93, "clears": 0.93, "targets": 0.95}
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


class Asking:
    """Draws of a few states, most of them counted by a query."""

    def __init__(self, driver: str, seed: int) -> None:
        self.world = Recorded(driver, 5)
        self.gl, self.random = self.world.gl, np.random.default_rng(seed)
        self.names = self.gl.gen_queries(30)
        self.names += self.gl.create_queries(GL.SAMPLES_PASSED, 5)
        for name in self.names[:25]:  # the driver does not know the others yet
            self.gl.begin_query(GL.SAMPLES_PASSED, name)
            self.gl.end_query(GL.SAMPLES_PASSED)
        self.active = False
        self.answers: list[Any] = []
        self.gl.uniform4fv(self.world.place, 1, np.array([0, 0, 0, 0.5], np.float32))
        draw(self.world, 4)

    def step(self, other: str) -> None:
        gl, random, world = self.gl, self.random, self.world
        what = random.random()
        if what < 0.4:
            if self.active:
                gl.end_query(GL.SAMPLES_PASSED)
            else:
                gl.begin_query(GL.SAMPLES_PASSED, world.pick(self.names))
            self.active = not self.active
        elif what < 0.5:
            x, y = (int(v) for v in random.integers(0, SIZE // 2, 2))
            gl.scissor(x, y, int(random.integers(9, SIZE)), 30)
            (gl.enable if random.random() < 0.7 else gl.disable)(GL.SCISSOR_TEST)
        elif what > RARE.get(other, 0.985):
            self.between(other)
        else:
            place = np.append(random.uniform(-1, 1, 3), random.uniform(0.1, 0.6))
            gl.uniform4fv(world.place, 1, place.astype(np.float32))
            gl.draw_arrays(GL.TRIANGLE_STRIP, int(random.integers(2)), 4)

    def between(self, other: str) -> None:
        gl, random, world = self.gl, self.random, self.world
        if other == "writes":
            gl.bind_buffer(GL.ARRAY_BUFFER, world.pick(world.buffers))
            vertices = random.uniform(-1, 1, 2).astype(np.float32)
            gl.buffer_sub_data(GL.ARRAY_BUFFER, 8 * int(random.integers(5)), 8, vertices)
        elif other == "clears":
            gl.clear_color(*random.random(4).tolist())
            gl.enable(GL.SCISSOR_TEST)
            gl.scissor(*(int(v) for v in random.integers(0, 80, 2)), 14, 9)
            gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
        elif other == "targets":
            gl.bind_framebuffer(GL.FRAMEBUFFER, world.pick((0, *world.targets[:2])))
        elif other == "deletions":
            gone = world.pick(self.names)
            gl.delete_queries(1, np.array([gone], np.uint32))
            self.names.remove(gone)
            self.names += gl.gen_queries(1)
            self.active = bool(gl.get_queryiv(GL.SAMPLES_PASSED, GL.CURRENT_QUERY)[0])
        else:  # errors
            gl.begin_query(GL.SAMPLES_PASSED, world.pick((0, 77777, *self.names)))
            self.answers.append(gl.get_error())
            self.active = bool(gl.get_queryiv(GL.SAMPLES_PASSED, GL.CURRENT_QUERY)[0])

    def report(self) -> None:
        """What the queries have counted that are not active."""
        if self.active:
            self.gl.end_query(GL.SAMPLES_PASSED)
            self.active = False
        ask = self.gl.get_query_objectuiv
        self.answers += [ask(name, GL.QUERY_RESULT) for name in self.names if self.asked(name)]

    def asked(self, name: int) -> bool:
        return bool(self.gl.is_query(name))

    def run(self, other: str) -> Any:
        for _ in range(9):
            for _ in range(120):
                self.step(other)
            if self.random.random() < 0.5:
                self.gl.finish()  # perhaps while a query is active
            else:
                self.report()
        self.report()
        self.answers.append(self.gl.get_error())
        self.gl.bind_framebuffer(GL.FRAMEBUFFER, 0)
        return self.world.read(0), self.answers


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
@pytest.mark.parametrize("other", ["nothing", "writes", "clears", "targets", "deletions", "errors"])
def test_recorded_queries_answer_like_others(
    other: str,
    driver: str,
    sizes: list[int],
    agreed: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = Asking(driver, 3)
    first = one.run(other)
    assert sum(sizes) > 300
    assert sum(sizes) > 50
    assert {*agreed} == {0, 1}
    states = one.world.plain.pipe._states
    assert not states.bound.counting_samples
    one.world.gl.release()
    switch_off(monkeypatch)
    another = Asking(driver, 3)
    second = another.run(other)
    another.world.gl.release()
    assert first == second
    assert sum(found != [0] for found in first[1]) > 15


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


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_alternating_writes_and_draws_are_counted(driver: str) -> None:
    """Each draw has vertices of its own, and many are in one query."""
    world = Recorded(driver, 5)
    gl = world.gl
    gl.uniform4fv(world.place, 1, np.array([0, 0, 0, 1], np.float32))
    gl.bind_buffer(GL.ARRAY_BUFFER, world.buffers[0])
    square = np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]], np.float32)
    draw(world, 30)
    for _ in range(3):
        for query, size in zip(world.queries, (0.25, 0.5, 0, 1), strict=True):
            gl.begin_query(GL.SAMPLES_PASSED, query)
            for _ in range(9):
                gl.buffer_sub_data(GL.ARRAY_BUFFER, 0, 32, square * np.float32(size))
                draw(world, 1)
            gl.end_query(GL.SAMPLES_PASSED)
        assert pending()
        found = [gl.get_query_objectuiv(query, GL.QUERY_RESULT)[0] for query in world.queries]
        assert found == [9 * int(SIZE * size) ** 2 for size in (0.25, 0.5, 0, 1)]
        draw(world, 30)
    gl.release()


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_a_draw_that_samples_its_target_is_not_deferred(
    driver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Draws of other states come to wait in the middle of a series, if they may."""
    pictures = []
    for recorded in (True, False):
        if not recorded:
            switch_off(monkeypatch)
        world = Recorded(driver, 5)
        gl = world.gl
        for frame in range(4):
            for number in range(12):
                gl.uniform4fv(world.place, 1, np.array([number / 12, 0, 0, 0.3], np.float32))
                gl.bind_texture(GL.TEXTURE_2D, world.textures[0])
                gl.bind_framebuffer(GL.FRAMEBUFFER, world.targets[0])
                gl.uniform4fv(world.tint, 1, np.full(4, number / 12 + frame / 48, np.float32))
                gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
                gl.bind_framebuffer(GL.FRAMEBUFFER, 0)
                for texture in (world.textures[1], world.images[0]):
                    gl.bind_texture(GL.TEXTURE_2D, texture)
                    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
            pictures.append(world.read(0))
        gl.release()
    assert pictures[:4] == pictures[4:]
    assert len({*pictures}) == 4


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
