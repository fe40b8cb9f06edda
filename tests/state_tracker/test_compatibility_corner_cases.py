"""Corners of many calls that programs seldom ask for, each with the specification's answer."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from tests.state_tracker.helpers import compiled, errors, pixels, program, quad


@pytest.fixture
def gl() -> Iterator[Any]:
    made = Context("numpipe", profile="compat", version=(4, 6), size=(8, 8))
    yield made
    made.release()


def current(gl: Any, what: int) -> list[float]:
    return [round(float(v), 4) for v in gl.get_floatv(what)]


# -- elements of arrays between glBegin and glEnd ------------------------------------------------

RED, BLUE = [1.0, 0.2, 0.0, 0.4], [0.0, 0.2, 1.0, 0.4]
PACKED = 0 | 0x155 << 10 | 0x3FF << 20 | 1 << 30
ARRAYS: dict[str, tuple[int, int, Any, list[float]]] = {
    "bytes": (4, GL.BYTE, np.array([127, -128, 0, 64], "i1"), [1, -1, 0, 64 / 127]),
    "unsigned bytes": (4, GL.UNSIGNED_BYTE, np.array([255, 51, 0, 102], "u1"), RED),
    "blue first": (GL.BGRA, GL.UNSIGNED_BYTE, np.array([255, 51, 0, 102], "u1"), BLUE),
    "shorts": (4, GL.SHORT, np.array([32767, -32768, 0, 0], "i2"), [1, -1, 0, 0]),
    "unsigned shorts": (3, GL.UNSIGNED_SHORT, np.array([65535, 13107, 0], "u2"), [1, 0.2, 0, 1]),
    "ints": (3, GL.INT, np.array([2**31 - 1, -(2**31), 0], "i4"), [1, -1, 0, 1]),
    "unsigned ints": (3, GL.UNSIGNED_INT, np.array([2**32 - 1, 0, 0], "u4"), [1, 0, 0, 1]),
    "halves": (4, GL.HALF_FLOAT, np.array([1.5, -0.25, 0, 2], "f2"), [1.5, -0.25, 0, 2]),
    "floats": (3, GL.FLOAT, np.array([1.5, -0.25, 9], "f4"), [1.5, -0.25, 9, 1]),
    "doubles": (4, GL.DOUBLE, np.array([1.5, -0.25, 9, 0], "f8"), [1.5, -0.25, 9, 0]),
    "packed": (4, GL.UNSIGNED_INT_2_10_10_10_REV, np.array([PACKED], "u4"),
               [0, 341 / 1023, 1, 1 / 3]),
    "packed and signed": (4, GL.INT_2_10_10_10_REV, np.array([PACKED], "u4"),
                          [0, 341 / 511, -1 / 511, 1]),
}  # fmt: skip


@pytest.mark.parametrize("kept", ["in memory", "in a buffer"])
@pytest.mark.parametrize("what", ARRAYS)
def test_elements_are_read_as_their_types_say(gl: Any, what: str, kept: str) -> None:
    size, type, element, wanted = ARRAYS[what]
    data = np.concatenate([np.zeros_like(element), element])
    where: Any = data.ctypes.data
    if kept == "in a buffer":
        gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
        gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes + 4, b"\7" * 4 + data.tobytes(), GL.STATIC_DRAW)
        where = 4
    gl.enable_client_state(GL.COLOR_ARRAY)
    gl.color_pointer(size, type, 0, where)
    gl.begin(GL.POINTS)
    gl.array_element(1)
    gl.end()
    assert current(gl, GL.CURRENT_COLOR) == pytest.approx(wanted, abs=1e-4)
    assert errors(gl) == []
    gl.array_element(-1)
    assert errors(gl) == ["GL_INVALID_VALUE"]
    gl.disable_client_state(GL.COLOR_ARRAY)
    gl.color_pointer(4, GL.FLOAT, 0, None)


def test_fixed_point_elements(gl: Any) -> None:
    data = np.array([0, 0, 0, 65536 + 32768, -16384, 0], np.int32)
    gl.enable_vertex_attrib_array(3)
    gl.vertex_attrib_pointer(3, 3, GL.FIXED, 0, 0, data.ctypes.data)
    gl.begin(GL.POINTS)
    gl.array_element(1)
    gl.end()
    gl.disable_vertex_attrib_array(3)
    assert list(gl.get_vertex_attribfv(3, GL.CURRENT_VERTEX_ATTRIB)) == [1.5, -0.25, 0, 1]


def test_an_element_is_a_vertex_where_there_is_a_position(gl: Any) -> None:
    corners = np.array([[-1, -1], [3, -1], [-1, 3]], np.float32)
    colors = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
    gl.clear(GL.COLOR_BUFFER_BIT)
    for state, pointer, size, data in (
        (GL.VERTEX_ARRAY, gl.vertex_pointer, 2, corners),
        (GL.COLOR_ARRAY, gl.color_pointer, 3, colors),
    ):
        gl.enable_client_state(state)
        pointer(size, GL.FLOAT, 0, data.ctypes.data)
    gl.shade_model(GL.FLAT)
    gl.begin(GL.TRIANGLES)
    for i in (1, 2, 0):
        gl.array_element(i)
    gl.end()
    assert pixels(gl, 8, 8)[4, 4].tolist() == [255, 0, 0, 255]  # of the last vertex


# -- vertex attributes ---------------------------------------------------------------------------


def test_packed_signed_attributes(gl: Any) -> None:
    """max(c / (2^(b-1) - 1), -1), as since OpenGL 4.2."""
    word = (-512 & 0x3FF) | 511 << 10 | 0 << 20 | (-2 & 3) << 30
    gl.vertex_attrib_p4ui(3, GL.INT_2_10_10_10_REV, GL.TRUE, word)
    found = gl.get_vertex_attribfv(3, GL.CURRENT_VERTEX_ATTRIB)
    assert list(found) == [-1, 1, 0, -1]
    gl.vertex_attrib_p4ui(3, GL.INT_2_10_10_10_REV, GL.FALSE, word)
    assert list(gl.get_vertex_attribfv(3, GL.CURRENT_VERTEX_ATTRIB)) == [-512, 511, 0, -2]
    gl.vertex_attrib_p4ui(3, GL.UNSIGNED_INT_2_10_10_10_REV, GL.FALSE, word)
    assert list(gl.get_vertex_attribfv(3, GL.CURRENT_VERTEX_ATTRIB)) == [512, 511, 0, 2]


def test_a_packed_colour_is_a_material_where_colours_are(gl: Any) -> None:
    gl.enable(GL.COLOR_MATERIAL)
    gl.color_material(GL.FRONT, GL.DIFFUSE)
    gl.color_p4ui(GL.UNSIGNED_INT_2_10_10_10_REV, 0x3FF | 0 << 10 | 0x155 << 20 | 1 << 30)
    found = gl.get_materialfv(GL.FRONT, GL.DIFFUSE)
    assert list(found) == pytest.approx([1, 0, 341 / 1023, 1 / 3], abs=1e-6)


def test_integers_of_attribute_0_are_vertices_between_begin_and_end(gl: Any) -> None:
    gl.clear_color(0, 0, 0, 0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.color3f(0, 1, 0)
    gl.begin(GL.TRIANGLES)
    for x, y in ((-1, -1), (3, -1), (-1, 3)):
        gl.vertex_attrib4sv(0, np.array([x, y, 0, 1], np.int16))
    gl.end()
    assert pixels(gl, 8, 8).reshape(-1, 4).tolist() == [[0, 255, 0, 255]] * 64


# -- images in display lists, from buffers -------------------------------------------------------


def test_images_of_buffers_are_read_when_a_list_is_made(gl: Any) -> None:
    """The buffer may change before the list is called."""
    made = gl.gen_lists(4)
    gl.bind_buffer(GL.PIXEL_UNPACK_BUFFER, gl.gen_buffers(1)[0])
    whole = bytes(range(1, 129)) * 2
    gl.buffer_data(GL.PIXEL_UNPACK_BUFFER, len(whole), whole, GL.STATIC_DRAW)
    texture = gl.gen_textures(1)[0]
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.new_list(made, GL.COMPILE)
    gl.polygon_stipple(0)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 4, 4, 0, GL.RGBA, GL.UNSIGNED_BYTE, 3)
    gl.compressed_tex_image2d(GL.TEXTURE_2D, 1, GL.COMPRESSED_RED_RGTC1, 4, 4, 0, 8, 16)
    gl.end_list()
    gl.new_list(made + 1, GL.COMPILE)
    gl.bitmap(8, 4, 0, 0, 0, 0, 0)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, -4, 4, 0, GL.RGBA, GL.UNSIGNED_BYTE, 3)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 4, 4, 0, GL.RGBA, GL.NONE, 3)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 4, 4, 0, GL.NONE, GL.UNSIGNED_BYTE, 3)
    gl.end_list()
    gl.buffer_data(GL.PIXEL_UNPACK_BUFFER, len(whole), bytes(len(whole)), GL.STATIC_DRAW)
    assert errors(gl) == []
    gl.call_list(made)
    assert errors(gl) == []
    assert bytes(gl.get_polygon_stipple()) == whole[:128]
    seen = bytes(gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RGBA, GL.UNSIGNED_BYTE))
    assert seen == whole[3:67]
    assert bytes(gl.get_compressed_tex_image(GL.TEXTURE_2D, 1)) == whole[16:24]
    gl.call_list(made + 1)
    assert errors(gl)[0] == "GL_INVALID_VALUE"
    gl.clear_color(0, 0, 0, 0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.bind_texture(GL.TEXTURE_2D, 0)
    gl.window_pos2i(0, 0)
    gl.color4f(1, 1, 1, 1)
    gl.call_list(made + 1)
    bits = pixels(gl, 8, 8)[..., 0] // 255
    # Rows of a bitmap begin at multiples of four bytes; the highest bit is the leftmost pixel.
    rows = [[whole[4 * y] >> (7 - x) & 1 for x in range(8)] for y in range(4)]
    assert bits.tolist() == [*rows, *[[0] * 8] * 4]


# -- copies --------------------------------------------------------------------------------------


def target(gl: Any, size: int = 4, format: int = GL.RGBA8) -> tuple[int, int]:
    frame, texture = gl.gen_framebuffers(1)[0], gl.gen_textures(1)[0]
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_storage2d(GL.TEXTURE_2D, 1, format, size, size)
    gl.bind_framebuffer(GL.FRAMEBUFFER, frame)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
    return int(frame), int(texture)


@pytest.mark.parametrize(
    ("source", "place", "wanted"),
    [
        ((0, 0, 4, 4), (0, 0, 4, 4), "abcd"),
        ((2, 0, 6, 4), (0, 0, 4, 4), "cd.."),  # what lies beyond the source is not copied
        ((-2, 0, 2, 4), (0, 0, 4, 4), "..ab"),
        ((0, 0, 4, 4), (2, 0, 6, 4), "..ab"),
        ((0, 0, 4, 4), (-1, 0, 3, 4), "bcd."),
        ((4, 0, 0, 4), (0, 0, 4, 4), "dcba"),
        ((6, 0, 2, 4), (0, 0, 4, 4), "..dc"),
        ((0, 0, 4, 4), (6, 0, 2, 4), "..dc"),
        ((0, 0, 0, 4), (0, 0, 4, 4), "...."),
        ((0, 0, 4, 4), (0, 0, 0, 4), "...."),
        ((8, 0, 12, 4), (0, 0, 4, 4), "...."),
        ((0, 0, 4, 4), (8, 0, 12, 4), "...."),
        ((0, 0, 2, 4), (0, 0, 4, 4), "aabb"),
    ],
)
def test_blits_are_cut_to_both_framebuffers(
    gl: Any, source: tuple[int, ...], place: tuple[int, ...], wanted: str
) -> None:
    read, texture = target(gl)
    letters = np.repeat(np.arange(1, 5, dtype=np.uint8)[None, :, None] * 10, 4, 0)
    data = np.ascontiguousarray(np.repeat(letters, 4, 2))
    gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 4, 4, GL.RGBA, GL.UNSIGNED_BYTE, data)
    draw, _ = target(gl)
    gl.clear_color(0, 0, 0, 0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, read)
    gl.blit_framebuffer(*source, *place, GL.COLOR_BUFFER_BIT, GL.NEAREST)
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, draw)
    found = pixels(gl, 4, 4)[:, :, 0] // 10
    assert ["".join(".abcd"[v] for v in row) for row in found.tolist()] == [wanted] * 4
    assert errors(gl) == []
    # The same from row to row.
    turned = data.transpose(1, 0, 2).copy()
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 4, 4, GL.RGBA, GL.UNSIGNED_BYTE, turned)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, read)
    s, d = ((c[1], c[0], c[3], c[2]) for c in (source, place))
    gl.blit_framebuffer(*s, *d, GL.COLOR_BUFFER_BIT, GL.NEAREST)
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, draw)
    found = pixels(gl, 4, 4)[:, :, 0].T // 10
    assert ["".join(".abcd"[v] for v in row) for row in found.tolist()] == [wanted] * 4


PAIRS = [
    (GL.RGBA8, GL.RGBA, GL.UNSIGNED_BYTE), (GL.RGBA16, GL.RGBA, GL.UNSIGNED_SHORT),
    (GL.RGBA16F, GL.RGBA, GL.HALF_FLOAT), (GL.R32F, GL.RGBA, GL.FLOAT),
    (GL.RGBA8I, GL.RGBA_INTEGER, GL.INT), (GL.R32UI, GL.RGBA_INTEGER, GL.UNSIGNED_INT),
]  # fmt: skip


@pytest.mark.parametrize(("internal", "format", "type"), PAIRS)
def test_the_pair_that_reads_without_a_conversion(
    gl: Any, internal: int, format: int, type: int
) -> None:
    frame, _ = target(gl, 4, internal)
    ask = gl.get_named_framebuffer_parameteriv
    names = GL.IMPLEMENTATION_COLOR_READ_FORMAT, GL.IMPLEMENTATION_COLOR_READ_TYPE
    found = [np.ravel(ask(frame, name))[0] for name in names]
    assert found == [format, type]
    assert [gl.get_integerv(name)[0] for name in names] == [format, type]


# -- pixels --------------------------------------------------------------------------------------


def test_pictures_of_two_dimensions_know_no_pictures(gl: Any) -> None:
    """IMAGE_HEIGHT and SKIP_IMAGES are of three dimensions only."""
    _, texture = target(gl, 2)
    data = np.arange(16, dtype=np.uint8)
    sizes = (GL.UNPACK_IMAGE_HEIGHT, GL.UNPACK_SKIP_IMAGES, GL.PACK_IMAGE_HEIGHT,
             GL.PACK_SKIP_IMAGES)  # fmt: skip
    for name in sizes:
        gl.pixel_storei(name, 3)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 2, 2, GL.RGBA, GL.UNSIGNED_BYTE, data)
    room = np.full(64, 7, np.uint8)
    gl.read_pixels(0, 0, 2, 2, GL.RGBA, GL.UNSIGNED_BYTE, room)
    assert room.tolist() == [*range(16), *[7] * 48]
    room[:] = 7
    gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RGBA, GL.UNSIGNED_BYTE, room)
    assert room.tolist() == [*range(16), *[7] * 48]


def test_indices_are_shifted_and_moved(gl: Any) -> None:
    """Stencils are indices: x * 2^shift + offset, masked by the buffer's eight bits."""
    data = np.array([1, 2, 3, 200], np.uint8)
    gl.window_pos2i(0, 0)
    for shift, offset in ((2, 5), (-1, 3), (0, 0)):
        gl.pixel_transferi(GL.INDEX_SHIFT, shift)
        gl.pixel_transferi(GL.INDEX_OFFSET, offset)
        gl.draw_pixels(4, 1, GL.STENCIL_INDEX, GL.UNSIGNED_BYTE, data)
        gl.pixel_transferi(GL.INDEX_SHIFT, 0)
        gl.pixel_transferi(GL.INDEX_OFFSET, 0)
        found = gl.read_pixels(0, 0, 4, 1, GL.STENCIL_INDEX, GL.UNSIGNED_BYTE)
        moved = [int(v) << shift if shift >= 0 else int(v) >> -shift for v in data]
        assert list(found) == [(v + offset) & 255 for v in moved]


