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


def test_each_vertex_has_its_shininess(compat: GLInterface) -> None:
    lit(compat)
    compat.lightfv(GL.LIGHT0, GL.SPECULAR, floats(1, 1, 1, 1))
    compat.materialfv(GL.FRONT, GL.DIFFUSE, floats(0, 0, 0, 1))
    compat.materialfv(GL.FRONT, GL.SPECULAR, floats(1, 1, 1, 1))
    compat.normal3f(0.6, 0.0, 0.8)  # the light is half way between itself and the viewer
    compat.point_size(8.0)
    compat.begin(GL.POINTS)
    for place, shininess in zip(PLACES, (1.0, 2.0, 3.0, 0.0), strict=True):
        compat.materialf(GL.FRONT, GL.SHININESS, shininess)
        compat.vertex2f(place, 0.0)
    compat.end()
    np.testing.assert_allclose(colors(compat)[:, 0], [0.8, 0.64, 0.512, 1.0], atol=0.003)


def test_both_sides_have_materials_of_their_own(compat: GLInterface) -> None:
    lit(compat)
    compat.light_modeli(GL.LIGHT_MODEL_TWO_SIDE, 1)
    compat.shade_model(GL.FLAT)
    compat.provoking_vertex(GL.FIRST_VERTEX_CONVENTION)
    for first, second, last in ((-1.0, 0.0, -0.5), (1.0, 0.0, 0.5)):  # the second from behind
        compat.begin(GL.TRIANGLES)
        compat.materialfv(GL.FRONT, GL.EMISSION, floats(0.2, 0, 0, 1))
        compat.materialfv(GL.BACK, GL.EMISSION, floats(0, 0.4, 0, 1))
        compat.vertex2f(first, -1.0)
        compat.vertex2f(second, -1.0)
        compat.materialfv(GL.FRONT, GL.EMISSION, floats(0.6, 0, 0, 1))
        compat.materialfv(GL.BACK, GL.EMISSION, floats(0, 0.8, 0, 1))
        compat.vertex2f(last, 1.0)
        compat.end()
    assert errors(compat) == []
    found = pixels(compat)[16, [16, 48], :2] / 255
    np.testing.assert_allclose(found, [[0.2, 0.0], [0.0, 0.4]], atol=0.003)


def test_what_is_not_set_for_a_vertex_stays(compat: GLInterface) -> None:
    lit(compat)
    before = (0.6, 0.2, 0.4, 1.0)
    compat.materialfv(GL.FRONT, GL.EMISSION, floats(*before))
    found = points(compat, GL.FRONT, GL.EMISSION, [(), (0, 1, 0, 1), (), (0, 0, 1, 1)])
    expected = [before[:3], (0, 1, 0), (0, 1, 0), (0, 0, 1)]
    np.testing.assert_allclose(found[:, :3], expected, atol=0.003)


def test_a_material_after_the_last_vertex_is_for_the_next_primitive(compat: GLInterface) -> None:
    lit(compat)
    compat.point_size(8.0)
    compat.begin(GL.POINTS)
    compat.materialfv(GL.FRONT, GL.EMISSION, floats(1, 0, 0, 1))
    compat.vertex2f(PLACES[0], 0.0)
    compat.vertex2f(PLACES[1], 0.0)
    compat.materialfv(GL.FRONT, GL.EMISSION, floats(0, 1, 0, 1))
    compat.end()
    compat.begin(GL.POINTS)
    compat.vertex2f(PLACES[2], 0.0)
    compat.vertex2f(PLACES[3], 0.0)
    compat.end()
    found = colors(compat)[:, :3]
    np.testing.assert_allclose(found, [(1, 0, 0)] * 2 + [(0, 1, 0)] * 2, atol=0.003)


def test_lists_keep_materials_between_vertices(compat: GLInterface) -> None:
    lit(compat)
    compat.point_size(8.0)
    compat.new_list(1, GL.COMPILE)
    compat.begin(GL.POINTS)
    for place, value in zip(PLACES, BRIGHTER, strict=True):
        compat.materialfv(GL.FRONT, GL.EMISSION, floats(*value))
        compat.vertex2f(place, 0.0)
    compat.end()
    compat.end_list()
    for _ in range(2):
        compat.clear(GL.COLOR_BUFFER_BIT)
        compat.call_list(1)
        found = colors(compat)[:, :3]
        np.testing.assert_allclose(found, np.array(BRIGHTER)[:, :3], atol=0.003)


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


MODES = {
    "AMBIENT": ["AMBIENT"],
    "DIFFUSE": ["DIFFUSE"],
    "SPECULAR": ["SPECULAR"],
    "EMISSION": ["EMISSION"],
    "AMBIENT_AND_DIFFUSE": ["AMBIENT", "DIFFUSE"],
}
INITIAL = {
    "AMBIENT": (0.2, 0.2, 0.2, 1.0),
    "DIFFUSE": (0.8, 0.8, 0.8, 1.0),
    "SPECULAR": (0.0, 0.0, 0.0, 1.0),
    "EMISSION": (0.0, 0.0, 0.0, 1.0),
}
COLOR = (0.5, 0.25, 0.75, 0.125)


