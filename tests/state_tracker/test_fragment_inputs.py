"""What fragments are given, in the spellings few shaders use: each is a formula of the place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context

from .helpers import program

SIZE = 4
VS = """#version 450
out vec4 v; flat out int one; out vec2 w[2];
void main() {
    vec2 p = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0;
    gl_Position = vec4(p, 0.0, 1.0);
    v = vec4(p, p.yx * 4.0 + 8.0);
    one = 1;
    w[0] = p;
    w[1] = p * 16.0;
}"""
HEAD = "#version 450\nin vec4 v; flat in int one; in vec2 w[2]; out vec4 c;\n"

Array = npt.NDArray[Any]
Y, X = np.mgrid[0:SIZE, 0:SIZE] + 0.5


def at(dx: float = 0.0, dy: float = 0.0) -> tuple[Array, Array]:
    """From -1 to 1, so many pixels beside the centre."""
    return (X + dx) / 2 - 1, (Y + dy) / 2 - 1


def alike(values: Array) -> list[Array]:
    return [values] * 4


UPPER, WHOLE = "origin_upper_left", "pixel_center_integer"
COORD = "layout({}) in vec4 gl_FragCoord;\n"
HALF = X * 0 + 0.5
READ: dict[str, tuple[str, Callable[[], list[Any]]]] = {
    "gl_FragCoord": ("", lambda: [X, Y, HALF, 1]),
    "gl_FragCoord.xyzw": (COORD.format(UPPER), lambda: [X, SIZE - Y, HALF, 1]),
    "gl_FragCoord.xyz, 2.0": (COORD.format(WHOLE), lambda: [X - 0.5, Y - 0.5, HALF, 2]),
    "gl_FragCoord.xy, 3.0, gl_FragCoord.w": (
        COORD.format(f"{UPPER}, {WHOLE}"),
        lambda: [X - 0.5, SIZE - Y - 0.5, 3, 1],
    ),
    "interpolateAtCentroid(v.x)": ("", lambda: alike(at()[0])),
    "interpolateAtCentroid(v[one])": ("", lambda: alike(at()[1])),
    "interpolateAtOffset(v.yx, vec2(0.25, -0.125)), v.zw": (
        "",
        lambda: [*at(0.25, -0.125)[::-1], at()[1] * 4 + 8, at()[0] * 4 + 8],
    ),
    "interpolateAtOffset(v[one], vec2(0.25, -0.375))": ("", lambda: alike(at(0, -0.375)[1])),
    "interpolateAtOffset(v[one + 2], vec2(0.25, 0.5 - 0.125))": (
        "",
        lambda: alike(at(0.25)[0] * 4 + 8),
    ),
    "interpolateAtSample(v[one + 1], 0)": ("", lambda: alike(at()[1] * 4 + 8)),
    "interpolateAtSample(v, 0)": ("", lambda: [*at(), at()[1] * 4 + 8, at()[0] * 4 + 8]),
    "interpolateAtOffset(w[one], vec2(0.25, -0.125)), interpolateAtOffset(w[0], vec2(-0.5, 0))": (
        "",
        lambda: [*(16 * a for a in at(0.25, -0.125)), *at(-0.5)],
    ),
    "interpolateAtOffset(w[one].y, vec2(0.25))": ("", lambda: alike(16 * at(0, 0.25)[1])),
    "interpolateAtOffset(w[one - 1][one], vec2(0.25, -0.125))": (
        "",
        lambda: alike(at(0, -0.125)[1]),
    ),
}


@pytest.fixture(params=["numpipe", pytest.param("native", marks=pytest.mark.native)])
def gl(request: pytest.FixtureRequest) -> Iterator[GLInterface]:
    options: dict[str, Any] = {"profile": "core", "version": (4, 5), "size": (SIZE, SIZE)}
    native = request.param == "native"
    context = native_context(**options) if native else create_context("numpipe", **options)
    floats(context)
    context.bind_vertex_array(context.gen_vertex_arrays(1)[0])
    yield context
    context.release()


def floats(gl: GLInterface) -> None:
    """Draw to a picture of floats from now on."""
    gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
    gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA32F, SIZE, SIZE)
    gl.bind_framebuffer(GL.FRAMEBUFFER, gl.gen_framebuffers(1)[0])
    texture = gl.get_integerv(GL.TEXTURE_BINDING_2D)[0]
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)


def drawn(gl: GLInterface) -> Array:
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    raw = gl.read_pixels(0, 0, SIZE, SIZE, GL.RGBA, GL.FLOAT)
    return np.frombuffer(raw, np.float32).reshape(SIZE, SIZE, 4)


@pytest.mark.parametrize("expression", READ)
def test_what_a_fragment_is_given(gl: GLInterface, expression: str) -> None:
    declared, expected = READ[expression]
    name = program(gl, VS, f"{HEAD}{declared}void main() {{ c = vec4({expression}); }}")
    wanted = np.stack(np.broadcast_arrays(*expected()), axis=-1)
    assert np.abs(drawn(gl) - wanted).max() < 1e-5
    gl.delete_program(name)


def test_what_was_drawn_before_is_an_array_in_old_shaders() -> None:
    """gl_LastFragData of GLSL ES 1.00, twice: what the second draw reads is what the first left."""
    gl = create_context("numpipe", profile="es", version=(3, 2), size=(SIZE, SIZE))
    floats(gl)
    vertex = "#version 100\nattribute vec4 p;\nvoid main() { gl_Position = p; }\n"
    fragment = """#version 100
#extension GL_EXT_shader_framebuffer_fetch : require
precision highp float;
void main() { gl_FragColor = gl_LastFragData[0].bgra * 2.0 + 0.125; }
"""
    name = program(gl, vertex, fragment)
    corners = np.array([[-1, -1], [3, -1], [-1, 3]], np.float32)
    gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
    gl.buffer_data(GL.ARRAY_BUFFER, corners.nbytes, corners, GL.STATIC_DRAW)
    place = gl.get_attrib_location(name, "p")
    gl.enable_vertex_attrib_array(place)
    gl.vertex_attrib_pointer(place, 2, GL.FLOAT, 0, 0, None)
    gl.clear_color(0.25, 0.5, 0.75, 1.0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    assert np.unique(drawn(gl).reshape(-1, 4), axis=0).tolist() == [[1.625, 1.125, 0.625, 2.125]]
    assert np.unique(drawn(gl).reshape(-1, 4), axis=0).tolist() == [[1.375, 2.375, 3.375, 4.375]]
    gl.release()
