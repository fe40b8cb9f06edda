"""Strips of a geometry shader end where its invocation says so, and in no other's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from tests.state_tracker.helpers import compiled, errors

POINTS = 21
STAGES = {
    GL.VERTEX_SHADER: "#version 430\nvoid main() { gl_Position = vec4(0.0, 0.0, 0.0, 1.0); }",
    GL.GEOMETRY_SHADER: """#version 430
layout(points) in; layout(triangle_strip, max_vertices = 6) out;
uniform int every;
out float of;
void main() {
    for (int i = 0; i < 6; i++) {
        of = float(gl_PrimitiveIDIn * 10 + i);
        gl_Position = vec4(i & 1, i >> 1, 0.0, 1.0);
        EmitVertex();
        if (i == 2 && gl_PrimitiveIDIn % every == 0) EndPrimitive();
    }
}""",
    GL.FRAGMENT_SHADER: "#version 430\nin float of; out vec4 c; void main() { c = vec4(of); }",
}
STRIP = [(0, 1, 2), (2, 1, 3), (2, 3, 4), (4, 3, 5)]
"""the corners of whole ones, in the order in which they are captured"""


@pytest.mark.parametrize("every", [1, 2, 5, 40])
@pytest.mark.parametrize("driver", ["numpipe", "jit", "simd", "tiler"])
def test_strips_are_cut(driver: str, every: int) -> None:
    if driver == "jit":
        pytest.importorskip("llvmlite")
    gl: Any = create_context(driver, version=(4, 3), size=(8, 8))
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    name = gl.create_program()
    for stage, source in STAGES.items():
        gl.attach_shader(name, compiled(gl, stage, source))
    gl.transform_feedback_varyings(name, 1, ["of"], GL.INTERLEAVED_ATTRIBS)
    gl.link_program(name)
    gl.use_program(name)
    gl.uniform1i(gl.get_uniform_location(name, "every"), every)
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer_base(GL.TRANSFORM_FEEDBACK_BUFFER, 0, buffer)
    gl.buffer_data(GL.TRANSFORM_FEEDBACK_BUFFER, POINTS * 64, None, GL.STREAM_READ)
    gl.begin_transform_feedback(GL.TRIANGLES)
    gl.draw_arrays(GL.POINTS, 0, POINTS)
    gl.end_transform_feedback()
    expected = []
    for point in range(POINTS):
        cut = point % every == 0
        expected += [
            point * 10 + corner
            for triangle in ([(0, 1, 2), (3, 4, 5)] if cut else STRIP)
            for corner in triangle
        ]
    raw = gl.get_buffer_sub_data(GL.TRANSFORM_FEEDBACK_BUFFER, 0, len(expected) * 4)
    assert np.frombuffer(raw, np.float32).tolist() == expected
    assert errors(gl) == []
    gl.release()
