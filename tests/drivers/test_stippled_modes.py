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

from gallette.state_tracker import GL, create_context
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
