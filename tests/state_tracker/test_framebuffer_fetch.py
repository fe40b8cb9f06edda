"""Fragments that read the framebuffer, or take turns on memory, do so in drawing order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context

from .helpers import errors, pixels, program

# Sixty overlapping triangles, the same on every implementation.
VS = """#version 430
flat out int number;
void main() {
    number = gl_VertexID / 3;
    float a = number * 0.7 + (gl_VertexID % 3) * 2.1;
    gl_Position = vec4(0.9 * cos(a), 0.9 * sin(a * 1.3), 0.0, 1.0);
}"""
# Not commutative: what comes later weighs more.
FETCH_FS = """#version 430
#extension GL_EXT_shader_framebuffer_fetch : require
flat in int number;
inout vec4 color;
void main() { color = floor((color * 255.0) / 2.0 + 0.25 + float(number)) / 255.0; }"""
QUAD_FS = FETCH_FS.replace("float(number)", "float(number) + dFdx(gl_FragCoord.x) - 1.0")
INTERLOCK_FS = """#version 430
#extension GL_ARB_fragment_shader_interlock : require
layout(pixel_interlock_ordered) in;
layout(rgba8) uniform image2D target;
flat in int number;
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    beginInvocationInterlockARB();
    vec4 held = imageLoad(target, at);
    imageStore(target, at, floor((held * 255.0) / 2.0 + 0.25 + float(number)) / 255.0);
    endInvocationInterlockARB();
}"""


@pytest.fixture(
    params=["numpipe", "jit", "simd", "tiler", pytest.param("native", marks=pytest.mark.native)]
)
def gl(request: pytest.FixtureRequest) -> Iterator[GLInterface]:
    options: dict[str, Any] = {"profile": "core", "version": (4, 3), "size": (64, 64)}
    if request.param == "native":
        context = native_context(**options)
    else:
        if request.param == "jit":
            pytest.importorskip("llvmlite")
        context = create_context(request.param, **options)
    context.bind_vertex_array(context.gen_vertex_arrays(1)[0])
    context.clear(GL.COLOR_BUFFER_BIT)
    yield context
    context.release()


def one_by_one(driver: str = "numpipe") -> Any:
    """The picture, with a draw and a copy of the framebuffer for each triangle."""
    gl = create_context(driver, version=(4, 3), size=(64, 64))
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    copy = gl.gen_textures(1)[0]
    gl.bind_texture(GL.TEXTURE_2D, copy)
    gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA8, 64, 64)
    source = """#version 430
uniform sampler2D held;
flat in int number;
out vec4 color;
void main() {
    vec4 before = texelFetch(held, ivec2(gl_FragCoord.xy), 0);
    color = floor((before * 255.0) / 2.0 + 0.25 + float(number)) / 255.0;
}"""
    program(gl, VS, source)
    for i in range(60):
        gl.copy_tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 0, 0, 64, 64)
        gl.draw_arrays(GL.TRIANGLES, 3 * i, 3)
    seen = pixels(gl).copy()
    gl.release()
    return seen


@pytest.mark.parametrize("source", [FETCH_FS, QUAD_FS], ids=["pixels", "quads"])
def test_a_shader_reads_what_was_drawn_before(gl: GLInterface, source: str) -> None:
    expected = one_by_one()
    assert len(np.unique(expected)) > 40
    for _ in range(2):  # what is remembered of a shader's declarations must do for the next one
        program(gl, VS, source)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.draw_arrays(GL.TRIANGLES, 0, 180)
        assert errors(gl) == []
        assert (pixels(gl) == expected).all()


def test_images_are_updated_alternately(gl: GLInterface) -> None:
    if "llvmpipe" in gl.get_string(GL.RENDERER):
        pytest.skip("llvmpipe has no interlock")
    program(gl, VS, INTERLOCK_FS)
    gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
    gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA8, 64, 64)
    gl.bind_image_texture(0, 1, 0, 0, 0, GL.READ_WRITE, GL.RGBA8)
    gl.draw_arrays(GL.TRIANGLES, 0, 180)
    raw = gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RGBA, GL.UNSIGNED_BYTE)
    assert errors(gl) == []
    assert (np.frombuffer(raw, np.uint8).reshape(64, 64, 4) == one_by_one()).all()


def test_several_buffers_and_samples_are_read(gl: GLInterface) -> None:
    source = """#version 430
