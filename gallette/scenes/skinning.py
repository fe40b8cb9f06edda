"""Skinning on the GPU: bones in a uniform block, weights per vertex, normals along."""

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
    shaders,
    upload,
)

GLSL = shaders(__file__)


def _tube(rings: int = 17, sides: int = 12) -> np.ndarray[Any, Any]:
    """A tube along y: position, normal, and how much of each of three bones."""
    y = np.linspace(-1, 1, rings)
    a = np.linspace(0, 2 * np.pi, sides + 1)
    n = np.stack([np.cos(a), np.zeros_like(a), np.sin(a)], -1)
    w = np.clip(1 - np.abs(y[:, None] - np.array([-0.75, 0.0, 0.75])) / 0.75, 0, 1)
    w /= w.sum(axis=1, keepdims=True)
    rows = []
    for i in range(rings - 1):
        for j in range(sides):
            for r, s in ((i, j), (i + 1, j), (i, j + 1), (i, j + 1), (i + 1, j), (i + 1, j + 1)):
                rows.append((*(n[s] * 0.3 + (0, y[r], 0)), *n[s], *w[r]))
    return np.array(rows, np.float32)


def _bone(angle: float, shift: float) -> np.ndarray[Any, Any]:
    """Turned in the plane of the picture, and moved to the side."""
    m = np.eye(4)
    c, s = np.cos(angle), np.sin(angle)
    m[:2, :2] = [[c, -s], [s, c]]
    m[0, 3] = shift
    return m


@scene("skinning", size=(120, 120), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A tube with three bones: straight, bent, and bent further."""
    program = ctx.program(GLSL["vertex"], GLSL["fragment"])
    matrix = perspective(45, size[0] / size[1], 0.1, 20) @ look_at((0.4, 0.6, 3.4))
    program["matrix"].write(gl_matrix(matrix))
    program["Bones"].binding = 2
    bones = ctx.buffer(reserve=3 * 64)
    bones.bind_to_uniform_block(2)
    tube = upload(ctx, program, "3f 3f 3f", _tube(), "position normal weights")
    target = ctx.framebuffer([ctx.texture(size, 4)], ctx.depth_renderbuffer(size))
    target.use()
    ctx.enable(ctx.DEPTH_TEST)
    for name, angle in (("at rest", 0.0), ("bent", 0.375), ("bent further", 0.75)):
        poses = [_bone(-angle, 0.25 * angle), _bone(0.0, 0.0), _bone(angle, 0.25 * angle)]
        bones.write(b"".join(gl_matrix(pose) for pose in poses))
        target.clear()
        tube.render()
        yield capture(name, target)
