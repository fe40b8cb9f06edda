"""Many rows of points, lines and triangles are computed some at a time, with the same result."""

from __future__ import annotations

import tracemalloc

import numpy as np
import numpy.typing as npt
import pytest

from gallette.drivers.common.raster import primitives, spans, triangles
from gallette.state_tracker import GL, GLInterface, create_context
from tests.covering import rows
from tests.state_tracker.helpers import errors, pixels, program

SIZE = 60
VERTEX = """#version 330
in vec4 at;
flat out vec4 tint;
out vec4 smoothly;
void main() {
    gl_Position = vec4(at.xyz, 1.0);
    gl_PointSize = at.w;
    tint = smoothly = vec4(fract(at.xy * 3.0), fract(float(gl_VertexID) / 7.0), 0.3);
}
"""
FRAGMENT = """#version 330
flat in vec4 tint;
in vec4 smoothly;
out vec4 color;
void main() { color = tint * 0.5 + smoothly * 0.5; }
"""
MODES = {"points": GL.POINTS, "lines": GL.LINES, "triangles": GL.TRIANGLES}
FILLS = {"filled": GL.FILL, "as lines": GL.LINE, "as points": GL.POINT}


def scattered(many: int, largest: float) -> npt.NDArray[np.float32]:
    """Places and sizes; some are beyond the picture, a few nowhere."""
    random = np.random.default_rng(many)
    at = random.uniform(-1.5, 1.5, (many, 4))
    at[:, 2] /= 2
    at[:, 3] = random.uniform(0, largest, many)
    at[5:9, :2] = (np.nan, 0.1), (1e30, 0.2), (0.3, np.inf), (0.4, -1e30)
    return at.astype(np.float32)


def given(gl: GLInterface, at: npt.NDArray[np.float32]) -> None:
    """The vertices to draw, and blending, for which order matters."""
    name = program(gl, VERTEX, FRAGMENT)
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
    gl.buffer_data(GL.ARRAY_BUFFER, at.nbytes, at, GL.STREAM_DRAW)
    where = gl.get_attrib_location(name, "at")
    gl.enable_vertex_attrib_array(where)
    gl.vertex_attrib_pointer(where, 4, GL.FLOAT, False, 0, 0)
    gl.enable(GL.PROGRAM_POINT_SIZE)
    gl.enable(GL.BLEND)
    gl.blend_func(GL.SRC_ALPHA, GL.ONE_MINUS_SRC_ALPHA)


@pytest.mark.parametrize("mode,fill,samples", rows(list(MODES), list(FILLS), (0, 4)))
def test_order_and_coverage_are_kept(
    mode: str, fill: str, samples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for few in (False, True):
        with monkeypatch.context() as patch:
            if few:
                for each in (primitives, triangles):
                    patch.setattr(each, "MOST_ROWS", 50)
                patch.setattr(spans, "_ROWS", 9)
            gl = create_context("numpipe", size=(SIZE, SIZE), samples=samples)
            with gl:
                given(gl, scattered(300, 25.0))
                gl.line_width(3.0)
                gl.polygon_mode(GL.FRONT_AND_BACK, FILLS[fill])
                gl.draw_arrays(MODES[mode], 0, 300)
                found.append(pixels(gl, SIZE, SIZE).tobytes())
                assert errors(gl) == []
            gl.release()
    assert found[0] == found[1]
    assert len(set(found[0])) > 20


def test_parts_have_the_rows_they_may_have() -> None:
    ends = np.cumsum([3, 3, 90, 1, 1, 1, 4, 0, 2])
    assert spans.slices(ends, 6) == [slice(0, 2), slice(2, 3), slice(3, 7), slice(7, 9)]
    assert spans.slices(np.cumsum([1] * 8), 3) == [slice(0, 3), slice(3, 6), slice(6, 8)]
    for nothing in ([], [0, 0]):
        assert spans.slices(np.cumsum(nothing), 6) == [slice(0, len(nothing))]


@pytest.mark.parametrize("mode", ["points", "lines"])
def test_large_points_and_lines_take_little_memory(mode: str) -> None:
    size, many = 256, 4000
    gl = create_context("numpipe", size=(size, size))
    with gl:
        at = scattered(many, 127.0)
        if mode == "lines":
            at[:, 1] = np.where(np.arange(many) % 2, -1.0, 1.0)
        given(gl, at)
        gl.draw_arrays(MODES[mode], 0, 30)
        gl.finish()
        tracemalloc.start()
        try:
            gl.draw_arrays(MODES[mode], 0, many)
            gl.finish()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert errors(gl) == []
    gl.release()
    assert peak < 20 << 20  # all fragments at once are ten times as much
