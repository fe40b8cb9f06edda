"""Values that wait: every pixel leaves a loop at another round, with what it computed before."""

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
out vec4 color;
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int limit = (at.x * 5 + at.y * 3) % 16;
    vec4 sum = vec4(0.0);
    vec4 light, shade;
    int round = 0;
    for (;;) {
        light = sum * 0.0625 + tint * float(round);
        shade = fract(sum + tint) * 0.25;
        if (round >= limit)
            break;
        sum += texelFetchOffset(image, ivec2(round, limit), 0, ivec2(2, 1));
        round++;
    }
    color = vec4(max(light.rgb, shade.rgb), 1.0 - light.a * shade.a);
}
"""


@scene("waiting_lanes", lesson="live_ranges")
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Pixels leave a loop one by one; a value from before the break is used after the loop."""
    program = ctx.program(VERTEX, FRAGMENT)
    texels = np.random.default_rng(4).integers(0, 256, (32, 32, 4), dtype=np.uint8)
    texture = ctx.texture((32, 32), 4, texels.tobytes())
    texture.filter = ctx.NEAREST, ctx.NEAREST
    texture.use(0)
    program["tint"].value = 0.03125, 0.015625, 0.0625, 0.0078125
    target = ctx.framebuffer([ctx.texture(size, 4)])
    target.use()
    target.clear()
    upload(ctx, program, "2f", quad(), "position", ctx.TRIANGLE_STRIP).render()
    yield capture("color", target)
