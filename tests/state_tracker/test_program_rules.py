"""Rules about programs that C programs rely on; on our GL and on the machine's."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.drivers.common.memory.storage import allocate
from gallette.pipe.enums import Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc
from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context


def linked(gl: GLInterface, *shaders: tuple[int, str]) -> int:
    program = gl.create_program()
    for kind, source in shaders:
        shader = gl.create_shader(kind)
        gl.shader_source(shader, source)
        gl.compile_shader(shader)
        assert gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0], gl.get_shader_info_log(shader)
        gl.attach_shader(program, shader)
    gl.link_program(program)
    assert gl.get_programiv(program, GL.LINK_STATUS)[0], gl.get_program_info_log(program)
    return int(program)


def active(gl: GLInterface, program: int) -> dict[str, int]:
    (count,) = gl.get_programiv(program, GL.ACTIVE_UNIFORMS)
    found = (gl.get_active_uniform(program, i) for i in range(count))
    return {name: size for size, _, name in found}


def test_an_array_is_as_long_as_its_highest_element_in_use(compat: GLInterface) -> None:
    """Unless an index is not constant, or the array is named as a whole."""
    source = """#version 120
        uniform vec4 some[50]; uniform vec4 all[7]; uniform float whole[4]; uniform int i;
        uniform vec4 both[9];
        float sum(float v[4]) { return v[0] + v[3]; }
        void main() {
            gl_FragColor = some[3] + some[11] + all[i] + all[0] + sum(whole) + both[2];
        }"""
    vertex = """#version 120
        uniform vec4 both[9];
        void main() { gl_Position = both[4]; }"""
    gl = compat
    program = linked(gl, (GL.FRAGMENT_SHADER, source), (GL.VERTEX_SHADER, vertex))
    sizes = active(gl, program)
    assert sizes == {"some[0]": 12, "all[0]": 7, "whole[0]": 4, "i": 1, "both[0]": 5}
    assert gl.get_uniform_location(program, "some[11]") >= 0
    assert gl.get_uniform_location(program, "some[12]") == -1
    gl.use_program(program)
    gl.uniform4fv(gl.get_uniform_location(program, "some"), 50, [0.25] * 200)
    assert gl.get_error() == GL.NO_ERROR
    assert gl.get_uniformfv(program, gl.get_uniform_location(program, "some[11]"))[0] == 0.25


def test_samplers_of_different_types_need_different_units(compat: GLInterface) -> None:
    gl = compat
    source = """#version 120
        uniform sampler2D a; uniform samplerCube b;
        void main() { gl_FragColor = texture2D(a, vec2(0.5)) + textureCube(b, vec3(1.0)); }"""
    program = linked(gl, (GL.FRAGMENT_SHADER, source))
    gl.use_program(program)
    gl.validate_program(program)
    assert not gl.get_programiv(program, GL.VALIDATE_STATUS)[0]
    gl.rectf(-1.0, -1.0, 1.0, 1.0)
    assert gl.get_error() == GL.INVALID_OPERATION
    gl.uniform1i(gl.get_uniform_location(program, "b"), 1)
    gl.validate_program(program)
    assert gl.get_programiv(program, GL.VALIDATE_STATUS)[0]
    gl.rectf(-1.0, -1.0, 1.0, 1.0)
    assert gl.get_error() == GL.NO_ERROR


def test_only_vertices_stand_between_begin_and_end(compat: GLInterface) -> None:
    gl = compat
    program = linked(gl, (GL.FRAGMENT_SHADER, "void main() { gl_FragColor = vec4(1.0); }"))
    gl.begin(GL.TRIANGLES)
    gl.use_program(program)
    gl.enable(GL.BLEND)
    gl.viewport(1, 2, 3, 4)
    gl.vertex2f(0.0, 0.0)
    gl.end()
    assert gl.get_error() == GL.INVALID_OPERATION
    assert gl.get_error() == GL.NO_ERROR
    assert gl.get_integerv(GL.CURRENT_PROGRAM)[0] == 0
    assert not gl.is_enabled(GL.BLEND)
    assert gl.get_integerv(GL.VIEWPORT)[:2] == [0, 0]


def test_compressed_images_are_not_drawn_to(compat: GLInterface) -> None:
    gl = compat
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    format = GL.COMPRESSED_LUMINANCE_ALPHA_LATC2_EXT
    gl.tex_image2d(GL.TEXTURE_2D, 0, format, 8, 8, 0, GL.RGBA, GL.UNSIGNED_BYTE, None)
    (framebuffer,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
    status = gl.check_framebuffer_status(GL.FRAMEBUFFER)
    assert status == GL.FRAMEBUFFER_INCOMPLETE_ATTACHMENT


def test_colour_queries_are_clamped_where_colours_are(compat: GLInterface) -> None:
    gl = compat
    gl.alpha_func(GL.GREATER, 7.0)
    gl.blend_color(7.0, -2.0, 0.5, 1.0)
    for clamp, reference, color in (
        (GL.TRUE, 1.0, [1.0, 0.0, 0.5, 1.0]),
        (GL.FALSE, 7.0, [7.0, -2.0, 0.5, 1.0]),
    ):
        gl.clamp_color_arb(GL.CLAMP_FRAGMENT_COLOR_ARB, clamp)
        assert gl.get_floatv(GL.ALPHA_TEST_REF)[0] == reference
        assert gl.get_floatv(GL.BLEND_COLOR) == color


def test_a_buffer_is_cleared_beside_what_is_mapped(compat: GLInterface) -> None:
    gl = compat
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
    gl.buffer_data(GL.ARRAY_BUFFER, 64, None, GL.STATIC_DRAW)
    gl.map_buffer_range(GL.ARRAY_BUFFER, 16, 16, GL.MAP_WRITE_BIT)
    clear = (GL.RED, GL.UNSIGNED_BYTE, b"\x07")
    gl.clear_buffer_sub_data(GL.ARRAY_BUFFER, GL.R8, 32, 32, *clear)
    assert gl.get_error() == GL.NO_ERROR
    gl.clear_buffer_sub_data(GL.ARRAY_BUFFER, GL.R8, 24, 16, *clear)
    assert gl.get_error() == GL.INVALID_OPERATION
    gl.unmap_buffer(GL.ARRAY_BUFFER)


@pytest.mark.parametrize("driver", ["numpipe", pytest.param("native", marks=pytest.mark.native)])
def test_layouts_of_stages_can_be_queried(driver: str) -> None:
    options = {"profile": "core", "version": (4, 3)}
    gl = native_context(**options) if driver == "native" else create_context(driver, **options)  # type: ignore[arg-type]
    with gl:
        compute = "#version 430\nlayout(local_size_x = 4, local_size_y = 2) in; void main() {}"
        program = linked(gl, (GL.COMPUTE_SHADER, compute))
        assert gl.get_programiv(program, GL.COMPUTE_WORK_GROUP_SIZE) == [4, 2, 1]
        vertex = "#version 430\nvoid main() { gl_Position = vec4(0.0); }"
        control = """#version 430
            layout(vertices = 5) out;
            void main() { gl_TessLevelOuter[0] = 1.0; }"""
        evaluation = """#version 430
            layout(quads, fractional_odd_spacing, cw, point_mode) in;
            void main() { gl_Position = vec4(0.0); }"""
        program = linked(
            gl,
            (GL.VERTEX_SHADER, vertex),
            (GL.TESS_CONTROL_SHADER, control),
            (GL.TESS_EVALUATION_SHADER, evaluation),
        )
        for pname, value in (
            (GL.TESS_CONTROL_OUTPUT_VERTICES, 5),
            (GL.TESS_GEN_MODE, GL.QUADS),
            (GL.TESS_GEN_SPACING, GL.FRACTIONAL_ODD),
            (GL.TESS_GEN_VERTEX_ORDER, GL.CW),
            (GL.TESS_GEN_POINT_MODE, 1),
        ):
            assert gl.get_programiv(program, pname)[0] == value
        gl.get_programiv(program, GL.COMPUTE_WORK_GROUP_SIZE)
        assert gl.get_error() == GL.INVALID_OPERATION
    gl.release()


FETCH = """#version 140
uniform {kind}samplerBuffer words; out vec4 color;
void main() {{ color = vec4(texelFetch(words, 3)){scale}; }}"""


def test_texels_of_buffers_in_every_format(compat: GLInterface) -> None:
    """Three words to a texel, and alpha, luminance and intensity, too."""
    gl = compat
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.TEXTURE_BUFFER, buffer)
    floats = np.arange(64, dtype=np.float32) / 64.0
    gl.buffer_data(GL.TEXTURE_BUFFER, floats.nbytes, floats, GL.STATIC_DRAW)
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_BUFFER, texture)
    gl.use_program(linked(gl, (GL.FRAGMENT_SHADER, FETCH.format(kind="", scale=""))))
    expected = {
        GL.RGB32F: [9, 10, 11, 64],
        GL.RGBA32F: [12, 13, 14, 15],
        GL.LUMINANCE32F_ARB: [3, 3, 3, 64],
        GL.LUMINANCE_ALPHA32F_ARB: [6, 6, 6, 7],
        GL.INTENSITY32F_ARB: [3, 3, 3, 3],
        GL.ALPHA32F_ARB: [0, 0, 0, 3],
    }
    for format, values in expected.items():
        gl.tex_buffer(GL.TEXTURE_BUFFER, format, buffer)
        gl.rectf(-1.0, -1.0, 1.0, 1.0)
        raw = gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)
        assert [round(v * 64 / 255) for v in raw] == values, GL.name_of(format)
    for wrong in (GL.RGB8, GL.RGBA8_SNORM, GL.RGB10_A2, GL.R11F_G11F_B10F, GL.SRGB8_ALPHA8):
        gl.tex_buffer(GL.TEXTURE_BUFFER, wrong, buffer)
        assert gl.get_error() == GL.INVALID_ENUM


def test_mapped_buffers_are_aligned(compat: GLInterface) -> None:
    gl = compat
    for size in (1, 77, 4096):
        (buffer,) = gl.gen_buffers(1)
        gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
        gl.buffer_data(GL.ARRAY_BUFFER, size, None, GL.STATIC_DRAW)
        at = gl.map_buffer(GL.ARRAY_BUFFER, GL.WRITE_ONLY)
        assert at % gl.get_integerv(GL.MIN_MAP_BUFFER_ALIGNMENT)[0] == 0
        gl.unmap_buffer(GL.ARRAY_BUFFER)


def test_feedback_returns_texture_coordinates_without_samplers(compat: GLInterface) -> None:
    gl = compat
    told = np.zeros(16, np.float32)
    gl.feedback_buffer(16, GL._3D_COLOR_TEXTURE, told)
    gl.render_mode(GL.FEEDBACK)
    gl.begin(GL.POINTS)
    gl.tex_coord4f(0.5, 0.25, 0.125, 2.0)
    gl.vertex2f(0.0, 0.0)
    gl.end()
    assert gl.render_mode(GL.RENDER) == 12
    assert told[8:12].tolist() == [0.5, 0.25, 0.125, 2.0]


def test_integer_pixels_have_integer_types(compat: GLInterface) -> None:
    gl = compat
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8UI, 2, 2, 0, GL.RGBA_INTEGER, GL.FLOAT, None)
    assert gl.get_error() == GL.INVALID_ENUM


def test_the_format_of_unconverted_reads_can_be_queried(compat: GLInterface) -> None:
    gl = compat
    format = gl.get_integerv(GL.IMPLEMENTATION_COLOR_READ_FORMAT)[0]
    assert format in (GL.RGBA, GL.BGRA)
    assert gl.get_integerv(GL.IMPLEMENTATION_COLOR_READ_TYPE)[0] == GL.UNSIGNED_BYTE


@pytest.mark.parametrize("size", [1, 3, 40, 1000, 70000])
def test_memory_is_aligned_and_its_base_is_where_it_begins(size: int) -> None:
    format = FORMATS["R8_UNORM"]
    for _ in range(8):  # what malloc gives differs from call to call
        level = allocate(ResourceDesc(Target.BUFFER, format, size))[0]
        assert level.ctypes.data % 64 == 0
        assert isinstance(level.base, np.ndarray)
        assert level.base.ctypes.data == level.ctypes.data
