"""Vertex buffers made anew for each frame: plans move on to them, with the pixels of new plans."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.drivers.jit.draw_plan import DrawPlan
from gallette.state_tracker import GL, create_context
from tests.state_tracker.helpers import errors, pixels, program

SIZE = 32
VERTEX = """
#version 330
in vec2 corner;
in vec3 tint;
out vec3 color;
void main() { gl_Position = vec4(corner, 0.0, 1.0); color = tint; }
"""
FRAGMENT = """
#version 330
in vec3 color;
out vec4 result;
void main() { result = vec4(color, 1.0); }
"""
TYPES = {GL.FLOAT: "<f4", GL.HALF_FLOAT: "<f2", GL.UNSIGNED_BYTE: "u1"}


def frames(kind: int, keeps: bool) -> Any:
    """Pictures of frames of two draws each, of triangles in a buffer of their own."""
    gl = create_context("jit", profile="core", version=(3, 3), size=(SIZE, SIZE))
    name = program(gl, VERTEX, FRAGMENT)
    gl.use_program(name)
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    at = [gl.get_attrib_location(name, each) for each in ("corner", "tint")]
    rng, found = np.random.default_rng(5), []
    for number in range(3):
        count = 6 + 3 * number  # so that later buffers are longer
        buffer = gl.gen_buffers(1)[0]
        gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
        rows = np.zeros(count, [("corner", "<f4", 2), ("tint", TYPES[kind], 4)])
        rows["corner"] = rng.uniform(-1, 1, (count, 2))
        rows["tint"] = rng.uniform(0, 255 if kind == GL.UNSIGNED_BYTE else 1, (count, 4))
        gl.buffer_data(GL.ARRAY_BUFFER, rows.nbytes, rows.tobytes(), GL.STATIC_DRAW)
        gl.vertex_attrib_pointer(at[0], 2, GL.FLOAT, False, rows.itemsize, 0)
        gl.vertex_attrib_pointer(at[1], 3, kind, True, rows.itemsize, 8)
        for slot in at:
            gl.enable_vertex_attrib_array(slot)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        gl.draw_arrays(GL.TRIANGLES, 3, count - 3)
        found.append(pixels(gl, SIZE, SIZE).copy())
        if not keeps:
            gl.delete_buffers(1, [buffer])
    assert not errors(gl)
    gl.release()
    return found


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("keeps", [False, True])
def test_they_are_drawn_by_the_plan_of_those_before(
    kind: int, keeps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: list[bool] = []
    move = DrawPlan.moved

    def noting(plan: DrawPlan, draw: Any) -> DrawPlan | None:
        found = move(plan, draw)
        moved.append(found is plan)
        return found

    monkeypatch.setattr(DrawPlan, "moved", noting)
    pictures = frames(kind, keeps)
    assert moved == [True, True]
    monkeypatch.setattr(DrawPlan, "moved", lambda *given: None)
    for mine, other in zip(pictures, frames(kind, keeps), strict=True):
        assert (mine == other).all() and mine.any()


def test_buffers_that_take_turns_have_plans_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    gl = create_context("jit", profile="core", version=(3, 3), size=(SIZE, SIZE))
    name = program(gl, VERTEX, FRAGMENT)
    gl.use_program(name)
    arrays, at = gl.gen_vertex_arrays(2), gl.get_attrib_location(name, "corner")
    for array, side in zip(arrays, (-1, 1), strict=True):
        gl.bind_vertex_array(array)
        gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
        half = np.array([0, -1, side, -1, 0, 1, side, 1], np.float32)
        gl.buffer_data(GL.ARRAY_BUFFER, half.nbytes, half.tobytes(), GL.STATIC_DRAW)
        gl.vertex_attrib_pointer(at, 2, GL.FLOAT, False, 0, 0)
        gl.enable_vertex_attrib_array(at)
    made: list[bool] = []
    monkeypatch.setattr(DrawPlan, "moved", lambda plan, draw, move=DrawPlan.moved: (
        made.append(True) or move(plan, draw)
    ))  # fmt: skip
    gl.vertex_attrib3f(gl.get_attrib_location(name, "tint"), 1, 1, 1)
    for _ in range(3):
        for array, left in zip(arrays, (True, False), strict=True):
            gl.clear(GL.COLOR_BUFFER_BIT)
            gl.bind_vertex_array(array)
            gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
            picture = pixels(gl, SIZE, SIZE)[..., 0] > 0
            assert picture[:, : SIZE // 2].all() == left
            assert picture[:, SIZE // 2 :].all() != left
    assert made == [True]
    assert not errors(gl)
    gl.release()
