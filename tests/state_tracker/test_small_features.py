"""Smaller features of fixed function, attributes and textures that C programs met."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context


def pixel(gl: GLInterface) -> list[int]:
    return list(gl.read_pixels(32, 32, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE))


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("EYE_PLANE_ABSOLUTE_NV", 128), ("EYE_RADIAL_NV", 102), ("EYE_PLANE", 255)],
)
def test_fog_by_three_distances(compat: GLInterface, mode: str, expected: int) -> None:
    """A point at (3, 0, -4) of a fog that hides all at a distance of 8 or 20 / 3."""
    gl = compat
    gl.matrix_mode(GL.PROJECTION)
    gl.ortho(2.0, 4.0, -1.0, 1.0, 0.0, 10.0)
    gl.enable(GL.FOG)
    gl.fogi(GL.FOG_MODE, GL.LINEAR)
    gl.fogf(GL.FOG_START, 0.0)
    gl.fogf(GL.FOG_END, 8.0 if mode != "EYE_RADIAL_NV" else 25.0 / 3.0)
    gl.fogi(GL.FOG_DISTANCE_MODE_NV, getattr(GL, mode))
    assert gl.get_integerv(GL.FOG_DISTANCE_MODE_NV)[0] == getattr(GL, mode)
    gl.point_size(9.0)
    gl.begin(GL.POINTS)
    gl.vertex3f(3.0, 0.0, -4.0)
    gl.end()
    assert abs(pixel(gl)[0] - expected) <= 1
    gl.fogi(GL.FOG_DISTANCE_MODE_NV, GL.LINEAR)
    assert gl.get_error() == GL.INVALID_ENUM


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("DOT3_RGB_EXT", 133), ("MODULATE_ADD_ATI", 217), ("MODULATE_SIGNED_ADD_ATI", 89),
        ("MODULATE_SUBTRACT_ATI", 0),
    ],
)  # fmt: skip
def test_combinations_of_older_extensions(compat: GLInterface, mode: str, expected: int) -> None:
    gl = compat
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGB, 1, 1, 0, GL.RGB, GL.UNSIGNED_BYTE, bytes([204] * 3))
    gl.enable(GL.TEXTURE_2D)
    gl.tex_envi(GL.TEXTURE_ENV, GL.TEXTURE_ENV_MODE, GL.COMBINE)
    gl.tex_envi(GL.TEXTURE_ENV, GL.COMBINE_RGB, getattr(GL, mode))
    gl.tex_envi(GL.TEXTURE_ENV, GL.SOURCE1_RGB, GL.PRIMARY_COLOR)
    gl.tex_envi(GL.TEXTURE_ENV, GL.OPERAND2_RGB, GL.SRC_COLOR)
    gl.tex_envi(GL.TEXTURE_ENV, GL.SOURCE2_RGB, GL.CONSTANT)
    gl.tex_envfv(GL.TEXTURE_ENV, GL.TEXTURE_ENV_COLOR, [0.25] * 4)
    gl.tex_envi(GL.TEXTURE_ENV, GL.RGB_SCALE, 1)
    if mode == "DOT3_RGB_EXT":
        gl.tex_envi(GL.TEXTURE_ENV, GL.RGB_SCALE, 2)  # has no say
    gl.color4f(0.65, 0.65, 0.65, 1.0)
    gl.rectf(-1.0, -1.0, 1.0, 1.0)
    assert gl.get_error() == GL.NO_ERROR
    assert abs(pixel(gl)[0] - expected) <= 9


def test_attributes_of_packed_floats(compat: GLInterface) -> None:
    gl = compat
    word = 0x3C0 | 0x3C0 << 11 | 0x1C0 << 22  # 1.0, 1.0, 0.5 or so
    gl.vertex_attrib_p3ui(3, GL.UNSIGNED_INT_10F_11F_11F_REV, False, word)
    assert gl.get_error() == GL.NO_ERROR
    assert gl.get_vertex_attribfv(3, GL.CURRENT_VERTEX_ATTRIB)[:2] == [1.0, 1.0]
    gl.vertex_attrib_p4ui(3, GL.UNSIGNED_INT_10F_11F_11F_REV, False, word)
    assert gl.get_error() == GL.INVALID_ENUM


def test_locked_arrays_can_be_queried(compat: GLInterface) -> None:
    gl = compat

    def told() -> tuple[int, ...]:
        names = (GL.ARRAY_ELEMENT_LOCK_FIRST_EXT, GL.ARRAY_ELEMENT_LOCK_COUNT_EXT)
        return (*(gl.get_integerv(name)[0] for name in names), gl.get_error())

    assert told() == (0, 0, GL.NO_ERROR)
    gl.lock_arrays_ext(3, 5)
    assert told() == (3, 5, GL.NO_ERROR)
    gl.lock_arrays_ext(4, 6)
    assert gl.get_error() == GL.INVALID_OPERATION
    assert told() == (3, 5, GL.NO_ERROR)
    gl.unlock_arrays_ext()
    assert told() == (0, 0, GL.NO_ERROR)
    gl.unlock_arrays_ext()
    assert gl.get_error() == GL.INVALID_OPERATION


@pytest.mark.parametrize("driver", ["numpipe", pytest.param("native", marks=pytest.mark.native)])
def test_pointers_of_arrays_can_be_queried(driver: str) -> None:
    """In the bound buffer, in the client's memory, or nowhere."""
    options: dict[str, Any] = {"profile": "compat", "version": (4, 5), "size": (4, 4)}
    gl = native_context(**options) if driver == "native" else create_context(driver, **options)
    (buffer,) = gl.gen_buffers(1)
    asked = ("OFFSET", "STRIDE", "DIVISOR", "BUFFER")
    wanted = {4: 16, 2: 8}
    for bound in (0, buffer, 0):
        gl.bind_buffer(GL.ARRAY_BUFFER, bound)
        for size, stride, pointer in ((4, 0, 0), (2, 0, 64), (4, 20, 48), (2, 12, 0)):
            gl.vertex_attrib_pointer(1, size, GL.FLOAT, False, stride, pointer)
            names = (getattr(GL, f"VERTEX_BINDING_{name}") for name in asked)
            told = [gl.get_integeri_v(name, 1)[0] for name in names]
            assert told == [pointer, stride or wanted[size], 0, bound]
            asked_too = GL.VERTEX_ATTRIB_ARRAY_STRIDE, GL.VERTEX_ATTRIB_ARRAY_BUFFER_BINDING
            assert [gl.get_vertex_attribiv(1, name)[0] for name in asked_too] == [stride, bound]
            assert gl.get_vertex_attribiv(1, GL.VERTEX_ATTRIB_ARRAY_SIZE)[0] == size
    assert gl.get_error() == GL.NO_ERROR
    gl.release()


