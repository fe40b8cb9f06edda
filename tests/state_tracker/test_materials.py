"""Materials that change between the vertices of a primitive, and those that follow the colour."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.state_tracker.helpers import errors, pixels, program

PLACES = (-0.75, -0.25, 0.25, 0.75)
"""where four points are along the picture"""
BRIGHTER = [(0.2, 0.4, 0.6, 0.8), (0.4, 0.6, 0.8, 1.0), (0.6, 0.8, 1.0, 0.2), (0.8, 1.0, 0.2, 0.4)]


def floats(*values: float) -> Any:
    return np.array(values, np.float32)


def lit(gl: GLInterface) -> None:
    """A light in front, of which every part of a material gets as much as there is of it."""
    gl.enable(GL.LIGHTING)
    gl.enable(GL.LIGHT0)
    for name in (GL.AMBIENT, GL.DIFFUSE, GL.SPECULAR):
        gl.lightfv(GL.LIGHT0, name, floats(0, 0, 0, 1))
    gl.light_modelfv(GL.LIGHT_MODEL_AMBIENT, floats(0, 0, 0, 1))
    gl.lightfv(GL.LIGHT0, GL.POSITION, floats(0, 0, 1, 0))


def points(gl: GLInterface, face: int, name: int, values: list[tuple[float, ...]]) -> Any:
    """The colours of four points, before each of which a property is set; None: it is not."""
    gl.point_size(8.0)
    gl.begin(GL.POINTS)
    for place, value in zip(PLACES, values, strict=True):
        if value:
            gl.materialfv(face, name, floats(*value))
        gl.vertex2f(place, 0.0)
    gl.end()
    return colors(gl)


def colors(gl: GLInterface) -> Any:
    assert errors(gl) == []
    columns = [round((place + 1) * 32) for place in PLACES]
    return pixels(gl)[32, columns] / 255


LIT_BY = {"AMBIENT": GL.AMBIENT, "DIFFUSE": GL.DIFFUSE, "SPECULAR": GL.SPECULAR}


@pytest.mark.parametrize("name", ["AMBIENT", "DIFFUSE", "SPECULAR", "EMISSION"])
@pytest.mark.parametrize("face", ["FRONT", "FRONT_AND_BACK"])
def test_each_vertex_has_the_material_it_was_given(
    compat: GLInterface, face: str, name: str
) -> None:
    lit(compat)
    if name in LIT_BY:
        compat.lightfv(GL.LIGHT0, LIT_BY[name], floats(1, 1, 1, 1))
    if name != "DIFFUSE":
        compat.materialfv(GL.FRONT_AND_BACK, GL.DIFFUSE, floats(0, 0, 0, 1))
    found = points(compat, getattr(GL, face), getattr(GL, name), list(BRIGHTER))
    expected = np.array(BRIGHTER)
    if name != "DIFFUSE":  # whose alpha it is
        expected[:, 3] = 1.0
    np.testing.assert_allclose(found, expected, atol=0.003)
    last = compat.get_materialfv(GL.FRONT, getattr(GL, name))
    np.testing.assert_allclose(last, BRIGHTER[-1], atol=1e-6)


def test_what_is_not_set_for_a_vertex_stays(compat: GLInterface) -> None:
    lit(compat)
    before = (0.6, 0.2, 0.4, 1.0)
    compat.materialfv(GL.FRONT, GL.EMISSION, floats(*before))
    found = points(compat, GL.FRONT, GL.EMISSION, [(), (0, 1, 0, 1), (), (0, 0, 1, 1)])
    expected = [before[:3], (0, 1, 0), (0, 1, 0), (0, 0, 1)]
    np.testing.assert_allclose(found[:, :3], expected, atol=0.003)


GENERIC_VS = """#version 120
attribute vec4 a, b;
void main() { gl_Position = gl_Vertex; gl_FrontColor = vec4(a.r, b.g, 0.0, 1.0); }
"""
GENERIC_FS = """#version 120
void main() { gl_FragColor = gl_Color; }
"""


def test_materials_are_no_attributes_of_a_vertex_shader(compat: GLInterface) -> None:
    lit(compat)
    name = program(compat, GENERIC_VS, GENERIC_FS)
    compat.use_program(name)
    places = [compat.get_attrib_location(name, letter) for letter in "ab"]
    for index in range(1, 16):
        compat.vertex_attrib4f(index, 0.25, 0.25, 0.25, 0.25)
    compat.point_size(8.0)
    compat.begin(GL.POINTS)
    for number, place in enumerate(PLACES):
        compat.vertex_attrib4f(places[0], number / 4, 0.0, 0.0, 0.0)
        for face, name in ((GL.FRONT, GL.EMISSION), (GL.BACK, GL.DIFFUSE), (GL.FRONT, GL.AMBIENT)):
            compat.materialfv(face, name, floats(number / 8, 0.9, 0.9, 0.9))
        compat.vertex2f(place, 0.0)
    compat.end()
    found = colors(compat)[:, :2]
    np.testing.assert_allclose(found, [(i / 4, 0.25) for i in range(4)], atol=0.003)


def test_numbers_of_colours_are_saved_and_come_in_threes() -> None:
    """Ours alone: llvmpipe does not save them, and takes one for three."""
    gl: Any = create_context("numpipe", profile="compat", version=(2, 1))
    gl.push_attrib(GL.LIGHTING_BIT)
    gl.materialiv(GL.FRONT_AND_BACK, GL.COLOR_INDEXES, np.array([3, 4, 5], np.int32))
    for face in (GL.FRONT, GL.BACK):
        assert list(gl.get_materialfv(face, GL.COLOR_INDEXES)) == [3.0, 4.0, 5.0]
    gl.pop_attrib()
    assert list(gl.get_materialfv(GL.BACK, GL.COLOR_INDEXES)) == [0.0, 1.0, 1.0]
    gl.materialf(GL.FRONT, GL.COLOR_INDEXES, 1.0)
    assert gl.get_error() == GL.INVALID_ENUM
    gl.release()
