"""A texel that half of the pixels ask for and never look at, and what they compute meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import Pass, capture, quad, scene, upload

VERTEX = """
#version 330
in vec2 position;
void main() {
    gl_Position = vec4(position, 0.0, 1.0);
}
"""
FRAGMENT = """
#version 330
uniform sampler2D image;
uniform vec4 tint;
uniform int rounds;
out vec4 color;
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    vec4 texel = texelFetch(image, at & 31, 0);
    if (((at.x >> 4) + (at.y >> 4) & 1) == 0) {
        vec4 base = tint * float(at.x & 15);
        vec4 sum = tint.wzyx * float(at.y & 15);
        for (int i = 0; i < rounds; i++)
            sum = fract(sum * 1.5 + base);
        color = base + sum * 0.5;
    } else {
        color = texel;
    }
}
"""


@scene("late_texels", lesson="texture_scoreboard")
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Every other square ignores the texel it fetched."""
    program = ctx.program(VERTEX, FRAGMENT)
    texels = np.random.default_rng(9).integers(0, 256, (32, 32, 4), dtype=np.uint8)
    texture = ctx.texture((32, 32), 4, texels.tobytes())
    texture.filter = ctx.NEAREST, ctx.NEAREST
    texture.use(0)
    program["tint"].value = 0.03125, 0.015625, 0.0625, 0.0078125
    program["rounds"].value = 3
    target = ctx.framebuffer([ctx.texture(size, 4)])
    target.use()
    target.clear()
    upload(ctx, program, "2f", quad(), "position", ctx.TRIANGLE_STRIP).render()
    yield capture("color", target)
