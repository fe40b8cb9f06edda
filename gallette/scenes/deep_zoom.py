"""The Mandelbrot set deeper than floats can see: the same place in 32 and in 64 bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gallette.scenes.common import Pass, capture, scene, screen_filler, shaders

GLSL = shaders(__file__)


@scene("deep_zoom", size=(48, 36))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A step of 2^-30 between pixels: in doubles it is a picture, in floats it is blocks."""
    target = ctx.framebuffer([ctx.texture(size, 4)])
    target.use()
    for name, kind in (("doubles", "double"), ("floats", "float")):
        program, screen = screen_filler(ctx, GLSL["fragment"].replace("REAL", kind))
        program["half_size"].value = size[0] / 2, size[1] / 2
        screen.render()
        yield capture(name, target)
