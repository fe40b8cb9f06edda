"""Contexts that share objects take turns: what goes on in one stops while another draws."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL
from gallette.state_tracker.context import Context

from .helpers import errors, program

SIZE = 8
VERTEX = """#version 430
uniform float high;
out float seen;
void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0;
    gl_Position = vec4(corner.x, corner.y < 0.0 ? -1.0 : high, 0.0, 1.0);
    seen = float(gl_VertexID) + high;
}"""
WHITE = "#version 430\nout vec4 color;\nvoid main() { color = vec4(1.0); }"
Pair = tuple[Any, Any]


@pytest.fixture(params=["numpipe", "jit"])
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    """Two contexts with windows of their own."""
    if request.param == "jit":
        pytest.importorskip("llvmlite")
    first = Context(request.param, version=(4, 6), size=(SIZE, SIZE))
    second = Context(request.param, version=(4, 6), size=(SIZE, SIZE), share=first)
    for gl in (first, second):
        gl.make_current()
        gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
        name = program(gl, VERTEX, WHITE)
        gl.transform_feedback_varyings(name, 1, ["seen"], GL.INTERLEAVED_ATTRIBS)
        gl.link_program(name)
        gl.use_program(name)
    yield first, second
    for gl in (second, first):
        assert gl.released or errors(gl) == []
        gl.release()


def draw(gl: Any, rows: int) -> None:
    """The left half of so many rows, more or less: a triangle whose long side is cut off."""
    gl.make_current()
    used = gl.get_integerv(GL.CURRENT_PROGRAM)[0]
    gl.uniform1f(gl.get_uniform_location(used, "high"), 4.0 * rows / SIZE - 1.0)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)


def count(gl: Any, target: int, *draws: tuple[Any, int]) -> int:
    """What a query of `gl` counts while contexts draw."""
    gl.make_current()
    (query,) = gl.gen_queries(1)
    gl.begin_query(target, query)
    for other, rows in draws:
        draw(other, rows)
    gl.make_current()
    assert gl.get_queryiv(target, GL.CURRENT_QUERY) == [query]
    gl.end_query(target)
    (found,) = gl.get_query_objectuiv(query, GL.QUERY_RESULT)
    gl.delete_queries(1, np.array([query], np.uint32))
    return int(found)


@pytest.mark.parametrize(
    "target",
    [
        GL.SAMPLES_PASSED,
        GL.PRIMITIVES_GENERATED,
        GL.VERTEX_SHADER_INVOCATIONS,
        GL.FRAGMENT_SHADER_INVOCATIONS,
        GL.CLIPPING_INPUT_PRIMITIVES,
    ],
)
def test_queries_count_what_their_context_draws(pair: Pair, target: int) -> None:
    first, second = pair
    one, two = count(first, target, (first, 2)), count(first, target, (first, 8))
    assert one and two
    both = count(first, target, (first, 2), (second, 5), (first, 8), (second, 3), (second, 4))
    assert both == one + two
    assert count(first, target, (second, 6)) == 0
    assert count(second, target, (first, 6), (second, 2), (first, 8)) == one
    # A query that was in parts begins anew.
    first.make_current()
    (query,) = first.gen_queries(1)
    for _ in range(2):
        first.begin_query(target, query)
        draw(first, 2)
        draw(second, 7)
        first.make_current()
        first.end_query(target)
        assert first.get_query_objectuiv(query, GL.QUERY_RESULT) == [one]


def test_whether_anything_passed(pair: Pair) -> None:
    first, second = pair
    target = GL.ANY_SAMPLES_PASSED
    assert count(first, target, (second, 4)) == 0
    for turns in ([(first, 4), (second, 4)], [(second, 4), (first, 4)]):
        assert count(first, target, *turns) == 1
    assert count(first, target, (first, 4), (second, 4), (first, 4)) == 1  # not 2


def test_timers_include_the_other_contexts(pair: Pair) -> None:
    first, second = pair
    assert count(first, GL.TIME_ELAPSED, (first, 8), (second, 8), (first, 8)) > 0


def pixels(gl: Any) -> Any:
    gl.make_current()
    raw = gl.read_pixels(0, 0, SIZE, SIZE, GL.RED, GL.UNSIGNED_BYTE)
    return np.frombuffer(raw, np.uint8).reshape(SIZE, SIZE)


@pytest.mark.parametrize("mode, passed", [("QUERY_WAIT", 1), ("QUERY_WAIT_INVERTED", 0)])
@pytest.mark.parametrize("when", ["first", "last"])
def test_conditions_are_of_one_context(pair: Pair, mode: str, passed: int, when: str) -> None:
    """A query that counted in its `when` turn alone, and then who does not draw by it."""
    first, second = pair
    first.make_current()
    (query,) = first.gen_queries(1)
    for counting in (True, False):
        first.make_current()
        first.begin_query(GL.SAMPLES_PASSED, query)
        if when == "first" and counting:
            draw(first, 4)
        draw(second, 4)
        first.make_current()
        if when == "last" and counting:
            draw(first, 4)
        first.end_query(GL.SAMPLES_PASSED)
        for gl in pair:
            gl.make_current()
            gl.clear(GL.COLOR_BUFFER_BIT)
        first.make_current()
        first.begin_conditional_render(query, getattr(GL, mode))
        draw(second, 8)
        assert pixels(second).any(), "another context's condition is nothing to this one"
        second.clear(GL.COLOR_BUFFER_BIT)
        assert not pixels(second).any()
        draw(first, 8)
        assert bool(pixels(first).any()) is (counting == passed)
        first.clear_color(1.0, 1.0, 1.0, 1.0)
        first.clear(GL.COLOR_BUFFER_BIT)
        assert bool(pixels(first).all()) is (counting == passed)
        first.clear_color(0.0, 0.0, 0.0, 0.0)
        first.end_conditional_render()
        draw(first, 8)
        assert pixels(first).any()


def test_a_released_context_drops_its_render_condition(pair: Pair) -> None:
    first, second = pair
    second.make_current()
    (query,) = second.gen_queries(1)
    second.begin_query(GL.SAMPLES_PASSED, query)
    second.end_query(GL.SAMPLES_PASSED)
    second.begin_conditional_render(query, GL.QUERY_WAIT)
    second.begin_query(GL.SAMPLES_PASSED, second.gen_queries(1)[0])
    draw(first, 8)
    assert pixels(first).any()
    second.release()
    first.clear(GL.COLOR_BUFFER_BIT)
    assert not pixels(first).any()
    draw(first, 8)
    assert pixels(first).any()


def test_captures_are_of_one_context(pair: Pair) -> None:
    first, second = pair
    sizes = {}
    for gl in pair:
        gl.make_current()
        (buffer,) = gl.gen_buffers(1)
        gl.bind_buffer_base(GL.TRANSFORM_FEEDBACK_BUFFER, 0, buffer)
        gl.buffer_data(
            GL.TRANSFORM_FEEDBACK_BUFFER, 64, np.full(16, -1, np.float32), GL.STREAM_READ
        )
        sizes[gl] = buffer
    first.make_current()
    first.begin_transform_feedback(GL.TRIANGLES)
    draw(second, 2)
    draw(first, 4)
    second.make_current()
    second.begin_transform_feedback(GL.TRIANGLES)
    draw(second, 6)
    second.pause_transform_feedback()
    draw(first, 8)
    draw(second, 8)
    for gl in pair:
        gl.make_current()
        gl.end_transform_feedback()
    written = {first: [1.0, 2.0, 3.0, 3.0, 4.0, 5.0], second: [2.0, 3.0, 4.0]}
    for gl in pair:
        gl.make_current()
        raw = gl.get_buffer_sub_data(GL.TRANSFORM_FEEDBACK_BUFFER, 0, 64)
        expected = written[gl] + [-1.0] * (16 - len(written[gl]))
        assert np.frombuffer(raw, np.float32).tolist() == expected


def test_capturing_ends_with_its_context(pair: Pair) -> None:
    first, second = pair
    second.make_current()
    (buffer,) = second.gen_buffers(1)
    second.bind_buffer_base(GL.TRANSFORM_FEEDBACK_BUFFER, 0, buffer)
    second.buffer_data(GL.TRANSFORM_FEEDBACK_BUFFER, 64, np.zeros(16, np.float32), GL.STREAM_READ)
    second.begin_transform_feedback(GL.TRIANGLES)
    second.release()
    draw(first, 8)
    first.bind_buffer(GL.ARRAY_BUFFER, buffer)
    assert not np.frombuffer(first.get_buffer_sub_data(GL.ARRAY_BUFFER, 0, 64), np.uint8).any()


@pytest.mark.parametrize("driver", ["numpipe", "jit", "tiler"])
def test_clip_planes_are_not_another_contexts(driver: str) -> None:
    """A core context has none, whatever a compatibility context beside it has set."""
    if driver == "jit":
        pytest.importorskip("llvmlite")
    first = Context(driver, version=(4, 3), size=(SIZE, SIZE), profile="compat")
    second = Context(driver, version=(4, 3), size=(SIZE, SIZE), share=first)
    second.make_current()
    second.bind_vertex_array(second.gen_vertex_arrays(1)[0])
    second.use_program(program(second, VERTEX, WHITE))
    kept = []
    for context, planes in ((second, False), (first, True), (second, False), (first, True)):
        with context:
            if planes:
                context.clip_plane(GL.CLIP_PLANE0, np.array([1.0, 2.0, 3.0, 4.0]))
                context.enable(GL.CLIP_PLANE0)
            context.clear(GL.COLOR_BUFFER_BIT)
            context.draw_arrays(GL.POINTS, 0, 1)
            context.finish()
            found: Any = context.pipe
            kept.append(bool(found.bound.clip_planes))
    assert kept == [False, True, False, True]
    second.release()
    first.release()
