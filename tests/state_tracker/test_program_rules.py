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


def test_colours_are_told_clamped_where_they_are_clamped(compat: GLInterface) -> None:
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


@pytest.mark.parametrize("size", [1, 3, 40, 1000, 70000])
def test_memory_is_aligned_and_its_base_is_where_it_begins(size: int) -> None:
    format = FORMATS["R8_UNORM"]
    for _ in range(8):  # what malloc gives differs from call to call
        level = allocate(ResourceDesc(Target.BUFFER, format, size))[0]
        assert level.ctypes.data % 64 == 0
        assert isinstance(level.base, np.ndarray)
        assert level.base.ctypes.data == level.ctypes.data
