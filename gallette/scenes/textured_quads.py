"""Texture filters: a floor at a shallow angle, and tiles whose level of detail is exact.

How an implementation finds the level of detail between exact cases is its own business, within
limits; so the mipmap passes use sizes and levels about which no two can disagree.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import (
    Array,
    Pass,
    capture,
    gl_matrix,
    look_at,
    perspective,
    scene,
    shaders,
    upload,
)

GLSL = shaders(__file__)


def _image(size: int) -> bytes:
    y, x = np.mgrid[0:size, 0:size]
    checks = ((x // 8 + y // 8) % 2) * 160 + 60
    wave = (127.5 + 127.5 * np.cos(2 * np.pi * x / size)).astype(int)
    pixels = np.stack([checks, wave, (y * 255) // (size - 1), checks * 0 + 255])
    return pixels.transpose(1, 2, 0).astype(np.uint8).tobytes()


def _tiles(size: tuple[int, int]) -> Array:
    """Twelve tiles of 48 x 48 pixels: tile k shows 2^(k % 4) texels per pixel, level k / 3."""
    rows = []
    for k in range(12):
        x, y = k % 4 * 60 + 8, k // 4 * 60 + 8
        extent = 48 / 64 * 2 ** (k % 4)
        for cx, cy in ((0, 0), (1, 0), (0, 1), (0, 1), (1, 0), (1, 1)):
            px, py = (x + 48 * cx) / size[0] * 2 - 1, (y + 48 * cy) / size[1] * 2 - 1
            rows.append((px, py, 0, cx * extent, cy * extent, k / 3))
    return np.array(rows, np.float32)


@scene("textured_quads", tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A floor without mipmaps, nearest and linear; tiles on exact levels, and between levels."""
    program = ctx.program(GLSL["vertex"], GLSL["fragment"])
    view = perspective(50, size[0] / size[1], 0.1, 50) @ look_at((0, 0.8, 0), (0, 0.3, -2))
    ground = [(-9, 0, -0.5, 0, 0, 0), (9, 0, -0.5, 9, 0, 0), (-9, 0, -14, 0, 7, 0)]
    ground += [(9, 0, -14, 9, 7, 0)]
    names, layout = "position coordinate level", "3f 2f 1f"
    corners = np.array(ground, np.float32)
    floor = upload(ctx, program, layout, corners, names, ctx.TRIANGLE_STRIP)
    tiles = upload(ctx, program, layout, _tiles(size), names, ctx.TRIANGLES)
    image = ctx.texture((64, 64), 4, _image(64))
    image.build_mipmaps()
    image.use(0)
    target = ctx.framebuffer([ctx.texture(size, 4)])
    target.use()
    for name, mesh, matrix, filters, lod in (
        ("nearest", floor, view, (ctx.NEAREST, ctx.NEAREST), False),
        ("linear", floor, view, (ctx.LINEAR, ctx.LINEAR), False),
        ("mipmap levels", tiles, np.eye(4), (ctx.NEAREST_MIPMAP_NEAREST, ctx.NEAREST), False),
        ("between levels", tiles, np.eye(4), (ctx.LINEAR_MIPMAP_LINEAR, ctx.LINEAR), True),
    ):
        image.filter = filters
        program["matrix"].write(gl_matrix(matrix))
        program["explicit_lod"].value = lod
        target.clear()
        mesh.render()
        yield capture(name, target)
