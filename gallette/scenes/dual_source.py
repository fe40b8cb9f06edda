"""Dual-source blending: the second colour says, channel by channel, how much ground shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gallette.scenes.common import Pass, capture, raw, scene, screen_filler, shaders

GLSL = shaders(__file__)

BLEND, ONE, SRC1_COLOR, ONE_MINUS_SRC1_COLOR = 0x0BE2, 1, 0x88F9, 0x88FA


@scene("dual_source", size=(128, 96), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Coloured glass over a chequered floor: each channel of the ground dimmed by its own."""
    gl = raw(ctx)
    target = ctx.framebuffer([ctx.texture(size, 4)])
    target.use()
    _, floor = screen_filler(ctx, GLSL["ground"])
    glass, pane = screen_filler(ctx, GLSL["glass"])
    glass["scale"].value = 1 / size[0], 1 / size[1]
    for name, factor in (("dimmed", SRC1_COLOR), ("the other way round", ONE_MINUS_SRC1_COLOR)):
        gl.disable(BLEND)
        floor.render()
        gl.enable(BLEND)
        gl.blend_func(ONE, factor)
        pane.render()
        yield capture(name, target)
    gl.disable(BLEND)