def test_pixels_are_drawn_with_whatever_program_there_is(gl: Any) -> None:
    """Neither geometry shaders nor transform feedback see pixel rectangles' fragments."""
    geometry = """#version 330
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
void main() {}
"""
    name = gl.create_program()
    for kind, text in (
        (GL.VERTEX_SHADER, "#version 330\nvoid main() { gl_Position = vec4(0.0); }"),
        (GL.GEOMETRY_SHADER, geometry),
    ):
        gl.attach_shader(name, compiled(gl, kind, text))
    gl.link_program(name)
    assert gl.get_programiv(name, GL.LINK_STATUS)[0]
    gl.use_program(name)
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.clear_color(0, 0, 0, 0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.window_pos2i(2, 1)
    gl.draw_pixels(1, 1, GL.RGBA, GL.UNSIGNED_BYTE, b"\x0a\x14\x1e\x28")
    found = pixels(gl, 8, 8)
    assert found[1, 2].tolist() == [10, 20, 30, 40]
    assert np.count_nonzero(found.any(axis=2)) == 1
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    assert np.array_equal(pixels(gl, 8, 8), found)
    gl.use_program(0)
    gl.delete_program(name)
    assert errors(gl) == []


@pytest.mark.parametrize("far", [1e30, -1e30, float("nan")])
def test_a_raster_position_far_away_draws_nothing(gl: Any, far: float) -> None:
    gl.clear_color(0, 0, 0, 0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.window_pos2f(far, 0)
    gl.draw_pixels(2, 2, GL.RGBA, GL.UNSIGNED_BYTE, bytes([255] * 16))
    gl.bitmap(0, 0, 0, 0, 0, 0, None)
    assert not pixels(gl, 8, 8).any()
    assert errors(gl) == []


def test_accumulation_leaves_out_what_is_not_drawn_to() -> None:
    gl: Any = Context("numpipe", profile="compat", version=(2, 1), size=(2, 2))
    gl.clear_color(0.5, 0, 0, 0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.accum(GL.LOAD, 1.0)
    gl.draw_buffer(GL.NONE)
    gl.accum(GL.RETURN, 2.0)
    assert pixels(gl, 2, 2)[0, 0, 0] == 128
    gl.draw_buffer(GL.BACK)
    gl.accum(GL.RETURN, 2.0)
    assert pixels(gl, 2, 2)[0, 0, 0] == 255
    gl.release()


# -- objects -------------------------------------------------------------------------------------


def test_messages_go_to_c_functions(gl: Any) -> None:
    """A callback is a C function's address, or a Python function."""
    seen: list[tuple[Any, ...]] = []
    kind = ctypes.CFUNCTYPE(
        None, ctypes.c_uint, ctypes.c_uint, ctypes.c_uint, ctypes.c_uint, ctypes.c_int,
        ctypes.c_char_p, ctypes.c_void_p,
    )  # fmt: skip
    function = kind(lambda *args: seen.append(args))
    address = ctypes.cast(function, ctypes.c_void_p).value
    gl.enable(GL.DEBUG_OUTPUT)
    gl.debug_message_callback(address, 77)
    insert = GL.DEBUG_SOURCE_APPLICATION, GL.DEBUG_TYPE_MARKER, 5, GL.DEBUG_SEVERITY_HIGH
    gl.debug_message_insert(*insert, -1, "here")
    gl.debug_message_callback(None, None)
    gl.debug_message_insert(*insert, -1, "there")
    assert [(a[0], a[1], a[2], a[3], a[4], a[5], a[6]) for a in seen] == [
        (*(int(v) for v in insert), 4, b"here", 77)
    ]


def test_a_deleted_buffer_is_no_target_of_transform_feedback(gl: Any) -> None:
    first, second = gl.gen_buffers(2)
    for index, name in enumerate((first, second)):
        gl.bind_buffer_base(GL.TRANSFORM_FEEDBACK_BUFFER, index, name)
        gl.buffer_data(GL.TRANSFORM_FEEDBACK_BUFFER, 16, None, GL.STATIC_READ)
    gl.delete_buffers(1, [first])
    ask = GL.TRANSFORM_FEEDBACK_BUFFER_BINDING
    assert [np.ravel(gl.get_integeri_v(ask, i))[0] for i in (0, 1)] == [0, second]


def test_a_deleted_texture_is_no_image(gl: Any) -> None:
    _, texture = target(gl)
    other = target(gl)[1]
    gl.bind_framebuffer(GL.FRAMEBUFFER, 0)
    for unit, name in ((0, texture), (1, other)):
        gl.bind_image_texture(unit, name, 0, 0, 0, GL.READ_ONLY, GL.RGBA8)
    gl.delete_textures(1, [texture])
    names = [np.ravel(gl.get_integeri_v(GL.IMAGE_BINDING_NAME, i))[0] for i in (0, 1)]
    assert names == [0, other]


def test_arrays_of_attributes_have_places(gl: Any) -> None:
    """Element i of an array of matrices is columns further on."""
    vertex = """#version 330
layout(location = 2) in mat2 several[3];
layout(location = 9) in vec2 plain[2];
void main() {
    gl_Position = vec4(several[0][0] + several[1][1] + several[2][0], plain[0] + plain[1]);
}
"""
    made = program(gl, vertex, "#version 330\nout vec4 c;\nvoid main() { c = vec4(1.0); }")
    names = ["several", "several[0]", "several[1]", "several[2]", "several[3]", "plain[1]", "none"]
    found = [gl.get_attrib_location(made, name) for name in names]
    assert found == [2, 2, 4, 6, -1, 10, -1]
    assert gl.get_attrib_location(made, "gl_VertexID") == -1


def test_arrays_of_subroutine_uniforms_have_places(gl: Any) -> None:
    fragment = """#version 400
subroutine vec4 way();
subroutine(way) vec4 red() { return vec4(1.0, 0.0, 0.0, 1.0); }
subroutine(way) vec4 green() { return vec4(0.0, 1.0, 0.0, 1.0); }
subroutine uniform way ways[3];
uniform int which;
out vec4 color;
void main() { color = ways[which](); }
"""
    made = program(gl, "#version 400\nin vec2 position;\nvoid main() {"
                   " gl_Position = vec4(position, 0.0, 1.0); }", fragment)  # fmt: skip
    ask = gl.get_subroutine_uniform_location
    first = ask(made, GL.FRAGMENT_SHADER, "ways")
    assert first >= 0
    names = ["ways[0]", "ways[1]", "ways[2]", "ways[3]", "none"]
    assert [ask(made, GL.FRAGMENT_SHADER, name) for name in names] == [
        first, first + 1, first + 2, -1, -1,
    ]  # fmt: skip
    green = gl.get_subroutine_index(made, GL.FRAGMENT_SHADER, "green")
    red = gl.get_subroutine_index(made, GL.FRAGMENT_SHADER, "red")
    gl.uniform_subroutinesuiv(GL.FRAGMENT_SHADER, 3, np.array([red, green, red], np.uint32))
    quad(gl, made)
    for element, color in ((0, [255, 0, 0, 255]), (1, [0, 255, 0, 255]), (2, [255, 0, 0, 255])):
        gl.uniform1i(gl.get_uniform_location(made, "which"), element)
        gl.uniform_subroutinesuiv(GL.FRAGMENT_SHADER, 3, np.array([red, green, red], np.uint32))
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        assert pixels(gl, 8, 8)[3, 3].tolist() == color
    ask_interface = gl.get_program_interfaceiv
    most = ask_interface(made, GL.FRAGMENT_SUBROUTINE_UNIFORM, GL.MAX_NUM_COMPATIBLE_SUBROUTINES)
    assert np.ravel(most)[0] == 2


def test_a_program_without_fragments_has_the_last_stages_outputs(gl: Any) -> None:
    text = (
        "#version 430\nout vec2 seen;\nvoid main() { seen = vec2(1.0); gl_Position = vec4(0.0); }"
    )
    made = gl.create_shader_programv(GL.VERTEX_SHADER, 1, [text])
    gl.program_parameteri(made, GL.PROGRAM_SEPARABLE, 1)
    ask = gl.get_program_resource_index
    assert ask(made, GL.PROGRAM_OUTPUT, "seen") != GL.INVALID_INDEX
    assert ask(made, GL.PROGRAM_OUTPUT, "none") == GL.INVALID_INDEX


def test_compressed_proxies_answer(gl: Any) -> None:
    for size, wanted in ((8, 8), (1 << 20, 0)):
        gl.compressed_tex_image2d(
            GL.PROXY_TEXTURE_2D, 0, GL.COMPRESSED_RED_RGTC1, size, size, 0,
            max(1, size // 4) ** 2 * 8, None,
        )  # fmt: skip
        found = gl.get_tex_level_parameteriv(GL.PROXY_TEXTURE_2D, 0, GL.TEXTURE_WIDTH)
        assert np.ravel(found)[0] == wanted
    errors(gl)


def test_base_levels_make_mipmaps_when_they_change(gl: Any) -> None:
    """GENERATE_MIPMAP: whatever changes the base level changes those below."""
    gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
    gl.tex_parameteri(GL.TEXTURE_2D, GL.GENERATE_MIPMAP, 1)

    def level(number: int) -> list[int]:
        return list(gl.get_tex_image(GL.TEXTURE_2D, number, GL.RED, GL.UNSIGNED_BYTE))

    first = np.full((2, 2), 100, np.uint8)
    gl.pixel_storei(GL.UNPACK_ALIGNMENT, 1)
    gl.pixel_storei(GL.PACK_ALIGNMENT, 1)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.R8, 2, 2, 0, GL.RED, GL.UNSIGNED_BYTE, first)
    assert level(1) == [100]
    gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 2, 1, GL.RED, GL.UNSIGNED_BYTE, b"\0\0")
    assert level(1) == [50]
    gl.clear_color(40 / 255, 0, 0, 0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.copy_tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 0, 0, 2, 2)
    assert level(1) == [40]


def test_handles_are_resident_or_not(gl: Any) -> None:
    gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
    gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA8, 2, 2)
    texture = gl.get_integerv(GL.TEXTURE_BINDING_2D)[0]
    image = gl.get_image_handle_arb(texture, 0, 0, 0, GL.RGBA8)
    sampled = gl.get_texture_handle_arb(texture)
    asks = gl.is_image_handle_resident_arb, gl.is_texture_handle_resident_arb
    assert [ask(h) for ask, h in zip(asks, (image, sampled), strict=True)] == [0, 0]
    gl.make_image_handle_resident_arb(image, GL.READ_ONLY)
    assert [ask(h) for ask, h in zip(asks, (image, sampled), strict=True)] == [1, 0]
    gl.make_texture_handle_resident_arb(sampled)
    gl.make_image_handle_non_resident_arb(image)
    assert [ask(h) for ask, h in zip(asks, (image, sampled), strict=True)] == [0, 1]
    gl.make_texture_handle_non_resident_arb(sampled)
    for ask in asks:
        assert not ask(12345)
        assert errors(gl) == ["GL_INVALID_OPERATION"]
