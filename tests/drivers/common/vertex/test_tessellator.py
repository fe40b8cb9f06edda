"""Subdivided patches cover their domain exactly once, whatever the levels."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gallette.drivers.common.vertex.tessellator import Domain, subdivide
from gallette.state_tracker import GL, create_context
from tests.state_tracker.helpers import linked, pixels

LEVELS = st.floats(0.5, 12.0, width=32)
SPACINGS = st.sampled_from(["equal_spacing", "fractional_even_spacing", "fractional_odd_spacing"])


def areas(domain: Domain) -> np.ndarray:
    """Signed areas of the triangles in the (u, v) plane."""
    uv = domain.points[:, :2].astype(np.float64)[domain.primitives]
    first, second = uv[:, 1] - uv[:, 0], uv[:, 2] - uv[:, 0]
    return (first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]) / 2


def check(domain: Domain | None, area: float, ccw: bool) -> None:
    assert domain is not None
    signed = areas(domain)
    step = 1 / 65536  # corners are rounded to such steps: slivers may turn over
    assert (signed > -step).all() if ccw else (signed < step).all()
    assert abs(signed.sum()) == pytest.approx(area, abs=1e-5)
    edges: Counter[tuple[int, int]] = Counter()
    for a, b, c in domain.primitives.tolist():
        for edge in ((a, b), (b, c), (c, a)):
            edges[min(edge), max(edge)] += 1
    assert max(edges.values()) <= 2  # no overlaps; a border edge belongs to one triangle


@settings(max_examples=60)
@given(
    outer=st.tuples(LEVELS, LEVELS, LEVELS, LEVELS),
    inner=st.tuples(LEVELS, LEVELS),
    spacing=SPACINGS,
    ccw=st.booleans(),
)
def test_quads_cover_the_unit_square(
    outer: tuple[float, ...], inner: tuple[float, ...], spacing: str, ccw: bool
) -> None:
    check(subdivide("quads", outer, inner, spacing, ccw, False), 1.0, ccw)


@settings(max_examples=60)
@given(
    outer=st.tuples(LEVELS, LEVELS, LEVELS, LEVELS),
    inner=st.tuples(LEVELS, LEVELS),
    spacing=SPACINGS,
    ccw=st.booleans(),
)
def test_triangles_cover_the_triangle(
    outer: tuple[float, ...], inner: tuple[float, ...], spacing: str, ccw: bool
) -> None:
    domain = subdivide("triangles", outer, inner, spacing, ccw, False)
    check(domain, 0.5, ccw)
    assert domain is not None
    np.testing.assert_allclose(domain.points.sum(axis=1), 1.0, atol=1e-6)


def test_outer_levels_decide_the_points_on_each_side() -> None:
    domain = subdivide("quads", (2.0, 3.0, 4.0, 5.0), (6.0, 6.0), "equal_spacing", True, False)
    assert domain is not None
    u, v = domain.points[:, 0], domain.points[:, 1]
    assert [int((side).sum()) for side in (u == 0, v == 0, u == 1, v == 1)] == [3, 4, 5, 6]
    triangle = subdivide(
        "triangles", (2.0, 3.0, 4.0, 1.0), (5.0, 1.0), "equal_spacing", True, False
    )
    assert triangle is not None
    assert [int((triangle.points[:, k] == 0).sum()) for k in range(3)] == [3, 4, 5]


def test_all_levels_one_is_the_patch_itself() -> None:
    ones = (1.0, 1.0, 1.0, 1.0), (1.0, 1.0)
    quad = subdivide("quads", *ones, "equal_spacing", True, False)
    triangle = subdivide("triangles", *ones, "equal_spacing", True, False)
    assert quad is not None and triangle is not None
    assert (len(quad.primitives), len(triangle.primitives)) == (2, 1)


@pytest.mark.parametrize("level", [0.0, -1.0, float("nan")])
def test_an_outer_level_that_is_not_positive_drops_the_patch(level: float) -> None:
    assert (
        subdivide("quads", (1.0, level, 1.0, 1.0), (1.0, 1.0), "equal_spacing", True, False) is None
    )


def test_isolines_leave_out_the_last_line() -> None:
    domain = subdivide("isolines", (3.0, 4.0, 0.0, 0.0), (0.0, 0.0), "equal_spacing", True, False)
    assert domain is not None
    assert len(domain.primitives) == 12
    assert sorted(set(domain.points[:, 1].tolist())) == pytest.approx(
        [0.0, 1 / 3, 2 / 3], abs=2 / 65536
    )


def test_point_mode_gives_every_point_once() -> None:
    arguments = ("quads", (3.0,) * 4, (3.0,) * 2, "equal_spacing", True)
    mesh, points = subdivide(*arguments, False), subdivide(*arguments, True)
    assert mesh is not None and points is not None
    assert points.primitives.reshape(-1).tolist() == list(range(len(mesh.points)))


DROPPED = """#version 400
layout(vertices = 3) out;
uniform float levels[4];
void main() {
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    for (int i = 0; i < 3; i++) gl_TessLevelOuter[i] = levels[gl_PrimitiveID];
    gl_TessLevelInner[0] = 1.0;
}
"""
EVALUATED = """#version 400
layout(triangles) in;
void main() {
    gl_Position = gl_TessCoord.x * gl_in[0].gl_Position + gl_TessCoord.y * gl_in[1].gl_Position
        + gl_TessCoord.z * gl_in[2].gl_Position;
}
"""
PLACED = """#version 400
void main() {
    vec2 corner = vec2(gl_VertexID % 3 & 1, gl_VertexID % 3 >> 1) * 8.0 - vec2(4.0, 1.0);
    float left = float(gl_VertexID / 3) * 0.5 - 1.0;
    gl_Position = vec4(clamp(corner.x, left, left + 0.5), corner.y, 0.0, 1.0);
}
"""


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_patches_that_are_dropped_leave_the_others(driver: str) -> None:
    gl = create_context(driver, version=(4, 0), size=(16, 16))
    fragment = "#version 400\nout vec4 c; void main() { c = vec4(1.0); }"
    name = linked(gl, vertex=PLACED, tess_control=DROPPED, tess_evaluation=EVALUATED,
                  fragment=fragment)  # fmt: skip
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    gl.patch_parameteri(GL.PATCH_VERTICES, 3)
    levels = gl.get_uniform_location(name, "levels")
    for each in ((0, 1, 2, 0), (2, 0, 0, 1), (-1, 3, math.nan, 1), (0, 0, 0, 0), (1, 1, 1, 1)):
        gl.uniform1fv(levels, 4, list(each))
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.draw_arrays(GL.PATCHES, 0, 12)
        drawn = pixels(gl, 16, 16)[4, 1::4, 0]
        assert drawn.tolist() == [255 if level > 0 else 0 for level in each], each
    gl.release()
