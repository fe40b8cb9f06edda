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


def test_timers_include_the_other_contexts(pair: Pair) -> None:
    first, second = pair
    assert count(first, GL.TIME_ELAPSED, (first, 8), (second, 8), (first, 8)) > 0


def pixels(gl: Any) -> Any:
    gl.make_current()
    raw = gl.read_pixels(0, 0, SIZE, SIZE, GL.RED, GL.UNSIGNED_BYTE)
    return np.frombuffer(raw, np.uint8).reshape(SIZE, SIZE)


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
