"""A texel that half of the pixels ask for and never look at, and what they compute meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import Pass, capture, scene, screen_filler, shaders

GLSL = shaders(__file__)


@scene("late_texels", lesson="texture_scoreboard")
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Every other square ignores the texel it fetched."""
    program, screen = screen_filler(ctx, GLSL["fragment"])
    texels = np.random.default_rng(9).integers(0, 256, (32, 32, 4), dtype=np.uint8)
    texture = ctx.texture((32, 32), 4, texels.tobytes())
    texture.filter = ctx.NEAREST, ctx.NEAREST
    texture.use(0)
    program["tint"].value = 0.03125, 0.015625, 0.0625, 0.0078125
    program["rounds"].value = 3
    target = ctx.framebuffer([ctx.texture(size, 4)])
    target.use()
    target.clear()
    screen.render()
    yield capture("color", target)
