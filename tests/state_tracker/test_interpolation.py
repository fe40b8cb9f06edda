"""interpolateAt* and gl_SampleMaskIn: where a varying is looked at, and what is covered."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context

from .helpers import program
from .test_samples import SIZE, resolved, target

DRIVERS = ["numpipe", "jit", "simd", "tiler"]
VS = """#version 430
out vec2 place;
void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0;
    place = corner * 32.0;
    gl_Position = vec4(corner * 2.0 - 1.0, 0.0, 1.0);
}"""
FS = """#version 430
in vec2 place; out vec4 color;
uniform int which; uniform bool own;
void main() {
    int index = own ? gl_SampleID * 0 + which : which;
    vec2 moved = interpolateAtSample(place, PICK) - interpolateAtOffset(place, vec2(0.0));
    color = vec4(moved + 0.5, 0.0, 1.0);
}"""


def context(driver: str) -> GLInterface:
    if driver == "jit":
        pytest.importorskip("llvmlite")
    gl = create_context(driver, version=(4, 3), size=(SIZE, SIZE))
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    return gl


@pytest.mark.parametrize("pick", ["2", "which", "index"])
@pytest.mark.parametrize("driver", DRIVERS)
def test_a_varying_at_a_sample(driver: str, pick: str) -> None:
    """At the sample that is named, also where the shader runs per sample (`index`)."""
    gl = context(driver)
    name = program(gl, VS, FS.replace("PICK", pick))
    fbo = target(gl, 4)
    for sample in range(4) if pick != "2" else (2,):
        gl.uniform1i(gl.get_uniform_location(name, "which"), sample)
        gl.uniform1i(gl.get_uniform_location(name, "own"), int(pick == "index"))
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        expected = np.array(gl.get_multisamplefv(GL.SAMPLE_POSITION, sample)) * 255
        seen = resolved(gl, fbo)[..., :2]
        assert np.abs(seen - expected).max() <= 1.01
    gl.disable(GL.MULTISAMPLE)  # then all samples are where the pixel is
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    assert np.abs(resolved(gl, fbo)[..., :2] - 127.5).max() <= 1.01
    gl.delete_program(name)
    gl.release()


@pytest.mark.parametrize("driver", DRIVERS)
def test_an_element_of_an_array_at_a_sample(driver: str) -> None:
    gl = context(driver)
    vertex = VS.replace("out vec2 place;", "out vec2 places[2];").replace(
        "place =", "places[0] = places[1] ="
    )
    fragment = """#version 430
        in vec2 places[2]; out vec4 color; uniform int which, element;
        void main() {
            vec2 offset = interpolateAtOffset(places[element], vec2(0.25, 0.0)) - places[element];
            vec2 moved = interpolateAtSample(places[element], which) - places[element];
            color = vec4(moved, offset) + 0.5;
        }"""
    name = program(gl, vertex, fragment)
    fbo = target(gl, 4)
    gl.uniform1i(gl.get_uniform_location(name, "which"), 3)
    gl.uniform1i(gl.get_uniform_location(name, "element"), 1)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    expected = np.array([*gl.get_multisamplefv(GL.SAMPLE_POSITION, 3), 0.75, 0.5]) * 255
    assert np.abs(resolved(gl, fbo) - expected).max() <= 1.01
    gl.use_program(0)
    gl.delete_program(name)
    gl.release()


@pytest.mark.parametrize("driver", DRIVERS)
def test_without_multisampling_one_sample_is_covered(driver: str) -> None:
    gl = context(driver)
    mask = "#version 430\nout vec4 color; void main() { color = vec4(gl_SampleMaskIn[0]) / 255.0; }"
    name = program(gl, VS, mask)
    fbo = target(gl, 4)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    inner = ~np.eye(SIZE, dtype=bool)  # the triangle may be cut along the diagonal
    assert (resolved(gl, fbo)[inner, 0] == 15).all()
    gl.disable(GL.MULTISAMPLE)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    assert (resolved(gl, fbo)[..., 0] == 1).all()
    gl.use_program(0)
    gl.delete_program(name)
    gl.release()
