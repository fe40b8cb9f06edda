"""Many small things in one call: instancing with a per-instance buffer and gl_InstanceID."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import Pass, capture, scene, shaders

GLSL = shaders(__file__)


@scene("instances")
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Four hundred turned triangles in one instanced draw, flat shaded."""
    program = ctx.program(GLSL["vertex"], GLSL["fragment"])
    corners = ctx.buffer(np.array([0.9, 0, -0.5, 0.6, -0.5, -0.7], np.float32).tobytes())
    n = np.arange(400)
    x, y = n % 25 / 12.5 - 0.96, n // 25 / 8 - 0.94
    sizes, none = 0.03 + 0.03 * (n % 5) / 4, 0 * x
    places = np.stack([x, y, sizes, none, np.cos(n * 0.37), np.sin(n * 0.37)], axis=1)
    per_instance = ctx.buffer(places.astype(np.float32).tobytes())
    array = ctx.vertex_array(
        program, [(corners, "2f", "corner"), (per_instance, "4f 2f/i", "place", "turn")]
    )
    target = ctx.framebuffer([ctx.texture(size, 4)])
    target.use()
    target.clear()
    array.render(ctx.TRIANGLES, vertices=3, instances=400)
    yield capture("color", target)
