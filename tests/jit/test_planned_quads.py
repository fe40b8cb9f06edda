"""Quads and polygons by plans: the pixels and counts of the shared stages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.drivers.jit.draw_plan import DrawPlan
from gallette.drivers.jit.program import BoundJit
from gallette.state_tracker import GL, create_context
from tests.covering import rows
from tests.state_tracker.helpers import errors, pixels, program

SIZE = 64
VERTEX = """
#version 150 compatibility
in vec4 corner;
QUALIFIER out vec4 color;
void main()
{
    gl_Position = vec4(corner.xy, 0.0, 1.0);
    color = vec4(corner.zw, fract(float(gl_VertexID) * 0.37), 1.0);
}
"""
FRAGMENT = """
#version 150 compatibility
QUALIFIER in vec4 color;
void main() { gl_FragColor = color + vec4(0.0, 0.0, 0.0, -float(gl_PrimitiveID) * 0.1); }
"""
COUNTED = (GL.CLIPPING_INPUT_PRIMITIVES, GL.PRIMITIVES_SUBMITTED, GL.VERTEX_SHADER_INVOCATIONS)


def drawn(
    mode: int, qualifier: str, reach: float, convention: int, indexed: bool, plane: bool
) -> Any:
    gl = create_context("jit", profile="compat", version=(4, 6), size=(SIZE, SIZE))
    name = program(
        gl, VERTEX.replace("QUALIFIER", qualifier), FRAGMENT.replace("QUALIFIER", qualifier)
    )
    gl.use_program(name)
    gl.provoking_vertex(convention)
    if plane:
        gl.clip_plane(GL.CLIP_PLANE0, (1.0, 0.5, 0.0, 0.1))
        gl.enable(GL.CLIP_PLANE0)
    rng = np.random.default_rng(7)
    table = rng.uniform(0, 1, (24, 4)).astype(np.float32)
    table[:, :2] = (table[:, :2] * 2 - 1) * reach
    array, buffer, elements = (gl.gen_vertex_arrays(1)[0], *gl.gen_buffers(2))
    gl.bind_vertex_array(array)
    gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
    gl.buffer_data(GL.ARRAY_BUFFER, table.nbytes, table.tobytes(), GL.STATIC_DRAW)
    at = gl.get_attrib_location(name, "corner")
    gl.vertex_attrib_pointer(at, 4, GL.FLOAT, False, 0, 0)
    gl.enable_vertex_attrib_array(at)
    indices = rng.permutation(24).astype(np.uint16)
    gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, elements)
    gl.buffer_data(GL.ELEMENT_ARRAY_BUFFER, indices.nbytes, indices.tobytes(), GL.STATIC_DRAW)
    queries = gl.gen_queries(len(COUNTED))
    for query, target in zip(queries, COUNTED, strict=True):
        gl.begin_query(target, query)
    for count in (4, 9, 24):
        if indexed:
            gl.draw_elements(mode, count, GL.UNSIGNED_SHORT, 0)
        else:
            gl.draw_arrays(mode, 0, count)
    for target in COUNTED:
        gl.end_query(target)
    counts = [gl.get_query_objectuiv(query, GL.QUERY_RESULT) for query in queries]
    picture = pixels(gl, SIZE, SIZE).copy()
    assert not errors(gl)
    gl.release()
    return picture, counts


CONVENTIONS = GL.FIRST_VERTEX_CONVENTION, GL.LAST_VERTEX_CONVENTION
REACHES = 0.9, 1.6  # inside of the planes, and beyond them
CASES = rows(
    (GL.QUADS, GL.QUAD_STRIP, GL.POLYGON), ("smooth", "flat"), REACHES, CONVENTIONS, (False, True),
    (False, True), strength=3,
)  # fmt: skip
CLIPPED = GL.QUADS, "smooth", 1.6, GL.LAST_VERTEX_CONVENTION, False, False  # as whole quads


@pytest.mark.parametrize(
    "mode,qualifier,reach,convention,indexed,plane", list(dict.fromkeys([*CASES, CLIPPED]))
)
def test_plans_draw_them_as_the_shared_stages_do(
    mode: int,
    qualifier: str,
    reach: float,
    convention: int,
    indexed: bool,
    plane: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[bool] = []
    draw = DrawPlan.draw

    def noting(plan: DrawPlan, *given: Any) -> int | None:
        left = draw(plan, *given)
        made.append(left is None)
        return left

    monkeypatch.setattr(DrawPlan, "draw", noting)
    planned, counts = drawn(mode, qualifier, reach, convention, indexed, plane)
    assert made == [True] * 3
    monkeypatch.setattr(BoundJit, "plan", lambda *given: None)
    long_way, counts_there = drawn(mode, qualifier, reach, convention, indexed, plane)
    assert (planned == long_way).all() and planned.any()
    assert counts == counts_there
    assert len(made) == 3
