"""A ray marched through a 3D texture: a loop with texture reads and an early way out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import Pass, capture, scene, screen_filler, shaders

GLSL = shaders(__file__)


@scene("volume", size=(192, 144))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Three soft blobs in a 3D texture, composited front to back along every ray."""
    z, y, x = np.mgrid[0:24, 0:24, 0:24] / 23.0
    channels = [
        np.clip(1 - 6 * np.abs(np.hypot(np.hypot(x - cx, y - cy), z - cz) - 0.08), 0, 1)
        for cx, cy, cz in ((0.35, 0.4, 0.4), (0.65, 0.5, 0.5), (0.5, 0.7, 0.6))
    ]
    alpha = np.maximum.reduce(channels)
    texels = (np.stack([*channels, alpha], axis=-1) * 255).astype(np.uint8)
    texture = ctx.texture3d((24, 24, 24), 4, texels.tobytes())
    texture.filter = ctx.LINEAR, ctx.LINEAR
    texture.repeat_x = texture.repeat_y = texture.repeat_z = False
    texture.use(0)
    _, screen = screen_filler(ctx, GLSL["fragment"], GLSL["vertex"])
    target = ctx.framebuffer([ctx.texture(size, 4)])
    target.use()
    target.clear()
    screen.render()
    yield capture("color", target)
