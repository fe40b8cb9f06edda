"""Coarse depth keeps fragments from being where nobody could see them, and changes no picture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.drivers.common.output.engine import FragmentRun
from gallette.drivers.machines.tiler import hierarchical_depth
from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from tests.state_tracker.helpers import errors, pixels, program

VERTEX = """#version 330
in vec3 at;
flat out vec4 tint;
void main() {
    gl_Position = vec4(at, 1.0);
    tint = vec4(fract(at * 3.0), 0.5);
}
"""
FRAGMENT = """#version 330
flat in vec4 tint;
out vec4 color;
void main() { color = tint; }
"""
SIZE = 64
AREA = SIZE * SIZE


@pytest.fixture
def fragments(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many fragments come to the engine, counted where they come in."""
    counted: list[int] = []
    draw = FragmentRun.draw

    def counting(run: FragmentRun, spans: Any, source: Any, info: Any) -> None:
        counted.append(int(spans.length.sum()))
        draw(run, spans, source, info)

    monkeypatch.setattr(FragmentRun, "draw", counting)
    return counted


def drawn(data: np.ndarray[Any, Any], func: int, ends: list[int], stencil: bool = False) -> Any:
    """Colour, depth and stencil of blended triangles in several draws, and the last report."""
    gl = Context("tiler", profile="compat", size=(SIZE, SIZE), half_colors="never")
    with gl:
        name = program(gl, VERTEX, FRAGMENT)
        gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
        gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes, data, GL.STATIC_DRAW)
        where = gl.get_attrib_location(name, "at")
        gl.enable_vertex_attrib_array(where)
        gl.vertex_attrib_pointer(where, 3, GL.FLOAT, False, 0, 0)
        gl.enable(GL.DEPTH_TEST)
        gl.depth_func(func)
        gl.clear_depth(1.0 if func in (GL.LESS, GL.LEQUAL) else 0.0)
        gl.enable(GL.BLEND)
        gl.blend_func(GL.SRC_ALPHA, GL.ONE_MINUS_SRC_ALPHA)
        if stencil:
            gl.enable(GL.STENCIL_TEST)
            gl.stencil_func(GL.ALWAYS, 0, 0xFF)
            gl.stencil_op(GL.KEEP, GL.INCR, GL.KEEP)
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
        for first, last in zip([0, *ends], [*ends, len(data)], strict=True):
            gl.draw_arrays(GL.TRIANGLES, first, last - first)
        color = pixels(gl).copy()
        depth = gl.read_pixels(0, 0, SIZE, SIZE, GL.DEPTH_COMPONENT, GL.FLOAT)
        counts = gl.read_pixels(0, 0, SIZE, SIZE, GL.STENCIL_INDEX, GL.UNSIGNED_BYTE)
        assert errors(gl) == []
        report = gl.pipe.reports[-1]
    gl.release()
    return (color, bytes(depth), bytes(counts)), report


def without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hierarchical_depth, "can_be_hidden", lambda engine, source: False)


def screens(*depths: float) -> np.ndarray[Any, Any]:
    """Triangles over the whole screen."""
    return np.array(
        [[x, y, z] for z in depths for x, y in ((-1, -1), (3, -1), (-1, 3))], np.float32
    )


def test_hidden_primitives_make_no_fragments(
    fragments: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, report = drawn(screens(-0.5, 0.5, 0.25), GL.LESS, [3, 6])
    assert report.draws == 3
    assert sum(fragments) == AREA  # the first triangle's
    assert sum(tile.hidden for tile in report.tiles) == 2 * AREA
    assert sum(tile.shaded for tile in report.tiles) == AREA
    fragments.clear()
    without(monkeypatch)
    every, report = drawn(screens(-0.5, 0.5, 0.25), GL.LESS, [3, 6])
    assert sum(fragments) == 3 * AREA
    assert not sum(tile.hidden for tile in report.tiles)
    assert np.array_equal(seen[0], every[0]) and seen[1:] == every[1:]


def test_visible_primitives_are_drawn(fragments: list[int]) -> None:
    _, report = drawn(screens(0.5, -0.5), GL.LESS, [3])
    assert sum(fragments) == 2 * AREA
    assert sum(tile.shaded for tile in report.tiles) == 2 * AREA


@pytest.mark.parametrize("func", ["LESS", "LEQUAL", "GREATER", "GEQUAL"])
@pytest.mark.parametrize("seed", range(3))
def test_random_triangles_look_the_same_without(
    func: str, seed: int, fragments: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sloped and crossing ones, each drawn twice: equal depths meet everywhere."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-1, 1, (60, 1, 3))
    some = centers + rng.uniform(-0.9, 0.9, (60, 3, 3)) * (1.0, 1.0, 0.3)
    data = np.concatenate([some, some]).reshape(-1, 3).astype(np.float32)
    ends = list(range(30, len(data), 30))
    seen, report = drawn(data, getattr(GL, func), ends)
    with_it = sum(fragments)
    fragments.clear()
    without(monkeypatch)
    every, _ = drawn(data, getattr(GL, func), ends)
    hidden = sum(tile.hidden for tile in report.tiles)
    assert hidden > 1000
    assert sum(fragments) - with_it == hidden
    assert np.array_equal(seen[0], every[0]) and seen[1:] == every[1:]


def test_fragments_that_leave_a_trace_are_not_skipped() -> None:
    """The stencil counts those that fail the depth test."""
    (_, _, counts), report = drawn(screens(-0.5, 0.5, 0.25), GL.LESS, [3, 6], stencil=True)
    assert not sum(tile.hidden for tile in report.tiles)
    assert set(counts) == {2}
