"""Evaluators: points of curves and surfaces in feedback, compared with de Casteljau's algorithm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from tests.state_tracker.test_feedback_values import fed


@pytest.fixture
def gl() -> Iterator[Any]:
    made = Context("numpipe", profile="compat", version=(4, 6), size=(8, 8))
    made.viewport(0, 0, 2, 2)  # window coordinates are those of the volume, and 1
    yield made
    made.release()


def between(points: Any, t: float) -> Any:
    """De Casteljau: halfway points of halfway points, until one is left."""
    while len(points) > 1:
        points = points[:-1] * (1 - t) + points[1:] * t
    return points[0]


CURVE = np.array([[-0.5, 0.25, 0.5], [0.25, -0.75, 0], [0.5, 0.5, -0.25], [0.75, -0.5, 0.5]])
SURFACE = np.random.default_rng(5).integers(-6, 7, (3, 4, 3)) / 8


def placed(point: Any) -> list[float]:
    """As feedback tells it."""
    x, y, z = (float(v) for v in point[:3])
    return [x + 1, y + 1, (z + 1) / 2]


def points(found: list[Any], size: int = 3) -> list[list[float]]:
    assert found[:: size + 1] == ["point"] * (len(found) // (size + 1))
    return [found[i : i + size] for i in range(1, len(found), size + 1)]


def curve(gl: Any, low: float = 0.0, high: float = 1.0, letter: str = "f", spread: int = 0) -> None:
    data = np.zeros((4, 3 + spread), np.float32 if letter == "f" else np.float64)
    data[:, :3] = CURVE
    getattr(gl, f"map1{letter}")(GL.MAP1_VERTEX_3, low, high, 3 + spread, 4, data)
    gl.enable(GL.MAP1_VERTEX_3)


def test_grids_have_points(gl: Any) -> None:
    curve(gl)
    assert gl.get_integerv(GL.MAP1_GRID_SEGMENTS)[0] == 1
    assert list(gl.get_floatv(GL.MAP1_GRID_DOMAIN)) == [0, 1]
    gl.map_grid1f(4, 0.25, 0.75)
    assert gl.get_integerv(GL.MAP1_GRID_SEGMENTS)[0] == 4
    assert list(gl.get_floatv(GL.MAP1_GRID_DOMAIN)) == [0.25, 0.75]

    def draw(gl: Any) -> None:
        gl.begin(GL.POINTS)
        for i in (0, 1, 4):
            gl.eval_point1(i)
        gl.end()

    found = points(fed(gl, draw, GL._3D))
    wanted = [placed(between(CURVE, t)) for t in (0.25, 0.375, 0.75)]
    np.testing.assert_allclose(found, wanted, atol=2e-4)
    mesh = fed(gl, lambda gl: gl.eval_mesh1(GL.POINT, 1, 3), GL._3D)
    np.testing.assert_allclose(
        points(mesh), [placed(between(CURVE, t)) for t in (0.375, 0.5, 0.625)], atol=2e-4
    )
    lines = fed(gl, lambda gl: gl.eval_mesh1(GL.LINE, 0, 2), GL._3D)
    assert [v for v in lines if isinstance(v, str)] == ["first line", "line"]
    np.testing.assert_allclose(lines[1:4], placed(between(CURVE, 0.25)), atol=2e-4)
    np.testing.assert_allclose(lines[11:], placed(between(CURVE, 0.5)), atol=2e-4)


def test_meshes_of_surfaces(gl: Any) -> None:
    data = SURFACE.astype(np.float32)
    gl.map2f(GL.MAP2_VERTEX_3, 0, 1, 12, 3, 0, 1, 3, 4, data)
    gl.enable(GL.MAP2_VERTEX_3)
    assert list(gl.get_integerv(GL.MAP2_GRID_SEGMENTS)) == [1, 1]
    assert list(gl.get_floatv(GL.MAP2_GRID_DOMAIN)) == [0, 1, 0, 1]
    gl.map_grid2d(2, 0, 1, 4, 0, 0.5)
    assert list(gl.get_integerv(GL.MAP2_GRID_SEGMENTS)) == [2, 4]
    assert list(gl.get_floatv(GL.MAP2_GRID_DOMAIN)) == [0, 1, 0, 0.5]

    def at(i: int, j: int) -> list[float]:
        return placed(between(between(SURFACE, i / 2), j / 8))

    found = points(fed(gl, lambda gl: gl.eval_mesh2(GL.POINT, 0, 1, 2, 4), GL._3D))
    wanted = [at(i, j) for i in (0, 1) for j in (2, 3, 4)]
    np.testing.assert_allclose(found, wanted, atol=2e-4)
    lines = fed(gl, lambda gl: gl.eval_mesh2(GL.LINE, 0, 2, 0, 1), GL._3D)
    ends = [lines[i + 1 : i + 7] for i in range(0, len(lines), 7)]
    pairs = [((0, 0), (1, 0)), ((1, 0), (2, 0)), ((0, 1), (1, 1)), ((1, 1), (2, 1)),
             ((0, 0), (0, 1)), ((1, 0), (1, 1)), ((2, 0), (2, 1))]  # fmt: skip
    np.testing.assert_allclose(ends, [at(*a) + at(*b) for a, b in pairs], atol=2e-4)
    filled = fed(gl, lambda gl: gl.eval_mesh2(GL.FILL, 0, 2, 0, 2), GL._3D)
    assert len(filled) == 2 * 2 * 2 * 11  # two triangles for each of four
    whole = np.array([at(i, j) for i in range(3) for j in range(3)])
    corners = np.array([filled[i + 2 : i + 11] for i in range(0, len(filled), 11)]).reshape(-1, 3)
    distances = np.abs(corners[:, None] - whole[None]).max(axis=2)
    assert distances.min(axis=1).max() < 2e-4
    assert distances.min(axis=0).max() < 2e-4
