"""MESA_framebuffer_flip_y: framebuffers that are upside down look as on llvmpipe, in every way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context

from .helpers import errors, program

FLIP = GL.FRAMEBUFFER_FLIP_Y_MESA
OPTIONS: dict[str, Any] = {"profile": "compat", "version": (4, 3), "size": (8, 8)}
VERTEX = """#version 430
layout(location = 0) in vec2 position;
void main() { gl_Position = vec4(position, 0.25, 1.0); gl_PointSize = 5.0; }
"""
FRAGMENT = """#version 430
layout(location = 0) out vec4 color;
void main() {
    color = vec4(gl_FragCoord.y / 8.0, dFdy(gl_FragCoord.y) * 0.5 + 0.5, gl_FrontFacing, WHAT);
}"""


def target(gl: GLInterface, samples: int = 0) -> tuple[int, int]:
    """A framebuffer with colour and depth, and its texture."""
    (framebuffer,), (texture,), (depth,) = (
        gl.gen_framebuffers(1), gl.gen_textures(1), gl.gen_renderbuffers(1),
    )  # fmt: skip
    kind = GL.TEXTURE_2D_MULTISAMPLE if samples else GL.TEXTURE_2D
    gl.bind_texture(kind, texture)
    if samples:
        gl.tex_storage2d_multisample(kind, samples, GL.RGBA8, 8, 8, 1)
    else:
        gl.tex_storage2d(kind, 1, GL.RGBA8, 8, 8)
    gl.bind_renderbuffer(GL.RENDERBUFFER, depth)
    gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, samples, GL.DEPTH24_STENCIL8, 8, 8)
    gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, kind, texture, 0)
    point = GL.DEPTH_STENCIL_ATTACHMENT
    gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, point, GL.RENDERBUFFER, depth)
    return framebuffer, texture


def flip(gl: GLInterface) -> None:
    if gl.get_framebuffer_parameteriv(GL.FRAMEBUFFER, FLIP)[0] == 0:
        gl.framebuffer_parameteri(GL.FRAMEBUFFER, FLIP, 1)
    assert gl.get_framebuffer_parameteriv(GL.FRAMEBUFFER, FLIP)[0] == 1


def walk(gl: GLInterface) -> list[Any]:
    """Whatever has to do with window coordinates, and what is seen of it."""
    seen: list[Any] = []

    def look(texture: int) -> None:
        gl.bind_texture(GL.TEXTURE_2D, texture)
        room = np.zeros(256, np.uint8)
        gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RGBA, GL.UNSIGNED_BYTE, room)
        seen.append(room.reshape(8, 8, 4).tolist())
        gl.read_pixels(0, 0, 8, 8, GL.RGBA, GL.UNSIGNED_BYTE, room)
        seen.append(room.reshape(8, 8, 4).tolist())

    plain = program(gl, VERTEX, FRAGMENT.replace("WHAT", "1.0"))
    points = program(gl, VERTEX, FRAGMENT.replace("WHAT", "gl_PointCoord.y"))
    gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
    corners = np.array([(-1, -1), (3, -1), (-1, 3), (0, -0.5)], np.float32)
    gl.buffer_data(GL.ARRAY_BUFFER, corners.nbytes, corners, GL.STATIC_DRAW)
    gl.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, 0, None)
    gl.enable_vertex_attrib_array(0)
    gl.enable(GL.PROGRAM_POINT_SIZE)
    (other, copy), (flipped, texture) = target(gl), target(gl)
    flip(gl)
    gl.viewport(0, 0, 8, 8)
    gl.enable(GL.SCISSOR_TEST)
    gl.clear_color(0.2, 0.4, 0.6, 0.8)
    gl.use_program(plain)
    gl.scissor(0, 0, 8, 3)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.scissor(2, 0, 6, 2)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.disable(GL.SCISSOR_TEST)
    look(texture)
    gl.use_program(points)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.draw_arrays(GL.POINTS, 3, 1)
    look(texture)
    gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, other)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.blit_framebuffer(0, 0, 8, 4, 0, 0, 8, 4, GL.COLOR_BUFFER_BIT, GL.NEAREST)
    look(copy)
    gl.copy_tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 1, 0, 0, 8, 4)
    look(copy)
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, other)
    gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, flipped)
    gl.blit_framebuffer(0, 0, 8, 4, 0, 2, 8, 6, GL.COLOR_BUFFER_BIT, GL.NEAREST)
    look(texture)
    gl.use_program(0)
    gl.bind_framebuffer(GL.FRAMEBUFFER, flipped)
    gl.color4f(1.0, 0.0, 1.0, 1.0)
    gl.rectf(-1.0, -1.0, 0.0, 0.0)
    gl.window_pos2i(3, 1)
    gl.draw_pixels(2, 2, GL.RGBA, GL.UNSIGNED_BYTE, np.arange(16, dtype=np.uint8))
    gl.new_list(1, GL.COMPILE)
    gl.rectf(0.5, 0.5, 1.0, 1.0)
    gl.end_list()
    gl.call_list(1)
    look(texture)
    assert errors(gl) == []
    return seen


@pytest.mark.native
@pytest.mark.parametrize("driver", ["numpipe", "jit", "simd", "tiler"])
def test_all_is_seen_as_on_llvmpipe(driver: str) -> None:
    if driver == "jit":
        pytest.importorskip("llvmlite")
    ours = create_context(driver, **OPTIONS)
    found = walk(ours)
    ours.release()
    native = native_context(**OPTIONS)
    expected = walk(native)
    native.release()
    assert len(found) == len(expected) == 12
    for number, (one, two) in enumerate(zip(found, expected, strict=True)):
        assert np.abs(np.subtract(one, two)).max() <= 1, number


def test_depth_and_samples_are_turned_too() -> None:
    """Depth of a lower half, tested by what comes later, in samples that are resolved."""
    gl = create_context("numpipe", **OPTIONS)
    _, texture = target(gl)
    resolved, _ = target(gl)
    flipped, _ = target(gl, samples=4)
    flip(gl)
    gl.enable(GL.DEPTH_TEST)
    gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
    gl.color4f(1.0, 0.0, 0.0, 1.0)
    gl.rectf(-1.0, -1.0, 1.0, 0.0)
    gl.color4f(0.0, 1.0, 0.0, 1.0)
    gl.rectf(-1.0, -1.0, 1.0, 0.5)  # no nearer: above the first only
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, flipped)
    gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, resolved)
    gl.blit_framebuffer(0, 0, 8, 8, 0, 0, 8, 8, GL.COLOR_BUFFER_BIT, GL.NEAREST)
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, resolved)
    column = np.frombuffer(gl.read_pixels(0, 0, 1, 8, GL.RGBA, GL.UNSIGNED_BYTE), np.uint8)
    assert column.reshape(8, 4)[:, :2].tolist() == [[255, 0]] * 4 + [[0, 255]] * 2 + [[0, 0]] * 2
    assert errors(gl) == [] and texture
    gl.release()


@pytest.mark.native
@pytest.mark.parametrize("driver", ["numpipe", "native"])
def test_the_parameter(driver: str) -> None:
    gl = native_context(**OPTIONS) if driver == "native" else create_context(driver, **OPTIONS)
    gl.framebuffer_parameteri(GL.FRAMEBUFFER, FLIP, 1)
    assert errors(gl) == ["GL_INVALID_OPERATION"]
    target(gl)
    gl.framebuffer_parameteri(GL.FRAMEBUFFER, FLIP, 7)
    assert gl.get_framebuffer_parameteriv(GL.FRAMEBUFFER, FLIP)[0] == 1
    gl.framebuffer_parameteri(GL.FRAMEBUFFER, FLIP, 0)
    assert gl.get_framebuffer_parameteriv(GL.FRAMEBUFFER, FLIP)[0] == 0
    gl.release()


def test_methods_created_before_a_framebuffer_was_flipped_handle_it() -> None:
    gl = create_context("numpipe", **OPTIONS)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)
    _, texture = target(gl)
    flip(gl)
    gl.enable(GL.SCISSOR_TEST)
    gl.scissor(0, 0, 8, 2)
    gl.clear_color(1.0, 1.0, 1.0, 1.0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    seen = np.frombuffer(gl.read_pixels(0, 0, 1, 8, GL.RGBA, GL.UNSIGNED_BYTE), np.uint8)
    assert seen[::4].tolist() == [255] * 2 + [0] * 6
    gl.bind_texture(GL.TEXTURE_2D, texture)
    room = np.zeros(256, np.uint8)
    gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RGBA, GL.UNSIGNED_BYTE, room)
    assert room.reshape(8, 8, 4)[:, 0, 0].tolist() == [0] * 6 + [255] * 2
    assert errors(gl) == []
    gl.release()


@pytest.mark.parametrize("name", ["blit_named_framebuffer", "clear_named_framebufferfv"])
def test_missing_arguments_are_reported_as_usual(name: str) -> None:
    """Also where functions look for framebuffers among their arguments."""
    gl = create_context("numpipe", **{**OPTIONS, "version": (4, 5)})
    call = getattr(gl, name)
    with pytest.raises(TypeError) as plain:
        call()
    target(gl)
    flip(gl)
    with pytest.raises(TypeError) as flipped:
        getattr(gl, name)()
    assert str(flipped.value) == str(plain.value)
    gl.release()
