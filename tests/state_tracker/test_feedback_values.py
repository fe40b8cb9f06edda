"""Feedback and selection, value by value: primitives, formats, clipping, culling, names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from tests.state_tracker.helpers import errors

TOKENS = {
    GL.POINT_TOKEN: "point", GL.LINE_TOKEN: "line", GL.LINE_RESET_TOKEN: "first line",
    GL.POLYGON_TOKEN: "polygon", GL.PASS_THROUGH_TOKEN: "passed", GL.BITMAP_TOKEN: "bitmap",
    GL.DRAW_PIXEL_TOKEN: "pixels", GL.COPY_PIXEL_TOKEN: "copy",
}  # fmt: skip


@pytest.fixture
def gl() -> Iterator[Any]:
    made = Context("numpipe", profile="compat", version=(4, 6), size=(8, 8))
    yield made
    made.release()


def fed(gl: Any, draw: Callable[[Any], None], format: int = GL._2D, size: int = 200) -> list[Any]:
    """What came back; tokens by name."""
    values = np.zeros(max(size, 1), np.float32)
    gl.feedback_buffer(size, format, values)
    assert gl.render_mode(GL.FEEDBACK) == 0
    assert gl.get_integerv(GL.RENDER_MODE)[0] == GL.FEEDBACK
    draw(gl)
    count = gl.render_mode(GL.RENDER)
    assert errors(gl) == []
    found = values[: max(count, 0)].tolist()
    return [TOKENS.get(int(v), round(v, 4)) if v > 1000 else round(v, 4) for v in found]


def shape(gl: Any, mode: int, points: Sequence[tuple[float, ...]]) -> None:
    gl.begin(mode)
    for point in points:
        (gl.vertex2f, gl.vertex3f, gl.vertex4f)[len(point) - 2](*point)
    gl.end()


A, B, C, D = (-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)


@pytest.mark.parametrize("face", ["FRONT", "BACK", "FRONT_AND_BACK"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("clockwise", [False, True])
def test_culled_polygons_are_not_fed_back(
    gl: Any, face: str, turned: bool, clockwise: bool
) -> None:
    gl.enable(GL.CULL_FACE)
    gl.cull_face(getattr(GL, face))
    gl.front_face(GL.CW if turned else GL.CCW)
    corners = [A, C, B] if clockwise else [A, B, C]
    front = clockwise == turned
    gone = face == "FRONT_AND_BACK" or (face == "FRONT") == front
    found = fed(gl, lambda gl: shape(gl, GL.TRIANGLES, corners))
    assert bool(found) != gone
    assert fed(gl, lambda gl: shape(gl, GL.LINES, [A, B])) == ["first line", 2, 2, 6, 2]
    gl.disable(GL.CULL_FACE)
    assert fed(gl, lambda gl: shape(gl, GL.TRIANGLES, corners))


# -- selection


def selected(gl: Any, draw: Callable[[Any], None], size: int = 64) -> tuple[int, list[Any]]:
    """How many records; each as (names, nearest, farthest), depths from 0 to 1."""
    words = np.zeros(max(size, 1), np.uint32)
    gl.select_buffer(size, words)
    assert gl.get_integerv(GL.SELECTION_BUFFER_SIZE)[0] == size
    gl.render_mode(GL.SELECT)
    draw(gl)
    count = gl.render_mode(GL.RENDER)
    records, at = [], 0
    for _ in range(max(count, 0)):
        names, near, far = (int(w) for w in words[at : at + 3])
        records.append(([int(w) for w in words[at + 3 : at + 3 + names]],
                        round(near / 0xFFFFFFFF, 4), round(far / 0xFFFFFFFF, 4)))  # fmt: skip
        at += 3 + names
    return count, records


def test_records_that_do_not_fit(gl: Any) -> None:
    def draw(gl: Any) -> None:
        gl.init_names()
        gl.push_name(3)
        shape(gl, GL.POINTS, [(0, 0)])

    assert selected(gl, draw, 4)[0] == 1
    assert selected(gl, draw, 3)[0] == -1
    assert selected(gl, draw, 0)[0] == -1


def test_the_stack_of_names_has_an_end(gl: Any) -> None:
    most = gl.get_integerv(GL.MAX_NAME_STACK_DEPTH)[0]
    assert most == 64

    def draw(gl: Any) -> None:
        gl.pop_name()
        assert errors(gl) == ["GL_STACK_UNDERFLOW"]
        gl.load_name(1)
        assert errors(gl) == ["GL_INVALID_OPERATION"]
        for name in range(most):
            gl.push_name(name)
            assert gl.get_integerv(GL.NAME_STACK_DEPTH)[0] == name + 1
        assert errors(gl) == []
        gl.push_name(1)
        assert errors(gl) == ["GL_STACK_OVERFLOW"]
        gl.pop_name()
        assert gl.get_integerv(GL.NAME_STACK_DEPTH)[0] == most - 1

    assert selected(gl, draw) == (0, [])
    for call in (gl.init_names, gl.pop_name, lambda: gl.load_name(1), lambda: gl.push_name(1)):
        call()  # does nothing when nothing is selected
        assert errors(gl) == []
    assert gl.get_integerv(GL.NAME_STACK_DEPTH)[0] == 0


@pytest.mark.parametrize("letter", "sifd")
@pytest.mark.parametrize("pointer", [False, True])
def test_rectangles_are_polygons_of_two_corners(gl: Any, letter: str, pointer: bool) -> None:
    """Counterclockwise from the first corner; what is beyond the window is cut off."""
    kind = {"s": np.int16, "i": np.int32, "f": np.float32, "d": np.float64}[letter]
    first, second = np.array([-1, 0], kind), np.array([1, 3], kind)

    def draw(gl: Any) -> None:
        if pointer:
            getattr(gl, f"rect{letter}v")(first, second)
        else:
            getattr(gl, f"rect{letter}")(*first.tolist(), *second.tolist())

    found = fed(gl, draw)
    corners = {
        tuple(found[at : at + 2])
        for i in range(len(found)) if found[i] == "polygon"
        for at in range(i + 2, i + 2 + 2 * int(found[i + 1]), 2)
    }  # fmt: skip
    assert {(0, 4), (8, 4), (0, 8), (8, 8)} <= corners
    assert all(x in (0, 8) or y == 8 for x, y in corners)
    gl.enable(GL.CULL_FACE)
    assert fed(gl, draw) == found  # a front face
    gl.front_face(GL.CW)
    assert fed(gl, draw) == []
    gl.begin(GL.POINTS)
    draw(gl)
    gl.end()
    assert errors(gl) == ["GL_INVALID_OPERATION"]
