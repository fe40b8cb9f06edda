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
    shaders,
    torus,
    upload,
)

GLSL = shaders(__file__)


@scene("lit_mesh")
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A lit torus, 2,048 triangles, with its depth buffer."""
    program = ctx.program(GLSL["vertex"], GLSL["fragment"])
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