#extension GL_EXT_shader_framebuffer_fetch : require
flat in int number;
layout(location = 0) inout vec4 first;
layout(location = 1) inout ivec2 second;
void main() {
    first = floor((first * 255.0) / 2.0 + 0.25 + float(number)) / 255.0;
    second = ivec2(second.y, second.x + number);
}"""
    name = program(gl, VS, source)
    (fbo,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, fbo)
    textures = [int(t) for t in gl.gen_textures(2)]
    for i, (texture, format) in enumerate(zip(textures, (GL.RGBA8, GL.RG32I), strict=True)):
        gl.bind_texture(GL.TEXTURE_2D, texture)
        gl.tex_storage2d(GL.TEXTURE_2D, 1, format, 64, 64)
        point = GL.COLOR_ATTACHMENT0 + i
        gl.framebuffer_texture2d(GL.FRAMEBUFFER, point, GL.TEXTURE_2D, texture, 0)
        gl.clear_tex_image(
            texture,
            0,
            GL.RGBA if i == 0 else GL.RG_INTEGER,
            GL.UNSIGNED_BYTE if i == 0 else GL.INT,
            None,
        )
    gl.draw_buffers(2, [GL.COLOR_ATTACHMENT0, GL.COLOR_ATTACHMENT1])
    gl.use_program(name)
    gl.draw_arrays(GL.TRIANGLES, 0, 180)
    assert errors(gl) == []
    assert (pixels(gl) == one_by_one()).all()
    raw = gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RG_INTEGER, GL.INT)
    second = np.frombuffer(raw, np.int32).reshape(64, 64, 2)
    assert second.any()
    # Every pixel's sum is that of the numbers of the triangles over it.
    gl.bind_framebuffer(GL.FRAMEBUFFER, 0)
    total = np.zeros((64, 64), int)
    plain = "#version 430\nout vec4 color;\nvoid main() { color = vec4(1.0); }"
    program(gl, VS, plain)
    for i in range(60):
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.draw_arrays(GL.TRIANGLES, 3 * i, 3)
        total += i * (pixels(gl)[..., 0] > 0)
    assert (second.sum(axis=-1) == total).all()


DEPTH_VS = """#version 430
void main() {
    vec2 at = vec2(gl_VertexID % 3 & 1, gl_VertexID % 3 >> 1) * 4.0 - 1.0;
    gl_Position = vec4(at, vec3(0.0, -0.5, 0.25)[gl_VertexID / 3], 1.0);
}"""
DEPTH_FS = """#version 430
#extension GL_ARM_shader_framebuffer_fetch_depth_stencil : require
out vec4 color;
void main() { color = vec4(gl_LastFragDepthARM, float(gl_LastFragStencilARM) / 255.0, 0.0, 1.0); }
"""


def fetched(gl: GLInterface, triangles: int, tests: bool = True) -> list[int]:
    """What the last triangle that passes finds: the second is nearest, the third hidden."""
    gl.clear_depth(0.75)
    gl.clear_stencil(51)
    gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
    for test in (GL.DEPTH_TEST, GL.STENCIL_TEST):
        (gl.enable if tests else gl.disable)(test)
    gl.stencil_func(GL.ALWAYS, 0, 255)
    gl.stencil_op(GL.KEEP, GL.INCR, GL.INCR)
    gl.draw_arrays(GL.TRIANGLES, 0, 3 * triangles)
    return list(pixels(gl, 64, 64)[20, 30, :2])


@pytest.mark.parametrize("driver", ["numpipe", "simd"])
def test_depth_and_stencil_of_samples_and_of_none(driver: str) -> None:
    gl = create_context(driver, version=(4, 3), size=(64, 64), samples=4)
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    program(gl, DEPTH_VS, DEPTH_FS)
    assert fetched(gl, 2) == [128, 52]
    gl.release()
    gl = create_context(driver, version=(4, 3))
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    program(gl, DEPTH_VS, DEPTH_FS)
    (texture,), (target,) = gl.gen_textures(1), gl.gen_framebuffers(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA8, 64, 64)
    gl.bind_framebuffer(GL.FRAMEBUFFER, target)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
    gl.viewport(0, 0, 64, 64)
    assert fetched(gl, 1, tests=False) == [0, 0]
    gl.release()
