"""Heights kept in a buffer of 32-bit floats, and the contour lines that need all their digits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gallette.scenes.common import (
    Pass,
    capture,
    scene,
    screen_filler,
    shaders,
)

GLSL = shaders(__file__)


@scene("contours", lesson="half_precision", tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A pass writes heights of about 1000, the next draws lines a quarter apart."""
    kept = ctx.texture(size, 4, dtype="f4")
    kept.filter = ctx.NEAREST, ctx.NEAREST
    target = ctx.framebuffer([kept])
    target.use()
    target.clear()
    screen_filler(ctx, GLSL["heights"])[1].render()
    yield capture("heights", target)
    picture = ctx.framebuffer([ctx.texture(size, 4)])
    picture.use()
    picture.clear()
    kept.use(0)
    screen_filler(ctx, GLSL["lines"])[1].render()
    yield capture("lines", picture)
