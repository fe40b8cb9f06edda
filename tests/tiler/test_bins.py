"""Bins leave no pixel out, tiles draw what memory would, passes begin and end where they must."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.drivers.machines.tiler.bins import Grid
from gallette.lessons.binning import drawn, traffic
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.enums import GL
from tests.state_tracker.helpers import linked


def test_a_grid_has_the_fewest_tiles_that_fit() -> None:
    assert Grid.of(256, 256, 8, 1 << 20) == Grid(256, 256, 256, 256)
    grid = Grid.of(256, 192, 8, 32 << 10)
    assert grid.tile_width * grid.tile_height * 8 <= 32 << 10
    assert (grid.columns - 1) * grid.tile_width < 256 <= grid.columns * grid.tile_width
    assert grid.rect(grid.columns - 1, grid.rows - 1).x1 == 256


def test_small_tiles_draw_the_same_picture() -> None:
    _, direct = drawn(bypass=True)
    for memory in (512, 64, 8):
        reports, color = drawn(memory)
        assert np.array_equal(color, direct), memory
        report = max(reports, key=lambda r: r.primitives)
        assert report.cleared and not sum(tile.loaded for tile in report.tiles)
        assert traffic(report)[0] == report.moved


def _wireframe(gl: Any) -> None:
    gl.polygon_mode(GL.FRONT_AND_BACK, GL.LINE)


def _corners(gl: Any) -> None:
    gl.polygon_mode(GL.FRONT_AND_BACK, GL.POINT)


def _culled(gl: Any) -> None:
    gl.enable(GL.CULL_FACE)


def _culled_wireframe(gl: Any) -> None:
    _wireframe(gl)
    _culled(gl)


def _stippled(gl: Any) -> None:
    gl.enable(GL.LINE_STIPPLE)
    gl.line_stipple(3, 0x1C47)


STATES = [lambda gl: None, _wireframe, _corners, _culled, _culled_wireframe, _stippled]


@pytest.mark.parametrize("mode", [GL.TRIANGLES, GL.LINES, GL.LINE_STRIP, GL.POINTS])
@pytest.mark.parametrize("behind", [False, True])
def test_random_primitives_are_in_every_bin_they_touch(mode: Any, behind: bool) -> None:
    """Many small tiles and none: the same pixels, depth and blending included."""
    lines = mode in (GL.LINES, GL.LINE_STRIP)
    for seed, state in enumerate(STATES):
        if (state is _stippled) != lines and seed:
            continue
        rng = np.random.default_rng(seed)
        data = rng.uniform(-1.3, 1.3, (90, 4)).astype(np.float32)
        if not behind:  # or some corners of primitives are behind the eye, nearly in it
            data[:, 3] = 1.0
        pictures = [
            _picture(mode, data, state, options)
            for options in ({"tile_memory": 8}, {"bypass": True})
        ]
        assert pictures[0].any()
        assert np.array_equal(*pictures), state


_VERTEX = """#version 330
in vec4 at;
flat out vec4 tint;
void main() {
    gl_Position = at;
    gl_PointSize = 1.0 + 20.0 * fract(at.x * 7.0);
    tint = vec4(fract(at.xyz * 3.0), 0.5);
}
"""
_FRAGMENT = """#version 330
flat in vec4 tint;
out vec4 color;
void main() { color = tint; }
"""


def _picture(mode: Any, data: np.ndarray, state: Any, options: dict[str, Any]) -> np.ndarray:
    gl = Context("tiler", profile="compat", size=(160, 130), half_colors="never", **options)
    try:
        program = _program(gl)
        gl.use_program(program)
        gl.enable(GL.PROGRAM_POINT_SIZE)
        gl.enable(GL.DEPTH_TEST)
        gl.enable(GL.BLEND)
        gl.blend_func(GL.SRC_ALPHA, GL.ONE_MINUS_SRC_ALPHA)
        gl.line_width(3.0)
        state(gl)
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
        buffer = gl.gen_buffers(1)[0]
        gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
        gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes, data, GL.STATIC_DRAW)
        where = gl.get_attrib_location(program, "at")
        gl.enable_vertex_attrib_array(where)
        gl.vertex_attrib_pointer(where, 4, GL.FLOAT, False, 0, 0)
        gl.draw_arrays(mode, 0, len(data))
        pixels = gl.read_pixels(0, 0, 160, 130, GL.RGBA, GL.UNSIGNED_BYTE)
        assert gl.get_error() == GL.NO_ERROR
        gl.delete_buffers(1, [buffer])
        gl.delete_program(program)
        return np.frombuffer(pixels, np.uint8)
    finally:
        gl.release()


def _program(gl: Any) -> int:
    return linked(gl, vertex=_VERTEX, fragment=_FRAGMENT, used=False)


def test_a_clear_alone_is_no_pass_and_is_seen() -> None:
    gl = Context("tiler", profile="compat", size=(64, 64))
    try:
        gl.clear_color(0.0, 1.0, 0.0, 1.0)
        gl.clear(GL.COLOR_BUFFER_BIT)
        data = gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)
        assert np.frombuffer(data, np.uint8).tolist() == [0, 255, 0, 255]
        assert not gl.pipe.reports
    finally:
        gl.release()
