"""Overlapping translucent quads, instanced, blended in order, inside a scissor rectangle."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np

VERTEX = """#version 330
in vec2 in_vert;
in vec4 in_offset_scale;
in vec4 in_color;
out vec4 color;
void main() {
    color = in_color;
    gl_Position = vec4(in_vert * in_offset_scale.zw + in_offset_scale.xy, 0.0, 1.0);
}
"""
FRAGMENT = """#version 330
in vec4 color;
out vec4 f_color;
void main() {
    f_color = color;
}
"""


def render(ctx: moderngl.Context) -> dict[str, Any]:
    program = ctx.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
    corners = ctx.buffer(np.array([-1, -1, 1, -1, -1, 1, 1, 1], np.float32))
    instances = np.array(
        [
            [-0.3, -0.3, 0.5, 0.5, 1.0, 0.0, 0.0, 0.5],
            [0.1, 0.1, 0.6, 0.3, 0.0, 1.0, 0.0, 0.4],
            [0.3, -0.2, 0.2, 0.7, 0.0, 0.0, 1.0, 0.7],
        ],
        np.float32,
    )
    vao = ctx.vertex_array(
        program,
        [
            (corners, "2f", "in_vert"),
            (ctx.buffer(instances), "4f 4f/i", "in_offset_scale", "in_color"),
        ],
    )
    fbo = ctx.simple_framebuffer((80, 80))
    fbo.use()
    fbo.clear(0.2, 0.2, 0.2, 1.0)
    ctx.enable(moderngl.BLEND)
    ctx.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
    fbo.scissor = 5, 5, 60, 70
    vao.render(moderngl.TRIANGLE_STRIP, instances=3)
    images = {"alpha": np.frombuffer(fbo.read(components=4), np.uint8).reshape(80, 80, 4)}
    ctx.blend_func = moderngl.ONE, moderngl.ONE
    ctx.blend_equation = moderngl.FUNC_REVERSE_SUBTRACT
    vao.render(moderngl.TRIANGLE_STRIP, instances=2)
    images["subtract"] = np.frombuffer(fbo.read(components=4), np.uint8).reshape(80, 80, 4)
    return images
