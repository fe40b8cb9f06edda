"""Fragments that are shaded for each sample: in tiles, and as numpipe does it."""

from __future__ import annotations

import moderngl
import numpy as np
import pytest

from tests.jit.whole_pictures import SIZE, VERTEX, Draw, same, target, triangles

BODIES = {
    "number": "o = vec4(v.xy, float(gl_SampleID) / 3.0, 1.0);",
    "place": "o = vec4(gl_SamplePosition, gl_FragCoord.xy / 101.0);",
    "mask": "o = vec4(v.xy, float(gl_SampleMaskIn[0]) / 8.0, float(gl_SampleID));",
    "written mask": "gl_SampleMask[0] = int(v.x * 15.9); o = vec4(v, gl_SampleID);",
    "input": "o = vec4(w, v.x);",
    "centroid": "o = vec4(w.xy, c.zy);",
    "elsewhere": "o = vec4(interpolateAtOffset(v, vec2(0.2, -0.3)).xy, "
    "interpolateAtSample(v, 3 - gl_SampleID).zx);",
    "derivatives": "o = abs(dFdx(w).xyzx) * 30.0 + float(gl_SampleID) * 0.1;",
    "texture": "o = texture(t, w.xy * 3.0);",
    "depth": "gl_FragDepth = w.x; o = vec4(w, 1.0);",
    "discard": "if (w.x < 0.5) discard; o = vec4(w, 1.0);",
    "alpha": "o = vec4(w, w.y);",
    "outputs of some": "if (v.x < 0.5) o = vec4(w, 1.0);",
}


# Without samples, code differs in what it knows of them: their numbers, places and masks.
@pytest.mark.parametrize(
    "body,samples",
    [
        *[(each, 4) for each in BODIES],
        *[(each, 0) for each in ("number", "place", "written mask", "elsewhere")],
    ],
)
def test_each_sample(body: str, samples: int, monkeypatch: pytest.MonkeyPatch) -> None:
    same(_draws(BODIES[body], samples, alpha=body == "alpha"), monkeypatch)


def test_sample_shading_that_the_program_does_not_request(monkeypatch: pytest.MonkeyPatch) -> None:
    same(_draws("o = vec4(v, 1.0);", 4, least=1.0), monkeypatch)


def _draws(body: str, samples: int, alpha: bool = False, least: float = 0.0) -> Draw:
    fragment = f"""#version 430
        uniform sampler2D t; in vec3 v; SAMPLE in vec3 w; centroid in vec3 c; out vec4 o;
        void main() {{ {body} }}"""
    fragment = fragment.replace("SAMPLE", "" if least else "sample")
    vertex = VERTEX.replace("#version 330", "#version 430")
    vertex = vertex.replace("out vec3 v;", "out vec3 v; out vec3 w; out vec3 c;")
    vertex = vertex.replace("v = value;", "v = w = c = value;")

    def draw(context: moderngl.Context) -> bytes:
        gl = context.extra
        picture = np.random.default_rng(2).integers(0, 256, (16, 16, 4), "u1")
        texture = context.texture((16, 16), 4, picture)
        texture.build_mipmaps()
        texture.use(0)
        frame = target(context)
        kind = {"samples": samples}
        drawn = context.framebuffer(
            [context.texture(SIZE, 4, **kind)], context.depth_renderbuffer(SIZE, **kind)
        )
        drawn.use()
        drawn.clear(0.25, 0.5, 0.75, 1.0, depth=0.9)
        context.enable(moderngl.DEPTH_TEST)
        if alpha:
            gl.enable(0x809E)
        if least:
            gl.enable(0x8C36)
            gl.min_sample_shading(least)
        program = context.program(vertex_shader=vertex, fragment_shader=fragment)
        query = context.query(samples=True)
        with query:
            triangles(context, program, 60)
        context.copy_framebuffer(frame, drawn)
        return bytes(frame.read(components=4)) + query.samples.to_bytes(4, "little")

    return draw
