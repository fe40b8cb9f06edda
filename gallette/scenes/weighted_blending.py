"""Transparency without sorting: weighted sums, and what is left of the ground, in two targets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import Pass, capture, raw, scene, screen_filler, shaders, upload

GLSL = shaders(__file__)

BLEND, ZERO, ONE, ONE_MINUS_SRC = 0x0BE2, 0, 1, 0x0301


def _panes() -> np.ndarray[Any, Any]:
    rows = []
    for i in range(7):
        x, y, z = -0.7 + 0.2 * i, -0.5 + 0.125 * (i * 5 % 8), 0.75 - 0.25 * i
        tint = (i * 3 % 7 / 7, i * 5 % 7 / 7, i / 7, 0.25 + 0.0625 * i)
        for dx, dy in ((0, 0), (0.6, 0), (0, 0.7), (0, 0.7), (0.6, 0), (0.6, 0.7)):
            rows.append((x + dx, y + dy, z / 2, *tint))
    return np.array(rows, np.float32)


@scene("weighted_blending", size=(160, 120), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Seven panes in no order: two float targets, each blended its own way, then put together."""
    gl = raw(ctx)
    program = ctx.program(GLSL["vertex"], GLSL["fragment"])
    panes = upload(ctx, program, "3f 4f", _panes(), "position tint")
    sums, rests = ctx.texture(size, 4, dtype="f4"), ctx.texture(size, 4, dtype="f4")
    layers = ctx.framebuffer([sums, rests])
    layers.use()
    gl.clear_bufferfv(0x1800, 0, [0.0, 0.0, 0.0, 0.0])
    gl.clear_bufferfv(0x1800, 1, [1.0, 1.0, 1.0, 1.0])
    gl.enable(BLEND)
    gl.blend_funci(0, ONE, ONE)
    gl.blend_funci(1, ZERO, ONE_MINUS_SRC)
    panes.render()
    yield capture("weighted sums", layers)
    yield capture("what is left", layers, attachment=1)
    gl.disable(BLEND)
    compose, screen = screen_filler(ctx, GLSL["compose"])
    compose["sums"].value, compose["rests"].value = 0, 1
    sums.use(0)
    rests.use(1)
    target = ctx.framebuffer([ctx.texture(size, 4)])
    target.use()
    screen.render()
    yield capture("together", target)
