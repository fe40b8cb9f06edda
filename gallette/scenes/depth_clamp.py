"""Depth clamping: what is nearer than near or farther than far is kept, at the limit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import (
    COMMON,
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

DEPTH_CLAMP = 0x864F


@scene("depth_clamp", size=(128, 96), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A ring that reaches through both the near and the far plane: clipped, then clamped."""
    program = ctx.program(COMMON["with_normals"], GLSL["fragment"])
    view = look_at((0.25, 1.0, 3.0))
    matrix = perspective(40, size[0] / size[1], 2.75, 3.5) @ view
    program["matrix"].write(gl_matrix(np.asarray(matrix)))
    ring = upload(ctx, program, "3f 3f 2f", torus(32, 16), "position normal uv")
    depth = ctx.depth_texture(size)
    target = ctx.framebuffer([ctx.texture(size, 4)], depth)
    target.use()
    ctx.enable(ctx.DEPTH_TEST)
    for name in ("clipped", "clamped"):
        target.clear()
        if name == "clamped":
            ctx.enable_direct(DEPTH_CLAMP)
        ring.render()
        yield capture(name, target)
    yield capture_depth("clamped, depth", depth)
    ctx.disable_direct(DEPTH_CLAMP)
