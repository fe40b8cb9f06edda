"""Patterns of lines in every mode: where they begin anew, and where they go on.

The oracle walks along lines that are level, go straight up or across a square: every fragment but
a line's last one takes the next bit of the pattern. A line of its own begins with the first bit;
one of a strip or a loop goes on where the one before it ended, the one that closes a loop, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.drivers.common.raster.batch import Batch
from gallette.state_tracker import GL, create_context
from tests.conftest import native_context
from tests.state_tracker.helpers import errors, pixels

DRIVERS = ("numpipe", "jit", "simd", "tiler")
SIZE = 64
PATTERNS = ((1, 0xFF07), (3, 0x5F35), (2, 0x0001), (255, 0x0003))
CORNERS = ((4, 4), (40, 4), (40, 30), (9, 30), (9, 50), (55, 50), (30, 25), (25, 25))
LINES = {
    "LINES": ((0, 1), (2, 3), (4, 5), (6, 7)),
    "LINE_STRIP": tuple((k, k + 1) for k in range(7)),
    "LINE_LOOP": tuple((k, (k + 1) % 8) for k in range(8)),
    "LINE_STRIP_ADJACENCY": tuple((k, k + 1) for k in range(1, 6)),
    "LINES_ADJACENCY": ((1, 2), (5, 6)),
}


def walked(mode: str, factor: int, pattern: int) -> npt.NDArray[Any]:
    """What shows: the numbers of the corners that lines begin at, plus 1."""
    found = np.zeros((SIZE, SIZE), int)
    counter = 0
    for begin, end in LINES[mode]:
        (x, y), (to_x, to_y) = CORNERS[begin], CORNERS[end]
        if mode in ("LINES", "LINES_ADJACENCY"):
            counter = 0
        while (x, y) != (to_x, to_y):
            if pattern >> counter // factor % 16 & 1:
                found[y, x] = begin + 1
            counter += 1
            x, y = x + np.sign(to_x - x), y + np.sign(to_y - y)
    return found


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("mode", LINES)
def test_patterns(driver: str, mode: str) -> None:
    gl = create_context(driver, version=(3, 2), profile="compat", size=(SIZE, SIZE))
    gl.enable(GL.LINE_STIPPLE)
    gl.shade_model(GL.FLAT)
    gl.provoking_vertex(GL.FIRST_VERTEX_CONVENTION)
    for factor, pattern in PATTERNS:
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.line_stipple(factor, pattern)
        gl.begin(getattr(GL, mode))
        for number, (x, y) in enumerate(CORNERS):
            gl.color4ub(number + 1, 0, 0, 255)
            gl.vertex2f((x + 0.5) / SIZE * 2 - 1, (y + 0.5) / SIZE * 2 - 1)
        gl.end()
        found = pixels(gl, SIZE, SIZE)
        assert found[..., 0].tolist() == walked(mode, factor, pattern).tolist(), (factor, pattern)
    assert errors(gl) == []
    gl.release()


# -- outlines: the pattern goes around a polygon, and begins anew at the next ----------------------

AROUND = [(0.8 * np.cos(t), 0.7 * np.sin(t)) for t in np.linspace(0.1, 6.3, 7, endpoint=False)]
SHAPES: dict[str, Any] = {
    "TRIANGLES": [(-0.9, -0.8), (-0.1, -0.7), (-0.7, 0.3), (0.05, 0.1), (0.9, 0.2), (0.3, 0.85)],
    "TRIANGLE_STRIP": [(-0.9 + 0.35 * i, 0.6 if i % 2 else -0.7) for i in range(6)],
    "TRIANGLE_FAN": AROUND,
    "QUADS": [(-0.9, -0.85), (-0.1, -0.7), (-0.2, -0.05), (-0.8, 0.02),
              (0.03, 0.1), (0.9, 0.2), (0.8, 0.9), (0.15, 0.7)],
    "QUAD_STRIP": [(-0.9 + 0.4 * (i // 2), 0.5 if i % 2 else -0.6) for i in range(10)],
    "POLYGON": AROUND,
}  # fmt: skip
FLAGGED = ("TRIANGLES", "QUADS", "POLYGON")


def outlined(gl: Any, mode: str, hidden: int | None, patterns: Any = PATTERNS[:2]) -> list[Any]:
    """Two primitives of the mode, one after the other, without the edge of a corner."""
    gl.enable(GL.LINE_STIPPLE)
    gl.polygon_mode(GL.FRONT_AND_BACK, GL.LINE)
    seen = []
    for factor, pattern in patterns:
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.line_stipple(factor, pattern)
        for shift in (0.0, 0.05):
            gl.begin(getattr(GL, mode))
            for number, (x, y) in enumerate(SHAPES[mode]):
                gl.edge_flag(number != hidden)
                gl.vertex2f(x, y + shift)
            gl.end()
        seen.append(pixels(gl, SIZE, SIZE)[..., 0] > 0)
    assert errors(gl) == []
    gl.release()
    return seen


@pytest.mark.native
# Edges of strips and fans have no flags (section 14.6.2).
@pytest.mark.parametrize(
    "mode, hidden", [(mode, n) for mode in SHAPES for n in (None, 1, 2) if not n or mode in FLAGGED]
)
def test_patterns_of_outlines(mode: str, hidden: int | None) -> None:
    given: dict[str, Any] = {"version": (3, 2), "profile": "compat", "size": (SIZE, SIZE)}
    wanted = outlined(native_context(**given), mode, hidden)
    assert all(image.sum() > 50 for image in wanted)
    for driver in DRIVERS:
        found = outlined(create_context(driver, **given), mode, hidden)
        for mine, other in zip(found, wanted, strict=True):
            assert (mine != other).sum() <= 4, driver  # where a dash ends between two pixels


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_quad_outside_takes_no_other_along(driver: str) -> None:
    """What lies outside has no part in the patterns of those behind it."""
    square = [(-0.55, -0.6), (0.5, -0.6), (0.5, 0.45), (-0.55, 0.45)]
    images = []
    for outside in (0.0, 0.1, 2.5):
        gl = create_context(driver, version=(3, 2), profile="compat", size=(SIZE, SIZE))
        gl.enable(GL.LINE_STIPPLE)
        gl.polygon_mode(GL.FRONT_AND_BACK, GL.LINE)
        gl.line_stipple(1, 0x80FF)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.begin(GL.QUADS)
        for shift in (outside, 0.0):
            for x, y in square:
                gl.vertex2f(x + shift, y)
        gl.end()
        images.append(pixels(gl, SIZE, SIZE)[..., 0])
        gl.release()
    alone, beside, behind = images
    np.testing.assert_array_equal(behind, alone)
    assert ((alone > 0) <= (beside > 0)).all() and beside.sum() > 1.5 * alone.sum()


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_corner_that_is_cut_off_changes_nothing_before_it(driver: str) -> None:
    images = []
    for cut in (False, True):
        gl = create_context(driver, version=(3, 2), profile="compat", size=(SIZE, SIZE))
        gl.enable(GL.LINE_STIPPLE)
        gl.polygon_mode(GL.FRONT_AND_BACK, GL.LINE)
        gl.line_stipple(1, 0x1FF7)
        gl.clip_plane(GL.CLIP_PLANE0, np.array([-1.0, -1.0, 0.0, 1.0]))
        (gl.enable if cut else gl.disable)(GL.CLIP_PLANE0)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.begin(GL.QUADS)
        for x, y in ((-0.8, -0.8), (0.6, -0.75), (0.7, 0.7), (-0.7, 0.6)):
            gl.vertex2f(x, y)
        gl.end()
        images.append(pixels(gl, SIZE, SIZE)[..., 0])
        gl.release()
    before = slice(0, int(SIZE * 0.55))  # rows of pixels well below the cut
    whole, part = images
    assert (whole != part).any()
    np.testing.assert_array_equal(part[before, 40:], whole[before, 40:])


def test_a_selection_of_a_batch_keeps_the_beginnings_of_polygons() -> None:
    """However many pieces of a polygon are left out, the first one left is its first."""
    begun = np.array([1, 0, 0, 1, 1, 0, 1, 0, 0], np.bool_)
    rows = np.arange(27).reshape(9, 3)
    batch = Batch(rows, rows[:, 0], np.zeros(9, np.int32), None, begun)
    polygon = np.cumsum(begun)
    for seed in range(20):
        which = np.flatnonzero(np.random.default_rng(seed).random(9) < 0.6)
        found = batch.take(which)
        assert found.resets is not None
        wanted = [i == 0 or polygon[which[i]] != polygon[which[i - 1]] for i in range(len(which))]
        assert found.resets.tolist() == wanted
    part = batch.take(slice(2, 5)).resets
    assert part is not None and part.tolist() == [True, True, True]
    assert Batch(rows, rows[:, 0], np.zeros(9, np.int32)).take(which).resets is None
