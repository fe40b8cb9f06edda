"""Two-sided materials: one triangle, another colour on its back, whichever way is the front."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import (
    COMMON,
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


def _ribbon(count: int = 48) -> np.ndarray[Any, Any]:
    """A ribbon twisted twice around, as a strip."""
    a = np.linspace(0, 2 * np.pi, count + 1)
    twist = a * 1.5
    along = np.stack([np.cos(a), np.zeros_like(a), np.sin(a)], -1)
    across = along * np.cos(twist)[:, None] + np.array([0.0, 1.0, 0.0]) * np.sin(twist)[:, None]
    up = np.array([0.0, 1.0, 0.0]) * np.cos(twist)[:, None] - along * np.sin(twist)[:, None]
    sides = [np.concatenate([along + across * s, up], -1) for s in (-0.375, 0.375)]
    rows: np.ndarray[Any, Any] = np.stack(sides, 1).reshape(-1, 6).astype(np.float32)
    return rows


@scene("two_sided", size=(160, 120), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A twisted ribbon whose two sides have two colours, then with the winding turned round."""
    program = ctx.program(COMMON["with_normals"], GLSL["fragment"])
    matrix = perspective(45, size[0] / size[1], 0.1, 20) @ look_at((0.5, 2.0, 2.8))
    program["matrix"].write(gl_matrix(matrix))
    ribbon = upload(ctx, program, "3f 3f", _ribbon(), "position normal", ctx.TRIANGLE_STRIP)
    target = ctx.framebuffer([ctx.texture(size, 4)], ctx.depth_renderbuffer(size))
    target.use()
    ctx.enable(ctx.DEPTH_TEST)
    for name, winding in (("counter-clockwise", "ccw"), ("clockwise", "cw")):
        ctx.front_face = winding
        target.clear()
        ribbon.render()
        yield capture(f"front is {name}", target)
