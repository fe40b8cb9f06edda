"""Draws that differ in scissors, constant blocks, culling or viewport run as one: unseen."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.drivers.common.draw import execution, queue
from gallette.state_tracker import GL, create_context

from .helpers import pixels, program

VS = """#version 330
layout(location = 0) in vec2 corner;
layout(std140) uniform Place { vec4 place; vec4 more[2]; };
out vec2 uv;
void main() {
    gl_Position = vec4(corner * place.zw + place.xy + more[1].xy, 0.0, 1.0);
    uv = corner;
}"""
FS = """#version 330
layout(std140) uniform Place { vec4 place; vec4 more[2]; };
layout(std140) uniform Paint { vec4 unused[3]; vec4 paint; vec4 far; };
in vec2 uv;
out vec4 color;
void main() { color = vec4(paint.rgb * (0.6 + 0.4 * uv.x), 0.5) + more[0]; }
"""
SQUARE = np.array([[-1, -1], [1, -1], [-1, 1], [-1, 1], [1, -1], [1, 1]], np.float32)
DRAWS = 60
STEP = 256  # bytes between what draws are given: any driver's alignment


def blocks(gl: Any, name: int, rng: np.random.Generator) -> None:
    """A buffer with a place and a colour for every draw, at each multiple of STEP."""
    data = np.zeros((DRAWS, STEP // 4), np.float32)
    data[:, :2] = rng.uniform(-0.8, 0.8, (DRAWS, 2))
    data[:, 2:4] = rng.uniform(0.1, 0.5, (DRAWS, 2))
    data[:, 4:12] = rng.uniform(0.0, 0.1, (DRAWS, 8))
    data[:, 12:16] = rng.uniform(0.2, 0.8, (DRAWS, 4))
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.UNIFORM_BUFFER, buffer)
    gl.buffer_data(GL.UNIFORM_BUFFER, data.nbytes, data, GL.STATIC_DRAW)
    for number, block in enumerate(("Place", "Paint")):
        gl.uniform_block_binding(name, gl.get_uniform_block_index(name, block), number)


def vertices(gl: Any) -> None:
    (vao,) = gl.gen_vertex_arrays(1)
    gl.bind_vertex_array(vao)
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
    gl.buffer_data(GL.ARRAY_BUFFER, SQUARE.nbytes, SQUARE, GL.STATIC_DRAW)
    gl.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, 0, None)
    gl.enable_vertex_attrib_array(0)


CALLS = """#version 330
layout(location = 0) in vec2 corner;
uniform vec4 place;
flat out float number;
out vec2 uv;
void main() {
    gl_Position = vec4(corner * 0.3 + place.xy, 0.0, 1.0);
    number = float(gl_VertexID % 7) / 7.0;
    uv = corner;
}"""
TINTED = """#version 330
uniform vec4 place;
flat in float number;
in vec2 uv;
out vec4 color;
void main() { color = vec4(number, uv * 0.5 + 0.5, place.z); }
"""


def calls(indexed: bool, mode: int, restart: int) -> npt.NDArray[Any]:
    """Draws from one buffer: other vertices, other counts, other indices, other calls."""
    rng = np.random.default_rng(9)
    gl = create_context(profile="core", version=(3, 3), size=(64, 64))
    name = program(gl, CALLS, TINTED)
    (vao,) = gl.gen_vertex_arrays(1)
    gl.bind_vertex_array(vao)
    vertex_buffer, index_buffer = gl.gen_buffers(2)
    gl.bind_buffer(GL.ARRAY_BUFFER, vertex_buffer)
    corners = rng.uniform(-1, 1, (90, 2)).astype(np.float32)
    gl.buffer_data(GL.ARRAY_BUFFER, corners.nbytes, corners, GL.STATIC_DRAW)
    gl.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, 0, None)
    gl.enable_vertex_attrib_array(0)
    gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, index_buffer)
    indices = rng.integers(0, 100, 300).astype(np.uint16)  # some lie outside
    gl.buffer_data(GL.ELEMENT_ARRAY_BUFFER, indices.nbytes, indices, GL.STATIC_DRAW)
    gl.enable(GL.PRIMITIVE_RESTART)
    gl.primitive_restart_index(restart)
    gl.blend_func(GL.SRC_ALPHA, GL.ONE_MINUS_SRC_ALPHA)
    gl.enable(GL.BLEND)
    gl.clear(GL.COLOR_BUFFER_BIT)
    place = gl.get_uniform_location(name, "place")
    for k in range(DRAWS):
        gl.uniform4f(place, *rng.uniform(-0.8, 0.8, 2).tolist(), 0.3 + k % 5 / 10, 0.0)
        first, count = int(rng.integers(0, 80)), int(rng.integers(0, 14))
        if not indexed:
            gl.draw_arrays(mode, first, count)
        elif k % 3:
            gl.draw_elements(mode, count, GL.UNSIGNED_SHORT, 2 * first * 3)
        else:
            gl.draw_elements_base_vertex(mode, count, GL.UNSIGNED_SHORT, 2 * first, k % 11)
    assert gl.get_error() == GL.NO_ERROR
    found = np.array(pixels(gl))
    gl.release()
    return found


@pytest.mark.parametrize("mode", [GL.TRIANGLES, GL.LINES, GL.TRIANGLE_STRIP, GL.POINTS])
@pytest.mark.parametrize("restart", [65535, 50])
@pytest.mark.parametrize("indexed", [False, True])
def test_calls_of_other_vertices_look_as_one_by_one(
    indexed: bool, restart: int, mode: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = []
    for small in (512, 0):
        monkeypatch.setattr(queue, "SMALL", small)
        images.append(calls(indexed, mode, restart))
    assert len(np.unique(images[0].reshape(-1, 4), axis=0)) > 20
    np.testing.assert_array_equal(*images)


def picture(changing: str) -> npt.NDArray[Any]:
    rng = np.random.default_rng(5)
    gl = create_context(profile="core", version=(3, 3), size=(64, 64))
    name = program(gl, VS, FS)
    vertices(gl)
    blocks(gl, name, rng)
    (buffer,) = gl.get_integerv(GL.UNIFORM_BUFFER_BINDING)
    gl.blend_func(GL.SRC_ALPHA, GL.ONE_MINUS_SRC_ALPHA)
    gl.enable(GL.BLEND)
    gl.clear(GL.COLOR_BUFFER_BIT)
    if changing == "scissor":
        gl.enable(GL.SCISSOR_TEST)
    for k in range(DRAWS):
        gl.bind_buffer_range(GL.UNIFORM_BUFFER, 0, buffer, STEP * k, 48)
        gl.bind_buffer_range(GL.UNIFORM_BUFFER, 1, buffer, STEP * k, 64)
        x, y, width, height = (int(v) for v in rng.integers(0, 50, 4))
        if changing == "scissor":
            gl.scissor(x - 5, y, 0 if k % 9 == 0 else width + 20, height)
        elif changing == "viewport":
            gl.viewport(x, y, width + 1, height + 1)
        elif changing == "culling":
            (gl.enable if x & 1 else gl.disable)(GL.CULL_FACE)
            gl.front_face(GL.CW if y & 1 else GL.CCW)
        gl.draw_arrays(GL.TRIANGLES, 0, 6)
    assert gl.get_error() == GL.NO_ERROR
    found = np.array(pixels(gl))
    gl.release()
    return found


@pytest.mark.parametrize("changing", ["scissor", "nothing else", "viewport", "culling"])
def test_draws_that_differ_a_little_look_as_one_by_one(
    changing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = []
    for small in (512, 0):
        monkeypatch.setattr(queue, "SMALL", small)
        images.append(picture(changing))
    assert len(np.unique(images[0].reshape(-1, 4), axis=0)) > 50
    np.testing.assert_array_equal(*images)


@pytest.mark.parametrize("changing", ["scissor", "viewport", "nothing else"])
def test_they_are_merged_into_one(changing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    merge = execution.merge

    def seen(entries: Any) -> Any:
        made = merge(entries)
        found.append(len(made))
        return made

    monkeypatch.setattr(execution, "merge", seen)
    picture(changing)
    assert found == [1]


def test_few_draws_a_frame_become_one_after_some_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    together = []
    real = execution.Execution._together
    monkeypatch.setattr(
        execution.Execution,
        "_together",
        lambda self, entries, failures: (
            together.append(len(entries)) or real(self, entries, failures)
        ),
    )
    gl = create_context(profile="core", version=(3, 3), size=(64, 64))
    name = program(gl, VS, FS)
    vertices(gl)
    blocks(gl, name, np.random.default_rng(5))
    (buffer,) = gl.get_integerv(GL.UNIFORM_BUFFER_BINDING)
    images = []
    for _ in range(execution.WORTH_MERGING // 5 + 3):
        gl.clear(GL.COLOR_BUFFER_BIT)
        for k in range(5):
            gl.bind_buffer_range(GL.UNIFORM_BUFFER, 0, buffer, STEP * k, 48)
            gl.bind_buffer_range(GL.UNIFORM_BUFFER, 1, buffer, STEP * k, 64)
            gl.draw_arrays(GL.TRIANGLES, 0, 6)
        images.append(np.array(pixels(gl)))
    gl.release()
    assert together == [5, 5, 5], "from the frame with the 24th draw on"
    assert len(np.unique(images[0].reshape(-1, 4), axis=0)) > 5
    for image in images[1:]:
        np.testing.assert_array_equal(image, images[0])


@pytest.mark.parametrize("indexed", [False, True])
def test_calls_of_lists_are_merged_into_one(indexed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    merge = execution.merge

    def seen(entries: Any) -> Any:
        made = merge(entries)
        found.append(len([family for family in made if family.entries[0][1].count > 2]))
        return made

    monkeypatch.setattr(execution, "merge", seen)
    calls(indexed, GL.TRIANGLES, 65535)
    assert found == [1]


def test_rows_of_blocks_end_where_the_range_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read behind a range is zero, not what the next draw was given."""
    monkeypatch.setattr(f"{__name__}.FS", FS.replace("paint.rgb", "(paint.rgb + far.rgb)"))
    images = []
    for small in (512, 0):
        monkeypatch.setattr(queue, "SMALL", small)
        images.append(picture("nothing else"))
    np.testing.assert_array_equal(*images)


