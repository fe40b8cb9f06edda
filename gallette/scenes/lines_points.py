"""Thin things: line rasterization and point sprites, where coverage rules are easy to get wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import Pass, capture, scene, shaders

GLSL = shaders(__file__)


@scene("lines_points", tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A star of lines at every angle, a closed curve, and points of growing size."""
    program = ctx.program(GLSL["vertex"], GLSL["fragment"])
    angles = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    star = np.stack([ring * 0.1, ring * 0.85], axis=1).reshape(-1, 2)
    wave = np.stack([0.9 * np.cos(angles), 0.6 * np.sin(3 * angles)], axis=1)
    target = ctx.framebuffer([ctx.texture(size, 4)])
    target.use()
    for name, data, mode in (
        ("lines", star, ctx.LINES),
        ("loop", wave, ctx.LINE_LOOP),
        ("points", wave[::3] * 0.97, ctx.POINTS),
    ):
        program["points"].value = int(name == "points")
        if name == "points":
            ctx.enable(ctx.PROGRAM_POINT_SIZE)
        target.clear()
        buffer = ctx.buffer(np.ascontiguousarray(data, np.float32).tobytes())
        ctx.vertex_array(program, [(buffer, "2f", "position")]).render(mode)
        yield capture(name, target)
