"""The diamond-exit rule: which pixels lines draw whose ends lie on centres and pixel borders."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context

from .helpers import errors, pixels

SIZE = 32
OPTIONS: dict[str, Any] = {"profile": "compat", "version": (2, 1), "size": (SIZE, SIZE)}
Line = tuple[float, float, float, float]


def drawn(gl: GLInterface, lines: list[Line], width: float = 1.0) -> list[Any]:
    gl.ortho(0, SIZE, 0, SIZE, -1, 1)
    gl.line_width(width)
    found = []
    for x0, y0, x1, y1 in lines:
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.begin(GL.LINES)
        gl.vertex2f(x0, y0)
        gl.vertex2f(x1, y1)
        gl.end()
        found.append(pixels(gl)[..., 0] > 0)
    assert errors(gl) == []
    gl.release()
    return found


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_a_line_draws_the_pixel_in_whose_centre_it_begins(driver: str) -> None:
    """And not the one in whose centre it ends: a strip draws no pixel twice."""
    if driver == "jit":
        pytest.importorskip("llvmlite")
    ends = [(dx, dy) for dx, dy in product(range(-5, 6), repeat=2) if dx or dy]
    lines = [(16.5, 16.5, 16.5 + dx, 16.5 + dy) for dx, dy in ends]
    for (dx, dy), seen in zip(ends, drawn(create_context(driver, **OPTIONS), lines), strict=True):
        assert (seen[16, 16], seen[16 + dy, 16 + dx]) == (True, False), (dx, dy)
        assert seen.sum() == max(abs(dx), abs(dy)), (dx, dy)


@pytest.mark.native
@pytest.mark.parametrize("width", [1.0, 3.0])
def test_lines_in_windows_have_the_pixels_of_mesas(width: float) -> None:
    steps = np.random.default_rng(4).integers(-40, 41, (300, 4)) / 4
    lines = [tuple((row + 16.5).tolist()) for row in steps]
    ours = drawn(create_context("numpipe", **OPTIONS), lines, width)
    theirs = drawn(native_context(**OPTIONS), lines, width)
    different = [line for line, a, b in zip(lines, ours, theirs, strict=True) if (a != b).any()]
    assert different == []
