"""Current values of attributes: what has no array reads them in the kind they were given."""

from __future__ import annotations

import numpy as np

from gallette.state_tracker import GL, GLInterface
from tests.state_tracker.helpers import errors, pixels, program, quad

_VERTEX = """#version 330
in vec2 position; in ivec4 whole; flat out ivec4 seen;
void main() { gl_Position = vec4(position, 0.0, 1.0); seen = whole; }"""
_FRAGMENT = """#version 330
flat in ivec4 seen; out vec4 color;
void main() { color = vec4(seen) / 255.0; }"""


def test_a_value_of_another_kind_is_seen_by_the_next_draw(gl: GLInterface) -> None:
    name = program(gl, _VERTEX, _FRAGMENT)
    whole = gl.get_attrib_location(name, "whole")
    quad(gl, name)
    gl.vertex_attrib4f(whole, 1.0, 2.0, 3.0, 4.0)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    for value in (30, 60):
        gl.vertex_attrib_i4i(whole, value, 20, 10, 255)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        assert np.unique(pixels(gl).reshape(-1, 4), axis=0).tolist() == [[value, 20, 10, 255]]
    assert errors(gl) == []
