"""An output has the same effect whether integers or floats computed its bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.state_tracker.helpers import compiled, errors, pixels

HEAD = "#version 450\nuniform uint zero;\n"
OUTPUTS = "out float gl_ClipDistance[1]; out float gl_CullDistance[1]; out float shade;\n"
BODY = """gl_Position = vec4((n & 1) * 2 - 1, (n >> 1) * 2 - 1, 0.0, 1.0);
    gl_PointSize = 3.0; gl_ClipDistance[0] = gl_CullDistance[0] = 1.0; shade = 0.5; """
VERTEX = HEAD + OUTPUTS + "void main() { int n = gl_VertexID; %s }"
NOTHING = "#version 450\nvoid main() { gl_Position = vec4(0.0); }"
GEOMETRY = (
    HEAD
    + "layout(points) in; layout(triangle_strip, max_vertices = 40) out;\n"
    + OUTPUTS
    + "void main() { for (int i = 0; i < 40; ++i) { int n = i & 3; %s EmitVertex(); } }"
)
EVALUATION = (
    HEAD
    + "layout(quads) in;\n"
    + OUTPUTS
    + "void main() { int n = int(gl_TessCoord.x) + 2 * int(gl_TessCoord.y); %s }"
)
FRAGMENT = (
    HEAD + "in float shade; out vec4 color;\nvoid main() { int n = 0; color = vec4(shade); %s }"
)

# What sets an output to one of two numbers.
SET = {
    "position": ("gl_Position.x = {};", -1.0, 1.0),
    "depth of a vertex": ("gl_Position.z = {};", 0.5, 0.5),
    "w": ("gl_Position.w = {};", 2.0, 2.0),
    "size": ("gl_PointSize = {};", 5.0, 7.0),
    "distance to clip": ("gl_ClipDistance[0] = {};", -1.0, 2.0),
    "distance to cull": ("gl_CullDistance[0] = {};", -1.0, 1.0),
    "varying": ("shade = {};", 0.25, 0.75),
    "depth": ("gl_FragDepth = {};", 0.25, 0.75),
}
STAGES: dict[str, tuple[str, int, str]] = {
    "vertex": (VERTEX, GL.VERTEX_SHADER, "TRIANGLE_STRIP POINTS"),
    "geometry": (GEOMETRY, GL.GEOMETRY_SHADER, "POINTS"),
    "tess_eval": (EVALUATION, GL.TESS_EVALUATION_SHADER, "PATCHES"),
    "fragment": (FRAGMENT, GL.FRAGMENT_SHADER, "TRIANGLE_STRIP"),
}
OF_FRAGMENTS = ("depth",)
CASES = [
    (stage, name)
    for stage in STAGES
    for name in SET
    if (stage == "fragment") == (name in OF_FRAGMENTS)
]


def as_floats(a: float, b: float) -> str:
    return f"((n & 1) == 0 ? {a} : {b})"


def as_bits(a: float, b: float) -> str:
    one, two = (int(np.float32(x).view(np.uint32)) for x in (a, b))
    return f"uintBitsToFloat(((n & 1) == 0 ? {one}u : {two}u) ^ zero)"


def drawn(
    gl: GLInterface, stage: str, name: str, number: Callable[[float, float], str]
) -> list[npt.NDArray[np.uint8]]:
    """The picture of each mode."""
    text, kind, modes = STAGES[stage]
    set_output, a, b = SET[name]
    body = set_output.format(number(a, b))
    shaders = {GL.VERTEX_SHADER: NOTHING, GL.FRAGMENT_SHADER: FRAGMENT % ""}
    if stage == "fragment":
        shaders[GL.VERTEX_SHADER] = VERTEX % BODY
    shaders[kind] = text % (body if stage == "fragment" else BODY + body)
    made = gl.create_program()
    for shader, source in shaders.items():
        gl.attach_shader(made, compiled(gl, shader, source))
    gl.link_program(made)
    gl.use_program(made)
    found = []
    for mode in modes.split():
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
        gl.draw_arrays(getattr(GL, mode), 0, 4)
        found.append(pixels(gl, 16, 16).copy())
    return found


@pytest.mark.parametrize("driver", ["numpipe", "jit", "simd", "tiler"])
@pytest.mark.parametrize(("stage", "name"), CASES)
def test_bits_of_integers_are_the_numbers_they_stand_for(
    driver: str, stage: str, name: str
) -> None:
    gl = create_context(driver, profile="core", version=(4, 5), size=(16, 16))
    (array,) = gl.gen_vertex_arrays(1)
    gl.bind_vertex_array(array)
    gl.patch_parameteri(GL.PATCH_VERTICES, 1)
    for cap in (GL.PROGRAM_POINT_SIZE, GL.CLIP_DISTANCE0, GL.DEPTH_TEST):
        gl.enable(cap)
    floats, bits = drawn(gl, stage, name, as_floats), drawn(gl, stage, name, as_bits)
    assert errors(gl) == []
    assert name == "distance to cull" or floats[0].any()
    np.testing.assert_array_equal(bits, floats)
    gl.release()
