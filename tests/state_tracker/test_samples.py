"""Two, four, eight and sixteen samples, chosen locations, layers of several samples."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context

from .helpers import errors, pixels, program

SIZE = 32
CORNERS = np.array([(1.3, 2.9), (30.7, 9.1), (9.2, 29.4)])
VS = """#version 430
uniform vec2 corners[3];
void main() { gl_Position = vec4(corners[gl_VertexID] / 16.0 - 1.0, 0.0, 1.0); }"""
WHITE = "#version 430\nout vec4 color;\nvoid main() { color = vec4(1.0); }"
FEW = "#version 430\nout vec4 color;\nvoid main() { color = vec4(gl_SampleID / 15.0); }"
COUNT = """#version 430
out vec4 color;
void main() { color = vec4(gl_NumSamples, bitCount(gl_SampleMaskIn[0]), 0, 255) / 255.0; }"""


def context(driver: str) -> GLInterface:
    if driver == "jit":
        pytest.importorskip("llvmlite")
    gl = create_context(driver, version=(4, 3), size=(SIZE, SIZE))
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    return gl


def target(gl: GLInterface, samples: int, form: int = GL.RGBA8) -> int:
    (buffer,), (fbo,) = gl.gen_renderbuffers(1), gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, fbo)
    gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
    gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, samples, form, SIZE, SIZE)
    point = (GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, buffer)
    gl.framebuffer_renderbuffer(*point)
    gl.clear(GL.COLOR_BUFFER_BIT)
    return int(fbo)


def resolved(gl: GLInterface, fbo: int) -> Any:
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, fbo)
    gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, 0)
    area = (0, 0, SIZE, SIZE)
    gl.blit_framebuffer(*area, *area, GL.COLOR_BUFFER_BIT, GL.NEAREST)
    gl.bind_framebuffer(GL.FRAMEBUFFER, 0)
    seen = pixels(gl, SIZE, SIZE).astype(int)
    gl.bind_framebuffer(GL.FRAMEBUFFER, fbo)
    return seen


def covered(positions: npt.NDArray[Any]) -> Any:
    """How many samples of each pixel are inside the triangle."""
    corners = np.rint(CORNERS * 256) / 256
    y, x = np.mgrid[:SIZE, :SIZE]
    px = x[..., None] + positions[:, 0]
    py = y[..., None] + positions[:, 1]
    inside = np.ones(px.shape, bool)
    for (ax, ay), (bx, by) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        inside &= (bx - ax) * (py - ay) - (by - ay) * (px - ax) > 0
    return inside.sum(axis=-1)


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
@pytest.mark.parametrize("samples", [2, 4, 8, 16])
def test_coverage_counts_the_samples_inside(driver: str, samples: int) -> None:
    gl = context(driver)
    name = program(gl, VS, WHITE)
    gl.uniform2fv(gl.get_uniform_location(name, "corners"), 3, CORNERS.astype(np.float32))
    fbo = target(gl, samples)
    assert gl.get_integerv(GL.SAMPLES)[0] == samples
    positions = np.array([gl.get_multisamplefv(GL.SAMPLE_POSITION, i) for i in range(samples)])
    assert len({tuple(p) for p in positions.tolist()}) == samples
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    seen = resolved(gl, fbo)[..., 0]
    assert errors(gl) == []
    expected = covered(positions)
    assert abs(seen - 255 * expected / samples).max() <= 1
    assert len(np.unique(expected)) == samples + 1


@pytest.mark.parametrize("samples", [2, 8, 16])
def test_shaders_know_their_samples(samples: int) -> None:
    gl = context("numpipe")
    name = program(gl, VS, COUNT)
    gl.uniform2fv(gl.get_uniform_location(name, "corners"), 3, CORNERS.astype(np.float32))
    fbo = target(gl, samples)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    seen = resolved(gl, fbo)
    assert tuple(seen[12, 12]) == (samples, samples, 0, 255)
    name = program(gl, VS, FEW)
    gl.uniform2fv(gl.get_uniform_location(name, "corners"), 3, CORNERS.astype(np.float32))
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    mean = 255 * (samples - 1) / 2 / 15
    assert abs(resolved(gl, fbo)[12, 12] - mean).max() <= 1
    gl.enable(GL.SAMPLE_MASK)
    gl.sample_maski(0, 1 << (samples - 1))
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    assert abs(resolved(gl, fbo)[12, 12] - 255 * (samples - 1) / 15 / samples).max() <= 1
    assert errors(gl) == []


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_the_application_chooses_where_samples_are(driver: str) -> None:
    gl = context(driver)
    name = program(gl, VS, WHITE)
    gl.uniform2fv(gl.get_uniform_location(name, "corners"), 3, CORNERS.astype(np.float32))
    fbo = target(gl, 4)
    chosen = np.array([(0.1, 0.9), (0.2, 0.3), (0.95, 0.05), (0.6, 0.6)], np.float32)
    gl.framebuffer_sample_locationsfv_arb(GL.FRAMEBUFFER, 0, 4, chosen)
    standard = gl.get_multisamplefv(GL.SAMPLE_POSITION, 0)
    gl.framebuffer_parameteri(GL.FRAMEBUFFER, GL.FRAMEBUFFER_PROGRAMMABLE_SAMPLE_LOCATIONS_ARB, 1)
    found = [gl.get_multisamplefv(GL.SAMPLE_POSITION, i) for i in range(4)]
    assert np.allclose(found, chosen)
    assert list(found[0]) != list(standard)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    expected = covered(chosen.astype(np.float64))
    assert abs(resolved(gl, fbo)[..., 0] - 255 * expected / 4).max() <= 1
    most = gl.get_integerv(GL.PROGRAMMABLE_SAMPLE_LOCATION_TABLE_SIZE_ARB)[0]
    assert errors(gl) == []
    gl.framebuffer_sample_locationsfv_arb(GL.FRAMEBUFFER, most, 1, chosen)
    assert errors(gl) == ["GL_INVALID_VALUE"]


@pytest.mark.parametrize("format", ["RGBA", "DEPTH_COMPONENT", "STENCIL_INDEX"])
def test_a_window_of_several_samples_is_read(format: str) -> None:
    """Only framebuffers that an application made must be resolved by it."""
    gl = create_context("numpipe", version=(4, 3), size=(SIZE, SIZE), samples=4)
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    gl.clear_depth(0.25)
    gl.clear_stencil(9)
    gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
    for color in (0.0, 1.0):  # what is read follows what is drawn
        name = program(gl, VS, WHITE.replace("1.0", f"{color}"))
        gl.uniform2fv(gl.get_uniform_location(name, "corners"), 3, CORNERS.astype(np.float32))
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        kind, dtype = (GL.UNSIGNED_BYTE, np.uint8) if format != "DEPTH_COMPONENT" else (
            GL.FLOAT, np.float32,
        )  # fmt: skip
        raw = gl.read_pixels(0, 0, SIZE, SIZE, getattr(GL, format), kind)
        found = np.frombuffer(raw, dtype).reshape(SIZE, SIZE, -1)
        if format == "RGBA":
            assert found[12, 14].tolist() == [255 * color] * 3 + [255 * color]
            edges = np.unique(found[..., 0])
            assert len(edges) == (1 if not color else 5), edges  # none to four samples
    if format != "RGBA":
        expected = {"DEPTH_COMPONENT": 0.25, "STENCIL_INDEX": 9.0}[format]
        assert float(found[0, 0, 0]) == pytest.approx(expected, abs=1e-6)
    assert errors(gl) == []
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.copy_tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 0, 0, SIZE, SIZE, 0)
    assert errors(gl) == []
    gl.use_program(0)
    gl.release()


SAMPLED = """#version 430
uniform int which;
in vec2 at;
out vec4 color;
void main() {
    color = vec4(gl_SamplePosition, fract(interpolateAtSample(at, which) * 8.0));
}"""
PASSED = """#version 430
uniform vec2 corners[3];
out vec2 at;
void main() {
    at = corners[gl_VertexID] / 16.0;
    gl_Position = vec4(at - 1.0, 0.0, 1.0);
}"""


def _window(gl: GLInterface) -> Any:
    """The resolved picture of the window."""
    fbo = target(gl, 0)
    area = (0, 0, SIZE, SIZE)
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, 0)
    gl.blit_framebuffer(*area, *area, GL.COLOR_BUFFER_BIT, GL.NEAREST)
    gl.bind_framebuffer(GL.FRAMEBUFFER, fbo)
    seen = pixels(gl, SIZE, SIZE).astype(int)
    gl.bind_framebuffer(GL.FRAMEBUFFER, 0)
    return seen


@pytest.mark.native
@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_samples_of_a_window_are_where_the_native_gl_has_them(driver: str) -> None:
    if driver == "jit":
        pytest.importorskip("llvmlite")
    seen = []
    for create in (native_context, partial(create_context, driver)):
        gl: Any = create(version=(4, 3), size=(SIZE, SIZE), samples=4)
        gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
        places = [gl.get_multisamplefv(GL.SAMPLE_POSITION, i) for i in range(4)]
        used = program(gl, PASSED, SAMPLED)
        gl.use_program(used)
        gl.uniform2fv(gl.get_uniform_location(used, "corners"), 3, CORNERS.astype(np.float32))
        gl.enable(GL.SAMPLE_MASK)
        gl.clear_color(0, 0, 0, 0)
        pictures = []
        for sample in range(4):  # of the others nothing is in the mean
            gl.clear(GL.COLOR_BUFFER_BIT)
            gl.sample_maski(0, 1 << sample)
            gl.uniform1i(gl.get_uniform_location(used, "which"), sample)
            gl.draw_arrays(GL.TRIANGLES, 0, 3)
            pictures.append(_window(gl))
        seen.append((np.array(places), np.array(pictures)))
        assert errors(gl) == []
        gl.release()
    (their_places, theirs), (places, ours) = seen
    assert np.array_equal(places, their_places)
    assert (ours.max(axis=(1, 2)) > 0).all()
    assert np.abs(ours - theirs).max() <= 1
