"""Feedback and selection, value by value: primitives, formats, clipping, culling, names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


# -- selection


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
