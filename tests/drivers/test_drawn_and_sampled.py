"""What is sampled is what was drawn last, whatever a driver keeps of a texture's contents."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from tests.state_tracker.helpers import program, quad

SIZE = 16
FILL = """#version 330
uniform vec4 color; out vec4 result;
void main() { result = color + vec4(floor(gl_FragCoord.xy) / 64.0, 0.0, 0.0); }
"""
SAMPLE = """#version 330
uniform sampler2D image; out vec4 result;
void main() { result = texture(image, gl_FragCoord.xy / 16.0); }
"""
ROUNDS = ((0.25, 0.0, 0.5, 1.0), (0.0, 0.25, 0.75, 1.0), (0.5, 0.5, 0.0, 1.0))


def kinds() -> list[tuple[str, str]]:
    formats = ("RGBA8", "RGBA16F", "R11F_G11F_B10F", "SRGB8_ALPHA8")
    return [(d, f) for d in ("numpipe", "jit", "simd", "tiler") for f in formats]


@pytest.mark.parametrize(("driver", "format"), kinds())
def test_a_redrawn_picture_is_sampled_again(driver: str, format: str) -> None:
    if driver == "jit":
        pytest.importorskip("llvmlite")
    gl = create_context(driver, size=(SIZE, SIZE))
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    internal = getattr(GL, format)
    gl.tex_image2d(GL.TEXTURE_2D, 0, internal, SIZE, SIZE, 0, GL.RGBA, GL.FLOAT, None)
    for pname in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
        gl.tex_parameteri(GL.TEXTURE_2D, pname, GL.NEAREST)
    (target,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, target)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
    gl.enable(GL.FRAMEBUFFER_SRGB)
    fill, sample = program(gl, fragment=FILL), program(gl, fragment=SAMPLE)
    place = np.arange(SIZE) / 64
    for color in ROUNDS:
        gl.bind_framebuffer(GL.FRAMEBUFFER, target)
        gl.use_program(fill)
        quad(gl, fill)
        gl.uniform4f(gl.get_uniform_location(fill, "color"), *color)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        gl.bind_framebuffer(GL.FRAMEBUFFER, 0)
        gl.disable(GL.FRAMEBUFFER_SRGB)
        gl.use_program(sample)
        quad(gl, sample)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        raw = gl.read_pixels(0, 0, SIZE, SIZE, GL.RGBA, GL.FLOAT)
        found = np.frombuffer(raw, np.float32).reshape(SIZE, SIZE, 4)
        gl.enable(GL.FRAMEBUFFER_SRGB)
        expected = np.broadcast_to(np.array(color), (SIZE, SIZE, 4)).copy()
        expected[..., 0] += place[None, :]
        expected[..., 1] += place[:, None]
        assert np.abs(found - expected).max() < 0.02, color
    gl.release()
