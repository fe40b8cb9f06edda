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


@pytest.mark.parametrize("letter", ["f", "d"])
@pytest.mark.parametrize("spread", [0, 2])
def test_curves(gl: Any, letter: str, spread: int) -> None:
    curve(gl, 2.0, 6.0, letter, spread)
    where = [2.0, 3.0, 4.5, 6.0, 7.0]  # beyond its domain it goes on

    def draw(gl: Any) -> None:
        gl.begin(GL.POINTS)
        for u in where[:2]:
            getattr(gl, f"eval_coord1{letter}")(u)
        for u in where[2:4]:
            getattr(gl, f"eval_coord1{letter}v")(np.array([u], f"f{4 if letter == 'f' else 8}"))
        gl.end()

    found = points(fed(gl, draw, GL._3D))
    wanted = [placed(between(CURVE, (u - 2) / 4)) for u in where[:4]]
    np.testing.assert_allclose(found, wanted, atol=2e-4)
    assert list(gl.get_mapfv(GL.MAP1_VERTEX_3, GL.DOMAIN)) == [2, 6]
    assert list(gl.get_mapiv(GL.MAP1_VERTEX_3, GL.ORDER)) == [4]
    assert list(gl.get_mapdv(GL.MAP1_VERTEX_3, GL.COEFF)) == CURVE.reshape(-1).tolist()


@pytest.mark.parametrize("letter", ["f", "d"])
def test_surfaces(gl: Any, letter: str) -> None:
    """Control points lie as their strides say: u changes slowly here, with gaps between."""
    data = np.full((3, 4, 5), 9, np.float32 if letter == "f" else np.float64)
    data[..., :3] = SURFACE
    getattr(gl, f"map2{letter}")(GL.MAP2_VERTEX_3, 0, 2, 20, 3, -1, 1, 5, 4, data)
    gl.enable(GL.MAP2_VERTEX_3)
    where = [(0.0, -1.0), (2.0, 1.0), (1.0, 0.0), (0.5, 0.75)]

    def draw(gl: Any) -> None:
        gl.begin(GL.POINTS)
        for u, v in where[:2]:
            getattr(gl, f"eval_coord2{letter}")(u, v)
        for pair in where[2:]:
            getattr(gl, f"eval_coord2{letter}v")(np.array(pair, data.dtype))
        gl.end()

    found = points(fed(gl, draw, GL._3D))
    wanted = [placed(between(between(SURFACE, u / 2), (v + 1) / 2)) for u, v in where]
    np.testing.assert_allclose(found, wanted, atol=2e-4)
    assert list(gl.get_mapiv(GL.MAP2_VERTEX_3, GL.ORDER)) == [3, 4]
    assert list(gl.get_mapfv(GL.MAP2_VERTEX_3, GL.DOMAIN)) == [0, 2, -1, 1]
    assert list(gl.get_mapfv(GL.MAP2_VERTEX_3, GL.COEFF)) == SURFACE.reshape(-1).tolist()


def test_colours_and_coordinates_are_the_points_own(gl: Any) -> None:
    """What was current is current again; of several maps the one with more components counts."""
    curve(gl)
    gl.color4f(0.25, 0.5, 0.75, 1)
    gl.tex_coord4f(9, 9, 9, 9)
    ramp = np.array([[0, 0.5, 1, 0.25], [1, 0.5, 0, 0.75]], np.float32)
    for name, size in (("COLOR_4", 4), ("TEXTURE_COORD_1", 1), ("TEXTURE_COORD_3", 3)):
        target = getattr(GL, f"MAP1_{name}")
        gl.map1f(target, 0, 1, size, 2, np.ascontiguousarray(ramp[:, :size]))
        gl.enable(target)

    def draw(gl: Any) -> None:
        gl.begin(GL.POINTS)
        gl.eval_coord1f(0.5)
        gl.vertex2f(0, 0)
        gl.end()

    first, second = points(fed(gl, draw, GL._3D_COLOR_TEXTURE), 11)
    assert first[3:7] == [0.5, 0.5, 0.5, 0.5]
    assert first[7:] == [0.5, 0.5, 0.5, 1]
    assert second[3:7] == [0.25, 0.5, 0.75, 1]
    assert second[7:] == [9, 9, 9, 9]
    gl.map1f(GL.MAP1_VERTEX_4, 0, 1, 4, 1, np.array([0.5, 0.25, 1, 2], np.float32))
    gl.enable(GL.MAP1_VERTEX_4)
    found = points(fed(gl, lambda gl: (gl.begin(GL.POINTS), gl.eval_coord1f(0.3), gl.end()),
                       GL._3D))  # fmt: skip
    assert found == [[1.25, 1.125, 0.75]]
    gl.disable(GL.MAP1_VERTEX_3)
    gl.disable(GL.MAP1_VERTEX_4)
    assert fed(gl, lambda gl: (gl.begin(GL.POINTS), gl.eval_coord1f(0.3), gl.end())) == []


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


@pytest.mark.parametrize("size", [3, 4])
def test_normals_are_those_of_the_surface(gl: Any, size: int) -> None:
    """A plane through three points, whatever the domain; divided by w where there is one."""
    corners = np.zeros((2, 2, size), np.float32)
    corners[..., 0] = [[-0.5, -0.5], [0.5, 0.5]]
    corners[..., 1] = [[-0.5, 0.5], [-0.5, 0.5]]
    corners[..., 2] = [[-0.5, 0.0], [0.0, 0.5]]
    if size == 4:
        corners[..., 3] = 1
        corners *= np.array([[1, 2], [1, 1]], np.float32)[..., None]
    target = getattr(GL, f"MAP2_VERTEX_{size}")
    gl.map2f(target, 0, 3, 2 * size, 2, 0, 5, size, 2, corners)
    gl.enable(target)
    gl.enable(GL.AUTO_NORMAL)
    # Lighting shows the normal: ambient 0, one light along each axis in turn.
    gl.enable(GL.LIGHTING)
    gl.enable(GL.LIGHT0)
    gl.light_modelfv(GL.LIGHT_MODEL_AMBIENT, np.zeros(4, np.float32))
    gl.materialfv(GL.FRONT_AND_BACK, GL.AMBIENT_AND_DIFFUSE, np.ones(4, np.float32))
    wanted = np.array([-0.5, -0.5, 1]) / np.linalg.norm([0.5, 0.5, 1])
    for axis in range(3):
        direction = np.zeros(4, np.float32)
        direction[axis] = np.sign(wanted[axis])
        gl.lightfv(GL.LIGHT0, GL.POSITION, direction)
        found = points(fed(gl, lambda gl: (gl.begin(GL.POINTS), gl.eval_coord2f(1.5, 2.5),
                                           gl.end()), GL._3D_COLOR), 7)  # fmt: skip
        assert found[0][3] == pytest.approx(abs(wanted[axis]), abs=2e-3)
