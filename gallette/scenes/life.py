"""Rounds of a cellular automaton: each pass reads what the last one wrote, exactly."""

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
uniform sampler2D cells;
out vec4 color;
void main() {
    ivec2 size = textureSize(cells, 0);
    ivec2 here = ivec2(gl_FragCoord.xy);
    int around = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            ivec2 at = (here + ivec2(dx, dy) + size) % size;
            around += int(texelFetch(cells, at, 0).r > 0.5);
        }
    vec4 was = texelFetch(cells, here, 0);
    int self = int(was.r > 0.5);
    bool alive = around - self == 3 || (self == 1 && around - self == 2);
    // Green remembers for how long a cell has been dead.
    color = vec4(alive, alive ? 1.0 : max(was.g - 0.125, 0.0), was.b * 0.5, 1.0);
}
"""


@scene("life", size=(96, 64), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Conway's Life on a torus, sixteen generations by ping-pong; nothing may differ at all."""
    width, height = size
    y, x = np.mgrid[0:height, 0:width]
    alive = ((x * x * 3 + y * y * 7 + x * y) % 11 < 4).astype(np.uint8) * 255
    start = np.stack([alive, alive, alive, np.full_like(alive, 255)], axis=-1)
    textures = [ctx.texture(size, 4, start.tobytes()), ctx.texture(size, 4)]
    for texture in textures:
        texture.filter = ctx.NEAREST, ctx.NEAREST
    targets = [ctx.framebuffer([t]) for t in textures]
    program = ctx.program(VERTEX, FRAGMENT)
    array = upload(ctx, program, "2f", quad(), "position", ctx.TRIANGLE_STRIP)
    for generation in range(16):
        textures[generation % 2].use(0)
        target = targets[1 - generation % 2]
        target.use()
        array.render()
        if generation in (0, 3, 15):
            yield capture(f"generation {generation + 1}", target)