@pytest.mark.parametrize("driver", ["numpipe", pytest.param("native", marks=pytest.mark.native)])
@pytest.mark.parametrize("type", ["FLOAT", "HALF_FLOAT_OES"])
def test_textures_of_floats_by_their_format_in_es(driver: str, type: str) -> None:
    options: dict[str, Any] = {"profile": "es", "version": (2, 0), "size": (64, 64)}
    gl = native_context(**options) if driver == "native" else create_context(driver, **options)
    with gl:
        program = gl.create_program()
        for kind, source in (
            (GL.VERTEX_SHADER, "attribute vec2 a; void main() { gl_Position = vec4(a, 0, 1); }"),
            (GL.FRAGMENT_SHADER, "precision highp float; uniform sampler2D t; void main() {"
             " gl_FragColor = (texture2D(t, vec2(0.5)) + 3.0) / 8.0; }"),
        ):  # fmt: skip
            shader = gl.create_shader(kind)
            gl.shader_source(shader, source)
            gl.compile_shader(shader)
            gl.attach_shader(program, shader)
        gl.link_program(program)
        gl.use_program(program)
        (texture,) = gl.gen_textures(1)
        gl.bind_texture(GL.TEXTURE_2D, texture)
        for pname in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
            gl.tex_parameteri(GL.TEXTURE_2D, pname, GL.NEAREST)
        texel = np.array([-2.0, 4.0], np.float32 if type == "FLOAT" else np.float16)
        base = GL.LUMINANCE_ALPHA
        gl.tex_image2d(GL.TEXTURE_2D, 0, base, 1, 1, 0, base, getattr(GL, type), texel)
        assert gl.get_error() == GL.NO_ERROR
        corners = np.array([-1, -1, 3, -1, -1, 3], np.float32)
        gl.vertex_attrib_pointer(0, 2, GL.FLOAT, False, 0, corners)
        gl.enable_vertex_attrib_array(0)
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        room = bytearray(4)
        gl.read_pixels(32, 32, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE, room)
        assert [round(v * 8 / 255) for v in room] == [1, 1, 1, 7]
    gl.release()


