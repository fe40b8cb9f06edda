"""Dual-source blending: the second colour says, channel by channel, how much ground shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gallette.scenes.common import Pass, capture, raw, scene, screen_filler

GROUND = """
#version 330
out vec4 color;
void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy) / 12;
    color = ((cell.x + cell.y) & 1) == 0 ? vec4(0.9, 0.9, 0.8, 1.0) : vec4(0.2, 0.3, 0.4, 1.0);
}
"""
GLASS = """
#version 330
layout(location = 0, index = 0) out vec4 own;
layout(location = 0, index = 1) out vec4 through;
uniform vec2 scale;
void main() {
    vec2 at = gl_FragCoord.xy * scale;
    own = vec4(0.0625, 0.0, 0.03125, 0.0);
    through = vec4(at.x, at.y, 1.0 - at.x, 1.0);
}
"""
BLEND, ONE, SRC1_COLOR, ONE_MINUS_SRC1_COLOR = 0x0BE2, 1, 0x88F9, 0x88FA


@scene("dual_source", size=(128, 96), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Coloured glass over a chequered floor: each channel of the ground dimmed by its own."""
    gl = raw(ctx)
    target = ctx.framebuffer([ctx.texture(size, 4)])
    target.use()
    _, floor = screen_filler(ctx, GROUND)
    glass, pane = screen_filler(ctx, GLASS)
    glass["scale"].value = 1 / size[0], 1 / size[1]
    for name, factor in (("dimmed", SRC1_COLOR), ("the other way round", ONE_MINUS_SRC1_COLOR)):
        gl.disable(BLEND)
        floor.render()
        gl.enable(BLEND)
        gl.blend_func(ONE, factor)
        pane.render()
        yield capture(name, target)
    gl.disable(BLEND)