BONES = """#version 330
layout(location = 0) in vec2 corner;
uniform int which;
uniform vec4 bones[4];
out vec4 tint;
void main() {
    vec4 bone = bones[which + (gl_VertexID & 1)];
    gl_Position = vec4(corner * 0.2 + bone.xy, 0.0, 1.0);
    tint = bone.zwzw;
}"""
PICKED = """#version 330
uniform int which;
uniform vec4 bones[4];
in vec4 tint;
out vec4 color;
void main() { color = vec4(tint.rg, bones[int(gl_FragCoord.x) % 6 + which - 1].b, 1.0); }
"""


def bones() -> npt.NDArray[Any]:
    """Arrays of uniforms indexed by what the shader finds out, beyond their ends, too."""
    rng = np.random.default_rng(2)
    gl = create_context(profile="core", version=(3, 3), size=(64, 64))
    name = program(gl, BONES, PICKED)
    vertices(gl)
    gl.clear(GL.COLOR_BUFFER_BIT)
    place, which = (gl.get_uniform_location(name, each) for each in ("bones", "which"))
    for k in range(DRAWS):
        gl.uniform4fv(place, 4, rng.uniform(-0.8, 0.8, 16).astype(np.float32))
        gl.uniform1i(which, k % 7 - 2)
        gl.draw_arrays(GL.TRIANGLES, 0, 6)
    assert gl.get_error() == GL.NO_ERROR
    found = np.array(pixels(gl))
    gl.release()
    return found


def test_no_draw_reads_the_constants_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    images = []
    for small in (512, 0):
        monkeypatch.setattr(queue, "SMALL", small)
        images.append(bones())
    assert len(np.unique(images[0].reshape(-1, 4), axis=0)) > 50
    np.testing.assert_array_equal(*images)
