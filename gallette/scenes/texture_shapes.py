"""Textures of every shape moderngl does not make: 1D, arrays of 1D, arrays of cubes; and 3D."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import Pass, capture, raw, scene, screen_filler, shaders

GLSL = shaders(__file__)

ONE, ONE_ARRAY, CUBE_ARRAY, THREE = 0x0DE0, 0x8C18, 0x9009, 0x806F
RGBA8, RGBA, BYTES, NEAREST, LINEAR = 0x8058, 0x1908, 0x1401, 0x2600, 0x2601


def _colors(count: int) -> np.ndarray[Any, Any]:
    """Colours in a row, each unlike its neighbours."""
    i = np.arange(count)
    rgb = np.stack([i * 37 % 256, i * 91 % 256, i * 151 % 256, np.full(count, 255)], -1)
    return np.ascontiguousarray(rgb.astype(np.uint8))


@scene("texture_shapes", size=(120, 80), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A 1D texture, an array of four, two cubes in an array, and a block: a picture of each."""
    gl = raw(ctx)
    program, screen = screen_filler(ctx, GLSL["fragment"])
    names = gl.gen_textures(4)
    shapes = ((ONE, (8,)), (ONE_ARRAY, (8, 4)), (CUBE_ARRAY, (4, 4, 12)), (THREE, (4, 4, 4)))
    for unit, (name, (target, extent)) in enumerate(zip(names, shapes, strict=True)):
        gl.active_texture(0x84C0 + unit)
        gl.bind_texture(target, name)
        filling = LINEAR if target == ONE else NEAREST
        gl.tex_parameteri(target, 0x2801, filling)
        gl.tex_parameteri(target, 0x2800, filling)
        for wrap in (0x2802, 0x2803, 0x8072)[: 1 if target == ONE else 3]:
            gl.tex_parameteri(target, wrap, 0x812F)  # CLAMP_TO_EDGE
        data = _colors(int(np.prod(extent)))
        upload = (gl.tex_image1d, gl.tex_image2d, gl.tex_image3d)[len(extent) - 1]
        upload(target, 0, RGBA8, *extent, 0, RGBA, BYTES, data)
    program["scale"].value = 1 / size[0], 1 / size[1]
    picture = ctx.framebuffer([ctx.texture(size, 4)])
    picture.use()
    for number, name in enumerate(("1D", "1D array", "cube array", "3D")):
        program["which"].value = number
        screen.render()
        yield capture(name, picture)
    gl.delete_textures(4, names)
