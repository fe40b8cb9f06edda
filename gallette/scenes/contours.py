"""Heights kept in a buffer of 32-bit floats, and the contour lines that need all their digits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gallette.scenes.common import Pass, capture, quad, scene, upload

VERTEX = """
#version 330
in vec2 position;
void main() {
    gl_Position = vec4(position, 0.0, 1.0);
}
"""
HEIGHTS = """
#version 330
out vec4 height;
void main() {
    vec2 at = gl_FragCoord.xy - vec2(96.0, 72.0);
    height = vec4(1000.0 + dot(at, at) * 0.0009765625);
}
"""
LINES = """
#version 330
uniform sampler2D heights;
out vec4 color;
void main() {
    float height = texelFetch(heights, ivec2(gl_FragCoord.xy), 0).x;
    float line = fract(height * 4.0);
    color = vec4(line, line * line, 0.25, 1.0);
}
"""


@scene("contours", lesson="half_precision", tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A pass writes heights of about 1000, the next draws lines a quarter apart."""
    kept = ctx.texture(size, 4, dtype="f4")
    kept.filter = ctx.NEAREST, ctx.NEAREST
    target = ctx.framebuffer([kept])
    target.use()
    target.clear()
    upload(ctx, ctx.program(VERTEX, HEIGHTS), "2f", quad(), "position", ctx.TRIANGLE_STRIP).render()
    yield capture("heights", target)
    picture = ctx.framebuffer([ctx.texture(size, 4)])
    picture.use()
    picture.clear()
    kept.use(0)
    upload(ctx, ctx.program(VERTEX, LINES), "2f", quad(), "position", ctx.TRIANGLE_STRIP).render()
    yield capture("lines", picture)
