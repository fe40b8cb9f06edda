"""Where vertices come to lie in the window, and what is interpolated between them: to the last bit
as on llvmpipe, whoever made the vertices (shaders or clipping) and however large the viewport is.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context
from tests.state_tracker.helpers import linked

VERTEX = """#version 330
in vec4 at;
in vec2 place;
out vec2 PLACE;
void main() { gl_Position = at; PLACE = place; }
"""
GEOMETRY = """#version 330
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
in vec2 given[];
out vec2 here;
void main() {
    for (int i = 0; i < 3; i++) {
        here = given[i];
        gl_Position = gl_in[i].gl_Position;
        EmitVertex();
    }
}
"""
CONTROL = """#version 410
layout(vertices = 3) out;
in vec2 given[];
out vec2 kept[];
void main() {
    kept[gl_InvocationID] = given[gl_InvocationID];
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    for (int i = 0; i < 3; i++)
        gl_TessLevelOuter[i] = 1.0;
    gl_TessLevelInner[0] = 1.0;
}
"""
EVALUATION = """#version 410
layout(triangles) in;
in vec2 kept[];
out vec2 here;
void main() {
    vec3 t = gl_TessCoord;
    here = t.x * kept[0] + t.y * kept[1] + t.z * kept[2];
    gl_Position = t.x * gl_in[0].gl_Position + t.y * gl_in[1].gl_Position
        + t.z * gl_in[2].gl_Position;
}
"""
FRAGMENT = """#version 330
in vec2 here;
out vec4 color;
void main() { color = vec4(here, gl_FragCoord.zw); }
"""
STAGES = {
    "vertex shader": [(GL.VERTEX_SHADER, VERTEX.replace("PLACE", "here"))],
    "geometry shader": [
        (GL.VERTEX_SHADER, VERTEX.replace("PLACE", "given")),
        (GL.GEOMETRY_SHADER, GEOMETRY),
    ],
    "tessellation": [
        (GL.VERTEX_SHADER, VERTEX.replace("PLACE", "given")),
        (GL.TESS_CONTROL_SHADER, CONTROL),
        (GL.TESS_EVALUATION_SHADER, EVALUATION),
    ],
}
KINDS = ("flat", "deep", "cut", "on planes")
OURS = ("numpipe", "jit")
MANY = 24
CORNERS = {GL.POINTS: 1, GL.LINES: 2, GL.TRIANGLES: 3, GL.PATCHES: 3}


def triangles(kind: str) -> npt.NDArray[np.float32]:
    """Positions and something to interpolate: `[triangle, corner, 6]`."""
    random = np.random.default_rng(len(kind))
    at = random.uniform(-1, 1, (MANY, 3, 6))
    at[..., 2] *= 0.9
    at[..., 3] = 1 if kind == "flat" else random.uniform(1, 3, (MANY, 3))
    if kind == "cut":
        at[..., :3] *= 2.5
    elif kind == "on planes":  # one corner on a plane, one beyond it
        axis, which = random.integers(0, 3, MANY), np.arange(MANY)
        at[..., 3] = 1
        at[which, 0, axis] = 1
        at[which, 1, axis] = 1.6
        turned = random.integers(0, 2, MANY) * 2 - 1
        at[which, :, axis] *= turned[:, None]
        at = at[which[:, None], (np.arange(3) + random.integers(0, 3, (MANY, 1))) % 3]
    return at.astype(np.float32)


def halves() -> npt.NDArray[np.float32]:
    """Corners in the middle between two places that are told apart (256 a pixel), of 64 pixels."""
    random = np.random.default_rng(4)
    at = random.uniform(-1, 1, (MANY * 4, 3, 6))
    at[..., :2] = np.round(random.uniform(2, 62, (MANY * 4, 3, 2)) * 512) / 512 / 32 - 1
    at[..., 3] = 1
    return at.astype(np.float32)


def drawn(
    gl: GLInterface,
    stages: str,
    data: npt.NDArray[np.float32],
    size: int,
    mode: int = GL.TRIANGLES,
    width: float = 1.0,
) -> npt.NDArray[np.float32]:
    """What each primitive leaves in a picture of its own."""
    shaders = [*STAGES[stages], (GL.FRAGMENT_SHADER, FRAGMENT)]
    linked(gl, shaders, attributes=["at", "place"])
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
    gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes, data, GL.STATIC_DRAW)
    for number, components in enumerate((4, 2)):
        gl.enable_vertex_attrib_array(number)
        gl.vertex_attrib_pointer(number, components, GL.FLOAT, False, 24, 16 * number)
    gl.bind_framebuffer(GL.FRAMEBUFFER, gl.gen_framebuffers(1)[0])
    gl.bind_renderbuffer(GL.RENDERBUFFER, gl.gen_renderbuffers(1)[0])
    buffer = int(np.ravel(gl.get_integerv(GL.RENDERBUFFER_BINDING))[0])
    gl.renderbuffer_storage(GL.RENDERBUFFER, GL.RGBA32F, size, size)
    gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, buffer)
    gl.viewport(0, 0, size, size)
    gl.patch_parameteri(GL.PATCH_VERTICES, 3)
    gl.line_width(width)
    gl.point_size(width)
    found = []
    for number in range(len(data)):
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.draw_arrays(mode, 3 * number, CORNERS[mode])
        raw = gl.read_pixels(0, 0, size, size, GL.RGBA, GL.FLOAT)
        found.append(np.frombuffer(raw, np.float32))
    assert gl.get_error() == GL.NO_ERROR
    return np.stack(found)


_PROCESSOR = Path("/proc/cpuinfo")


@pytest.mark.native
@pytest.mark.skipif(
    not _PROCESSOR.exists() or " fma" not in _PROCESSOR.read_text(),
    reason="llvmpipe takes two steps here",
)
@pytest.mark.parametrize(("row", "stages"), list(enumerate(STAGES)))
@pytest.mark.parametrize(("column", "kind"), list(enumerate(KINDS)))
def test_every_bit_is_llvmpipes(row: int, stages: str, column: int, kind: str) -> None:
    """Every stage and every kind meets both sizes: all go through one viewport."""
    pytest.importorskip("llvmlite")
    size = (64, 97)[(row + column) % 2]
    mode = GL.PATCHES if stages == "tessellation" else GL.TRIANGLES
    found = []
    for gl in (native_context(version=(4, 3)), *(create_context(d, version=(4, 3)) for d in OURS)):
        with gl:
            found.append(drawn(gl, stages, triangles(kind), size, mode))
        gl.release()
    native, *others = found
    assert np.count_nonzero(native) > 1000
    for other in others:
        np.testing.assert_array_equal(other, native)


@pytest.mark.native
@pytest.mark.parametrize(
    ("mode", "width"),
    [
        *((mode, width) for mode in ("POINTS", "LINES") for width in (1.0, 2.5, 4.0)),
        ("TRIANGLES", 1.0),
    ],
)
def test_halves_of_steps_are_rounded_as_on_llvmpipe(mode: str, width: float) -> None:
    found = []
    for gl in (native_context(version=(4, 3)), create_context("numpipe", version=(4, 3))):
        with gl:
            found.append(drawn(gl, "vertex shader", halves(), 64, getattr(GL, mode), width))
        gl.release()
    assert np.count_nonzero(found[0]) > 100
    np.testing.assert_array_equal(found[1], found[0])
