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
PRIMITIVES: dict[str, list[Any]] = {
    # in window coordinates: A is (2, 2), B (6, 2), C (6, 6), D (2, 6)
    "POINTS": ["point", "A", "point", "B", "point", "C", "point", "D"],
    "LINES": ["first line", "A", "B", "first line", "C", "D"],
    "LINE_STRIP": ["first line", "A", "B", "line", "B", "C", "line", "C", "D"],
    "LINE_LOOP": ["first line", "A", "B", "line", "B", "C", "line", "C", "D", "line", "D", "A"],
}
WINDOW = {"A": [2, 2], "B": [6, 2], "C": [6, 6], "D": [2, 6]}


@pytest.mark.parametrize("mode", PRIMITIVES)
def test_points_and_lines(gl: Any, mode: str) -> None:
    """A line after another of its strip goes on with its stipple."""
    wanted: list[Any] = []
    for word in PRIMITIVES[mode]:
        wanted += WINDOW.get(word, [word])
    assert fed(gl, lambda gl: shape(gl, getattr(GL, mode), [A, B, C, D])) == wanted


def test_strips_restart(gl: Any) -> None:
    def draw(gl: Any) -> None:
        shape(gl, GL.LINE_STRIP, [A, B, C])
        shape(gl, GL.LINE_STRIP, [C, D])

    found = fed(gl, draw)
    assert [v for v in found if isinstance(v, str)] == ["first line", "line", "first line"]


@pytest.mark.parametrize(("mode", "count"), [("TRIANGLES", 1), ("TRIANGLE_STRIP", 2),
                                             ("TRIANGLE_FAN", 2)])  # fmt: skip
def test_polygons_have_so_many_corners(gl: Any, mode: str, count: int) -> None:
    found = fed(gl, lambda gl: shape(gl, getattr(GL, mode), [A, B, C, D]))
    assert len(found) == count * 8
    assert [found[i : i + 2] for i in range(0, len(found), 8)] == [["polygon", 3]] * count
    assert sorted(tuple(found[i : i + 2]) for i in (2, 4, 6)) == [(2, 2), (6, 2), (6, 6)]


def test_formats(gl: Any) -> None:
    """2, 3, 3 + 4, 3 + 4 + 4 and 4 + 4 + 4 values of a vertex."""

    def draw(gl: Any) -> None:
        gl.color4f(0.25, 0.5, 0.75, 1.0)
        gl.tex_coord4f(5, 6, 7, 8)
        gl.depth_range(0.5, 1.0)
        gl.viewport(1, 2, 4, 6)
        shape(gl, GL.POINTS, [(1.0, -1.0, 0.5, 2.0)])

    place = [1 + 4 * 0.75, 2 + 6 * 0.25, 0.5 + 0.5 * 0.625]
    color, texture = [0.25, 0.5, 0.75, 1.0], [5, 6, 7, 8]
    for format, wanted in {
        GL._2D: place[:2], GL._3D: place, GL._3D_COLOR: place + color,
        GL._3D_COLOR_TEXTURE: place + color + texture,
        GL._4D_COLOR_TEXTURE: [*place, 2, *color, *texture],
    }.items():  # fmt: skip
        assert fed(gl, draw, format) == ["point", *(round(v, 4) for v in wanted)]
        assert gl.get_integerv(GL.FEEDBACK_BUFFER_TYPE)[0] == format


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ([(-3, 0), (0, 0)], [0, 4, 4, 4]),
        ([(0, 0), (3, 0)], [4, 4, 8, 4]),
        ([(0, -3), (0, 3)], [4, 0, 4, 8]),
        ([(-2, -2), (2, 2)], [0, 0, 8, 8]),
        ([(2, 0), (3, 0)], []),
        ([(0, 2), (0, 3)], []),
        ([(-2, 0), (-3, 0)], []),
        ([(0, 0, -3), (0.5, 0, 1)], [5, 4, 6, 4]),
        ([(0, 0, 3), (0.5, 0, -1)], [5, 4, 6, 4]),
        ([(0, 0, 2), (0, 0, 3)], []),
        ([(-1, 0), (1, 0)], [0, 4, 8, 4]),
    ],
)
def test_lines_are_clipped(gl: Any, line: list[tuple[float, ...]], wanted: list[float]) -> None:
    found = fed(gl, lambda gl: shape(gl, GL.LINES, line))
    assert found == (["first line", *wanted] if wanted else [])


