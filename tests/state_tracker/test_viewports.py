"""Sixteen viewports: primitives choose theirs, each with its own scissor and depth range."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context

from .helpers import compiled, errors, pixels

VS = """#version 430
flat out int number;
void main() {
    vec2 corner = vec2(gl_VertexID % 3 == 1 ? 3.0 : -1.0, gl_VertexID % 3 == 2 ? 3.0 : -1.0);
    number = gl_VertexID / 3;
    gl_Position = vec4(corner, 1.0, 1.0);
}"""
PLAIN_VS = "#version 430\nvoid main() { gl_Position = vec4(0); }"
GS = """#version 430
layout(points, invocations = 16) in;
layout(triangle_strip, max_vertices = 4) out;
flat out int number;
void main() {
    for (int i = 0; i < 4; i++) {
        gl_ViewportIndex = gl_InvocationID;
        number = gl_InvocationID;
        gl_Position = vec4(i % 2 * 2 - 1, i / 2 * 2 - 1, 1.0, 1.0);
        EmitVertex();
    }
}"""
WRITING_VS = """#version 430
#extension GL_ARB_shader_viewport_layer_array : require
flat out int number;
void main() {
    vec2 corner = vec2(gl_VertexID % 3 == 1 ? 3.0 : -1.0, gl_VertexID % 3 == 2 ? 3.0 : -1.0);
    number = gl_VertexID / 3;
    gl_ViewportIndex = number;
    gl_Position = vec4(corner, 1.0, 1.0);
}"""
TCS = """#version 430
layout(vertices = 3) out;
in int number[];
out int numbers[];
void main() {
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    numbers[gl_InvocationID] = number[gl_InvocationID];
    gl_TessLevelOuter = float[4](1.0, 1.0, 1.0, 1.0);
    gl_TessLevelInner = float[2](1.0, 1.0);
}"""
TES = """#version 430
#extension GL_ARB_shader_viewport_layer_array : require
layout(triangles, ccw) in;
in int numbers[];
flat out int number;
void main() {
    gl_Position = gl_TessCoord.x * gl_in[0].gl_Position + gl_TessCoord.y * gl_in[1].gl_Position
        + gl_TessCoord.z * gl_in[2].gl_Position;
    gl_ViewportIndex = numbers[0];
    number = numbers[0];
}"""
FS = """#version 430
flat in int number;
out vec4 color;
void main() {
    color = vec4(number / 255.0, gl_ViewportIndex / 255.0, gl_FragCoord.z, 1.0);
}"""
TESS_VS = VS.replace("flat out", "out")
PROGRAMS = {
    "geometry": ((PLAIN_VS, GS, FS), GL.POINTS, 1),
    "vertex": ((WRITING_VS, FS), GL.TRIANGLES, 48),
    "evaluation": ((TESS_VS, TCS, TES, FS), GL.PATCHES, 48),
}
KINDS = {
    2: (GL.VERTEX_SHADER, GL.FRAGMENT_SHADER),
    3: (GL.VERTEX_SHADER, GL.GEOMETRY_SHADER, GL.FRAGMENT_SHADER),
    4: (
        GL.VERTEX_SHADER,
        GL.TESS_CONTROL_SHADER,
        GL.TESS_EVALUATION_SHADER,
        GL.FRAGMENT_SHADER,
    ),
}


@pytest.fixture(params=["numpipe", "jit", pytest.param("native", marks=pytest.mark.native)])
def gl(request: pytest.FixtureRequest) -> Iterator[GLInterface]:
    options = {"profile": "core", "version": (4, 3), "size": (64, 64)}
    if request.param == "native":
        context = native_context(**options)
    else:
        if request.param == "jit":
            pytest.importorskip("llvmlite")
        context = create_context(request.param, **options)
    context.bind_vertex_array(context.gen_vertex_arrays(1)[0])
    yield context
    context.release()


def use(gl: GLInterface, sources: tuple[str, ...]) -> None:
    name = gl.create_program()
    for kind, source in zip(KINDS[len(sources)], sources, strict=True):
        gl.attach_shader(name, compiled(gl, kind, source))
    gl.link_program(name)
    assert gl.get_programiv(name, GL.LINK_STATUS)[0], gl.get_program_info_log(name)
    gl.use_program(name)


def tiles(gl: GLInterface) -> None:
    """Sixteen viewports of 16x16, each with a depth range of its own."""
    boxes = [(i % 4 * 16, i // 4 * 16, 16, 16) for i in range(16)]
    gl.viewport_arrayv(0, 16, np.array(boxes, np.float32))
    ranges = [(0.0, (i + 1) / 16) for i in range(16)]
    gl.depth_range_arrayv(0, 16, np.array(ranges, np.float64))


@pytest.mark.parametrize("stage", PROGRAMS)
def test_primitives_go_to_the_viewport_they_name(gl: GLInterface, stage: str) -> None:
    sources, mode, count = PROGRAMS[stage]
    use(gl, sources)
    tiles(gl)
    gl.clear_color(1.0, 1.0, 1.0, 1.0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.draw_arrays(mode, 0, count)
    assert errors(gl) == []
    seen = pixels(gl).astype(int)
    for i in range(16):
        tile = seen[i // 4 * 16 : i // 4 * 16 + 16, i % 4 * 16 : i % 4 * 16 + 16]
        assert (tile[..., :2] == i).all(), i
        assert (abs(tile[..., 2] - 255 * (i + 1) / 16) < 1.1).all(), i


@pytest.mark.parametrize("stage", PROGRAMS)
def test_each_viewport_has_its_scissor(gl: GLInterface, stage: str) -> None:
    sources, mode, count = PROGRAMS[stage]
    use(gl, sources)
    tiles(gl)
    for i in range(0, 16, 3):
        gl.enablei(GL.SCISSOR_TEST, i)
        gl.scissor_indexed(i, i % 4 * 16 + i // 2, i // 4 * 16 + 2, 3, 5)
    gl.clear_color(1.0, 1.0, 1.0, 1.0)
    gl.disable(GL.SCISSOR_TEST)
    gl.clear(GL.COLOR_BUFFER_BIT)
    for i in range(0, 16, 3):
        gl.enablei(GL.SCISSOR_TEST, i)
    gl.draw_arrays(mode, 0, count)
    assert errors(gl) == []
    seen = pixels(gl)
    expected = np.full((64, 64), 255)
    for i in range(16):
        x, y, w, h = i % 4 * 16, i // 4 * 16, 16, 16
        if i % 3 == 0:
            x, y, w, h = x + i // 2, y + 2, 3, 5
        expected[y : y + h, x : x + w] = i
    assert (seen[..., 0] == expected).all()


def test_depth_is_clamped_to_the_range_of_the_viewport(gl: GLInterface) -> None:
    fragment = FS.replace("void main() {", "void main() { gl_FragDepth = 5.0;")
    use(gl, (WRITING_VS, fragment))
    tiles(gl)
    gl.enable(GL.DEPTH_CLAMP)
    gl.enable(GL.DEPTH_TEST)
    gl.depth_func(GL.ALWAYS)
    gl.clear(GL.DEPTH_BUFFER_BIT | GL.COLOR_BUFFER_BIT)
    gl.draw_arrays(GL.TRIANGLES, 0, 48)
    raw = gl.read_pixels(0, 0, 64, 64, GL.DEPTH_COMPONENT, GL.FLOAT)
    depth = np.frombuffer(raw, np.float32).reshape(64, 64)
    for i in range(16):
        tile = depth[i // 4 * 16 : i // 4 * 16 + 16, i % 4 * 16 : i % 4 * 16 + 16]
        assert np.allclose(tile, (i + 1) / 16, atol=1e-6), i


def overlapping(gl: GLInterface) -> npt.NDArray[Any]:
    """Clipped triangles in overlapping viewports of different sizes, blended in order."""
    source = WRITING_VS.replace("corner, 1.0, 1.0", "corner, 0.0, 0.9 + 0.3 * corner.x")
    use(gl, (source, FS.replace("1.0);", "0.3);")))
    boxes = [(i * 2, i, 10 + 3 * i, 40 - 2 * i) for i in range(16)]
    gl.viewport_arrayv(0, 16, np.array(boxes, np.float32))
    gl.enable(GL.BLEND)
    gl.blend_func(GL.ONE, GL.ONE_MINUS_SRC_ALPHA)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.draw_arrays(GL.TRIANGLES, 0, 48)
    assert errors(gl) == []
    return pixels(gl)


@pytest.mark.native
def test_triangles_are_clipped_in_their_own_viewport(gl: GLInterface) -> None:
    seen = overlapping(gl).astype(int)
    reference = native_context(profile="core", version=(4, 3), size=(64, 64))
    reference.bind_vertex_array(reference.gen_vertex_arrays(1)[0])
    expected = overlapping(reference).astype(int)
    reference.release()
    assert abs(seen - expected).max() <= 1
    assert len(np.unique(expected[..., 0])) > 8


def test_points_and_lines_go_there_as_well(gl: GLInterface) -> None:
    geometry = GS.replace("triangle_strip", "points").replace("i < 4", "i < 1")
    geometry = geometry.replace("i % 2 * 2 - 1, i / 2 * 2 - 1", "0.01, 0.01")
    use(gl, (PLAIN_VS, geometry, FS))
    tiles(gl)
    gl.clear_color(1.0, 1.0, 1.0, 1.0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.draw_arrays(GL.POINTS, 0, 1)
    seen = pixels(gl)
    found = [tuple(int(v) for v in at) for at in np.argwhere(seen[..., 0] != 255)]
    assert found == sorted((i // 4 * 16 + 8, i % 4 * 16 + 8) for i in range(16))
    lines = GS.replace("triangle_strip", "line_strip").replace("i < 4", "i < 2")
    lines = lines.replace("i % 2 * 2 - 1, i / 2 * 2 - 1", "i * 2 - 1, 0.01")
    use(gl, (PLAIN_VS, lines, FS))
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.draw_arrays(GL.POINTS, 0, 1)
    seen = pixels(gl)
    rows = sorted({int(at[0]) for at in np.argwhere(seen[..., 0] != 255)})
    assert rows == [8, 24, 40, 56]
    assert (seen[8, :, 0] == np.repeat(range(4), 16)).all()


def test_indexed_queries_and_errors(gl: GLInterface) -> None:
    assert gl.get_integerv(GL.MAX_VIEWPORTS)[0] >= 16
    gl.viewport_indexedf(3, 1.5, 2.0, 3.25, 4.0)
    assert list(gl.get_floati_v(GL.VIEWPORT, 3)[:4]) == [1.5, 2.0, 3.25, 4.0]
    assert list(gl.get_floati_v(GL.VIEWPORT, 2)[:4]) == [0.0, 0.0, 64.0, 64.0]
    gl.depth_range_indexed(5, 0.25, 0.5)
    assert list(gl.get_doublei_v(GL.DEPTH_RANGE, 5)[:2]) == [0.25, 0.5]
    gl.scissor_indexedv(7, np.array([1, 2, 3, 4], np.int32))
    assert list(gl.get_integeri_v(GL.SCISSOR_BOX, 7)[:4]) == [1, 2, 3, 4]
    gl.enablei(GL.SCISSOR_TEST, 15)
    assert gl.is_enabledi(GL.SCISSOR_TEST, 15)
    assert not gl.is_enabledi(GL.SCISSOR_TEST, 14)
    assert errors(gl) == []
    gl.viewport_indexedf(16, 0, 0, 1, 1)
    gl.scissor_indexed(0, 0, 0, -1, 1)
    gl.enablei(GL.SCISSOR_TEST, 16)
    assert errors(gl) == ["GL_INVALID_VALUE"]
    gl.viewport(0, 0, 10, 10)
    assert list(gl.get_floati_v(GL.VIEWPORT, 15)[:4]) == [0.0, 0.0, 10.0, 10.0]
