"""Storage buffers, atomic counters and images through GL, on numpipe and on the native GL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.compiler.errors import GalletteError
from gallette.state_tracker import GL, create_context
from tests.reference import missing

SIZE = 32

VERTEX = """
void main() {
    vec2 p = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
    gl_Position = vec4(p, 0.0, 1.0);
}
"""
HEADER = {
    "native": "#version 430\n",
    "numpipe": "#version 330\n"
    + "".join(
        f"#extension GL_ARB_{name} : require\n"
        for name in (
            "shader_storage_buffer_object",
            "shader_atomic_counters",
            "shader_image_load_store",
            "shading_language_420pack",
        )
    ),
}

pytestmark = pytest.mark.native


@pytest.fixture(params=["native", "numpipe"])
def side(request: pytest.FixtureRequest) -> Iterator[tuple[str, Any]]:
    """A context with a framebuffer bound."""
    native = request.param == "native"
    try:
        gl: Any = create_context(
            "native:llvmpipe" if native else "numpipe", version=(4, 3) if native else (3, 3)
        )
    except GalletteError as error:
        if not native:
            raise
        missing(error)
    gl.make_current()
    texture = gl.gen_textures(1)[0]
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, SIZE, SIZE, 0, GL.RGBA, GL.UNSIGNED_BYTE, None)
    gl.bind_framebuffer(GL.FRAMEBUFFER, gl.gen_framebuffers(1)[0])
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
    gl.viewport(0, 0, SIZE, SIZE)
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    yield request.param, gl
    assert gl.get_error() == 0
    if native:
        gl.release()


def draw(side: tuple[str, Any], fragment: str, *, defines: str = "") -> Any:
    """Draw every pixel once with this fragment shader; returns the program."""
    name, gl = side
    program = gl.create_program()
    for kind, source in ((GL.VERTEX_SHADER, VERTEX), (GL.FRAGMENT_SHADER, fragment)):
        shader = gl.create_shader(kind)
        gl.shader_source(shader, HEADER[name] + defines + source)
        gl.compile_shader(shader)
        assert gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0], gl.get_shader_info_log(shader)
        gl.attach_shader(program, shader)
    gl.link_program(program)
    assert gl.get_programiv(program, GL.LINK_STATUS)[0], gl.get_program_info_log(program)
    gl.use_program(program)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.memory_barrier(GL.ALL_BARRIER_BITS)
    return program


def buffer(gl: Any, target: int, binding: int, data: np.ndarray[Any, Any]) -> int:
    name = gl.gen_buffers(1)[0]
    gl.bind_buffer(target, name)
    gl.buffer_data(target, data.nbytes, data, GL.DYNAMIC_COPY)
    gl.bind_buffer_base(target, binding, name)
    return int(name)


def read(gl: Any, target: int, like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    out = np.zeros_like(like)
    gl.get_buffer_sub_data(target, 0, out.nbytes, out)
    return out


def test_every_pixel_writes_its_element(side: tuple[str, Any]) -> None:
    _, gl = side
    data = np.zeros(SIZE * SIZE + 4, np.uint32)
    buffer(gl, GL.SHADER_STORAGE_BUFFER, 2, data)
    draw(
        side,
        """
        layout(std430, binding = 2) buffer Out { uint first; uint pad[3]; uint cells[]; };
        out vec4 color;
        void main() {
            ivec2 p = ivec2(gl_FragCoord.xy);
            cells[p.y * 32 + p.x] = uint(p.y * 1000 + p.x);
            if (p.x == 3) atomicAdd(first, 2u);
            color = vec4(1.0);
        }
        """,
    )
    got = read(gl, GL.SHADER_STORAGE_BUFFER, data)
    y, x = np.mgrid[0:SIZE, 0:SIZE]
    assert got[0] == 2 * SIZE
    np.testing.assert_array_equal(got[4:], (y * 1000 + x).reshape(-1))


def test_atomic_counters_count_pixels(side: tuple[str, Any]) -> None:
    _, gl = side
    data = np.array([7, 100], np.uint32)
    buffer(gl, GL.ATOMIC_COUNTER_BUFFER, 0, data)
    draw(
        side,
        """
        layout(binding = 0, offset = 0) uniform atomic_uint up;
        layout(binding = 0, offset = 4) uniform atomic_uint down;
        out vec4 color;
        void main() {
            atomicCounterIncrement(up);
            if (gl_FragCoord.x < 2.0 && gl_FragCoord.y < 5.0) atomicCounterDecrement(down);
            color = vec4(atomicCounter(down) <= 100u);
        }
        """,
    )
    got = read(gl, GL.ATOMIC_COUNTER_BUFFER, data)
    assert got.tolist() == [7 + SIZE * SIZE, 90]


def test_discarded_pixels_write_only_before_the_discard(side: tuple[str, Any]) -> None:
    _, gl = side
    data = np.zeros(2, np.uint32)
    buffer(gl, GL.ATOMIC_COUNTER_BUFFER, 0, data)
    draw(
        side,
        """
        layout(binding = 0, offset = 0) uniform atomic_uint before;
        layout(binding = 0, offset = 4) uniform atomic_uint after;
        out vec4 color;
        void main() {
            atomicCounterIncrement(before);
            if (gl_FragCoord.x < 8.0) discard;
            atomicCounterIncrement(after);
            color = vec4(dFdx(gl_FragCoord.x));
        }
        """,
    )
    got = read(gl, GL.ATOMIC_COUNTER_BUFFER, data)
    assert got.tolist() == [SIZE * SIZE, SIZE * (SIZE - 8)]


def test_images_are_stored_and_loaded(side: tuple[str, Any]) -> None:
    _, gl = side
    texture = gl.gen_textures(1)[0]
    gl.bind_texture(GL.TEXTURE_2D, texture)
    start = np.full((SIZE, SIZE), 5, np.uint32)
    gl.tex_image2d(
        GL.TEXTURE_2D, 0, GL.R32UI, SIZE, SIZE, 0, GL.RED_INTEGER, GL.UNSIGNED_INT, start
    )
    for name in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
        gl.tex_parameteri(GL.TEXTURE_2D, name, GL.NEAREST)
    gl.bind_image_texture(0, texture, 0, 0, 0, GL.READ_WRITE, GL.R32UI)
    draw(
        side,
        """
        layout(r32ui, binding = 0) uniform uimage2D cells;
        out vec4 color;
        void main() {
            ivec2 p = ivec2(gl_FragCoord.xy);
            uint old = imageLoad(cells, p).x;
            imageStore(cells, p, uvec4(old + uint(p.x)));
            imageAtomicMax(cells, ivec2(0, p.y), uint(p.x + 40));
            imageStore(cells, p + ivec2(1000, 0), uvec4(9u));
            color = vec4(1.0);
        }
        """,
    )
    got = np.zeros((SIZE, SIZE), np.uint32)
    gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RED_INTEGER, GL.UNSIGNED_INT, got)
    expected = np.broadcast_to(5 + np.arange(SIZE, dtype=np.uint32), (SIZE, SIZE)).copy()
    expected[:, 0] = 40 + SIZE - 1
    np.testing.assert_array_equal(got, expected)
