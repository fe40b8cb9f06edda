"""AMD_pinned_memory: buffers whose storage is the application's own memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context

from .helpers import errors, program

VERTEX = """#version 430
in vec2 position; in vec4 tint; out vec4 seen;
void main() { seen = tint; gl_Position = vec4(position, 0.0, 1.0); }
"""
FRAGMENT = """#version 430
in vec4 seen; layout(binding = 0) uniform Block { vec4 factor; };
uniform samplerBuffer texels; out vec4 color;
void main() { color = seen * factor * texelFetch(texels, 0); }
"""
PINNED = GL.EXTERNAL_VIRTUAL_MEMORY_BUFFER_AMD
ONE, RED, GREEN, BLUE = (1, 1, 1, 1), (1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1)


@pytest.fixture(params=["numpipe", pytest.param("native:llvmpipe", marks=pytest.mark.native)])
def gl(request: pytest.FixtureRequest) -> Iterator[GLInterface]:
    options: dict[str, Any] = {"profile": "compat", "version": (4, 3), "size": (4, 4)}
    ours = request.param == "numpipe"
    made = create_context("numpipe", **options) if ours else native_context(**options)
    yield made
    made.release()


def pinned(gl: GLInterface) -> tuple[int, npt.NDArray[np.float32]]:
    """A buffer, and the page of memory that it is."""
    room = np.zeros(2048, np.float32)
    start = -room.ctypes.data % 4096 // 4
    page = room[start : start + 1024]
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer(PINNED, buffer)
    gl.buffer_data(PINNED, page.nbytes, page.ctypes.data, GL.STREAM_COPY)
    assert errors(gl) == []
    return int(buffer), page


def test_what_is_written_without_a_call_is_drawn_and_what_is_read_arrives(gl: GLInterface) -> None:
    (vertices, v), (block, b), (texels, t), (back, r) = (pinned(gl) for _ in range(4))
    name = program(gl, VERTEX, FRAGMENT)
    gl.bind_buffer(GL.ARRAY_BUFFER, vertices)
    for attribute, size, offset in (("position", 2, 0), ("tint", 4, 8)):
        location = gl.get_attrib_location(name, attribute)
        gl.vertex_attrib_pointer(location, size, GL.FLOAT, 0, 24, offset)
        gl.enable_vertex_attrib_array(location)
    gl.bind_buffer_base(GL.UNIFORM_BUFFER, 0, block)
    gl.bind_texture(GL.TEXTURE_BUFFER, gl.gen_textures(1)[0])
    gl.tex_buffer(GL.TEXTURE_BUFFER, GL.RGBA32F, texels)
    gl.bind_buffer(GL.PIXEL_PACK_BUFFER, back)
    corners = v[:24].reshape(4, 6)
    corners[:, :2] = [(-1, -1), (1, -1), (-1, 1), (1, 1)]
    for tint, factor, texel in (
        (ONE, ONE, ONE), (RED, ONE, ONE), (ONE, GREEN, ONE), (ONE, ONE, BLUE), (ONE, ONE, ONE),
    ):  # fmt: skip
        corners[:, 2:], b[:4], t[:4] = tint, factor, texel
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        gl.read_pixels(0, 0, 4, 4, GL.RGBA, GL.FLOAT, 0)
        gl.finish()
        assert (r[:64].reshape(16, 4) == np.multiply(np.multiply(tint, factor), texel)).all()
    gl.bind_buffer(GL.PIXEL_PACK_BUFFER, 0)


def test_pinned_memory_is_mapped_in_place_and_released(gl: GLInterface) -> None:
    buffer, page = pinned(gl)
    page[:4] = (1, 2, 3, 4)
    assert gl.map_buffer(PINNED, GL.READ_WRITE) == page.ctypes.data
    gl.unmap_buffer(PINNED)
    gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
    gl.buffer_sub_data(GL.ARRAY_BUFFER, 4, 4, np.array([9], np.float32))
    gl.finish()
    assert page[:4].tolist() == [1, 9, 3, 4]
    gl.buffer_data(GL.ARRAY_BUFFER, page.nbytes, np.full(1024, 7, np.float32), GL.STATIC_DRAW)
    gl.finish()
    assert page[:4].tolist() == [1, 9, 3, 4]  # the buffer has memory of its own again
    assert errors(gl) == []


def test_sizes_are_whole_words() -> None:
    gl = create_context("numpipe", profile="compat")
    gl.bind_buffer(PINNED, gl.gen_buffers(1)[0])
    gl.buffer_data(PINNED, 10, np.zeros(16, np.uint8), GL.STREAM_COPY)
    assert errors(gl) == ["GL_INVALID_OPERATION"]
    gl.release()


@pytest.mark.parametrize("driver", ["simd", "trace:numpipe"])
def test_drivers_that_cannot_do_not_say_so(driver: str) -> None:
    gl = create_context(driver, profile="compat")
    assert "GL_AMD_pinned_memory" not in gl.get_string(GL.EXTENSIONS).split()
    gl.bind_buffer(PINNED, 0)
    assert errors(gl) == ["GL_INVALID_ENUM"]
    gl.release()
