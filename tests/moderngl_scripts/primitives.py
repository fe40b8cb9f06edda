"""Every primitive type of the core profile, with restart indices and point sizes."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np

VERTEX = """#version 330
in vec2 in_vert;
void main() {
    gl_Position = vec4(in_vert, 0.0, 1.0);
    gl_PointSize = 5.0;
}
"""
FRAGMENT = """#version 330
out vec4 f_color;
void main() {
    f_color = vec4(1.0, 0.5, 0.25, 1.0);
}
"""
MODES = (
    "POINTS",
    "LINES",
    "LINE_STRIP",
    "LINE_LOOP",
    "TRIANGLES",
    "TRIANGLE_STRIP",
    "TRIANGLE_FAN",
)


def render(ctx: moderngl.Context) -> dict[str, Any]:
    program = ctx.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
    angles = np.linspace(0.3, 5.9, 9)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1) * np.linspace(0.4, 0.9, 9)[:, None]
    vbo = ctx.buffer(ring.astype(np.float32))
    ctx.enable(moderngl.PROGRAM_POINT_SIZE)
    images = {}
    fbo = ctx.simple_framebuffer((72, 72))
    fbo.use()
    for name in MODES:
        fbo.clear()
        ctx.vertex_array(program, [(vbo, "2f", "in_vert")]).render(getattr(moderngl, name))
        images[name] = np.frombuffer(fbo.read(components=4), np.uint8).reshape(72, 72, 4)
    indices = ctx.buffer(np.array([0, 2, 4, 0xFFFFFFFF, 5, 7, 8, 6], np.uint32))
    fbo.clear()
    vao = ctx.vertex_array(program, [(vbo, "2f", "in_vert")], index_buffer=indices)
    vao.render(moderngl.TRIANGLE_STRIP)
    images["restart"] = np.frombuffer(fbo.read(components=4), np.uint8).reshape(72, 72, 4)
    return images
