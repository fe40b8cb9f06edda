"""Queries that begin and end between pending draws return what immediate draws give."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.drivers.common.draw import execution, queue
from gallette.drivers.common.draw.execution import Execution
from gallette.state_tracker import GL, create_context

from .helpers import pixels, program

VS = """#version 330
layout(location = 0) in vec2 corner;
uniform vec4 place;
out vec2 uv;
void main() {
    vec2 moved = corner * place.z + place.xy + vec2(gl_InstanceID) * 0.1;
    gl_Position = vec4(moved, place.w, 1.0);
    uv = corner;
}"""
FS = """#version 330
uniform vec4 tint;
in vec2 uv;
out vec4 color;
void main() { color = tint; }"""
ROUND = FS.replace("color = tint;", "if (dot(uv, uv) > 0.8) discard; color = tint;")
DEEP = FS.replace("color = tint;", "gl_FragDepth = uv.x * 0.5 + 0.5; color = tint;")
EDGED = FS.replace("color = tint;", "color = tint * (0.5 + 9.0 * abs(dFdx(uv.x)));")
CORNERS = np.array([[-1, -1], [1, -1], [-1, 1], [-1, 1], [1, -1], [1, 1]], np.float32)
COUNTED = [GL.SAMPLES_PASSED, GL.ANY_SAMPLES_PASSED, GL.PRIMITIVES_GENERATED, GL.TIME_ELAPSED]
MODES = [GL.TRIANGLES, GL.TRIANGLE_STRIP, GL.LINE_LOOP, GL.POINTS]
SIZE = 48


class Counting:
    """A context that draws and asks, at random; `answers` is what it heard but for times."""

    def __init__(self, seed: int, samples: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.gl = gl = create_context(
            "numpipe", profile="core", version=(3, 3), size=(SIZE, SIZE), samples=samples
        )
        self.programs = [program(gl, VS, fragment) for fragment in (FS, ROUND, DEEP, EDGED)]
        gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
        gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
        gl.buffer_data(GL.ARRAY_BUFFER, CORNERS.nbytes, CORNERS, GL.STATIC_DRAW)
        gl.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, 0, None)
        gl.enable_vertex_attrib_array(0)
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
        self.running: dict[int, int] = {}
        self.ended: list[tuple[int, int]] = []
        self.answers: list[int] = []

    def draw(self) -> None:
        gl, rng = self.gl, self.rng
        name = self.programs[int(rng.integers(4))] if rng.random() < 0.3 else self.programs[0]
        gl.use_program(name)
        if rng.random() < 0.2:
            what = int(rng.choice([GL.BLEND, GL.DEPTH_TEST, GL.SCISSOR_TEST, GL.CULL_FACE]))
            (gl.enable if rng.random() < 0.6 else gl.disable)(what)
            gl.scissor(*rng.integers(0, 16, 2).tolist(), *rng.integers(8, 40, 2).tolist())
            gl.blend_func(GL.ONE, GL.ONE)
        place = [*rng.uniform(-1, 1, 2).tolist(), *rng.uniform(0.1, 0.7, 2).tolist()]
        gl.uniform4f(gl.get_uniform_location(name, "place"), *place)
        gl.uniform4f(gl.get_uniform_location(name, "tint"), *rng.uniform(0, 0.4, 4).tolist())
        mode = int(rng.choice(MODES)) if rng.random() < 0.2 else GL.TRIANGLES
        count = 3 if rng.random() < 0.2 else 6
        if rng.random() < 0.2:
            gl.draw_arrays_instanced(mode, 0, count, 2)
        elif rng.random() < 0.05:
            gl.draw_arrays_instanced(mode, 0, count, 2000)  # nothing that waits
        else:
            gl.draw_arrays(mode, 0, count)

    def toggle(self) -> None:
        """Begin a query, or end it; of those that count samples there is one at a time."""
        gl, target = self.gl, int(self.rng.choice(COUNTED))
        if target in self.running:
            gl.end_query(target)
            self.ended.append((self.running.pop(target), target))
        elif not {*COUNTED[:2]} & {*self.running} or target not in COUNTED[:2]:
            (self.running[target],) = gl.gen_queries(1)
            gl.begin_query(target, self.running[target])

    def ask(self) -> None:
        for name, target in self.ended:
            (found,) = self.gl.get_query_objectuiv(name, GL.QUERY_RESULT)
            if target != GL.TIME_ELAPSED:
                self.answers.append(found)
        self.ended.clear()

    def forget(self) -> None:
        """Queries are deleted, some of them running or not yet answered."""
        names = [name for name, _ in self.ended[:1]] + list(self.running.values())[:1]
        self.gl.delete_queries(len(names), names)
        self.ended = self.ended[1:]
        self.running = {t: n for t, n in self.running.items() if n not in names}

    def conditional(self) -> None:
        some = [name for name, target in self.ended if target in COUNTED[:2]]
        if some:
            self.gl.begin_conditional_render(some[0], GL.QUERY_WAIT)
            self.draw()
            self.gl.end_conditional_render()


def story(seed: int, samples: int) -> tuple[list[int], npt.NDArray[Any]]:
    one = Counting(seed, samples)
    for _ in range(220):
        chance = one.rng.random()
        if chance < 0.6:
            one.draw()
        elif chance < 0.96:
            one.toggle()
        elif chance < 0.975:
            one.ask()
        elif chance < 0.985:
            one.conditional()
        else:
            one.forget()
    one.ask()
    found = np.array(pixels(one.gl))
    assert one.gl.get_error() == GL.NO_ERROR
    one.gl.release()
    return one.answers, found


@pytest.mark.parametrize("samples", [0, 4])
@pytest.mark.parametrize("seed", range(3))
def test_answers_and_pictures_are_those_of_draws_at_once(
    seed: int, samples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "WORTH_MERGING", 2)
    answers, waited = story(seed, samples)
    monkeypatch.setattr(queue, "SMALL", 0)
    at_once, drawn = story(seed, samples)
    assert len([each for each in answers if each]) > 8
    assert answers == at_once
    np.testing.assert_array_equal(waited, drawn)


def test_draws_with_a_query_each_are_pending_together(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []
    execute = Execution.run

    def counted(self: Execution, draws: Any) -> None:
        found.append(len(draws))
        execute(self, draws)

    monkeypatch.setattr(Execution, "run", counted)
    gl = Counting(1, 0).gl
    name = gl.get_integerv(GL.CURRENT_PROGRAM)[0]
    place = gl.get_uniform_location(name, "place")
    queries = gl.gen_queries(120)
    for number in range(40):
        for target, query in zip(COUNTED[1:], queries[3 * number :], strict=False):
            gl.begin_query(target, query)
        gl.uniform4f(place, number / 20 - 1, 0.0, 0.1, 2.0 if number % 4 == 3 else 0.0)
        gl.draw_arrays(GL.TRIANGLES, 0, 6)
        for target in COUNTED[1:]:
            gl.end_query(target)
    answers = [gl.get_query_objectuiv(query, GL.QUERY_RESULT)[0] for query in queries]
    assert found == [40]
    assert answers[0::3] == [1, 1, 1, 0] * 10
    assert answers[1::3] == [2] * 40
    assert all(time > 0 for time in answers[2::3])
    gl.release()


def test_times_follow_one_another() -> None:
    gl = Counting(2, 0).gl
    queries = gl.gen_queries(20)
    for query in queries:
        gl.query_counter(query, GL.TIMESTAMP)
        gl.draw_arrays(GL.TRIANGLES, 0, 6)
    times = [gl.get_query_objectui64v(query, GL.QUERY_RESULT)[0] for query in queries]
    assert times == sorted(times)
    assert times[0] < times[-1]
    gl.release()


def test_one_triangle_in_quads_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = []
    for small in (4096, 0):
        monkeypatch.setattr(queue, "SMALL", small)
        one = Counting(3, 0)
        gl = one.gl
        (query,) = gl.gen_queries(1)
        for name in (one.programs[0], one.programs[3]):
            gl.use_program(name)
            gl.uniform4f(gl.get_uniform_location(name, "place"), 0.0, 0.0, 0.5, 0.0)
            gl.uniform4f(gl.get_uniform_location(name, "tint"), 1.0, 1.0, 1.0, 1.0)
            if name == one.programs[3]:
                gl.begin_query(GL.SAMPLES_PASSED, query)
            gl.draw_arrays(GL.TRIANGLES, 0, 3)
        gl.end_query(GL.SAMPLES_PASSED)
        answers.append(gl.get_query_objectuiv(query, GL.QUERY_RESULT)[0])
        gl.release()
    assert answers[0] == answers[1] > 200


def test_a_context_may_end_with_pending_queries_and_written_buffers() -> None:
    one = Counting(4, 0)
    gl, (query, running) = one.gl, one.gl.gen_queries(2)
    gl.begin_query(GL.TIME_ELAPSED, running)
    for _ in range(5):
        gl.begin_query(GL.SAMPLES_PASSED, query)
        gl.draw_arrays(GL.TRIANGLES, 0, 6)
        gl.end_query(GL.SAMPLES_PASSED)
        gl.buffer_sub_data(GL.ARRAY_BUFFER, 0, 8, CORNERS[:1] * 0.5)
    gl.delete_queries(1, [query])
    assert gl.get_error() == GL.NO_ERROR
    gl.release()  # which says so if resources were left
