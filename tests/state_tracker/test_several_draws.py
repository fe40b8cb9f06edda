"""The draws of glMultiDraw* look as each of them alone, whether the driver gets them together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.drivers.common.context import HostContext
from gallette.state_tracker import GL, create_context
from tests.conftest import native_context
from tests.state_tracker.stream.worlds import World

SIZE = 64
VERTEX = """
#version 450
#extension GL_ARB_shader_draw_parameters : require
layout(location = 0) in vec2 position;
layout(location = 1) in vec4 place; layout(location = 2) in float turn;
uniform float scale; flat out vec4 color;
void main() {
    color = vec4(place.zw, turn, 1.0);
    gl_Position = vec4(position * scale + place.xy, EXTRA, 1.0);
}
"""
FRAGMENT = """
#version 450
uniform vec4 tint; flat in vec4 color; out vec4 o;
void main() { o = color * tint; }
"""
EXTRAS = {
    "attributes": "place.z",
    "draw id": "float(gl_DrawIDARB) / 64.0",
    "base instance": "float(gl_BaseInstanceARB) / 64.0",
    "instance": "float(gl_InstanceID) / 8.0",
    "base vertex": "float(gl_BaseVertexARB) / 16.0",
}
INSTANCES = 40


def _drawing(gl: Any, extra: str) -> None:
    """Bind what all draws share: places by instance, a number by every third one."""
    random = np.random.default_rng(5)
    program = World.program_of(gl, VERTEX.replace("EXTRA", EXTRAS[extra]), FRAGMENT)
    gl.use_program(program)
    gl.uniform1f(gl.get_uniform_location(program, "scale"), 0.2)
    gl.uniform4f(gl.get_uniform_location(program, "tint"), 1, 0.5, 1, 1)
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    angles = np.arange(12) * 2.5
    corners = np.stack((np.cos(angles), np.sin(angles)), 1).astype(np.float32)
    places = random.uniform(-0.8, 0.8, (INSTANCES, 4)).astype(np.float32)
    turns = random.uniform(0, 1, INSTANCES // 3).astype(np.float32)
    indices = random.integers(0, 8, 24).astype(np.uint16)
    parts = ((0, 2, 0, corners), (1, 4, 1, places), (2, 1, 3, turns))
    buffers = gl.gen_buffers(5)
    for buffer, (slot, count, divisor, data) in zip(buffers, parts, strict=False):
        gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
        gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes, data, GL.STATIC_DRAW)
        gl.vertex_attrib_pointer(slot, count, GL.FLOAT, 0, 0, 0)
        gl.vertex_attrib_divisor(slot, divisor)
        gl.enable_vertex_attrib_array(slot)
    gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, buffers[3])
    gl.buffer_data(GL.ELEMENT_ARRAY_BUFFER, indices.nbytes, indices, GL.STATIC_DRAW)
    gl.bind_buffer(GL.DRAW_INDIRECT_BUFFER, buffers[4])
    gl.enable(GL.DEPTH_TEST)
    gl.depth_func(GL.GREATER)
    gl.clear_depth(0)
    gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)


def _commands(inside: bool) -> Any:
    """Rows of count, instances, first, base vertex and base instance; many are alike."""
    random = np.random.default_rng(6)
    found = np.zeros((50, 5), np.int32)
    found[:, 0] = random.choice([0, 3, 6, 9], 50, p=[0.1, 0.4, 0.4, 0.1])
    found[:, 1] = random.choice([0, 1, 2, 3], 50, p=[0.1, 0.6, 0.2, 0.1])
    found[:, 2] = random.choice([0, 3, 6 if inside else 30], 50)
    found[:, 3] = random.choice([0, 0, 2, -1], 50) * inside
    found[:, 4] = random.integers(0, INSTANCES // 3 - 2 if inside else 2 * INSTANCES, 50)
    return found


def _arrays(gl: Any, rows: Any, alone: bool) -> None:
    rows = rows[:, [0, 1, 2, 4]]
    if alone:
        for count, instances, first, base in rows.tolist():
            gl.draw_arrays_instanced_base_instance(GL.TRIANGLES, first, count, instances, base)
        return
    wide = np.hstack((rows, np.full((len(rows), 1), 77, np.int32)))  # with a stride
    gl.buffer_data(GL.DRAW_INDIRECT_BUFFER, wide.nbytes, wide, GL.STATIC_DRAW)
    gl.multi_draw_arrays_indirect(GL.TRIANGLES, 0, len(rows), 20)


def _elements(gl: Any, rows: Any, alone: bool) -> None:
    short = GL.UNSIGNED_SHORT
    if alone:
        for count, instances, first, base, instance in rows.tolist():
            gl.draw_elements_instanced_base_vertex_base_instance(
                GL.TRIANGLES, count, short, 2 * first, instances, base, instance
            )
        return
    gl.buffer_data(GL.DRAW_INDIRECT_BUFFER, rows.nbytes, rows, GL.STATIC_DRAW)
    gl.multi_draw_elements_indirect(GL.TRIANGLES, short, 0, len(rows), 0)


def _picture(gl: Any, extra: str, draws: Any, inside: bool, alone: bool) -> Any:
    _drawing(gl, extra)
    draws(gl, _commands(inside), alone)
    assert gl.get_error() == GL.NO_ERROR
    found = np.frombuffer(gl.read_pixels(0, 0, SIZE, SIZE, GL.RGBA, GL.UNSIGNED_BYTE), np.uint8)
    gl.release()
    return found


def _context(driver: str) -> Any:
    return create_context(driver, profile="core", version=(4, 5), size=(SIZE, SIZE))


@pytest.mark.parametrize("extra", EXTRAS)
@pytest.mark.parametrize("draws", [_arrays, _elements])
@pytest.mark.parametrize("driver", ["numpipe", "jit"])
@pytest.mark.parametrize("inside", [True, False])
def test_several_draws_look_as_each_alone(
    driver: str, draws: Any, extra: str, inside: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if extra != "draw id":
        alone = _picture(_context(driver), extra, draws, inside, alone=True)
        assert len(np.unique(alone)) > 10
    else:  # each alone is the first
        with monkeypatch.context() as patch:
            patch.setattr(HostContext, "draw_series", lambda self, series: 0)
            alone = _picture(_context(driver), extra, draws, inside, alone=False)
    together = _picture(_context(driver), extra, draws, inside, alone=False)
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_several_draws_are_made_as_a_series(driver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    draw_series = HostContext.draw_series

    def counted(self: HostContext, series: Any) -> int:
        made.append(draw_series(self, series))
        return made[-1]

    monkeypatch.setattr(HostContext, "draw_series", counted)
    for draws in (_arrays, _elements):
        _picture(_context(driver), "attributes", draws, True, False)
        assert sum(made) >= 25
        del made[:]


@pytest.mark.native
@pytest.mark.parametrize("extra", EXTRAS)
@pytest.mark.parametrize("draws", [_arrays, _elements])
def test_several_draws_look_as_on_the_native_gl(draws: Any, extra: str) -> None:
    theirs = native_context(profile="core", version=(4, 5), size=(SIZE, SIZE))
    expected = _picture(theirs, extra, draws, True, False)
    ours = _picture(_context("jit"), extra, draws, True, False)
    assert (np.abs(ours.astype(int) - expected) <= 1).mean() > 0.995


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_multi_draw_arrays_and_elements_draw_all_parts(driver: str) -> None:
    firsts, counts = np.arange(8, dtype=np.int32) % 4 * 3, np.full(8, 3, np.int32)
    found = []
    for alone in (True, False):
        gl = _context(driver)
        _drawing(gl, "attributes")
        offsets = (2 * firsts).astype(np.intp)
        bases = np.array([0, 1, 2, 3, 4, 0, 1, 2], np.int32)
        if alone:
            for first, count in zip(firsts.tolist(), counts.tolist(), strict=True):
                gl.draw_arrays(GL.TRIANGLES, first, count)
            for offset, base in zip(offsets.tolist(), bases.tolist(), strict=True):
                gl.draw_elements_base_vertex(GL.TRIANGLES, 3, GL.UNSIGNED_SHORT, offset, base)
        else:
            gl.multi_draw_arrays(GL.TRIANGLES, firsts, counts, 8)
            gl.multi_draw_elements_base_vertex(
                GL.TRIANGLES, counts, GL.UNSIGNED_SHORT, offsets.tolist(), 8, bases
            )
        found.append(gl.read_pixels(0, 0, SIZE, SIZE, GL.RGBA, GL.UNSIGNED_BYTE))
        gl.release()
    assert found[0] == found[1]
    assert len(set(found[0])) > 2


def test_a_negative_first_vertex_ends_the_draws_with_an_error() -> None:
    gl = _context("numpipe")
    _drawing(gl, "attributes")
    firsts = np.array([0, 3, 3, -1, 6, 6], np.int32)
    gl.multi_draw_arrays(GL.TRIANGLES, firsts, np.full(6, 3, np.int32), 6)
    assert gl.get_error() == GL.INVALID_VALUE
    gl.release()