def materials(gl: GLInterface) -> dict[tuple[str, str], tuple[float, ...]]:
    return {
        (face, name): tuple(gl.get_materialfv(getattr(GL, face), getattr(GL, name)))
        for face in ("FRONT", "BACK")
        for name in INITIAL
    }


@pytest.mark.parametrize("mode", list(MODES))
@pytest.mark.parametrize("face", ["FRONT", "BACK", "FRONT_AND_BACK"])
def test_what_follows_the_colour_does_so_at_once(compat: GLInterface, face: str, mode: str) -> None:
    compat.color4f(*COLOR)
    compat.color_material(getattr(GL, face), getattr(GL, mode))
    for (_, name), value in materials(compat).items():
        np.testing.assert_allclose(value, INITIAL[name], atol=1e-6)
    compat.enable(GL.COLOR_MATERIAL)
    sides = ("FRONT", "BACK") if face == "FRONT_AND_BACK" else (face,)

    def expected(color: tuple[float, ...]) -> dict[tuple[str, str], tuple[float, ...]]:
        return {
            (side, name): color if side in sides and name in MODES[mode] else initial
            for side in ("FRONT", "BACK")
            for name, initial in INITIAL.items()
        }

    for color in (COLOR, (0.0, 1.0, 0.5, 1.0)):
        compat.color4f(*color)
        found = materials(compat)
        for key, value in expected(color).items():
            np.testing.assert_allclose(found[key], value, atol=1e-6, err_msg=str(key))
    compat.disable(GL.COLOR_MATERIAL)
    compat.color4f(1.0, 1.0, 1.0, 1.0)
    found = materials(compat)
    for key, value in expected((0.0, 1.0, 0.5, 1.0)).items():
        np.testing.assert_allclose(found[key], value, atol=1e-6, err_msg=str(key))


def test_another_mode_follows_at_once(compat: GLInterface) -> None:
    compat.color4f(*COLOR)
    compat.enable(GL.COLOR_MATERIAL)
    compat.color_material(GL.FRONT, GL.EMISSION)
    found = materials(compat)
    for key in (("FRONT", "AMBIENT"), ("BACK", "DIFFUSE"), ("FRONT", "EMISSION")):
        np.testing.assert_allclose(found[key], COLOR, atol=1e-6)
    np.testing.assert_allclose(found["BACK", "EMISSION"], INITIAL["EMISSION"], atol=1e-6)


def test_another_mode_is_drawn_with_at_once(compat: GLInterface) -> None:
    lit(compat)
    compat.color4f(0.25, 0.5, 0.75, 1.0)
    compat.enable(GL.COLOR_MATERIAL)  # of ambient and diffuse, which nothing lights
    compat.point_size(8.0)
    for place in PLACES[:2]:
        compat.begin(GL.POINTS)
        compat.vertex2f(place, 0.0)
        compat.end()
        compat.color_material(GL.FRONT, GL.EMISSION)
    found = colors(compat)[:2, :3]
    np.testing.assert_allclose(found, [(0, 0, 0), (0.25, 0.5, 0.75)], atol=0.003)


def test_what_follows_the_colour_is_not_set_otherwise(compat: GLInterface) -> None:
    compat.color4f(*COLOR)
    compat.enable(GL.COLOR_MATERIAL)
    for name in INITIAL:
        compat.materialfv(GL.FRONT_AND_BACK, getattr(GL, name), floats(0.1, 0.1, 0.1, 0.1))
    found = materials(compat)
    for side in ("FRONT", "BACK"):
        for name in INITIAL:
            expected = COLOR if name in MODES["AMBIENT_AND_DIFFUSE"] else (0.1,) * 4
            np.testing.assert_allclose(found[side, name], expected, atol=1e-6)


def test_numbers_of_colours_are_kept(compat: Any) -> None:
    """Three numbers as they are: two of colours and one of highlights."""
    asked, integers = compat.get_materialfv, compat.get_materialiv
    assert list(asked(GL.FRONT, GL.COLOR_INDEXES)) == [0.0, 1.0, 1.0]
    compat.materialfv(GL.BACK, GL.COLOR_INDEXES, np.array([2.0, 5.5, 9.0], np.float32))
    assert list(asked(GL.BACK, GL.COLOR_INDEXES)) == [2.0, 5.5, 9.0]
    assert list(integers(GL.BACK, GL.COLOR_INDEXES)) == [2, 6, 9]
    assert list(integers(GL.FRONT, GL.COLOR_INDEXES)) == [0, 1, 1]
    assert errors(compat) == []


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
