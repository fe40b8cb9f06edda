"""Smaller features of fixed function, attributes and textures that C programs met."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from tests.conftest import native_context


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