def test_points_and_triangles_are_clipped(gl: Any) -> None:
    points = [(1.0, 1.0), (1.01, 0), (-1.01, 0), (0, 1.01), (0, -1.01), (0, 0, 1.01), (0, 0, -1)]
    found = fed(gl, lambda gl: shape(gl, GL.POINTS, points))
    assert found == ["point", 8, 8, "point", 4, 4]
    # The corner beyond x = 1 is cut off: two corners take its place, with colours between.
    gl.begin(GL.TRIANGLES)
    gl.end()

    def draw(gl: Any) -> None:
        gl.begin(GL.TRIANGLES)
        for x, y, red in ((0, -1, 0.0), (2, 0, 1.0), (0, 1, 0.0)):
            gl.color3f(red, 0, 0)
            gl.vertex2f(x, y)
        gl.end()

    found = fed(gl, draw, GL._3D_COLOR)
    assert found[:2] == ["polygon", 4]
    corners = [found[2 + 7 * i : 9 + 7 * i] for i in range(4)]
    assert [c[:4] for c in corners] == [
        [4, 0, 0.5, 0], [8, 2, 0.5, 0.5], [8, 6, 0.5, 0.5], [4, 8, 0.5, 0],
    ]  # fmt: skip
    assert fed(gl, lambda gl: shape(gl, GL.TRIANGLES, [(2, 2), (3, 2), (2, 3)])) == []


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


def test_pixel_rectangles_have_tokens_of_their_own(gl: Any) -> None:
    def draw(gl: Any) -> None:
        gl.color4f(0.25, 0.5, 0.75, 1.0)
        gl.window_pos3f(2, 3, 0.5)
        gl.draw_pixels(1, 1, GL.RGBA, GL.UNSIGNED_BYTE, b"\1\2\3\4")
        gl.copy_pixels(0, 0, 1, 1, GL.COLOR)
        gl.bitmap(8, 1, 0, 0, 1, 0, b"\xff")
        gl.pass_through(77.5)
        gl.bitmap(0, 0, 0, 0, 0, 0, None)

    vertex = [0.25, 0.5, 0.75, 1.0]
    found = fed(gl, draw, GL._3D_COLOR)
    assert found[: 8 * 3] == [
        *("pixels", 2, 3, 0.5, *vertex), *("copy", 2, 3, 0.5, *vertex),
        *("bitmap", 2, 3, 0.5, *vertex),
    ]  # fmt: skip
    assert found[24:26] == ["passed", 77.5]
    assert found[26:30] == ["bitmap", 3, 3, 0.5]  # which the one before it has moved


def test_overflow_is_reported(gl: Any) -> None:
    values = np.full(8, -7, np.float32)
    for size, count in ((3, 3), (2, -1), (0, -1)):
        values[:] = -7
        gl.feedback_buffer(size, GL._2D, values)
        assert gl.get_integerv(GL.FEEDBACK_BUFFER_SIZE)[0] == size
        gl.render_mode(GL.FEEDBACK)
        shape(gl, GL.POINTS, [A])
        assert gl.render_mode(GL.RENDER) == count
        assert values.tolist() == [*[GL.POINT_TOKEN, 2, 2][:size], *[-7] * (8 - size)]


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


