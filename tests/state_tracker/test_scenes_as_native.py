"""Scenes of display lists, pixels, textures and queries draw and answer as on the native GL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from tests.state_tracker.differential import Scenes

from .helpers import errors, pixels

scene = Scenes()


@pytest.mark.native
@pytest.mark.parametrize(("profile", "drawn"), scene)
def test_the_scene_is_as_on_the_native_gl(profile: str, drawn: Callable[[Any], list[Any]]) -> None:
    def cleared(gl: Any) -> list[Any]:
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
        return drawn(gl)

    version = {"compat": (2, 1), "core": (4, 5)}[profile]
    Scenes.check(cleared, profile=profile, version=version, size=(32, 32))


def floats(raw: Any, count: int | None = None) -> Any:
    return np.array(raw if count is None else raw[:count], np.float32)


# -- draws in display lists: they keep what the arrays hold when the list is compiled --------------

CORNERS = np.array([[-1, -1], [0, -1], [-1, 0], [0, 0], [1, 0], [0, 1], [1, 1]], np.float32)


def with_arrays(gl: Any, buffered: bool) -> tuple[Any, Any]:
    """Corners and colours as enabled client arrays (or in a buffer), which can be changed."""
    places, colors = CORNERS.copy(), np.linspace(0, 1, 21, dtype=np.float32).reshape(7, 3).copy()
    gl.enable_client_state(GL.VERTEX_ARRAY)
    gl.enable_client_state(GL.COLOR_ARRAY)
    if buffered:
        (name,) = gl.gen_buffers(1)
        gl.bind_buffer(GL.ARRAY_BUFFER, name)
        gl.buffer_data(GL.ARRAY_BUFFER, places.nbytes, places, GL.STATIC_DRAW)
        gl.vertex_pointer(2, GL.FLOAT, 0, 0)
        gl.bind_buffer(GL.ARRAY_BUFFER, 0)
    else:
        gl.vertex_pointer(2, GL.FLOAT, 0, places)
    gl.color_pointer(3, GL.FLOAT, 0, colors)
    return places, colors


def several(gl: Any) -> None:
    gl.multi_draw_arrays(GL.TRIANGLES, np.array([0, 9, 3], "i4"), np.array([3, 0, 3], "i4"), 3)


def none_of_several(gl: Any) -> None:
    gl.multi_draw_arrays(GL.TRIANGLES, np.array([0, 3], "i4"), np.array([0, 0], "i4"), 2)


KEPT: list[Any] = []


def _lists_of_indices() -> tuple[Any, Any]:
    lists = [np.array([0, 1, 2], "u2"), np.array([0], "u2"), np.array([0, 1, 2, 2, 1, 3], "u2")]
    KEPT.extend(lists)
    return np.array([3, 0, 6], "i4"), np.array([a.ctypes.data for a in lists], "i8")


def several_indexed(gl: Any) -> None:
    counts, places = _lists_of_indices()
    gl.multi_draw_elements(GL.TRIANGLES, counts, GL.UNSIGNED_SHORT, places, 3)


def several_based(gl: Any) -> None:
    counts, places = _lists_of_indices()
    bases = np.array([0, 0, 3], "i4")
    gl.multi_draw_elements_base_vertex(GL.TRIANGLES, counts, GL.UNSIGNED_SHORT, places, 3, bases)


def by_element(gl: Any) -> None:
    gl.begin(GL.TRIANGLES)
    for i in (3, 4, 5):
        gl.array_element(i)
    gl.end()


def based(gl: Any) -> None:
    indices = np.array([0, 1, 2], "u1")
    gl.draw_elements_base_vertex(GL.TRIANGLES, 3, GL.UNSIGNED_BYTE, indices, 3)


def from_a_buffer(gl: Any) -> None:
    data = np.array([9, 3, 4, 5], "u4")
    (name,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, name)
    gl.buffer_data(GL.ELEMENT_ARRAY_BUFFER, data.nbytes, data, GL.STATIC_DRAW)
    gl.draw_elements(GL.TRIANGLES, 3, GL.UNSIGNED_INT, 4)
    gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, 0)


def restarted(gl: Any) -> None:
    indices = np.array([0, 1, 2, 200, 3, 4, 5, 6], "u1")
    gl.draw_elements(GL.TRIANGLE_STRIP, 8, GL.UNSIGNED_BYTE, indices)


for _draw in (several, none_of_several, several_indexed, several_based, by_element, based,
              from_a_buffer, restarted):  # fmt: skip
    for _buffered in (False, True):

        @scene("compat", _draw.__name__, _buffered)
        def in_a_list(gl: Any, name: str, buffered: bool) -> list[Any]:
            places, colors = with_arrays(gl, buffered)
            if name == "restarted":
                gl.enable(GL.PRIMITIVE_RESTART)
                gl.primitive_restart_index(200)
            gl.new_list(3, GL.COMPILE)
            globals()[name](gl)
            gl.end_list()
            nothing = pixels(gl, 32, 32).copy()
            colors[...], places[...] = 0.5, -places
            gl.call_list(3)
            return [nothing, pixels(gl, 32, 32)]


# -- pixels of depth and stencil -------------------------------------------------------------------


def drawn_to(gl: Any, form: int) -> None:
    """A framebuffer with a colour, a depth and a stencil buffer of a format."""
    (frame,) = gl.gen_framebuffers(1)
    color, depth = gl.gen_renderbuffers(2)
    gl.bind_framebuffer(GL.FRAMEBUFFER, frame)
    for name, point, kind in (
        (color, GL.COLOR_ATTACHMENT0, GL.RGBA8),
        (depth, GL.DEPTH_STENCIL_ATTACHMENT, form),
    ):
        gl.bind_renderbuffer(GL.RENDERBUFFER, name)
        gl.renderbuffer_storage(GL.RENDERBUFFER, kind, 32, 32)
        gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, point, GL.RENDERBUFFER, name)
    gl.viewport(0, 0, 32, 32)
    gl.clear_depth(0.75)
    gl.clear_stencil(0x35)
    gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)


def depths(gl: Any) -> list[Any]:
    depth = gl.read_pixels(0, 0, 32, 32, GL.DEPTH_COMPONENT, GL.FLOAT)
    stencil = gl.read_pixels(0, 0, 32, 32, GL.STENCIL_INDEX, GL.UNSIGNED_BYTE)
    return [np.frombuffer(depth, np.float32), np.frombuffer(stencil, np.uint8)]


BOTH = np.zeros((4, 4), [("z", "<f4"), ("s", "<u4")])
BOTH["z"], BOTH["s"] = np.linspace(-0.25, 1.25, 16).reshape(4, 4), np.arange(16).reshape(4, 4) * 17
WORDS = (np.arange(16, dtype=np.uint32) * 0x0F1E2D11).reshape(4, 4)


@scene("compat", "DEPTH24_STENCIL8", False)
@scene("compat", "DEPTH24_STENCIL8", True)
@scene("compat", "DEPTH32F_STENCIL8", False)
@scene("compat", "DEPTH32F_STENCIL8", True)
def depth_and_stencil_are_drawn(gl: Any, form: str, moved: bool) -> list[Any]:
    drawn_to(gl, getattr(GL, form))
    gl.window_pos2i(5, 6)
    if moved:
        gl.pixel_transferf(GL.DEPTH_SCALE, 0.5)
        gl.pixel_transferf(GL.DEPTH_BIAS, 0.125)
        gl.stencil_mask(0x5F)
    gl.draw_pixels(4, 4, GL.DEPTH_STENCIL, GL.UNSIGNED_INT_24_8, WORDS)
    gl.window_pos2i(20, 20)
    gl.pixel_zoom(2.0, -1.5)
    gl.draw_pixels(4, 4, GL.DEPTH_STENCIL, GL.FLOAT_32_UNSIGNED_INT_24_8_REV, BOTH)
    gl.pixel_zoom(1.0, 1.0)
    return depths(gl)


@scene("compat")
def reading_beyond_the_window(gl: Any) -> list[Any]:
    gl.clear_color(0.25, 0.5, 0.75, 1.0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    found = []
    for at in ((-2, -3), (28, 30), (40, 0)):
        room = np.full((6, 6, 4), 9, np.uint8)
        gl.read_pixels(*at, 6, 6, GL.RGBA, GL.UNSIGNED_BYTE, room)
        x, y = (np.arange(6) + at[0])[None, :], (np.arange(6) + at[1])[:, None]
        found.append(np.where(((x >= 0) & (x < 32) & (y >= 0) & (y < 32))[..., None], room, 0))
    return found


@scene("compat")
def wrong_reads(gl: Any) -> list[Any]:
    found = []
    gl.read_buffer(GL.NONE)
    for form, kind in ((GL.RGBA, GL.UNSIGNED_BYTE), (GL.RGBA_INTEGER, GL.INT)):
        gl.read_pixels(0, 0, 1, 1, form, kind, np.zeros(4, np.int32))
        found.append(errors(gl))
    gl.read_buffer(GL.BACK)
    gl.read_pixels(0, 0, 1, 1, GL.COLOR_INDEX, GL.UNSIGNED_BYTE, np.zeros(4, np.uint8))
    found.append(errors(gl))
    (frame,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, frame)
    gl.copy_pixels(0, 0, 1, 1, GL.COLOR)
    return [*found, errors(gl)]


# -- the raster position and the other modes of rendering ------------------------------------------


def rectangles(gl: Any) -> None:
    gl.draw_pixels(1, 1, GL.RGBA, GL.UNSIGNED_BYTE, np.zeros(4, np.uint8))
    gl.copy_pixels(0, 0, 1, 1, GL.COLOR)
    gl.bitmap(1, 1, 0.0, 0.0, 3.0, 2.0, np.zeros(1, np.uint8))
    gl.bitmap(1, 1, 0.0, 0.0, 0.0, 0.0, np.zeros(1, np.uint8))


def positions(gl: Any) -> None:
    gl.raster_pos3f(0.25, -0.25, 0.5)
    gl.load_name(8)
    gl.raster_pos3f(0.25, -0.25, 1.5)
    gl.load_name(9)
    gl.window_pos3f(3.0, 3.0, 0.25)
    gl.raster_pos3f(0.25, -0.25, -0.5)


def triangles(gl: Any) -> None:
    for turned in (False, True):
        gl.begin(GL.TRIANGLES)
        for x, y in ((-0.5, -0.5), (0.5, -0.5), (0.0, 0.5))[:: -1 if turned else 1]:
            gl.vertex3f(x, y, 0.25 if turned else -0.5)
        gl.end()


@scene("compat", "rectangles", "NONE", "CCW")
@scene("compat", "positions", "NONE", "CCW")
@scene("compat", "triangles", "FRONT", "CCW")
@scene("compat", "triangles", "BACK", "CCW")
@scene("compat", "triangles", "BACK", "CW")
@scene("compat", "triangles", "FRONT_AND_BACK", "CCW")
def selected_and_fed_back(gl: Any, what: str, cull: str, front: str) -> list[Any]:
    gl.color4f(0.25, 0.5, 0.75, 1.0)
    gl.tex_coord2f(0.125, 0.375)
    gl.raster_pos3f(0.25, -0.25, 0.5)
    if cull != "NONE":
        gl.enable(GL.CULL_FACE)
        gl.cull_face(getattr(GL, cull))
        gl.front_face(getattr(GL, front))
    told, hits = np.zeros(200, np.float32), np.zeros(50, np.uint32)
    gl.feedback_buffer(200, GL._4D_COLOR_TEXTURE, told)
    gl.render_mode(GL.FEEDBACK)
    globals()[what](gl)
    values = gl.render_mode(GL.RENDER)
    gl.select_buffer(50, hits)
    gl.render_mode(GL.SELECT)
    gl.init_names()
    gl.push_name(7)
    globals()[what](gl)
    number = gl.render_mode(GL.RENDER)
    return [values, told, number, hits / np.float64(1 << 32)]


# -- what is asked of objects ----------------------------------------------------------------------


@scene("core")
def arrays_by_name(gl: Any) -> list[Any]:
    one, other = gl.create_vertex_arrays(2)
    (buffer,) = gl.create_buffers(1)
    gl.named_buffer_data(buffer, 64, np.zeros(64, np.uint8), GL.STATIC_DRAW)
    gl.bind_vertex_array(other)
    gl.enable_vertex_array_attrib(one, 3)
    gl.enable_vertex_array_attrib(one, 4)
    gl.disable_vertex_array_attrib(one, 4)
    gl.vertex_array_attrib_format(one, 3, 2, GL.FLOAT, 0, 8)
    gl.vertex_array_attrib_binding(one, 3, 5)
    gl.vertex_array_binding_divisor(one, 5, 2)
    gl.vertex_array_vertex_buffer(one, 5, buffer, 16, 12)
    gl.vertex_array_element_buffer(one, buffer)
    gl.vertex_attrib_binding(2, 6)
    gl.vertex_binding_divisor(6, 7)
    found: list[Any] = [gl.is_vertex_array(one), gl.is_vertex_array(0), gl.is_vertex_array(99)]
    names = ["ENABLED", "SIZE", "STRIDE", "TYPE", "NORMALIZED", "INTEGER", "DIVISOR"]
    for array in (one, other):
        for index in (2, 3, 4):
            for name in names:
                query = getattr(GL, f"VERTEX_ATTRIB_ARRAY_{name}")
                found.append(int(gl.get_vertex_array_indexediv(array, index, query)[0]))
        found.append(
            int(gl.get_vertex_array_indexediv(array, 3, GL.VERTEX_ATTRIB_RELATIVE_OFFSET)[0])
        )
        found.append(int(gl.get_vertex_arrayiv(array, GL.ELEMENT_ARRAY_BUFFER_BINDING)[0]))
        for index in (3, 5):
            found.append(
                int(gl.get_vertex_array_indexed64iv(array, index, GL.VERTEX_BINDING_OFFSET)[0])
            )
    for call in (
        lambda: gl.enable_vertex_array_attrib(99, 0),
        lambda: gl.disable_vertex_array_attrib(one, 99),
        lambda: gl.vertex_array_attrib_binding(one, 0, 99),
        lambda: gl.vertex_array_binding_divisor(one, 99, 1),
        lambda: gl.gen_vertex_arrays(-1),
        lambda: gl.delete_vertex_arrays(-1, np.zeros(1, np.uint32)),
    ):
        call()
        found.append(errors(gl))
    gl.delete_vertex_arrays(2, np.array([one, other], np.uint32))
    return [*found, gl.is_vertex_array(one), int(gl.get_integerv(GL.VERTEX_ARRAY_BINDING)[0])]


# -- surfaces, environments, filled buffers, blocks ------------------------------------------------


@scene("core", "TEXTURE_CUBE_MAP")
@scene("core", "TEXTURE_2D_ARRAY")
def blocks_of_layers(gl: Any, name: str) -> list[Any]:
    (texture,) = gl.create_textures(getattr(GL, name), 1)
    form = GL.COMPRESSED_RED_RGTC1
    if name == "TEXTURE_2D_ARRAY":
        gl.texture_storage3d(texture, 1, form, 8, 8, 6)
    else:
        gl.texture_storage2d(texture, 1, form, 8, 8)
    data = (np.arange(6 * 4 * 8) * 37 % 251).astype(np.uint8)
    if name == "TEXTURE_2D_ARRAY":
        gl.compressed_texture_sub_image3d(texture, 0, 0, 0, 0, 8, 8, 6, form, data.nbytes, data)
    else:
        gl.bind_texture(GL.TEXTURE_CUBE_MAP, texture)
        for face in range(6):
            part = data[face * 32 : face * 32 + 32].copy()
            side = GL.TEXTURE_CUBE_MAP_POSITIVE_X + face
            gl.compressed_tex_sub_image2d(side, 0, 0, 0, 8, 8, form, 32, part)
    found: list[Any] = [errors(gl)]
    for box in ((0, 0, 1, 8, 8, 3), (4, 0, 2, 4, 4, 2), (4, 4, 5, 4, 4, 1), (0, 0, 0, 8, 8, 6),
                (0, 0, 5, 8, 8, 2)):  # fmt: skip
        room = np.zeros(256, np.uint8)
        gl.get_compressed_texture_sub_image(texture, 0, *box, room.nbytes, room)
        found += [room, errors(gl)]
    return found


@scene("core")
def bound_several_at_once(gl: Any) -> list[Any]:
    buffers, textures = gl.create_buffers(3), gl.create_textures(GL.TEXTURE_2D, 2)
    for buffer in buffers:
        gl.named_buffer_data(buffer, 1024, np.zeros(1024, np.uint8), GL.STATIC_DRAW)
    gl.texture_storage2d(textures[0], 1, GL.RGBA8, 4, 4)
    (buffered,) = gl.create_textures(GL.TEXTURE_BUFFER, 1)
    gl.texture_buffer(buffered, GL.R32F, buffers[0])
    names = np.array(buffers, np.uint32)
    starts, sizes = np.array([0, 256, 512], np.int64), np.array([16, 32, 64], np.int64)
    found: list[Any] = []

    def told() -> None:
        found.append(errors(gl))
        for i in range(4):
            for query in (GL.UNIFORM_BUFFER_BINDING, GL.UNIFORM_BUFFER_START):
                found.append(int(gl.get_integer64i_v(query, i)[0]))
            for query in ("NAME", "LEVEL", "LAYERED", "LAYER", "ACCESS", "FORMAT"):
                found.append(int(gl.get_integeri_v(getattr(GL, f"IMAGE_BINDING_{query}"), i)[0]))

    gl.bind_buffers_range(GL.UNIFORM_BUFFER, 1, 3, names, starts, sizes)
    told()
    gl.bind_buffers_range(GL.UNIFORM_BUFFER, 2, 2, None, None, None)
    told()
    gl.bind_image_textures(0, 2, np.array([buffered, textures[0]], np.uint32))
    told()
    gl.bind_image_textures(1, 2, np.array([0, textures[1]], np.uint32))
    told()
    gl.bind_image_textures(0, 1, np.array([99], np.uint32))
    told()
    gl.bind_image_textures(0, 2, None)
    told()
    return found


@scene("compat", "DOT4_ATI", "PRIMARY_COLOR")
@scene("compat", "DOT3_ATI", "SECONDARY_INTERPOLATOR_ATI")
@scene("compat", "MAD_ATI", "ONE")
@scene("compat", "MAD_ATI", "ZERO")
def operations_of_fragment_shaders_of_ati(gl: Any, name: str, source: str) -> list[Any]:
    gl.color4f(0.25, 0.5, 0.75, 0.125)
    gl.secondary_color3f(0.5, 0.25, 0.125)
    shader = gl.gen_fragment_shaders_ati(1)
    gl.bind_fragment_shader_ati(shader)
    gl.set_fragment_shader_constant_ati(GL.CON_0_ATI, floats([0.5, 0.25, 0.125, 0.75]))
    op, other, none = getattr(GL, name), getattr(GL, source), GL.NONE
    gl.begin_fragment_shader_ati()
    a, b = (GL.CON_0_ATI, none, none), (other, none, none)
    if name in ("DOT3_ATI", "DOT4_ATI"):
        gl.color_fragment_op2_ati(op, GL.REG_0_ATI, none, none, *a, *b)
    else:
        gl.color_fragment_op3_ati(op, GL.REG_0_ATI, none, none, *a, *b, *a)
    gl.end_fragment_shader_ati()
    gl.enable(GL.FRAGMENT_SHADER_ATI)
    gl.rectf(-1.0, -1.0, 1.0, 1.0)
    gl.disable(GL.FRAGMENT_SHADER_ATI)
    return [pixels(gl, 32, 32)[5, 5][:3]]


# -- what llvmpipe does otherwise than the specification says --------------------------------------


@pytest.fixture
def mine() -> Any:
    gl = create_context("numpipe", profile="compat", version=(2, 1), size=(32, 32))
    drawn_to(gl, GL.DEPTH24_STENCIL8)
    gl.window_pos2i(2, 3)
    yield gl
    gl.release()


def box(gl: Any, width: int = 4, height: int = 4) -> Any:
    """Stencil where it was drawn."""
    return depths(gl)[1].reshape(32, 32)[3 : 3 + height, 2 : 2 + width]


@pytest.mark.parametrize(("shift", "offset"), [(0, 0), (2, 1), (-1, 5), (-3, 0)])
def test_indices_are_shifted_and_moved(mine: Any, shift: int, offset: int) -> None:
    mine.pixel_transferi(GL.INDEX_SHIFT, shift)
    mine.pixel_transferi(GL.INDEX_OFFSET, offset)
    data = np.arange(16, dtype=np.uint8).reshape(4, 4) * 3
    moved = np.left_shift(data, shift) if shift >= 0 else np.right_shift(data, -shift)
    mine.draw_pixels(4, 4, GL.STENCIL_INDEX, GL.UNSIGNED_BYTE, data)
    mine.pixel_transferi(GL.INDEX_SHIFT, 0)
    mine.pixel_transferi(GL.INDEX_OFFSET, 0)
    np.testing.assert_array_equal(box(mine), moved + offset)
    mine.pixel_transferi(GL.INDEX_SHIFT, 1)  # a copy of it onto itself
    mine.copy_pixels(2, 3, 4, 4, GL.STENCIL)
    mine.pixel_transferi(GL.INDEX_SHIFT, 0)
    np.testing.assert_array_equal(box(mine), (moved + offset) * 2)


def test_stencil_is_looked_up(mine: Any) -> None:
    """A table of sixteen, in which the lowest four bits choose."""
    table = np.arange(16, dtype=np.uint32)[::-1].copy() * 3
    mine.pixel_mapuiv(GL.PIXEL_MAP_S_TO_S, 16, table)
    mine.pixel_transferi(GL.MAP_STENCIL, 1)
    data = np.arange(16, dtype=np.uint8).reshape(4, 4) * 5
    mine.draw_pixels(4, 4, GL.STENCIL_INDEX, GL.UNSIGNED_BYTE, data)
    mine.pixel_transferi(GL.MAP_STENCIL, 0)
    np.testing.assert_array_equal(box(mine), table[data & 15])


@pytest.mark.parametrize("form", ["DEPTH24_STENCIL8", "DEPTH32F_STENCIL8"])
def test_updating_depth_keeps_stencil(mine: Any, form: str) -> None:
    gl = mine
    gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
    both = GL.DEPTH_STENCIL, GL.UNSIGNED_INT_24_8
    gl.tex_image2d(GL.TEXTURE_2D, 0, getattr(GL, form), 4, 4, 0, *both, WORDS)
    depth = np.array([[0.0, 0.25], [0.5, 1.0]], np.float32)
    gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 1, 2, 2, 2, GL.DEPTH_COMPONENT, GL.FLOAT, depth)
    words = np.frombuffer(gl.get_tex_image(GL.TEXTURE_2D, 0, *both), np.uint32).reshape(4, 4)
    np.testing.assert_array_equal(words & 0xFF, WORDS & 0xFF)
    expected = WORDS >> 8
    expected[2:4, 1:3] = np.rint(depth * np.float64(0xFFFFFF))
    np.testing.assert_array_equal(words >> 8, expected)


@pytest.mark.parametrize(
    ("normals", "facing"), [("NORMALIZE", 0.8), ("RESCALE_NORMAL", 0.48), ("DITHER", 0.96)]
)
def test_a_lit_raster_position_under_a_scale(mine: Any, normals: str, facing: float) -> None:
    mine.enable(getattr(GL, normals))
    mine.enable(GL.LIGHTING)
    mine.enable(GL.LIGHT0)
    mine.scalef(0.5, 0.5, 0.5)
    mine.normal3f(0.36, 0.0, 0.48)
    mine.raster_pos3f(0.25, -0.25, 0.125)
    color = mine.get_floatv(GL.CURRENT_RASTER_COLOR)[:4]
    assert color == pytest.approx([0.04 + 0.8 * facing] * 3 + [1.0], abs=1e-6)


def test_two_products_and_a_third_component(mine: Any) -> None:
    """Two products and blue of the third argument; the shader ends with its context."""
    (seen,) = operations_of_fragment_shaders_of_ati(mine, "DOT2_ADD_ATI", "PRIMARY_COLOR")
    assert seen.tolist() == [round(255 * (0.5 * 0.25 + 0.25 * 0.5 + 0.125))] * 3
