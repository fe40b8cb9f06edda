"""Outputs of patches and of their vertices, which other invocations read, on every driver."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from tests.conftest import native_context
from tests.state_tracker.helpers import linked

PATCHES, WRITERS = 7, 3
VERTEX = "#version 430\nvoid main() { gl_Position = vec4(float(gl_VertexID)); }"
CONTROL = """#version 430
layout(vertices = 3) out;
patch out float one;
patch out double wide;
patch out vec2 row[3];
patch out vec4 parts;
out float seen[];
struct Mine { float unread; vec2 both[2]; };
out Mine mine[];
void main() {
    int me = gl_InvocationID, patch_ = gl_PrimitiveID;
    if (me == WRITER) {
        one = gl_in[1].gl_Position.x + 0.5;
        wide = 0.25LF + patch_;
        parts.y = float(10 + patch_);
        gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = 1.0;
        gl_TessLevelInner[0] = 1.0;
    }
    if (me == (WRITER + 1) % 3) parts.xzw = vec3(1.0, 2.0, 3.0) * float(patch_);
    row[me] = vec2(me * 100, patch_);
    mine[gl_InvocationID].both[0] = vec2(0.0, me * 2000);
    mine[gl_InvocationID].both[1] = vec2(patch_ * 8, me * 1000);
    barrier();
    int next = (me + 1) % 3;
    seen[gl_InvocationID] = one + row[next].x + float(wide) + parts.w
        + mine[next].both[1].y + mine[next].both[0].y + mine[(me + 2) % 3].both[me & 1].x;
}
"""
EVALUATION = """#version 430
layout(triangles, point_mode) in;
patch in float one;
patch in double wide;
patch in vec2 row[3];
patch in vec4 parts;
in float seen[];
out vec4 a; out vec4 b; out vec4 c; out vec4 d;
void main() {
    a = vec4(one, float(wide), row[0]);
    b = vec4(row[1], row[2]);
    c = parts;
    d = vec4(seen[0], seen[1], seen[2], 0.0);
}
"""
STAGES = {
    GL.VERTEX_SHADER: VERTEX,
    GL.TESS_CONTROL_SHADER: CONTROL,
    GL.TESS_EVALUATION_SHADER: EVALUATION,
}


def wanted() -> np.ndarray[Any, Any]:
    rows = []
    for patch in range(PATCHES):
        one, wide, parts = (
            4.0 * patch + 1.5,
            patch + 0.25,
            [patch, 10 + patch, 2 * patch, 3 * patch],
        )
        row = [x for me in range(3) for x in (100.0 * me, patch)]
        seen = [
            one + 3100 * ((me + 1) % 3) + wide + 3 * patch + 8 * patch * (me & 1) for me in range(3)
        ]
        rows += [[one, wide, *row, *parts, *seen, 0.0]] * 3  # a point for each corner
    return np.array(rows, np.float32)


UNWRITTEN = {
    GL.VERTEX_SHADER: VERTEX,
    GL.TESS_CONTROL_SHADER: """#version 430
layout(vertices = 3) out;
patch out vec3 never;
patch out vec2 nor[3];
out vec2 by_corner[];
out float sum[];
void main() {
    int next = (gl_InvocationID + 1) % 3;
    barrier();
    sum[gl_InvocationID] = never.y + nor[1].x + nor[next].y
        + by_corner[gl_InvocationID].x + by_corner[next].y;
    gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = 1.0;
    gl_TessLevelInner[0] = 1.0;
}
""",
    GL.TESS_EVALUATION_SHADER: """#version 430
layout(triangles, point_mode) in;
in float sum[];
out vec4 a; out vec4 b; out vec4 c; out vec4 d;
void main() {
    gl_Position = vec4(sum[0] + sum[1] + sum[2]);
    a = vec4(1.0, 2.0, 3.0, 4.0); b = a * 2.0; c = a * 3.0; d = vec4(gl_PrimitiveID);
}
""",
}
"""Undefined values come to where nobody looks."""

DRIVERS = ["numpipe", "jit", "simd", "tiler", pytest.param("native", marks=pytest.mark.native)]


def captured(driver: str, stages: dict[int, str]) -> Any:
    """What the points of all patches have in a, b, c and d."""
    if driver == "jit":
        pytest.importorskip("llvmlite")
    options: dict[str, Any] = {"version": (4, 3), "size": (4, 4)}
    gl = native_context(**options) if driver == "native" else create_context(driver, **options)
    linked(gl, stages, ["a", "b", "c", "d"])
    gl.bind_vertex_array(*gl.gen_vertex_arrays(1))
    gl.enable(GL.RASTERIZER_DISCARD)
    gl.patch_parameteri(GL.PATCH_VERTICES, 4)
    gl.bind_buffer_base(GL.TRANSFORM_FEEDBACK_BUFFER, 0, *gl.gen_buffers(1))
    found = np.zeros((3 * PATCHES, 16), np.float32)
    size = found.nbytes
    gl.buffer_data(GL.TRANSFORM_FEEDBACK_BUFFER, size, bytes(size), GL.STATIC_READ)
    gl.begin_transform_feedback(GL.POINTS)
    gl.draw_arrays(GL.PATCHES, 0, 4 * PATCHES)
    gl.end_transform_feedback()
    gl.get_buffer_sub_data(GL.TRANSFORM_FEEDBACK_BUFFER, 0, size, found)
    assert gl.get_error() == GL.NO_ERROR
    gl.release()
    return found.tolist()


@pytest.mark.parametrize("writer", range(WRITERS))
@pytest.mark.parametrize("driver", DRIVERS)
def test_every_invocation_reads_the_outputs_of_the_others(driver: str, writer: int) -> None:
    stages = {kind: source.replace("WRITER", str(writer)) for kind, source in STAGES.items()}
    assert captured(driver, stages) == wanted().tolist()


@pytest.mark.parametrize("driver", DRIVERS)
def test_unwritten_outputs_can_be_read(driver: str) -> None:
    a = [1.0, 2.0, 3.0, 4.0]
    rows = [[x * n for n in (1, 2, 3) for x in a] + [float(patch)] * 4 for patch in range(PATCHES)]
    assert captured(driver, UNWRITTEN) == [row for row in rows for _ in range(3)]
