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
    scene,
    screen_filler,
    shaders,
    sphere,
    upload,
)

GLSL = shaders(__file__)


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
    _, screen = screen_filler(ctx, GLSL["sky_fragment"], GLSL["sky_vertex"])
    screen.render()
    yield capture("sky", target)
    ctx.enable(ctx.DEPTH_TEST)
    program = ctx.program(GLSL["ball_vertex"], GLSL["ball_fragment"])
    eye = (0.4, 0.5, 3.0)
    program["matrix"].write(gl_matrix(perspective(45, size[0] / size[1], 0.1, 10) @ look_at(eye)))
    program["eye"].value = eye
    upload(ctx, program, "3f 3f 2f", sphere(48, 24), "position normal uv", ctx.TRIANGLES).render()
    ctx.disable(ctx.DEPTH_TEST)
    yield capture("ball", target)
