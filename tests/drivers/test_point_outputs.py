"""A last stage that emits points gives points to every later state: size, culling, polygon mode.

Coordinates that are replaced within a point (`GL_COORD_REPLACE`) show it: they are replaced where
points are drawn, whoever made them, and left alone where lines and triangles are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from tests.conftest import native_context
from tests.state_tracker.helpers import errors, linked, pixels

DRIVERS = ("numpipe", "jit", "simd", "tiler")
SIZE, POINT = 32, 8

PLAIN = """#version 430 compatibility
void main() { gl_Position = gl_Vertex; gl_PointSize = 8.0; gl_TexCoord[0] = vec4(1, 1, 0, 1); }"""
FRAGMENT = """#version 430 compatibility
void main() { gl_FragColor = vec4(gl_TexCoord[0].xy, 0.5, 1.0); }"""
EVALUATION = """#version 430 compatibility
layout({}) in;
void main() {{
    float along = gl_TessCoord.x;
    gl_Position = mix(gl_in[0].gl_Position, gl_in[1].gl_Position, along)
        + vec4(0, gl_TessCoord.y * 0.3, 0, 0);
    gl_PointSize = 8.0;
    gl_TexCoord[0] = vec4(1, 1, 0, 1);
}}"""
GEOMETRY = """#version 430 compatibility
layout({}) in; layout({}, max_vertices = 3) out;
void main() {{
    int given = gl_in.length();
    for (int k = 0; k < max(given, 2); ++k) {{
        gl_Position = gl_in[min(k, given - 1)].gl_Position;
        if (k >= given) gl_Position.y += 0.25;
        gl_PointSize = 8.0;
        gl_TexCoord[0] = vec4(1, 1, 0, 1);
        EmitVertex();
    }}
}}"""
# Stages between, the mode, and whether points come out.
CASES: dict[str, tuple[dict[str, str], str, bool]] = {
    "points": ({}, "POINTS", True),
    "lines": ({}, "LINES", False),
    "triangles": ({}, "TRIANGLES", False),
    "evaluated points of lines": (
        {"TESS_EVALUATION": EVALUATION.format("isolines, point_mode")}, "PATCHES", True),
    "evaluated points of triangles": (
        {"TESS_EVALUATION": EVALUATION.format("triangles, point_mode")}, "PATCHES", True),
    "evaluated lines": ({"TESS_EVALUATION": EVALUATION.format("isolines")}, "PATCHES", False),
    "evaluated triangles": ({"TESS_EVALUATION": EVALUATION.format("triangles")}, "PATCHES", False),
    "emitted points": ({"GEOMETRY": GEOMETRY.format("triangles", "points")}, "TRIANGLES", True),
    "emitted lines": ({"GEOMETRY": GEOMETRY.format("triangles", "line_strip")}, "TRIANGLES", False),
    "emitted triangles": (
        {"GEOMETRY": GEOMETRY.format("triangles", "triangle_strip")}, "TRIANGLES", False),
    "emitted points of evaluated lines": (
        {"TESS_EVALUATION": EVALUATION.format("isolines"),
         "GEOMETRY": GEOMETRY.format("lines", "points")}, "PATCHES", True),
    "emitted lines of evaluated points": (
        {"TESS_EVALUATION": EVALUATION.format("isolines, point_mode"),
         "GEOMETRY": GEOMETRY.format("points", "line_strip")}, "PATCHES", False),
}  # fmt: skip


def picture(driver: str, name: str, filled: bool = True) -> Any:
    options: dict[str, Any] = {"version": (4, 5), "profile": "compat", "size": (SIZE, SIZE)}
    gl = native_context(**options) if driver == "native" else create_context(driver, **options)
    stages, mode, _ = CASES[name]
    linked(gl, VERTEX=PLAIN, **stages, FRAGMENT=FRAGMENT)
    for capability in (GL.PROGRAM_POINT_SIZE, GL.POINT_SPRITE):
        gl.enable(capability)
    gl.tex_envi(GL.POINT_SPRITE, GL.COORD_REPLACE, True)
    if not filled:
        gl.polygon_mode(GL.FRONT_AND_BACK, GL.POINT)
    if mode == "PATCHES":
        gl.patch_parameteri(GL.PATCH_VERTICES, 3)
    gl.clear(GL.COLOR_BUFFER_BIT)
    corners = np.array([[8, 8], [24, 8], [16, 24]], np.float32) / SIZE * 2 - 1
    gl.bind_buffer(GL.ARRAY_BUFFER, *gl.gen_buffers(1))
    gl.buffer_data(GL.ARRAY_BUFFER, corners.nbytes, corners, GL.STATIC_DRAW)
    gl.enable_client_state(GL.VERTEX_ARRAY)
    gl.vertex_pointer(2, GL.FLOAT, 0, 0)
    gl.draw_arrays(getattr(GL, mode), 0, 3)
    found = pixels(gl, SIZE, SIZE).astype(int)
    assert errors(gl) == []
    gl.release()
    return found


@pytest.mark.native
@pytest.mark.parametrize("filled", [True, False], ids=["filled", "corners"])
@pytest.mark.parametrize("name", CASES)
def test_coordinates_within_points(name: str, filled: bool) -> None:
    """Corners of polygons are points, too; those of lines are not."""
    wanted = picture("native", name, filled)
    for driver in DRIVERS:
        found = picture(driver, name, filled)
        assert np.abs(found - wanted).max() <= 1, driver
        drawn = found[found[..., 3] > 0]
        replaced = bool((drawn[:, :2] != 255).any())
        points = CASES[name][2] or (not filled and name.endswith("triangles"))
        assert replaced == points and len(drawn)
        if name == "points":  # from the upper left corner of each
            inside = found[4:12, 4:12, :2]
            steps = np.rint((np.arange(POINT) + 0.5) / POINT * 255)
            assert np.abs(inside[..., 0] - steps).max() <= 1
            assert np.abs(inside[..., 1] - steps[::-1, None]).max() <= 1


def test_patches_may_be_given_one_vertex_at_a_time() -> None:
    gl = create_context("numpipe", version=(4, 5), profile="compat", size=(SIZE, SIZE))
    linked(gl, VERTEX=PLAIN, **CASES["evaluated triangles"][0], FRAGMENT=FRAGMENT)
    gl.begin(GL.PATCHES)
    assert errors(gl) == []
    gl.release()
