"""Large draws run in parts: the picture is the same, memory has a bound, and so has the work."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.drivers.common.draw import splitting
from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.context import Context
from tests.state_tracker.helpers import errors, linked, pixels, program

SIZE = 48
VERTEX = """#version 430
in vec2 position;
in vec2 shift;
flat out vec4 color;
void main() {
    float number = float(gl_VertexID % 17) / 17.0;
    color = vec4(number, float(gl_InstanceID % 5) / 5.0, 0.0, 1.0);
    gl_Position = vec4(position + shift, 0.0, 1.0);
    gl_PointSize = 3.0;
}
"""
FRAGMENT = """#version 430
flat in vec4 color;
out vec4 result;
void main() { result = vec4(color.xy, float(gl_PrimitiveID % 13) / 13.0, 1.0); }
"""
GEOMETRY = """#version 430
layout(triangles, invocations = 2) in;
layout(triangle_strip, max_vertices = 4) out;
flat in vec4 color[];
flat out vec4 colors;
void main() {
    for (int i = 0; i < 4; i++) {
        gl_Position = gl_in[i % 3].gl_Position + vec4(0.1 * float(gl_InvocationID + i), 0, 0, 0);
        colors = color[i % 3] + vec4(0.0, 0.0, float(gl_PrimitiveIDIn % 7) / 7.0, 0.0);
        EmitVertex();
    }
}
"""
GEOMETRY_FRAGMENT = """#version 430
flat in vec4 colors;
out vec4 result;
void main() { result = colors; }
"""
CONTROL = """#version 430
layout(vertices = 3) out;
flat in vec4 color[];
out vec4 shade[];
void main() {
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    shade[gl_InvocationID] = color[gl_InvocationID];
    float level = 1.0 + float(gl_PrimitiveID % 4);
    gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = level;
    gl_TessLevelInner[0] = level;
}
"""
EVALUATION = """#version 430
layout(triangles) in;
in vec4 shade[];
flat out vec4 color;
void main() {
    color = shade[0] * gl_TessCoord.x + shade[1] * gl_TessCoord.y + shade[2] * gl_TessCoord.z;
    gl_Position = gl_TessCoord.x * gl_in[0].gl_Position + gl_TessCoord.y * gl_in[1].gl_Position
                + gl_TessCoord.z * gl_in[2].gl_Position;
}
"""
COMPUTE = """#version 430
layout(local_size_x = 8) in;
shared int x[64];
void main() { x[0] = 1; }
"""
MODES = [
    GL.POINTS,
    GL.LINES,
    GL.LINE_STRIP,
    GL.LINE_LOOP,
    GL.TRIANGLES,
    GL.TRIANGLE_STRIP,
    GL.TRIANGLE_FAN,
    GL.LINES_ADJACENCY,
    GL.LINE_STRIP_ADJACENCY,
    GL.TRIANGLES_ADJACENCY,
    GL.TRIANGLE_STRIP_ADJACENCY,
]
COUNT = 130
WHOLE = splitting.MOST_LANES


@pytest.fixture
def gl() -> Iterator[GLInterface]:
    context = create_context("numpipe", size=(SIZE, SIZE), version=(4, 3))
    yield context
    context.release()


def bind(gl: GLInterface, name: int, extent: float = 1.0) -> None:
    """Random positions, a shift per two instances, and indices with a restart here and there."""
    rng = np.random.default_rng(3)
    (vao,) = gl.gen_vertex_arrays(1)
    gl.bind_vertex_array(vao)
    for attribute, data, divisor in (
        ("position", rng.uniform(-extent, extent, (COUNT, 2)), 0),
        ("shift", rng.uniform(-0.2, 0.2, (4, 2)), 2),
    ):
        (buffer,) = gl.gen_buffers(1)
        gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
        values = np.asarray(data, np.float32)
        gl.buffer_data(GL.ARRAY_BUFFER, values.nbytes, values, GL.STATIC_DRAW)
        location = gl.get_attrib_location(name, attribute)
        gl.enable_vertex_attrib_array(location)
        gl.vertex_attrib_pointer(location, 2, GL.FLOAT, 0, 0, None)
        gl.vertex_attrib_divisor(location, divisor)
    indices = rng.integers(0, COUNT, COUNT).astype(np.uint16)
    indices[[20, 21, 60]] = 0xFFFF
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, buffer)
    gl.buffer_data(GL.ELEMENT_ARRAY_BUFFER, indices.nbytes, indices, GL.STATIC_DRAW)
    gl.primitive_restart_index(0xFFFF)
    gl.enable(GL.PROGRAM_POINT_SIZE)


def both(gl: GLInterface, monkeypatch: pytest.MonkeyPatch, draw: Any, most: int = 24) -> None:
    """The same picture whole and in parts."""
    pictures = []
    for limit in (WHOLE, most):
        monkeypatch.setattr(splitting, "MOST_LANES", limit)
        gl.clear(GL.COLOR_BUFFER_BIT)
        draw()
        pictures.append(pixels(gl, SIZE, SIZE).copy())
    assert errors(gl) == []
    assert pictures[0].any()
    np.testing.assert_array_equal(*pictures)


@pytest.mark.parametrize("mode", MODES)
def test_parts_of_a_draw_make_the_same_picture(
    gl: GLInterface, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    bind(gl, program(gl, VERTEX, FRAGMENT))
    both(gl, monkeypatch, lambda: gl.draw_arrays(mode, 3, COUNT - 3))
    both(gl, monkeypatch, lambda: gl.draw_arrays_instanced(mode, 0, 60, 3))
    both(gl, monkeypatch, lambda: gl.draw_arrays_instanced(mode, 0, 20, 7), most=50)
    short = GL.UNSIGNED_SHORT
    both(gl, monkeypatch, lambda: gl.draw_elements(mode, COUNT, short, None))
    gl.enable(GL.PRIMITIVE_RESTART)
    both(gl, monkeypatch, lambda: gl.draw_elements_base_vertex(mode, COUNT, short, None, 2))
    both(gl, monkeypatch, lambda: gl.draw_elements(mode, 3 * COUNT, short, None))  # past the end


@pytest.mark.parametrize("mode", [GL.QUADS, GL.QUAD_STRIP, GL.POLYGON])
def test_parts_of_old_primitives_make_the_same_picture(
    monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    """Nothing is clipped: Mesa cuts quads another way where that is needed, and so do we."""
    gl = create_context("numpipe", size=(SIZE, SIZE), profile="compat", version=(4, 3))
    bind(gl, program(gl, VERTEX, FRAGMENT), 0.75)
    both(gl, monkeypatch, lambda: gl.draw_arrays(mode, 0, COUNT))
    gl.polygon_mode(GL.FRONT_AND_BACK, GL.LINE)
    both(gl, monkeypatch, lambda: gl.draw_arrays(mode, 0, COUNT))
    gl.release()


def test_parts_of_tessellated_and_expanded_draws_make_the_same_picture(
    gl: GLInterface, monkeypatch: pytest.MonkeyPatch
) -> None:
    expanding = linked(gl, vertex=VERTEX, geometry=GEOMETRY, fragment=GEOMETRY_FRAGMENT)
    bind(gl, expanding)
    both(gl, monkeypatch, lambda: gl.draw_arrays(GL.TRIANGLES, 0, COUNT))
    tessellating = linked(
        gl, vertex=VERTEX, tess_control=CONTROL, tess_evaluation=EVALUATION, fragment=FRAGMENT
    )
    bind(gl, tessellating)
    gl.patch_parameteri(GL.PATCH_VERTICES, 3)
    both(gl, monkeypatch, lambda: gl.draw_arrays(GL.PATCHES, 0, COUNT))
    both(gl, monkeypatch, lambda: gl.draw_arrays_instanced(GL.PATCHES, 0, 30, 4))


def test_parts_are_captured_one_after_the_other(
    gl: GLInterface, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = program(gl, VERTEX, FRAGMENT)
    gl.transform_feedback_varyings(name, ["gl_Position"], GL.INTERLEAVED_ATTRIBS)
    gl.link_program(name)
    gl.use_program(name)
    bind(gl, name)
    (buffer,) = gl.gen_buffers(1)
    captured = []
    for limit in (WHOLE, 24):
        monkeypatch.setattr(splitting, "MOST_LANES", limit)
        gl.bind_buffer_base(GL.TRANSFORM_FEEDBACK_BUFFER, 0, buffer)
        gl.buffer_data(GL.TRANSFORM_FEEDBACK_BUFFER, 48 * 200, None, GL.STATIC_READ)
        gl.begin_transform_feedback(GL.TRIANGLES)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, COUNT)
        gl.end_transform_feedback()
        captured.append(gl.get_buffer_sub_data(GL.TRANSFORM_FEEDBACK_BUFFER, 0, 48 * 200))
    assert any(captured[0]) and captured[0] == captured[1]


# -- what a draw may take ------------------------------------------------------------------------


def test_a_draw_of_many_vertices_takes_bounded_memory(gl: GLInterface) -> None:
    bind(gl, program(gl, VERTEX, FRAGMENT))
    gl.enable(GL.RASTERIZER_DISCARD)
    gl.draw_arrays(GL.TRIANGLES, 0, 300)
    gl.finish()
    tracemalloc.start()
    gl.draw_arrays(GL.TRIANGLES, 0, 4_000_000)
    gl.draw_elements_instanced(GL.TRIANGLES, COUNT, GL.UNSIGNED_SHORT, None, 30_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert errors(gl) == []
    assert peak < 32 << 20


@pytest.mark.parametrize("count", [(3, 1 << 30), ((1 << 31) - 1, 1), (1 << 20, 1 << 20)])
def test_a_draw_of_absurd_counts_loses_the_context_at_once(
    gl: GLInterface, capsys: pytest.CaptureFixture[str], count: tuple[int, int]
) -> None:
    bind(gl, program(gl, VERTEX, FRAGMENT))
    gl.draw_arrays_instanced(GL.TRIANGLES, 0, *count)
    gl.finish()
    assert errors(gl) == ["GL_CONTEXT_LOST"]
    assert gl.get_graphics_reset_status() == GL.GUILTY_CONTEXT_RESET
    assert "wants more work than its budget" in capsys.readouterr().err


def test_patches_of_many_triangles_lose_the_context() -> None:
    gl = Context("numpipe", size=(SIZE, SIZE), version=(4, 3), budget=10**8)
    control = CONTROL.replace("1.0 + float(gl_PrimitiveID % 4)", "64.0")
    tessellating = linked(
        gl, vertex=VERTEX, tess_control=control, tess_evaluation=EVALUATION, fragment=FRAGMENT
    )
    bind(gl, tessellating)
    gl.patch_parameteri(GL.PATCH_VERTICES, 3)
    gl.draw_arrays_instanced(GL.PATCHES, 0, 90, 2000)
    gl.finish()
    assert errors(gl) == ["GL_CONTEXT_LOST"]
    gl.release()


def test_a_launch_of_absurd_size_loses_the_context_at_once(gl: GLInterface) -> None:
    source = (
        "#version 430\nlayout(local_size_x = 8) in;\nshared int x[64];\nvoid main() { x[0] = 1; }"
    )
    linked(gl, compute=source)
    gl.dispatch_compute(65535, 65535, 65535)
    assert errors(gl) == ["GL_CONTEXT_LOST"]
    assert gl.get_graphics_reset_status() == GL.GUILTY_CONTEXT_RESET


def test_the_budget_is_one_for_the_whole_draw() -> None:
    """A loop that every chunk could afford, but not all of them together."""
    gl = Context("numpipe", size=(256, 256), version=(4, 3), budget=10**7)
    fragment = FRAGMENT.replace(
        "void main() {",
        "uniform int rounds;\nvoid main() {\n  for (int i = 0; i < rounds; i++) "
        "if (gl_FragCoord.x < float(-i)) discard;\n",
    )
    name = program(gl, VERTEX, fragment)
    bind(gl, name)
    gl.uniform1i(gl.get_uniform_location(name, "rounds"), 20)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.finish()
    assert errors(gl) == []
    gl.uniform1i(gl.get_uniform_location(name, "rounds"), 10_000)
    gl.draw_arrays(GL.TRIANGLES, 0, 120)
    gl.finish()
    assert errors(gl) == ["GL_CONTEXT_LOST"]
    gl.release()


@pytest.mark.parametrize("driver", ["numpipe", "jit", "simd", "tiler"])
def test_every_driver_keeps_the_budget_it_is_given(driver: str) -> None:
    gl = Context(driver, size=(16, 16), version=(4, 3), budget=50_000)
    bind(gl, program(gl, VERTEX, FRAGMENT))
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.finish()
    assert errors(gl) == []
    gl.draw_arrays(GL.TRIANGLES, 0, 3000)
    gl.finish()
    assert errors(gl) == ["GL_CONTEXT_LOST"]
    gl.release()
