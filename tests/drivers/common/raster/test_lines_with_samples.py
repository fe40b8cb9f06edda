"""Lines whose samples count: rectangles around them, as wide as they are."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.drivers.common.raster.lines import rectangles

STEPS = 256  # of a pixel


@pytest.mark.parametrize("width", [1.0, 2.5, 7.0])
def test_corners_are_half_a_width_beside_the_ends(width: float) -> None:
    random = np.random.default_rng(4)
    x, y = random.uniform(-20, 80, (2, 2, 500)).astype(np.float32)
    at_x, at_y = rectangles(x, y, width / 2)
    assert (at_x == np.rint(at_x)).all() and (at_y == np.rint(at_y)).all()
    along = np.stack((x[1] - x[0], y[1] - y[0])).astype(np.float64)
    across = np.stack((-along[1], along[0])) / np.hypot(*along) * width / 2
    for corner, (end, side) in enumerate(((0, 1), (1, 1), (1, -1), (0, -1))):
        wanted = np.stack((x[end], y[end])) + side * across
        found = np.stack((at_x[corner], at_y[corner])) / STEPS
        np.testing.assert_allclose(found, wanted, atol=1.1 / STEPS)


def test_outlines_run_in_the_direction_for_which_edges_are_inside() -> None:
    x, y = (
        np.array([[2, 9, 5, 5], [7, 3, 5, 5]], "f4"),
        np.array([[2, 2, 1, 8], [4, 3, 8, 1]], "f4"),
    )
    at_x, at_y = rectangles(x, y, 1.0)
    following = [1, 2, 3, 0]
    area = (at_x * at_y[following] - at_x[following] * at_y).sum(axis=0) / 2 / STEPS**2
    np.testing.assert_allclose(area, -2 * np.hypot(x[0] - x[1], y[0] - y[1]), rtol=1e-2)
