"""Depth at close quarters: points a hair's breadth in front of and behind five plates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import Pass, capture, scene, shaders

GLSL = shaders(__file__)

# Of normalised coordinates: twice as much as of depth. 2^-15 is some 250 steps of 24 bits.
HAIR = 2.0**-15


@scene("hair", size=(160, 120), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Points in front of a plate are visible, points behind one are not, however near they are."""
    x = np.arange(-7, 8, dtype=np.float32) / 8
    columns, rows = (a.reshape(-1) for a in np.meshgrid(x, x))
    plates = [(i / 2.5 - 1, (i + 1) / 2.5 - 1, i / 4 - 0.5) for i in range(5)]
    depths = sum(np.where((columns > left) & (columns <= right), z, 0) for left, right, z in plates)
    side = np.where((np.arange(columns.size) % 2) == 0, -1.0, 1.0)
    points = np.stack(
        [columns, rows, depths + side * HAIR, side > 0, side < 0, np.zeros_like(side)], axis=1
    )
    corners = [
        (x, y, z, 0.25, 0.25, 0.5 + z / 4)
        for left, right, z in plates
        for x, y in ((left, -1), (right, -1), (left, 1), (right, -1), (left, 1), (right, 1))
    ]
    program = ctx.program(GLSL["vertex"], GLSL["fragment"])
    layout = ("3f 3f", "place", "shade")
    ground, dots = (
        ctx.vertex_array(program, [(ctx.buffer(np.array(data, np.float32).tobytes()), *layout)])
        for data in (corners, points)
    )
    target = ctx.framebuffer([ctx.texture(size, 4)], ctx.depth_renderbuffer(size))
    target.use()
    target.clear()
    ctx.enable(ctx.DEPTH_TEST)
    ctx.point_size = 3.0
    ground.render(ctx.TRIANGLES)
    yield capture("plates", target)
    dots.render(ctx.POINTS)
    yield capture("points", target)
