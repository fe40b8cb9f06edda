"""Smooth points, lines and polygons: alpha is the part of a pixel that is covered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context

from .helpers import errors, pixels


def context(driver: str) -> GLInterface:
    options: dict[str, Any] = {"profile": "compat", "version": (2, 1), "size": (64, 64)}
    if driver == "native":
        gl = native_context(**options)
    else:
        if driver == "jit":
            pytest.importorskip("llvmlite")
        gl = create_context(driver, **options)
    gl.clear_color(0.0, 0.0, 0.0, 0.0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.enable(GL.BLEND)
    gl.blend_func(GL.SRC_ALPHA, GL.ONE_MINUS_SRC_ALPHA)
    gl.color4f(1.0, 1.0, 1.0, 1.0)
    gl.ortho(0, 64, 0, 64, -1, 1)
    return gl


def drawn(gl: GLInterface, mode: int, vertices: list[tuple[float, float]]) -> Any:
    gl.begin(mode)
    for x, y in vertices:
        gl.vertex2f(x, y)
    gl.end()
    assert errors(gl) == []
    return pixels(gl)[..., 0].astype(float) / 255


DRIVERS = ["numpipe", "jit", pytest.param("native", marks=pytest.mark.native)]


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("size", [3.0, 9.5, 20.0])
def test_points_are_discs(driver: str, size: float) -> None:
    gl = context(driver)
    gl.enable(GL.POINT_SMOOTH)
    gl.point_size(size)
    seen = drawn(gl, GL.POINTS, [(32.3, 30.6)])
    area = np.pi * size**2 / 4
    assert abs(seen.sum() - area) < 0.02 * area + 0.7 * (driver == "native") * size
    y, x = np.mgrid[:64, :64] + 0.5
    away = np.hypot(x - 32.3, y - 30.6)
    assert (seen[away < size / 2 - 1] == 1).all()
    assert (seen[away > size / 2 + 1] == 0).all()


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("end", [(55.2, 40.1), (20.3, 60.9), (8.7, 9.9), (9.0, 9.1), (60.1, 3.3)])
@pytest.mark.parametrize("width", [1.0, 4.0])
def test_lines_are_covered_by_distance(driver: str, end: tuple[float, float], width: float) -> None:
    gl = context(driver)
    gl.enable(GL.LINE_SMOOTH)
    gl.line_width(width)
    start = (8.7, 9.4)
    seen = drawn(gl, GL.LINES, [start, end])
    length = float(np.hypot(end[0] - start[0], end[1] - start[1]))
    y, x = np.mgrid[:64, :64] + 0.5
    x, y = x - (start[0] + end[0]) / 2, y - (start[1] + end[1]) / 2
    ux, uy = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    along = np.abs(x * ux + y * uy)
    across = np.abs(y * ux - x * uy)
    ends = (length / 2 + 0.5 - along) * min(1.0, length / (length / 2 + 0.5))
    expected = np.clip(width / 2 + 0.5 - across, 0, 1) * np.clip(ends, 0, 1)
    assert np.abs(seen - expected).max() < 1.01 / 255
    assert seen.any()


@pytest.mark.native
@pytest.mark.parametrize("driver", ["numpipe", "jit"])
@pytest.mark.parametrize("turned", [1, -1])
def test_smooth_lines_in_perspective_are_those_of_the_native_opengl(
    driver: str, turned: int
) -> None:
    seen = []
    for name in (driver, "native"):
        gl = context(name)
        gl.enable(GL.LINE_SMOOTH)
        gl.line_width(5.0)
        gl.load_identity()
        gl.begin(GL.LINES)
        for x, y, w in ((-0.8, 0.7, 1.0), (0.9, -0.4, 2.5))[::turned]:
            gl.vertex4f(x * w, y * w, 0.0, w)
        gl.end()
        seen.append(pixels(gl)[..., 0].astype(int))
        gl.release()
    assert (seen[0] > 0).sum() > 200
    assert np.abs(seen[0] - seen[1]).max() <= 1


@pytest.mark.parametrize("driver", DRIVERS)
def test_colours_of_smooth_lines_reach_from_end_to_end(driver: str) -> None:
    gl = context(driver)
    gl.enable(GL.LINE_SMOOTH)
    gl.disable(GL.BLEND)
    gl.begin(GL.LINES)
    for x, red in ((10.5, 0.0), (14.5, 1.0)):
        gl.color3f(red, 1.0, 1.0)
        gl.vertex2f(x, 10.5)
    gl.end()
    row = pixels(gl)[10, 9:16]
    tenths = np.array([1, 3, 5, 7, 9]) / 10  # so the ends are half a pixel further out
    assert np.abs(row[1:6, 0] / 255 - tenths).max() < 1.01 / 255
    assert row[:, 3].tolist() == [0, 128, 255, 255, 255, 128, 0]


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_polygons_have_soft_edges_and_plain_insides(driver: str) -> None:
    gl = context(driver)
    gl.enable(GL.POLYGON_SMOOTH)
    corners = [(5.3, 7.9), (58.7, 13.1), (23.2, 57.6)]
    seen = drawn(gl, GL.TRIANGLES, corners)
    (ax, ay), (bx, by), (cx, cy) = corners
    area = abs((bx - ax) * (cy - ay) - (cx - ax) * (by - ay)) / 2
    assert abs(seen.sum() - area) < 0.005 * area
    assert seen[25, 28] == 1.0
    assert len(np.unique(seen)) > 12


def test_neighbouring_smooth_polygons_share_their_edge() -> None:
    gl = context("numpipe")
    gl.enable(GL.POLYGON_SMOOTH)
    gl.blend_func(GL.SRC_ALPHA_SATURATE, GL.ONE)
    drawn(gl, GL.TRIANGLES, [(5.3, 7.9), (58.7, 13.1), (23.2, 57.6)])
    seen = drawn(gl, GL.TRIANGLES, [(58.7, 13.1), (60.1, 60.3), (23.2, 57.6)])
    middle = [seen[int(y), int(x)] for x, y in ((40.9, 35.3), (45.2, 29.9), (34.6, 43.3))]
    assert min(middle) > 0.99


def test_textures_and_the_depth_test_work_with_smooth_lines() -> None:
    gl = context("numpipe")
    gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
    data = np.arange(64, dtype=np.uint8).reshape(8, 8) + 100
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.LUMINANCE8, 8, 8, 0, GL.LUMINANCE, GL.UNSIGNED_BYTE, data)
    gl.generate_mipmap(GL.TEXTURE_2D)
    gl.enable(GL.TEXTURE_2D)
    gl.enable(GL.DEPTH_TEST)
    gl.clear(GL.DEPTH_BUFFER_BIT)
    gl.enable(GL.LINE_SMOOTH)
    gl.line_width(3.0)
    gl.begin(GL.LINES)
    for x, y, s in ((5.0, 5.0, 0.0), (60.0, 50.0, 1.0)):
        gl.tex_coord2f(s, s)
        gl.vertex2f(x, y)
    gl.end()
    first = pixels(gl).copy()
    assert 90 < first[..., 0].max() <= 163
    gl.begin(GL.LINES)  # behind what is there: nothing changes
    gl.vertex3f(5.0, 5.0, -0.5)
    gl.vertex3f(60.0, 50.0, -0.5)
    gl.end()
    assert (pixels(gl)[first[..., 0] > 0] == first[first[..., 0] > 0]).all()
