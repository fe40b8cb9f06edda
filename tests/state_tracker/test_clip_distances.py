"""gl_ClipDistance cuts where its plane is enabled, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.state_tracker.helpers import errors, pixels, program, quad

_VERTEX = """#version 330
in vec2 position; out float gl_ClipDistance[2];
void main() {
    gl_Position = vec4(position, 0.0, 1.0);
    gl_ClipDistance[0] = position.x; gl_ClipDistance[1] = -position.y;
}"""


def drawn_quarters(gl: GLInterface, planes: tuple[int, ...]) -> int:
    name = program(gl, _VERTEX)
    gl.uniform4f(gl.get_uniform_location(name, "color"), 1.0, 1.0, 1.0, 1.0)
    quad(gl, name)
    for plane in planes:
        gl.enable(GL.CLIP_DISTANCE0 + plane)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    quarters = pixels(gl)[..., 0].reshape(2, 32, 2, 32).all(axis=(1, 3))
    assert quarters[0, 1]  # right and below is inside of both
    assert np.count_nonzero(pixels(gl)[..., 0]) == quarters.sum() * 1024
    assert errors(gl) == []
    return int(quarters.sum())


@pytest.mark.parametrize(("planes", "drawn"), [((0,), 2), ((1,), 2), ((0, 1), 1)])
def test_a_distance_cuts_where_its_plane_is_enabled(
    gl: GLInterface, planes: tuple[int, ...], drawn: int
) -> None:
    assert drawn_quarters(gl, planes) == drawn


def test_without_an_enabled_plane_nothing_is_cut() -> None:
    """llvmpipe cuts at every distance then (`python -m fuzz gl --first 8`)."""
    assert drawn_quarters(create_context("numpipe", size=(64, 64)), ()) == 4