@pytest.mark.parametrize("clamp", ["FIXED_ONLY", "TRUE", "FALSE"])
def test_colours_of_signed_buffers_are_clamped_as_fixed_point(
    compat: GLInterface, clamp: str
) -> None:
    gl = compat
    (texture,), (buffer,) = gl.gen_textures(1), gl.gen_framebuffers(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8_SNORM, 4, 4, 0, GL.RGBA, GL.FLOAT, None)
    gl.bind_framebuffer(GL.FRAMEBUFFER, buffer)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
    gl.viewport(0, 0, 4, 4)
    for target in (GL.CLAMP_VERTEX_COLOR, GL.CLAMP_READ_COLOR):
        gl.clamp_color(target, False)
    gl.clamp_color(GL.CLAMP_FRAGMENT_COLOR, getattr(GL, clamp))
    gl.color4f(-1.0, 0.5, -0.5, 1.0)
    gl.rectf(-1.0, -1.0, 1.0, 1.0)
    gl.window_pos2i(2, 2)
    gl.draw_pixels(1, 1, GL.RGBA, GL.FLOAT, np.array([-1.0, 0.5, -0.5, 1.0], np.float32))
    for x in (1, 2):
        raw = gl.read_pixels(x, x, 1, 1, GL.RGBA, GL.FLOAT)
        expected = [0.0, 0.5, 0.0, 1.0] if clamp != "FALSE" else [-1.0, 0.5, -0.5, 1.0]
        assert np.abs(np.frombuffer(raw, np.float32) - expected).max() < 0.01


SWAP_FLOATS = """#version 450
#extension GL_INTEL_shader_atomic_float_minmax : require
layout(local_size_x = 8) in;
layout(std430, binding = 0) buffer Memory { float value[8]; float found[8]; };
layout(std430, binding = 1) buffer Compared { uint compared[8]; };
void main()
{
    uint i = gl_LocalInvocationIndex;
    found[i] = atomicCompSwap(value[i], uintBitsToFloat(compared[i]), 42.0);
}
"""


@pytest.mark.parametrize("driver", ["numpipe", "jit", "simd", "tiler"])
def test_floats_are_compared_and_swapped_as_floats(driver: str) -> None:
    """Zeros are equal whatever their sign; nothing is equal to what is no number."""
    gl = create_context(driver, version=(4, 5), profile="core")
    shader, program = gl.create_shader(GL.COMPUTE_SHADER), gl.create_program()
    gl.shader_source(shader, SWAP_FLOATS)
    gl.compile_shader(shader)
    gl.attach_shader(program, shader)
    gl.link_program(program)
    assert gl.get_programiv(program, GL.LINK_STATUS)[0], gl.get_shader_info_log(shader)
    plus, minus, one, nan = 0x00000000, 0x80000000, 0x3F800000, 0x7FD55555
    value = np.array([plus, minus, plus, minus, one, nan, one, nan], np.uint32)
    compared = np.array([plus, minus, minus, plus, one, nan, nan, one], np.uint32)
    buffers = gl.gen_buffers(2)
    for i, words in enumerate((np.concatenate([value, value * 0]), compared)):
        gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, i, buffers[i])
        gl.buffer_data(GL.SHADER_STORAGE_BUFFER, words.nbytes, words, GL.STATIC_DRAW)
    gl.use_program(program)
    gl.dispatch_compute(1, 1, 1)
    gl.bind_buffer(GL.SHADER_STORAGE_BUFFER, buffers[0])
    raw = gl.get_buffer_sub_data(GL.SHADER_STORAGE_BUFFER, 0, 64)
    after = np.frombuffer(raw, np.uint32)
    swapped = int(np.float32(42.0).view(np.uint32))
    assert after[:8].tolist() == [swapped] * 5 + [nan, one, nan]
    assert after[8:].tolist() == value.tolist()
    assert gl.get_error() == GL.NO_ERROR
    gl.release()
