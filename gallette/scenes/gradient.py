"""The smallest scene: one rectangle, colours interpolated across it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gallette.scenes.common import Pass, capture, quad, scene, upload

VERTEX = """
#version 330
in vec2 position;
out vec2 uv;
void main() {
    gl_Position = vec4(position * 0.9, 0.0, 1.0);
    uv = position * 0.5 + 0.5;
}
"""
FRAGMENT = """
#version 330
in vec2 uv;
out vec4 color;
void main() {
    color = vec4(uv, 0.5 + 0.5 * sin(12.0 * length(uv - 0.5)), 1.0);
}
"""


@scene("gradient")
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A rectangle with a colour gradient and rings: interpolation and one transcendental."""
    program = ctx.program(VERTEX, FRAGMENT)
    target = ctx.framebuffer([ctx.texture(size, 4)])
    target.use()
    target.clear()
    upload(ctx, program, "2f", quad(), "position", ctx.TRIANGLE_STRIP).render()
    yield capture("color", target)
