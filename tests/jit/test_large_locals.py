"""Arrays of an invocation that are too large for a thread's stack lie in memory of the call."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from gallette.drivers.common.program import lanes_with_room
from gallette.state_tracker import GL, create_context
from tests.hostile.programs import compute, linked
from tests.state_tracker.helpers import errors, pixels

EVERYWHERE = (
    "void main() { gl_Position = vec4(ivec2(gl_VertexID & 1, gl_VertexID >> 1) * 4 - 1, 0, 1); }"
)
FRAGMENT = """out vec4 color;
uniform int last;
void main() {
    float many[140000];
    for (int i = 0; i < last; i += 9999) many[i] = float(i);
    int at = int(gl_FragCoord.x) * 9999;
    color = vec4(many[at] == float(at), many[at + 1], many[min(at + last, 139999)], 1.0);
}"""


@pytest.mark.parametrize("driver", ["jit", "numpipe", "simd", "tiler"])
def test_fragments_have_large_arrays(driver: str) -> None:
    gl = create_context(driver, version=(4, 5), size=(8, 8))
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    name = linked(gl, VERTEX=EVERYWHERE, FRAGMENT=FRAGMENT)
    gl.uniform1i(gl.get_uniform_location(name, "last"), 140000)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    assert errors(gl) == []
    assert (pixels(gl, 8, 8) == np.array((255, 0, 0, 255))).all()
    gl.release()


VERTEX = """out vec3 found;
uniform int last;
void main() {
    float many[140000];
    for (int i = 0; i < last; i += 9999) many[i] = float(i + gl_VertexID);
    int at = (gl_VertexID + 1) * 9999;
    found = vec3(many[at] == float(at + gl_VertexID), many[at + 1], many[min(at + last, 139999)]);
    gl_Position = vec4(ivec2(gl_VertexID & 1, gl_VertexID >> 1) * 4 - 1, 0, 1);
}"""
PASSED_ON = "in vec3 found; out vec4 color; void main() { color = vec4(found, 1); }"


@pytest.mark.parametrize("driver", ["jit", "numpipe", "simd", "tiler"])
def test_vertices_have_large_arrays(driver: str) -> None:
    gl = create_context(driver, version=(4, 5), size=(8, 8))
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    name = linked(gl, VERTEX=VERTEX, FRAGMENT=PASSED_ON)
    gl.uniform1i(gl.get_uniform_location(name, "last"), 140000)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    assert errors(gl) == []
    assert (pixels(gl, 8, 8) == np.array((255, 0, 0, 255))).all()
    gl.release()


def test_chunks_are_small_where_arrays_are_large() -> None:
    assert lanes_with_room(1 << 14, 0) == 1 << 14
    assert lanes_with_room(1 << 14, 16) == 1 << 14
    assert lanes_with_room(1 << 14, 140_000) == 476
    assert lanes_with_room(1 << 14, 1 << 30) == 64


def test_invocations_of_a_dispatch_have_large_arrays() -> None:
    gl = create_context("jit", version=(4, 5))
    body = """void main() {
        uint many[50000]; uint me = gl_LocalInvocationIndex;
        for (uint i = me; i < 50000u; i += 777u) many[i] = i + me;
        found[me] = many[me + 777u * 60u];
    }"""
    assert compute(gl, body)[:16] == [777 * 60 + 2 * me for me in range(16)]
    gl.release()
