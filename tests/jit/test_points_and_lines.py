"""Points and lines, whose fragments the shared rasterizer makes: numpipe's pixels."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np
import numpy.typing as npt
import pytest

import gallette
from gallette.state_tracker import GL
from tests.jit.whole_pictures import FRAGMENT as SHADED
from tests.jit.whole_pictures import VERTEX as FILLED
from tests.jit.whole_pictures import same, target, triangles

Array = npt.NDArray[Any]

VERTEX = """
#version 330
uniform float size;
in vec4 position; in vec3 value;
out vec3 v; flat out vec2 number; noperspective out float line;
void main() {
    gl_Position = position;
    gl_PointSize = size * (0.5 + value.x);
    v = value;
    number = value.zy;
    line = value.y;
}
"""
FRAGMENT = """
#version 330
in vec3 v; flat in vec2 number; noperspective in float line; out vec4 o;
void main() {
    o = vec4(v.xy * 0.8 + number.x * 0.2, line, 0.5 + 0.5 * gl_FragCoord.z);
    if (gl_FrontFacing) o.x = 1.0 - o.x;
}
"""
SPRITE = """
#version 330
in vec3 v; out vec4 o;
void main() {
    vec2 at = gl_PointCoord * 2.0 - 1.0;
    if (dot(at, at) > 1.0) discard;
    o = vec4(gl_PointCoord, v.x, 0.5);
}
"""
KINDS = {
    "points": moderngl.POINTS,
    "lines": moderngl.LINES,
    "strip": moderngl.LINE_STRIP,
    "loop": moderngl.LINE_LOOP,
    "wireframe": moderngl.TRIANGLES,
}


def picture(
    driver: str, kind: str, width: float, state: str, fragment: str, samples: int = 0
) -> Array:
    gl = gallette.moderngl_context(driver, version=(4, 3))
    with moderngl.create_context(standalone=True, context=gl) as context:
        size = (97, 83)
        plain = context.framebuffer([context.texture(size, 4)], context.depth_renderbuffer(size))
        frame = plain
        if samples:
            frame = context.framebuffer([context.renderbuffer(size, 4, samples=samples)])
        frame.use()
        frame.clear(0.1, 0.2, 0.3, 0.4)
        vertex = VERTEX.replace("#version 330", fragment.strip().splitlines()[0])
        program = context.program(vertex_shader=vertex, fragment_shader=fragment)
        if "size" in program:
            program["size"] = width
        rng = np.random.default_rng(8)
        w = rng.uniform(0.7, 1.6, (240, 1))
        place = rng.uniform(-1.2, 1.2, (240, 3)) * w
        place[:24] = np.round(place[:24] * 12) / 12  # level, upright, and of no length
        place[:6, 1] = place[0, 1]
        place[6:8] = place[6]
        w[:24] = 1.0
        vertices = np.concatenate((place, w, rng.uniform(0, 1, (240, 3))), axis=1)
        used = [n for n in ("position", "value") if n in program]
        buffer = context.buffer(vertices.astype("f4").tobytes())
        array = context.vertex_array(program, [(buffer, "4f 3f", *used)])
        context.line_width = context.point_size = width
        context.wireframe = kind == "wireframe"
        if state == "depth":
            context.enable(moderngl.DEPTH_TEST)
        if state == "blend":
            context.enable(moderngl.BLEND)
        if state == "scissor":
            context.scissor = (13, 9, 51, 47)
        if state == "shader":
            context.enable(moderngl.PROGRAM_POINT_SIZE)
        if state == "smooth":
            gl.enable(GL.LINE_SMOOTH)
            context.enable(moderngl.BLEND | moderngl.DEPTH_TEST)
        array.render(KINDS[kind])
        array.render(KINDS[kind])  # large enough not to wait, or two that become one
        if samples:
            context.copy_framebuffer(plain, frame)
        return np.frombuffer(plain.read(components=4), np.uint8)


@pytest.mark.parametrize("state", ["plain", "depth", "blend", "scissor", "shader"])
@pytest.mark.parametrize("width", [1.0, 2.0, 5.0])
@pytest.mark.parametrize("kind", KINDS)
def test_as_numpipe(kind: str, width: float, state: str) -> None:
    _same(kind, width, state, FRAGMENT)


@pytest.mark.parametrize("state", ["blend", "shader"])
def test_sprites(state: str) -> None:
    _same("points", 9.0, state, SPRITE)


SAMPLED = """
#version 430
in vec3 v; noperspective centroid in float line; flat in vec2 number; out vec4 o;
void main() {
    o = vec4(v.xy * 0.8 + number.x * 0.2, line, float(gl_SampleMaskIn[0]) / 16.0 + dFdx(v.z));
}
"""


@pytest.mark.parametrize("fragment", [FRAGMENT, SAMPLED])
@pytest.mark.parametrize(("width", "state"), [(1.0, "plain"), (5.0, "blend")])
@pytest.mark.parametrize("kind", KINDS)
def test_several_samples(kind: str, width: float, state: str, fragment: str) -> None:
    _same(kind, width, state, fragment, 4)


@pytest.mark.parametrize("width", [1.0, 3.5])
@pytest.mark.parametrize("kind", KINDS)
def test_smooth_lines(kind: str, width: float) -> None:
    """Their alpha is what they cover; of points nothing is different."""
    _same(kind, width, "smooth", FRAGMENT)


def _same(kind: str, width: float, state: str, fragment: str, samples: int = 0) -> None:
    have, wanted = (
        picture(driver, kind, width, state, fragment, samples) for driver in ("jit", "numpipe")
    )
    assert len(np.unique(wanted)) > 20
    assert np.array_equal(have, wanted), np.abs(have.astype(int) - wanted).max()


def test_triangles_where_only_lines_are_smooth(monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(context: moderngl.Context) -> bytes:
        context.extra.enable(GL.LINE_SMOOTH)
        frame = target(context)
        context.enable(moderngl.BLEND)
        triangles(context, context.program(vertex_shader=FILLED, fragment_shader=SHADED))
        return bytes(frame.read(components=4))

    same(draw, monkeypatch)
