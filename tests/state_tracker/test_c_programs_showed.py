"""What C programs of a conformance suite showed: each as a small test, native GL included."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.state_tracker.helpers import errors, pixels, program, quad


def test_a_sample_mask_means_nothing_where_there_is_one_sample(gl: GLInterface) -> None:
    fragment = (
        "#version 400\nuniform int mask;\nout vec4 color;\n"
        "void main() { gl_SampleMask[0] = mask; color = vec4(1.0); }\n"
    )
    name = program(gl, fragment=fragment)
    quad(gl, name)
    for mask in (0, 1, -2):
        gl.uniform1i(gl.get_uniform_location(name, "mask"), mask)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        assert (pixels(gl) == 255).all(), mask


def test_what_is_read_is_clamped_if_asked_for(gl: GLInterface) -> None:
    (texture,), (framebuffer,) = gl.gen_textures(1), gl.gen_framebuffers(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    texel = np.array([7.0, -2.0, 0.5, 1.0], np.float32)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA32F, 1, 1, 0, GL.RGBA, GL.FLOAT, texel)
    gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
    for clamp, wanted in ((GL.FALSE, texel), (GL.TRUE, texel.clip(0, 1))):
        gl.clamp_color(GL.CLAMP_READ_COLOR, clamp)
        found = np.frombuffer(gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.FLOAT), np.float32)
        assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize(
    "name", ["TEXTURE_MATRIX", "CURRENT_TEXTURE_COORDS", "CURRENT_RASTER_TEXTURE_COORDS"]
)
def test_units_without_coordinates_answer_none(compat: GLInterface, name: str) -> None:
    compat.active_texture(GL.TEXTURE0 + 10)
    compat.get_floatv(getattr(GL, name))
    assert errors(compat) == ["GL_INVALID_OPERATION"]


def test_nothing_is_copied_into_compressed_images_in_es() -> None:
    gl = create_context("numpipe", profile="es", version=(3, 0), size=(8, 8))
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.COMPRESSED_RGBA8_ETC2_EAC, 8, 8)
    gl.copy_tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 0, 0, 4, 4)
    assert errors(gl) == ["GL_INVALID_OPERATION"]
    gl.release()


def test_a_forward_compatible_context_says_so() -> None:
    gl = create_context("noop", size=(8, 8))
    assert gl.get_integerv(GL.CONTEXT_FLAGS) == [0]
    gl.forward_compatible = True  # type: ignore[attr-defined]
    assert gl.get_integerv(GL.CONTEXT_FLAGS) == [GL.CONTEXT_FLAG_FORWARD_COMPATIBLE_BIT]
    gl.release()


COUNTED = """#version 430
layout(binding = 0) uniform atomic_uint one;
layout(binding = 0, offset = 8) uniform atomic_uint two[2];
uniform int which;
out vec4 color;
uint up(atomic_uint counter) { return atomicCounterIncrement(counter); }
uint down(atomic_uint counters[2], int i) { return atomicCounterDecrement(counters[i]); }
uint add(atomic_uint counter) { return up(counter) + atomicCounter(counter); }
void main() { color = vec4(float(add(one) + up(two[which]) + down(two, 0))); }
"""


def test_counters_are_passed_to_functions() -> None:
    gl = create_context("numpipe", size=(8, 8), version=(4, 3))
    name = program(gl, "#version 430\nin vec2 position;\nvoid main() {"
                   " gl_Position = vec4(position, 0.0, 1.0); }", COUNTED)  # fmt: skip
    quad(gl, name)
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer_base(GL.ATOMIC_COUNTER_BUFFER, 0, buffer)
    values = np.array([5, 7, 1000, 11], np.uint32)
    gl.buffer_data(GL.ATOMIC_COUNTER_BUFFER, values.nbytes, values, GL.STATIC_DRAW)
    gl.uniform1i(gl.get_uniform_location(name, "which"), 1)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    raw = gl.get_buffer_sub_data(GL.ATOMIC_COUNTER_BUFFER, 0, values.nbytes)
    found = np.frombuffer(bytes(raw), np.uint32)
    assert errors(gl) == []
    assert (found - values).tolist() == [64, 0, -64 % (1 << 32), 64]
    gl.release()
