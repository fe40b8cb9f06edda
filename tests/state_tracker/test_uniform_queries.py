"""Values of uniforms asked for as other types: the nearest number of that type."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gallette.state_tracker import GLInterface, create_context
from tests.state_tracker.helpers import errors, program

VERTEX = """#version 450
uniform float f; uniform int i; uniform uint u; uniform double d;
void main() { gl_Position = vec4(f, float(i), float(u), float(d)); }
"""
FRAGMENT = "#version 450\nout vec4 c; void main() { c = vec4(1.0); }\n"
LEAST, MOST, ALL = -(1 << 31), (1 << 31) - 1, (1 << 32) - 1
VALUES = [
    ("f", 2.5, 3, 3),
    ("f", -2.5, -3, 0),
    ("f", math.nan, 0, 0),
    ("f", math.inf, MOST, ALL),
    ("f", -math.inf, LEAST, 0),
    ("f", 3e9, MOST, 3_000_000_000),
    ("d", 1e300, MOST, ALL),
    ("d", -1e300, LEAST, 0),
    ("d", 0.5, 1, 1),
    ("i", -5, -5, 0),
    ("u", ALL, MOST, ALL),
]


@pytest.fixture
def gl() -> GLInterface:
    return create_context("numpipe", profile="core", version=(4, 5), size=(4, 4))


@pytest.mark.parametrize(("name", "value", "as_int", "as_uint"), VALUES)
def test_the_nearest_number(
    gl: GLInterface, name: str, value: float, as_int: int, as_uint: int
) -> None:
    made = program(gl, VERTEX, FRAGMENT)
    gl.use_program(made)
    location = gl.get_uniform_location(made, name)
    {"f": gl.uniform1f, "d": gl.uniform1d, "i": gl.uniform1i, "u": gl.uniform1ui}[name](
        location, value
    )
    assert gl.get_uniformiv(made, location) == [as_int]
    assert gl.get_uniformuiv(made, location) == [as_uint]
    room = np.zeros(1, np.uint64)
    gl.getn_uniformiv(made, location, 4, room)
    assert int(room.view(np.int32)[0]) == as_int
    gl.getn_uniformuiv(made, location, 4, room)
    assert int(room.view(np.uint32)[0]) == as_uint
    (told,) = gl.get_uniformdv(made, location)
    assert told == value or (told != told and value != value)
    assert errors(gl) == []
    gl.release()


def test_no_room_is_an_error_and_nothing_is_written(gl: GLInterface) -> None:
    made = program(gl, VERTEX, FRAGMENT)
    room = np.full(2, 7, np.int32)
    gl.getn_uniformiv(made, gl.get_uniform_location(made, "i"), 3, room)
    assert errors(gl) == ["GL_INVALID_OPERATION"]
    assert list(room) == [7, 7]
    gl.release()


def test_sampler_units_are_whole_numbers(gl: GLInterface) -> None:
    """A unit given as a float is refused for its type, whatever its value."""
    made = program(
        gl,
        "#version 450\nvoid main() { gl_Position = vec4(0.0); }\n",
        "#version 450\nuniform sampler2D s; out vec4 c; void main() { c = texture(s, vec2(0.0)); }",
    )
    gl.use_program(made)
    location = gl.get_uniform_location(made, "s")
    for value in (math.inf, math.nan, 1.0):
        gl.uniform1f(location, value)
        assert errors(gl) == ["GL_INVALID_OPERATION"]
    gl.uniform1i(location, 3)
    assert gl.get_uniformiv(made, location) == [3]
    gl.release()


@pytest.mark.parametrize("name", ["get_attrib_location", "get_uniform_location"])
def test_asking_for_a_place_in_vain_gives_minus_one(gl: GLInterface, name: str) -> None:
    made = program(gl, VERTEX, FRAGMENT)
    ask = getattr(gl, name)
    assert ask(made, "nothing") == -1
    assert errors(gl) == []
    assert ask(999, "f") == -1
    assert errors(gl) == ["GL_INVALID_VALUE"]
    assert ask(made, None) == -1
    assert errors(gl) == ["GL_INVALID_VALUE"]
    gl.release()
