"""Filters and wraps: a floor seen at a shallow angle, so that every mipmap level shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import Pass, capture, gl_matrix, look_at, perspective, scene, upload

VERTEX = """
#version 330
in vec3 position;
in vec2 coordinate;
uniform mat4 matrix;
out vec2 uv;
void main() {
    gl_Position = matrix * vec4(position, 1.0);
    uv = coordinate;
}
"""
FRAGMENT = """
#version 330
uniform sampler2D image;
in vec2 uv;
out vec4 color;
void main() {
    color = vec4(texture(image, uv).rgb, 1.0);
}
"""


def _image(size: int) -> bytes:
    y, x = np.mgrid[0:size, 0:size]
    checks = ((x // 8 + y // 8) % 2) * 160 + 60
    pixels = np.stack([checks, (x * 255) // (size - 1), (y * 255) // (size - 1), checks * 0 + 255])
    return pixels.transpose(1, 2, 0).astype(np.uint8).tobytes()


@scene("textured_quads", tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """One floor under four texture filters, from nearest to trilinear, with mipmaps."""
    program = ctx.program(VERTEX, FRAGMENT)
    matrix = perspective(50, size[0] / size[1], 0.1, 50) @ look_at((0, 0.8, 0), (0, 0.3, -2))
    program["matrix"].write(gl_matrix(matrix))
    corners = [(-3, 0, -0.5, 0, 0), (3, 0, -0.5, 4, 0), (-9, 0, -14, 0, 9), (9, 0, -14, 4, 9)]
    floor = upload(
        ctx,
        program,
        "3f 2f",
        np.array(corners, np.float32),
        "position coordinate",
        ctx.TRIANGLE_STRIP,
    )
    image = ctx.texture((64, 64), 4, _image(64))
    image.build_mipmaps()
    image.use(0)
    target = ctx.framebuffer([ctx.texture(size, 4)])
    target.use()
    for name, filters in (
        ("nearest", (ctx.NEAREST, ctx.NEAREST)),
        ("linear", (ctx.LINEAR, ctx.LINEAR)),
        ("nearest mipmap", (ctx.NEAREST_MIPMAP_NEAREST, ctx.NEAREST)),
        ("trilinear", (ctx.LINEAR_MIPMAP_LINEAR, ctx.LINEAR)),
    ):
        image.filter = filters
        target.clear()
        floor.render()
        yield capture(name, target)
