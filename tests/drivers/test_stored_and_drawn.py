"""Vertices that shaders stored are drawn as they are now, whatever was drawn of the buffer before.

Nobody is told when a shader writes a buffer, so nothing may be kept of what vertices are read from.
"""

from __future__ import annotations

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from tests.state_tracker.helpers import compiled

SIZE = 16
PLACE = """#version 430
layout(local_size_x = 6) in;
layout(std430, binding = 0) buffer Places { vec2 places[]; };
uniform float size;
void main() {
    uint i = gl_LocalInvocationID.x;
    places[i] = size * vec2(i == 1u || i >= 4u ? 1 : -1, i == 2u || i == 3u || i == 5u ? 1 : -1);
}"""
DRAW = (
    "#version 430\nlayout(location = 0) in vec2 place;"
    "void main() { gl_Position = vec4(place, 0, 1); }"
)
WHITE = "#version 430\nlayout(location = 0) out vec4 result; void main() { result = vec4(1); }"


@pytest.mark.parametrize("driver", ["numpipe", "jit", "simd", "tiler"])
def test_what_was_stored_is_drawn(driver: str) -> None:
    if driver == "jit":
        pytest.importorskip("llvmlite")
    gl = create_context(driver, profile="core", version=(4, 5), size=(SIZE, SIZE))
    made = []
    for stages in (
        ((GL.COMPUTE_SHADER, PLACE),),
        ((GL.VERTEX_SHADER, DRAW), (GL.FRAGMENT_SHADER, WHITE)),
    ):
        linked = gl.create_program()
        for kind, text in stages:
            gl.attach_shader(linked, compiled(gl, kind, text))
        gl.link_program(linked)
        made.append(linked)
    place, draw = made
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
    gl.buffer_data(GL.ARRAY_BUFFER, 48, np.zeros(12, np.float32), GL.STATIC_DRAW)
    gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, 0, buffer)
    (array,) = gl.gen_vertex_arrays(1)
    gl.bind_vertex_array(array)
    gl.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, 0, None)
    gl.enable_vertex_attrib_array(0)
    counts = []
    for half in (2, 4, 6):
        gl.use_program(place)
        gl.uniform1f(gl.get_uniform_location(place, "size"), half / 8)
        gl.dispatch_compute(1, 1, 1)
        gl.memory_barrier(GL.ALL_BARRIER_BITS)
        gl.use_program(draw)
        for _ in range(3):
            gl.clear(GL.COLOR_BUFFER_BIT)
            gl.draw_arrays(GL.TRIANGLES, 0, 6)
            picture = np.zeros((SIZE, SIZE, 4), np.uint8)
            gl.read_pixels(0, 0, SIZE, SIZE, GL.RGBA, GL.UNSIGNED_BYTE, picture)
            counts.append(int((picture[..., 0] == 255).sum()))
    assert counts == [16] * 3 + [64] * 3 + [144] * 3
