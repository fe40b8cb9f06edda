"""Anisotropic filtering: how much a stretched texture is blurred, by the sampler's limit.

How wide such a filter is and how it keeps to a limit below what is needed is an implementation's
own affair, so nothing here depends on it: the limit is 1, or more than any stretching here. The
first texture has one colour per level; the other has lines along the direction of stretching, and
the picture shows only whether they can still be distinguished.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import Pass, capture, scene, screen_filler, shaders

GLSL = shaders(__file__)

TEXELS = 256
LIMITS = (1, 16)
STRETCHES = (1, 2, 4, 8)


@scene("anisotropic", size=(96, 96), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Left without, right with it; rows stretched once to eight times: levels, then lines."""
    target = ctx.framebuffer([ctx.texture(size, 4)])
    target.use()
    program, screen = screen_filler(ctx, GLSL["fragment"])
    sampler = ctx.sampler()
    sampler.filter = (ctx.LINEAR_MIPMAP_NEAREST, ctx.LINEAR)
    sampler.use(0)
    width, height = size[0] // len(LIMITS), size[1] // len(STRETCHES)
    for name, image in (("levels", _levels(ctx)), ("lines", _lines(ctx))):
        image.use(0)
        program["sharpened"].value = name == "lines"
        for column, limit in enumerate(LIMITS):
            sampler.anisotropy = float(limit)
            for row, stretch in enumerate(STRETCHES):
                ctx.viewport = (column * width, row * height, width, height)
                program["scale"].value = 1 / TEXELS, stretch / TEXELS
                screen.render()
        yield capture(name, target)
    sampler.clear(0)


def _levels(ctx: Any) -> Any:
    """A texture of one colour per level."""
    image = ctx.texture((TEXELS, TEXELS), 4)
    image.build_mipmaps()
    for level in range(9):
        side = TEXELS >> level
        color = np.array([255 - level * 50, level * 70, 40 + level * 60, 255]) & 255
        image.write(np.tile(color.astype(np.uint8), side * side).tobytes(), level=level)
    return image


def _lines(ctx: Any) -> Any:
    """Lines along the direction of stretching, four texels each: a blur makes them grey."""
    bright = np.where(np.arange(TEXELS) // 4 % 2, 230, 20).astype(np.uint8)
    texels = np.repeat(bright[None, :, None], TEXELS, axis=0)
    texels = np.concatenate([np.repeat(texels, 3, axis=2), np.full_like(texels, 255)], axis=2)
    image = ctx.texture((TEXELS, TEXELS), 4, texels.tobytes())
    image.build_mipmaps()
    return image
