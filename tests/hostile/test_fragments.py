"""Fragments of legal draws that are seldom made."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.hostile.programs import linked

EVERYWHERE = """
void main() { gl_Position = vec4(ivec2(gl_VertexID & 1, gl_VertexID >> 1) * 4 - 1, 0, 1); }"""


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_many_fragments_of_a_target_with_samples_where_multisampling_is_off(driver: str) -> None:
    """They are shaded in several chunks."""
    if driver == "jit":
        pytest.importorskip("llvmlite")
    size = 256
    gl = create_context(driver, version=(4, 5), size=(size, size), samples=4)
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    terms = " + ".join(f"a[{k}] * a[{k + 1}]" for k in range(60))  # which take many arrays
    fragment = f"""out vec4 color;
        void main() {{
            float a[61];
            for (int k = 0; k < 61; k++) a[k] = fract(gl_FragCoord.x / float(k + 2));
            color = vec4({terms} > 0.0 ? 0.5 : 0.25, 0.25, 0.0, 1.0);
        }}"""
    linked(gl, VERTEX=EVERYWHERE, FRAGMENT=fragment)
    gl.disable(GL.MULTISAMPLE)
    gl.enable(GL.BLEND)
    gl.blend_func(GL.ONE, GL.ONE)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    (fbo,), (buffer,) = gl.gen_framebuffers(1), gl.gen_renderbuffers(1)
    gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
    gl.renderbuffer_storage(GL.RENDERBUFFER, GL.RGBA8, size, size)
    gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, fbo)
    point = GL.DRAW_FRAMEBUFFER, GL.COLOR_ATTACHMENT0
    gl.framebuffer_renderbuffer(*point, GL.RENDERBUFFER, buffer)
    box = (0, 0, size, size)
    gl.blit_framebuffer(*box, *box, GL.COLOR_BUFFER_BIT, GL.NEAREST)
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, fbo)
    seen = np.frombuffer(gl.read_pixels(*box, GL.RGBA, GL.UNSIGNED_BYTE), np.uint8)
    assert np.unique(seen.reshape(-1, 4)[:, 1]).tolist() == [128]
    assert gl.get_error() == GL.NO_ERROR


def test_the_least_stencil_value_of_several_probes(gl: GLInterface) -> None:
    """Stencil values are whole numbers, which anisotropic filters do not add up."""
    (texture,) = gl.create_textures(GL.TEXTURE_2D, 1)
    gl.texture_storage2d(texture, 3, GL.DEPTH24_STENCIL8, 16, 16)
    for level in range(3):
        value = np.uint32(7 + level)
        gl.clear_tex_image(texture, level, GL.DEPTH_STENCIL, GL.UNSIGNED_INT_24_8, value)
    gl.texture_parameteri(texture, GL.DEPTH_STENCIL_TEXTURE_MODE, GL.STENCIL_INDEX)
    gl.texture_parameteri(texture, GL.TEXTURE_REDUCTION_MODE_ARB, GL.MIN)
    gl.texture_parameteri(texture, GL.TEXTURE_MIN_FILTER, GL.LINEAR_MIPMAP_LINEAR)
    gl.texture_parameterf(texture, GL.TEXTURE_MAX_ANISOTROPY, 8.0)
    gl.bind_texture_unit(0, texture)
    fragment = """layout(binding = 0) uniform usampler2D t; out vec4 color;
        void main() {
            uint least = texture(t, gl_FragCoord.xy * vec2(0.2, 0.01)).x;
            color = vec4(float(least) / 255.0, 0.0, 0.0, 1.0);
        }"""
    linked(gl, VERTEX=EVERYWHERE, FRAGMENT=fragment)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    seen = np.frombuffer(gl.read_pixels(0, 0, 32, 32, GL.RGBA, GL.UNSIGNED_BYTE), np.uint8)
    assert set(seen.reshape(-1, 4)[:, 0].tolist()) <= {7, 8, 9}
    assert gl.get_error() == GL.NO_ERROR


def test_a_load_at_one_place_in_a_loop_that_pixels_leave_at_different_times(
    gl: GLInterface,
) -> None:
    """Each pixel gets a value of its own, although they all load the same one."""
    fragment = """
        uniform vec4 floats[3];
        uniform ivec4 numbers;
        uniform dvec2 doubles[3];
        out vec4 color;
        void main() {
            vec4 f = vec4(0.5, 0.0, 3.0, 1.0) + floats[1];
            switch (findMSB(bitfieldExtract(int(gl_FragCoord.x) & 1, numbers.w, 1))) {
            case 0: { float a[1]; a[int(f.y)] = 0.5; f.x += a[int(f.y)]; }
            case 1: ;
            case 2: break;
            default: f.y += float(doubles[int(f.y)].y);
            }
            double a[4];
            for (int q = 0; q < 4; q++) a[q] = -double(f.y);
            color = vec4(-float(a[numbers.x]), 0.0, 0.0, 1.0);
        }"""
    program = linked(gl, VERTEX=EVERYWHERE, FRAGMENT=fragment)
    gl.uniform2dv(gl.get_uniform_location(program, "doubles"), 3, [0, 0.75, 0, 2, 0, 0])
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    seen = np.frombuffer(gl.read_pixels(0, 0, 4, 1, GL.RGBA, GL.FLOAT), np.float32)
    assert gl.get_error() == GL.NO_ERROR
    assert np.allclose(seen.reshape(4, 4)[:, 0], 0.75, atol=1 / 254)


def test_floats_that_clear_an_integer_image(gl: GLInterface) -> None:
    """What they leave there is undefined; NaN and huge ones are no error."""
    (fbo,), (buffer,) = gl.gen_framebuffers(1), gl.gen_renderbuffers(1)
    gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
    gl.renderbuffer_storage(GL.RENDERBUFFER, GL.RGBA8I, 4, 4)
    gl.bind_framebuffer(GL.FRAMEBUFFER, fbo)
    gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, buffer)
    for color in ([float("nan")] * 4, [1e38, -1e38, float("inf"), 0.5]):
        gl.clear_bufferfv(GL.COLOR, 0, np.array(color, np.float32))
    assert gl.get_error() == GL.NO_ERROR
    gl.clear_bufferiv(GL.COLOR, 0, np.array([1, -2, 3, 4], np.int32))
    seen = np.frombuffer(gl.read_pixels(0, 0, 1, 1, GL.RGBA_INTEGER, GL.INT), np.int32)
    assert seen.tolist() == [1, -2, 3, 4]
