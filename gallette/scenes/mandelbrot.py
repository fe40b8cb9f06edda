"""A loop every pixel leaves at another time: divergent control flow at its purest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gallette.scenes.common import Pass, capture, quad, scene, upload

VERTEX = """
#version 330
in vec2 position;
out vec2 c;
void main() {
    gl_Position = vec4(position, 0.0, 1.0);
    c = position * vec2(1.5, 1.15) - vec2(0.6, 0.0);
}
"""
FRAGMENT = """
#version 330
in vec2 c;
out vec4 color;
void main() {
    vec2 z = vec2(0.0);
    int rounds = 0;
    for (; rounds < 64; rounds++) {
        if (dot(z, z) > 4.0)
            break;
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
    }
    float t = float(rounds) / 64.0;
    color = vec4(t, t * t, sqrt(t), 1.0);
}
"""


@scene("mandelbrot")
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """The Mandelbrot set, 64 rounds at most. Rounding decides single pixels at its border."""
    program = ctx.program(VERTEX, FRAGMENT)
    target = ctx.framebuffer([ctx.texture(size, 4)])
    target.use()
    target.clear()
    upload(ctx, program, "2f", quad(), "position", ctx.TRIANGLE_STRIP).render()
    yield capture("color", target)
