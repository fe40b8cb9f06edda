"""Textures of every shape moderngl does not make: 1D, arrays of 1D, arrays of cubes; and 3D."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import Pass, capture, raw, scene, screen_filler

FRAGMENT = """
#version 420
layout(binding = 0) uniform sampler1D line;
layout(binding = 1) uniform sampler1DArray lines;
layout(binding = 2) uniform samplerCubeArray cubes;
layout(binding = 3) uniform sampler3D block;
uniform int which;
uniform vec2 scale;
out vec4 color;
void main() {
    vec2 at = gl_FragCoord.xy * scale;
    if (which == 0) color = texture(line, at.x);
    else if (which == 1) color = texture(lines, vec2(at.x, floor(at.y * 4.0)));
    else if (which == 2) {
        vec2 p = fract(at * vec2(3.0, 2.0)) * 2.0 - 1.0;
        ivec2 cell = ivec2(at * vec2(3.0, 2.0));
        vec3 direction = vec3(p, 1.0);
        if (cell.x < 2) direction = cell.x == 0 ? vec3(1.0, p) : vec3(p.x, 1.0, p.y);
        color = texture(cubes, vec4(cell.y == 0 ? direction : -direction, float(cell.y)));
    } else color = texture(block, vec3(at, at.x * 0.5 + at.y * 0.5));
    color.a = 1.0;
}
"""
ONE, ONE_ARRAY, CUBE_ARRAY, THREE = 0x0DE0, 0x8C18, 0x9009, 0x806F
RGBA8, RGBA, BYTES, NEAREST, LINEAR = 0x8058, 0x1908, 0x1401, 0x2600, 0x2601


def _colors(count: int) -> np.ndarray[Any, Any]:
    """So many colours in a row, each unlike its neighbours."""
    i = np.arange(count)
    rgb = np.stack([i * 37 % 256, i * 91 % 256, i * 151 % 256, np.full(count, 255)], -1)
    return np.ascontiguousarray(rgb.astype(np.uint8))


@scene("texture_shapes", size=(120, 80), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A 1D texture, an array of four, two cubes in an array, and a block: a picture of each."""
    gl = raw(ctx)
    program, screen = screen_filler(ctx, FRAGMENT)
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