def test_records_end_where_names_change(gl: Any) -> None:
    def draw(gl: Any) -> None:
        gl.init_names()
        shape(gl, GL.POINTS, [(0, 0, -0.5)])
        gl.push_name(5)  # a record without a name, and a new one
        shape(gl, GL.POINTS, [(0, 0, 0.5), (0, 0, -1), (0, 0, 1)])
        gl.push_name(6)
        gl.load_name(7)  # nothing was hit under 6
        shape(gl, GL.LINES, [(0, 0, 0), (0.5, 0, 0.5)])
        gl.pop_name()
        shape(gl, GL.TRIANGLES, [(2, 2), (3, 2), (2, 3)])  # outside
        gl.load_name(0xFFFFFFFF)
        gl.raster_pos3f(0, 0, 0.25)
        gl.init_names()
        shape(gl, GL.POINTS, [(0, 0, 0)])

    count, records = selected(gl, draw)
    assert errors(gl) == []
    assert records == [
        ([], 0.25, 0.25), ([5], 0.0, 1.0), ([5, 7], 0.5, 0.75), ([0xFFFFFFFF], 0.625, 0.625),
        ([], 0.5, 0.5),
    ]  # fmt: skip
    assert count == 5


def test_what_has_no_depth_is_hit_in_front(gl: Any) -> None:
    def draw(gl: Any) -> None:
        gl.init_names()
        gl.push_name(3)
        gl.window_pos3f(1, 1, float("nan"))
        gl.load_name(4)
        gl.window_pos3f(1, 1, 0.75)
        gl.window_pos3f(1, 1, float("nan"))

    assert selected(gl, draw) == (2, [([3], 0.0, 0.0), ([4], 0.0, 0.75)])
    assert errors(gl) == []


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


def test_modes_and_buffers_that_cannot_be(gl: Any) -> None:
    values = np.zeros(8, np.float32)
    invalid = {"operation": "GL_INVALID_OPERATION", "value": "GL_INVALID_VALUE",
               "enum": "GL_INVALID_ENUM"}  # fmt: skip

    def refused(what: str) -> None:
        assert errors(gl) == [invalid[what]]

    for mode, what in ((GL.SELECT, "operation"), (GL.FEEDBACK, "operation"), (GL.NONE, "enum")):
        assert gl.render_mode(mode) == 0
        refused(what)
        assert gl.get_integerv(GL.RENDER_MODE)[0] == GL.RENDER
    gl.feedback_buffer(-1, GL._2D, values)
    refused("value")
    gl.feedback_buffer(8, GL.RGBA, values)
    refused("enum")
    gl.select_buffer(-1, values)
    refused("value")
    gl.feedback_buffer(8, GL._2D, values)
    gl.select_buffer(8, values)
    gl.render_mode(GL.FEEDBACK)
    gl.feedback_buffer(8, GL._2D, values)
    refused("operation")
    gl.select_buffer(8, values)
    assert errors(gl) == []
    gl.render_mode(GL.SELECT)
    gl.select_buffer(8, values)
    refused("operation")
    gl.feedback_buffer(8, GL._2D, values)
    assert errors(gl) == []
    gl.render_mode(GL.RENDER)
    gl.begin(GL.POINTS)
    for call in (lambda: gl.render_mode(GL.RENDER), gl.init_names, gl.pop_name,
                 lambda: gl.push_name(1), lambda: gl.load_name(1), lambda: gl.pass_through(1),
                 lambda: gl.select_buffer(8, values),
                 lambda: gl.feedback_buffer(8, GL._2D, values)):  # fmt: skip
        call()
    gl.end()
    assert set(errors(gl)) == {"GL_INVALID_OPERATION"}


def test_nothing_is_drawn_while_something_is_reported(gl: Any) -> None:
    gl.clear(GL.COLOR_BUFFER_BIT)
    fed(gl, lambda gl: shape(gl, GL.TRIANGLES, [(-1, -1), (3, -1), (-1, 3)]))
    assert not any(gl.read_pixels(0, 0, 8, 8, GL.RGB, GL.UNSIGNED_BYTE))
    shape(gl, GL.TRIANGLES, [(-1, -1), (3, -1), (-1, 3)])
    assert all(gl.read_pixels(0, 0, 8, 8, GL.RGB, GL.UNSIGNED_BYTE))


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
