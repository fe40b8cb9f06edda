"""Water: the world above and the world below it, each cut off at the surface by a clip distance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import (
    Pass,
    capture,
    gl_matrix,
    look_at,
    perspective,
    plane,
    scene,
    torus,
    upload,
)

VERTEX = """
#version 330
in vec3 position;
in vec3 normal;
uniform mat4 matrix;
uniform vec4 keep;
out vec3 n;
out float gl_ClipDistance[1];
void main() {
    gl_Position = matrix * vec4(position, 1.0);
    gl_ClipDistance[0] = dot(keep, vec4(position, 1.0));
    n = normal;
}
"""
FRAGMENT = """
#version 330
in vec3 n;
uniform vec3 tint;
out vec4 color;
void main() { color = vec4(tint * (0.55 + 0.45 * n.y), 1.0); }
"""
SURFACE = """
#version 330
in vec3 n;
uniform sampler2D above;
uniform sampler2D below;
out vec4 color;
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    ivec2 wave = ivec2((at.x / 6 + at.y / 3) % 3 - 1, (at.y / 4) % 3 - 1);
    ivec2 top = textureSize(above, 0) - 1;
    vec3 reflected = texelFetch(above, clamp(at + wave, ivec2(0), top), 0).rgb;
    vec3 seen = texelFetch(below, clamp(at - wave, ivec2(0), top), 0).rgb;
    color = vec4(mix(seen * vec3(0.5, 0.7, 0.8), reflected, 0.375), 1.0);
}
"""


@scene("water", size=(160, 120), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A ring half under water: its reflection and what is below in textures, both rippled."""
    program = ctx.program(VERTEX, FRAGMENT)
    surface = ctx.program(VERTEX, SURFACE)
    view = perspective(45, size[0] / size[1], 0.1, 20) @ look_at((0.8, 1.4, 3.2))
    upright = torus(24, 12)
    upright[:, [1, 2]] = upright[:, [2, 1]]
    upright[:, [4, 5]] = upright[:, [5, 4]]
    ring = upload(ctx, program, "3f 3f 2f", upright, "position normal uv")
    floor = upload(ctx, program, "3f 3f 2f", plane(2.0, -1.0), "position normal uv")
    sea = upload(ctx, surface, "3f 3f 2f", plane(2.0, 0.0), "position normal uv")
    ctx.enable(ctx.DEPTH_TEST)
    ctx.enable_direct(0x3000)

    def world(name: str, matrix: Any, keep: tuple[float, ...]) -> tuple[Any, Pass]:
        target = ctx.framebuffer([ctx.texture(size, 4)], ctx.depth_renderbuffer(size))
        target.use()
        target.clear(0.5, 0.6, 0.7, 0.0)
        program["matrix"].write(gl_matrix(matrix))
        program["keep"].value = keep
        program["tint"].value = (0.9, 0.6, 0.3)
        ring.render()
        program["tint"].value = (0.4, 0.5, 0.3)
        floor.render()
        return target, capture(name, target)

    mirror = np.diag([1.0, -1.0, 1.0, 1.0])
    above, picture = world("reflected", view @ mirror, (0, 1, 0, 0))
    yield picture
    below, picture = world("under water", view, (0, -1, 0, 0.03125))
    yield picture
    target, _ = world("above water", view, (0, 1, 0, 0))
    ctx.disable_direct(0x3000)
    surface["matrix"].write(gl_matrix(view))
    surface["above"].value, surface["below"].value = 0, 1
    above.color_attachments[0].use(0)
    below.color_attachments[0].use(1)
    sea.render()
    yield capture("with its surface", target)
