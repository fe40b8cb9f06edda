"""Draws that name far more vertices than their arrays hold: harmless, and quick."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.state_tracker.helpers import pixels, program

VERTEX = """#version 330
in vec2 position;
void main() { gl_Position = vec4(position, 0.0, 1.0); }
"""
FRAGMENT = """#version 330
out vec4 color;
void main() { color = vec4(1.0); }
"""
BILLION = 3 << 28


@pytest.fixture(params=["numpipe", "jit"])
def gl(request: pytest.FixtureRequest) -> Iterator[GLInterface]:
    if request.param == "jit":
        pytest.importorskip("llvmlite")
    context = create_context(request.param, size=(64, 64))
    (array,), (buffer,) = context.gen_vertex_arrays(1), context.gen_buffers(1)
    context.bind_vertex_array(array)
    context.bind_buffer(GL.ARRAY_BUFFER, buffer)
    corners = np.array([-1, -1, 1, -1, -1, 1, 1, 1], np.float32)
    context.buffer_data(GL.ARRAY_BUFFER, corners.nbytes, corners, GL.STATIC_DRAW)
    context.enable_vertex_attrib_array(0)
    context.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, 0, 0)
    yield context
    context.release()


@pytest.mark.parametrize("mode", [GL.TRIANGLES, GL.TRIANGLE_STRIP, GL.TRIANGLE_FAN])
def test_a_billion_vertices_that_are_not_there(gl: GLInterface, mode: int) -> None:
    """The picture and the counts are those of a draw that may be taken vertex by vertex."""
    program(gl, VERTEX, FRAGMENT)
    (query,) = gl.gen_queries(1)
    found = []
    for count in (12, BILLION):
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.begin_query(GL.PRIMITIVES_GENERATED, query)
        gl.draw_arrays(mode, 0, count)
        gl.end_query(GL.PRIMITIVES_GENERATED)
        assert gl.get_error() == 0
        triangles = count // 3 if mode == GL.TRIANGLES else count - 2
        assert gl.get_query_objectuiv(query, GL.QUERY_RESULT) == [triangles]
        found.append(pixels(gl))
    assert found[0].any()
    np.testing.assert_array_equal(found[0], found[1])
