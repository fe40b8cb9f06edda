"""Rounds of a cellular automaton: each pass reads what the last one wrote, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import Pass, capture, scene, screen_filler, shaders

GLSL = shaders(__file__)


@scene("life", size=(96, 64), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Conway's Life on a torus, sixteen generations by ping-pong; nothing may differ at all."""
    width, height = size
    y, x = np.mgrid[0:height, 0:width]
    alive = ((x * x * 3 + y * y * 7 + x * y) % 11 < 4).astype(np.uint8) * 255
    start = np.stack([alive, alive, alive, np.full_like(alive, 255)], axis=-1)
    textures = [ctx.texture(size, 4, start.tobytes()), ctx.texture(size, 4)]
    for texture in textures:
        texture.filter = ctx.NEAREST, ctx.NEAREST
    targets = [ctx.framebuffer([t]) for t in textures]
    _, array = screen_filler(ctx, GLSL["fragment"])
    for generation in range(16):
        textures[generation % 2].use(0)
        target = targets[1 - generation % 2]
        target.use()
        array.render()
        if generation in (0, 3, 15):
            yield capture(f"generation {generation + 1}", target)
