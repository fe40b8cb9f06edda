"""Conservative rasterization: every pixel a primitive touches is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context

from .helpers import errors, pixels, program

VS = """#version 430
uniform vec2 corners[3];
void main() {
    gl_Position = vec4(corners[gl_VertexID] / 16.0 - 1.0, 0.0, 1.0);
    gl_PointSize = 5.0;
}"""
WHITE = "#version 430\nout vec4 color;\nvoid main() { color = vec4(1.0); }"


def drawn(
    driver: str, mode: int, corners: Any, conservative: bool = True
) -> tuple[Any, GLInterface]:
    if driver == "jit":
        pytest.importorskip("llvmlite")
    gl = create_context(driver, version=(4, 3), size=(32, 32))
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    name = program(gl, VS, WHITE)
    padded = np.resize(np.asarray(corners, np.float32), (3, 2))
    gl.uniform2fv(gl.get_uniform_location(name, "corners"), 3, padded)
    if conservative:
        gl.enable(GL.CONSERVATIVE_RASTERIZATION_NV)
    gl.draw_arrays(mode, 0, len(corners))
    assert errors(gl) == []
    return pixels(gl, 32, 32)[..., 0] > 0, gl


def touched(corners: Any) -> Any:
    """Pixels whose square meets the triangle: no axis keeps the two apart."""
    corners = np.rint(np.asarray(corners) * 256) / 256
    y, x = np.mgrid[:32, :32].astype(float)
    square = np.stack([np.stack((x + i, y + j), -1) for i in (0, 1) for j in (0, 1)], -2)
    sides = np.roll(corners, -1, axis=0) - corners
    axes = [*np.stack((-sides[:, 1], sides[:, 0]), -1), np.array([1.0, 0]), np.array([0, 1.0])]
    meets = np.ones((32, 32), bool)
    for axis in axes:
        mine, theirs = corners @ axis, square @ axis
        meets &= (theirs.min(-1) < mine.max()) & (theirs.max(-1) > mine.min())
    return meets


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
@pytest.mark.parametrize(
    "corners",
    [
        [(3.3, 4.2), (28.7, 9.9), (10.4, 27.6)],
        [(10.4, 27.6), (28.7, 9.9), (3.3, 4.2)],
        [(5.2, 5.3), (5.4, 5.6), (5.7, 5.2)],
        [(2.1, 2.2), (30.3, 3.4), (16.0, 3.1)],
    ],
)
def test_triangles_cover_what_they_touch(driver: str, corners: list[tuple[float, float]]) -> None:
    seen, _ = drawn(driver, GL.TRIANGLES, corners)
    expected = touched(corners)
    assert (seen == expected).all()
    plain, _ = drawn(driver, GL.TRIANGLES, corners, False)
    assert (seen | ~plain).all() and seen.sum() > plain.sum()


def test_lines_and_points_do_not_shrink() -> None:
    for mode, corners in ((GL.LINES, [(3.3, 4.2), (28.7, 19.9)]), (GL.POINTS, [(12.2, 9.7)])):
        seen, _ = drawn("numpipe", mode, corners)
        plain, _ = drawn("numpipe", mode, corners, False)
        assert (seen | ~plain).all() and seen.sum() > plain.sum()
