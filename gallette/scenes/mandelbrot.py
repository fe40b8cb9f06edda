"""A loop every pixel leaves at another time: divergent control flow at its purest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gallette.scenes.common import Pass, capture, scene, screen_filler, shaders

GLSL = shaders(__file__)


@scene("mandelbrot")
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """The Mandelbrot set, 64 rounds at most. Rounding decides single pixels at its border."""
    _, screen = screen_filler(ctx, GLSL["fragment"], GLSL["vertex"])
    target = ctx.framebuffer([ctx.texture(size, 4)])
    target.use()
    target.clear()
    screen.render()
    yield capture("color", target)
