"""The smallest scene: one rectangle, colours interpolated across it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gallette.scenes.common import Pass, capture, scene, screen_filler, shaders

GLSL = shaders(__file__)


@scene("gradient")
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A rectangle with a colour gradient and rings: interpolation and one transcendental."""
    _, screen = screen_filler(ctx, GLSL["fragment"], GLSL["vertex"])
    target = ctx.framebuffer([ctx.texture(size, 4)])
    target.use()
    target.clear()
    screen.render()
    yield capture("color", target)
