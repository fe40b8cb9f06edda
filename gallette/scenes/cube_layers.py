"""A cube map drawn in one go: a geometry shader sends each triangle to all six faces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import Pass, capture, raw, scene, screen_filler, shaders, upload

GLSL = shaders(__file__)

CUBE, DRAW = 0x8513, 0x8CA9
AXES = [  # per face: right, down, forward
    ((0, 0, -1), (0, -1, 0), (1, 0, 0)),
    ((0, 0, 1), (0, -1, 0), (-1, 0, 0)),
    ((1, 0, 0), (0, 0, 1), (0, 1, 0)),
    ((1, 0, 0), (0, 0, -1), (0, -1, 0)),
    ((1, 0, 0), (0, -1, 0), (0, 0, 1)),
    ((-1, 0, 0), (0, -1, 0), (0, 0, -1)),
]


def _faces() -> bytes:
    """World to clip for each face: a quarter turn wide, nothing nearer than 1/8."""
    matrices = []
    for right, down, forward in AXES:
        m = np.zeros((4, 4))
        m[0, :3], m[1, :3], m[3, :3] = right, down, forward
        m[2, :3] = np.array(forward) * (8 + 0.125) / (8 - 0.125)
        m[2, 3] = -2 * 8 * 0.125 / (8 - 0.125)
        matrices.append(np.ascontiguousarray(m.T, np.float32).tobytes())
    return b"".join(matrices)


@scene("cube_layers", size=(128, 96), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Shards all around, drawn once into the six layers of a cube map; its faces unfolded."""
    gl = raw(ctx)
    program = ctx.program(
        GLSL["vertex"], fragment_shader=GLSL["fragment"], geometry_shader=GLSL["geometry"]
    )
    program["faces"].write(_faces())
    i = np.arange(60)
    spread = np.stack([i * 37 % 61 - 30, i * 17 % 61 - 30, i * 53 % 61 - 30], -1) / 15.0
    offsets = np.array([[0.0, 0.5, 0.0], [0.5, -0.25, 0.125], [-0.5, -0.25, -0.125]])
    corners = spread[:, None, :] + offsets
    tints = np.stack([i % 3 / 2, i % 5 / 4, i % 4 / 3], -1)[:, None, :] * np.ones((1, 3, 1))
    rows = np.concatenate([corners, tints], -1).reshape(-1, 6).astype(np.float32)
    shards = upload(ctx, program, "3f 3f", rows, "position tint")
    edge = 48
    (name,) = gl.gen_textures(1)
    gl.active_texture(0x84C0)
    gl.bind_texture(CUBE, name)
    for face in range(6):
        gl.tex_image2d(0x8515 + face, 0, 0x8058, edge, edge, 0, 0x1908, 0x1401, None)
    for parameter, value in (
        (0x2801, 0x2600),
        (0x2800, 0x2600),
        (0x2802, 0x812F),
        (0x2803, 0x812F),
    ):
        gl.tex_parameteri(CUBE, parameter, value)
    (layers,) = gl.gen_framebuffers(1)
    target = ctx.framebuffer([ctx.texture(size, 4)])
    gl.bind_framebuffer(DRAW, layers)
    gl.framebuffer_texture(DRAW, 0x8CE0, name, 0)
    gl.viewport(0, 0, edge, edge)
    gl.clear_bufferfv(0x1800, 0, [0.05, 0.05, 0.1, 1.0])
    shards.render()
    show, screen = screen_filler(ctx, GLSL["show"])
    show["scale"].value = 1 / size[0], 1 / size[1]
    target.use()
    target.clear()
    gl.bind_texture(CUBE, name)
    screen.render()
    yield capture("unfolded", target)
    gl.delete_framebuffers(1, [layers])
    gl.delete_textures(1, [name])
