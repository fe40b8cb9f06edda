"""A mirror ball: a cube map looked up in reflected directions, and as the sky behind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import (
    Pass,
    capture,
    gl_matrix,
    look_at,
    perspective,
    quad,
    scene,
    sphere,
    upload,
)

SKY_VERTEX = """
#version 330
in vec2 position;
out vec3 way;
void main() {
    gl_Position = vec4(position, 1.0, 1.0);
    way = vec3(position * vec2(0.6, 0.45), -1.0);
}
"""
SKY_FRAGMENT = """
#version 330
uniform samplerCube sky;
in vec3 way;
out vec4 color;
void main() {
    color = vec4(textureLod(sky, way, 0.0).rgb, 1.0);
}
"""
BALL_VERTEX = """
#version 330
in vec3 position;
in vec3 normal;
uniform mat4 matrix;
out vec3 p;
out vec3 n;
void main() {
    gl_Position = matrix * vec4(position, 1.0);
    p = position;
    n = normal;
}
"""
BALL_FRAGMENT = """
#version 330
uniform samplerCube sky;
uniform vec3 eye;
in vec3 p;
in vec3 n;
out vec4 color;
void main() {
    vec3 r = reflect(p - eye, normalize(n));
    color = vec4(textureLod(sky, r, 0.0).rgb * 0.9 + 0.05, 1.0);
}
"""


def _faces(size: int) -> bytes:
    """Six smooth faces, each with a tint of its own."""
    y, x = np.mgrid[0:size, 0:size] / (size - 1)
    tints = [(1, 0.3, 0.2), (0.2, 0.9, 0.9), (0.4, 0.6, 1), (0.5, 0.4, 0.2), (1, 0.9, 0.3)]
    faces = []
    for r, g, b in [*tints, (0.8, 0.3, 0.9)]:
        wave = 0.6 + 0.4 * np.sin(x * 6.3) * np.cos(y * 6.3)
        faces.append(np.stack([wave * r, wave * g, wave * b, np.ones_like(x)], axis=-1))
    return (np.stack(faces) * 255).astype(np.uint8).tobytes()


@scene("reflection", size=(192, 144), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A cube map as sky, then a ball that mirrors it."""
    sky = ctx.texture_cube((64, 64), 4, _faces(64))
    sky.filter = ctx.LINEAR, ctx.LINEAR
    sky.use(0)
    target = ctx.framebuffer([ctx.texture(size, 4)], ctx.depth_renderbuffer(size))
    target.use()
    target.clear()
    background = ctx.program(SKY_VERTEX, SKY_FRAGMENT)
    upload(ctx, background, "2f", quad(), "position", ctx.TRIANGLE_STRIP).render()
    yield capture("sky", target)
    ctx.enable(ctx.DEPTH_TEST)
    program = ctx.program(BALL_VERTEX, BALL_FRAGMENT)
    eye = (0.4, 0.5, 3.0)
    program["matrix"].write(gl_matrix(perspective(45, size[0] / size[1], 0.1, 10) @ look_at(eye)))
    program["eye"].value = eye
    upload(ctx, program, "3f 3f 2f", sphere(48, 24), "position normal uv", ctx.TRIANGLES).render()
    yield capture("ball", target)
