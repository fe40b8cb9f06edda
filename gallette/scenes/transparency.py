"""Blending in order: layers of glass, and additive sparks over them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import Pass, capture, scene, shaders

GLSL = shaders(__file__)


def _fans(count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Big overlapping triangles with smooth tints, in a fixed order."""
    k = np.arange(count)[:, None]
    angle = k * 2.4 + np.array([0.0, 2.1, 4.2])
    radius = 0.9 - 0.03 * k
    x, y = radius * np.cos(angle), radius * np.sin(angle)
    tint = np.stack(
        [0.5 + 0.5 * np.sin(k + angle), 0.5 + 0.5 * np.cos(k * 0.7 + x), (k % 3) / 2 + 0 * x], -1
    )
    alpha = np.full((count, 3, 1), 0.35)
    out: np.ndarray[tuple[int, ...], np.dtype[np.float32]] = np.concatenate(
        [x[..., None], y[..., None], tint, alpha], axis=-1
    ).astype(np.float32)
    return out


@scene("transparency", tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Six transparent triangles in one draw, then two of them added on top."""
    program = ctx.program(GLSL["vertex"], GLSL["fragment"])
    data = _fans(6)
    array = ctx.vertex_array(program, [(ctx.buffer(data.tobytes()), "2f 4f", "position", "tint")])
    target = ctx.framebuffer([ctx.texture(size, 4)])
    target.use()
    target.clear(0.1, 0.1, 0.15, 0.0)
    ctx.enable(ctx.BLEND)
    ctx.blend_func = ctx.SRC_ALPHA, ctx.ONE_MINUS_SRC_ALPHA, ctx.ONE, ctx.ONE_MINUS_SRC_ALPHA
    array.render(ctx.TRIANGLES)
    yield capture("source over", target)
    ctx.blend_func = ctx.SRC_ALPHA, ctx.ONE
    array.render(ctx.TRIANGLES, vertices=6)
    yield capture("added", target)
