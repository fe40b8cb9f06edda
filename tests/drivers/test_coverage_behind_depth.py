"""gl_SampleMaskIn has samples before the depth test, or behind it where a shader asks for that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from tests.state_tracker.helpers import errors, program

SIZE, SAMPLES = 16, 4
CORNERS = np.array([(1.25, 2.5), (14.75, 4.0), (4.5, 15.25)])
VERTEX = """#version 430
uniform vec2 corners[3];
uniform float depth;
void main() { gl_Position = vec4(corners[gl_VertexID] / 32.0 - 0.5, depth, 1.0); }"""
COUNTED = """#version 430
#extension GL_ARB_post_depth_coverage : require
layout(r32ui) uniform uimage2D counts;
LAYOUT
void main() {
    imageStore(counts, ivec2(gl_FragCoord.xy), uvec4(16 + bitCount(gl_SampleMaskIn[0])));
}"""
NOTHING = "#version 430\nvoid main() {}"
LAYOUTS = {
    "before": "layout(early_fragment_tests) in;",
    "behind": "layout(post_depth_coverage) in;",
}


def hidden(positions: Any) -> Any:
    """How many samples of each pixel the triangle in front covers."""
    y, x = np.mgrid[:SIZE, :SIZE]
    px, py = x[..., None] + positions[:, 0], y[..., None] + positions[:, 1]
    inside = np.ones(px.shape, bool)
    for (ax, ay), (bx, by) in zip(CORNERS, np.roll(CORNERS, -1, axis=0), strict=True):
        inside &= (bx - ax) * (py - ay) - (by - ay) * (px - ax) > 0
    return inside.sum(axis=-1)


def draw(gl: Any, fragment: str, corners: Any, depth: float) -> None:
    name = program(gl, VERTEX, fragment)
    gl.use_program(name)
    flat = np.asarray(corners, np.float32)
    gl.uniform2fv(gl.get_uniform_location(name, "corners"), 3, flat)
    gl.uniform1f(gl.get_uniform_location(name, "depth"), depth)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)


@pytest.mark.parametrize("bounded", [False, True])  # with bounds jit leaves the tests to others
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("driver", ["numpipe", "jit", "simd", "tiler"])
def test_samples_that_a_fragment_counts(driver: str, layout: str, bounded: bool) -> None:
    if driver == "jit":
        pytest.importorskip("llvmlite")
    gl: Any = create_context(driver, version=(4, 3), size=(SIZE, SIZE))
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    (buffer,), (fbo,), (image,) = (
        gl.gen_renderbuffers(1),
        gl.gen_framebuffers(1),
        gl.gen_textures(1),
    )
    gl.bind_framebuffer(GL.FRAMEBUFFER, fbo)
    gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
    depth = (GL.RENDERBUFFER, SAMPLES, GL.DEPTH_COMPONENT24, SIZE, SIZE)
    gl.renderbuffer_storage_multisample(*depth)
    gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, GL.DEPTH_ATTACHMENT, GL.RENDERBUFFER, buffer)
    gl.clear(GL.DEPTH_BUFFER_BIT)
    positions = np.array([gl.get_multisamplefv(GL.SAMPLE_POSITION, i) for i in range(SAMPLES)])
    gl.bind_texture(GL.TEXTURE_2D, image)
    gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.R32UI, SIZE, SIZE)
    zeros = np.zeros((SIZE, SIZE), np.uint32)
    gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, SIZE, SIZE, GL.RED_INTEGER, GL.UNSIGNED_INT, zeros)
    gl.bind_image_texture(0, image, 0, 0, 0, GL.WRITE_ONLY, GL.R32UI)
    gl.viewport(-16, -16, 64, 64)  # nothing is clipped: pieces have fragments of their own
    gl.enable(GL.DEPTH_TEST)
    if bounded:
        gl.enable(GL.DEPTH_BOUNDS_TEST_EXT)
    draw(gl, NOTHING, CORNERS, -0.5)
    draw(gl, COUNTED.replace("LAYOUT", LAYOUTS[layout]), [(-16, -16), (48, -16), (-16, 48)], 0.5)
    seen = np.zeros((SIZE, SIZE), np.uint32)
    gl.memory_barrier(GL.ALL_BARRIER_BITS)
    gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RED_INTEGER, GL.UNSIGNED_INT, seen)
    left = SAMPLES - hidden(positions)
    expected = np.where(left, 16 + (SAMPLES if layout == "before" else left), 0)
    assert len(set(left.ravel().tolist())) > 3, "the edges leave pixels some of their samples"
    np.testing.assert_array_equal(seen, expected)
    assert errors(gl) == []
    gl.release()
