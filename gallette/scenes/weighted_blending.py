"""Transparency without sorting: weighted sums, and what is left of the ground, in two targets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import Pass, capture, raw, scene, screen_filler, upload

VERTEX = """
#version 330
in vec3 position;
in vec4 tint;
out vec4 paint;
out float z;
void main() { gl_Position = vec4(position, 1.0); paint = tint; z = position.z; }
"""
FRAGMENT = """
#version 330
in vec4 paint;
in float z;
layout(location = 0) out vec4 sum;
layout(location = 1) out vec4 left;
void main() {
    float weight = paint.a * (1.5 - z);
    sum = vec4(paint.rgb * paint.a, paint.a) * weight;
    left = vec4(paint.a);
}
"""
COMPOSE = """
#version 330
uniform sampler2D sums;
uniform sampler2D rests;
out vec4 color;
void main() {
    vec4 sum = texelFetch(sums, ivec2(gl_FragCoord.xy), 0);
    float rest = texelFetch(rests, ivec2(gl_FragCoord.xy), 0).r;
    vec3 ground = vec3(0.1, 0.1, 0.15);
    color = vec4(mix(sum.rgb / max(sum.a, 1.0 / 4096.0), ground, rest), 1.0);
}
"""
BLEND, ZERO, ONE, ONE_MINUS_SRC = 0x0BE2, 0, 1, 0x0301


def _panes() -> np.ndarray[Any, Any]:
    rows = []
    for i in range(7):
        x, y, z = -0.7 + 0.2 * i, -0.5 + 0.125 * (i * 5 % 8), 0.75 - 0.25 * i
        tint = (i * 3 % 7 / 7, i * 5 % 7 / 7, i / 7, 0.25 + 0.0625 * i)
        for dx, dy in ((0, 0), (0.6, 0), (0, 0.7), (0, 0.7), (0.6, 0), (0.6, 0.7)):
            rows.append((x + dx, y + dy, z / 2, *tint))
    return np.array(rows, np.float32)


@scene("weighted_blending", size=(160, 120), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Seven panes in no order: two float targets, each blended its own way, then put together."""
    gl = raw(ctx)
    program = ctx.program(VERTEX, FRAGMENT)
    panes = upload(ctx, program, "3f 4f", _panes(), "position tint")
    sums, rests = ctx.texture(size, 4, dtype="f4"), ctx.texture(size, 4, dtype="f4")
    layers = ctx.framebuffer([sums, rests])
    layers.use()
    gl.clear_bufferfv(0x1800, 0, [0.0, 0.0, 0.0, 0.0])
    gl.clear_bufferfv(0x1800, 1, [1.0, 1.0, 1.0, 1.0])
    gl.enable(BLEND)
    gl.blend_funci(0, ONE, ONE)
    gl.blend_funci(1, ZERO, ONE_MINUS_SRC)
    panes.render()
    yield capture("weighted sums", layers)
    yield capture("what is left", layers, attachment=1)
    gl.disable(BLEND)
    compose, screen = screen_filler(ctx, COMPOSE)
    compose["sums"].value, compose["rests"].value = 0, 1
    sums.use(0)
    rests.use(1)
    target = ctx.framebuffer([ctx.texture(size, 4)])
    target.use()
    screen.render()
    yield capture("together", target)
