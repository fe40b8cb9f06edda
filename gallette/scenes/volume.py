"""A ray marched through a 3D texture: a loop with texture reads and an early way out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import Pass, capture, quad, scene, upload

VERTEX = """
#version 330
in vec2 position;
out vec2 p;
void main() {
    gl_Position = vec4(position, 0.0, 1.0);
    p = position;
}
"""
FRAGMENT = """
#version 330
uniform sampler3D density;
in vec2 p;
out vec4 color;
void main() {
    vec3 eye = vec3(p.x * 0.66 + 0.5, p.y * 0.5 + 0.5, -0.5);
    vec3 way = normalize(vec3(p * 0.3, 1.0));
    vec4 sum = vec4(0.0);
    for (int i = 0; i < 48; i++) {
        vec3 at = eye + way * (0.4 + float(i) / 32.0);
        if (any(lessThan(at, vec3(0.0))) || any(greaterThan(at, vec3(1.0))))
            continue;
        vec4 here = textureLod(density, at, 0.0);
        float alpha = here.a * 0.15;
        sum += (1.0 - sum.a) * alpha * vec4(here.rgb, 1.0);
        if (sum.a > 0.9)
            break;
    }
    color = vec4(sum.rgb, sum.a > 0.0 ? 1.0 : 0.0);
}
"""


@scene("volume", size=(192, 144))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Three soft blobs in a 3D texture, composited front to back along every ray."""
    z, y, x = np.mgrid[0:24, 0:24, 0:24] / 23.0
    channels = [
        np.clip(1 - 6 * np.abs(np.hypot(np.hypot(x - cx, y - cy), z - cz) - 0.08), 0, 1)
        for cx, cy, cz in ((0.35, 0.4, 0.4), (0.65, 0.5, 0.5), (0.5, 0.7, 0.6))
    ]
    alpha = np.maximum.reduce(channels)
    texels = (np.stack([*channels, alpha], axis=-1) * 255).astype(np.uint8)
    texture = ctx.texture3d((24, 24, 24), 4, texels.tobytes())
    texture.filter = ctx.LINEAR, ctx.LINEAR
    texture.repeat_x = texture.repeat_y = texture.repeat_z = False
    texture.use(0)
    program = ctx.program(VERTEX, FRAGMENT)
    target = ctx.framebuffer([ctx.texture(size, 4)])
    target.use()
    target.clear()
    upload(ctx, program, "2f", quad(), "position", ctx.TRIANGLE_STRIP).render()
    yield capture("color", target)
