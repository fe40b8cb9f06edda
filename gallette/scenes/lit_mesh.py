"""A torus under a lamp: matrices, normals, depth test, per-pixel Phong lighting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gallette.scenes.common import (
    Pass,
    capture,
    capture_depth,
    gl_matrix,
    look_at,
    perspective,
    scene,
    torus,
    upload,
)

VERTEX = """
#version 330
in vec3 position;
in vec3 normal;
uniform mat4 matrix;
out vec3 p;
out vec3 n;
void main() {
    p = position;
    n = normal;
    gl_Position = matrix * vec4(position, 1.0);
}
"""
FRAGMENT = """
#version 330
uniform vec3 lamp;
uniform vec3 eye;
in vec3 p;
in vec3 n;
out vec4 color;
void main() {
    vec3 l = normalize(lamp - p);
    vec3 v = normalize(eye - p);
    vec3 m = normalize(n);
    float diffuse = max(dot(m, l), 0.0);
    float shine = pow(max(dot(reflect(-l, m), v), 0.0), 24.0);
    color = vec4(vec3(0.9, 0.5, 0.2) * (0.1 + 0.8 * diffuse) + vec3(0.5) * shine, 1.0);
}
"""


@scene("lit_mesh")
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A lit torus, 2,048 triangles, with its depth buffer."""
    program = ctx.program(VERTEX, FRAGMENT)
    eye = (1.2, 1.5, 1.6)
    matrix = perspective(45, size[0] / size[1], 0.1, 10) @ look_at(eye)
    program["matrix"].write(gl_matrix(matrix))
    program["lamp"].value = (2.0, 3.0, 1.0)
    program["eye"].value = eye
    depth = ctx.depth_texture(size)
    target = ctx.framebuffer([ctx.texture(size, 4)], depth)
    target.use()
    ctx.enable(ctx.DEPTH_TEST)
    target.clear()
    mesh = upload(ctx, program, "3f 3f 2f", torus(64, 16), "position normal uv", ctx.TRIANGLES)
    mesh.render()
    yield capture("color", target)
    yield capture_depth("depth", depth)
