"""Patches are cut as llvmpipe cuts them: the same primitives, one by one and corner by corner."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context
from tests.covering import rows
from tests.state_tracker.helpers import linked

VERTEX = "#version 430\nvoid main() { gl_Position = vec4(0.0); }"
CONTROL = """#version 430
layout(vertices = 1) out;
uniform vec4 outer;
uniform vec2 inner;
void main() {
    for (int i = 0; i < 4; i++)
        gl_TessLevelOuter[i] = outer[i];
    gl_TessLevelInner[0] = inner.x;
    gl_TessLevelInner[1] = inner.y;
}
"""
EVALUATION = """#version 430
layout(LAYOUT) in;
out vec3 place;
void main() { place = gl_TessCoord; gl_Position = vec4(gl_TessCoord, 1.0); }
"""
FRAGMENT = "#version 430\nout vec4 color;\nvoid main() { color = vec4(1.0); }"
DOMAINS = {"triangles": GL.TRIANGLES, "quads": GL.TRIANGLES, "isolines": GL.LINES}
SPACINGS = ("equal_spacing", "fractional_even_spacing", "fractional_odd_spacing")
ROOM = 1 << 18
UNWRITTEN = -9.0
CONTEXT: dict[str, Any] = {"version": (4, 3), "size": (8, 8)}
LEVELS = [
    *((a, a, a, a, b, c) for a, b, c in ((1, 1, 1), (1, 3, 5), (2, 7, 3), (3, 4, 4), (6, 5, 5))),
    (64, 3, 17, 1, 13, 22),
    (1, 1, 1, 1, 64, 63),
    *np.random.default_rng(7).uniform(0.5, 14, (8, 6)).round(2).tolist(),
]


def cut(gl: GLInterface, domain: str, layout: str) -> list[npt.NDArray[np.float32]]:
    """Where the corners of all primitives are, for all levels."""
    evaluation = EVALUATION.replace("LAYOUT", layout)
    name = linked(gl, captured=["place"], vertex=VERTEX, tess_control=CONTROL,
                  tess_evaluation=evaluation, fragment=FRAGMENT)  # fmt: skip
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    gl.bind_buffer_base(GL.TRANSFORM_FEEDBACK_BUFFER, 0, gl.gen_buffers(1)[0])
    gl.patch_parameteri(GL.PATCH_VERTICES, 1)
    blank = np.full(ROOM, UNWRITTEN, np.float32)
    found = []
    for levels in LEVELS:
        gl.uniform4f(gl.get_uniform_location(name, "outer"), *levels[:4])
        gl.uniform2f(gl.get_uniform_location(name, "inner"), *levels[4:])
        gl.buffer_data(GL.TRANSFORM_FEEDBACK_BUFFER, blank.nbytes, blank, GL.STREAM_READ)
        gl.begin_transform_feedback(DOMAINS[domain])
        gl.draw_arrays(GL.PATCHES, 0, 1)
        gl.end_transform_feedback()
        raw = gl.get_buffer_sub_data(GL.TRANSFORM_FEEDBACK_BUFFER, 0, blank.nbytes)
        values = np.frombuffer(bytes(raw), np.float32)
        found.append(values[: int(np.argmax(values == UNWRITTEN))].reshape(-1, 3))
    assert gl.get_error() == GL.NO_ERROR
    return found


@pytest.mark.native
@pytest.mark.parametrize("domain,spacing,order", rows(list(DOMAINS), SPACINGS, ("ccw", "cw")))
def test_primitives_come_as_on_llvmpipe(domain: str, spacing: str, order: str) -> None:
    layout = f"{domain}, {spacing}, {order}"
    sides = []
    for gl in (native_context(**CONTEXT), create_context("numpipe", **CONTEXT)):
        with gl:
            sides.append(cut(gl, domain, layout))
        gl.release()
    for levels, theirs, ours in zip(LEVELS, *sides, strict=True):
        assert len(theirs) == len(ours) > 0, levels
        # Fractions of levels are rounded somewhere else.
        steps = 0 if spacing == "equal_spacing" or domain == "isolines" else 3
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=steps / 65536, err_msg=str(levels))
