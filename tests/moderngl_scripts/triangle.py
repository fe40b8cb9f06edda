"""One triangle with interpolated colours."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np

VERTEX = """#version 330
in vec2 in_vert;
in vec3 in_color;
out vec3 v_color;
void main() {
    v_color = in_color;
    gl_Position = vec4(in_vert, 0.0, 1.0);
}
"""
FRAGMENT = """#version 330
in vec3 v_color;
out vec4 f_color;
void main() {
    f_color = vec4(v_color, 1.0);
}
"""


def render(ctx: moderngl.Context) -> dict[str, Any]:
    program = ctx.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
    data = np.array([0.0, 0.8, 1, 0, 0, -0.6, -0.8, 0, 1, 0, 0.6, -0.8, 0, 0, 1], np.float32)
    vao = ctx.vertex_array(program, [(ctx.buffer(data), "2f 3f", "in_vert", "in_color")])
    fbo = ctx.simple_framebuffer((128, 96))
    fbo.use()
    fbo.clear(0.1, 0.2, 0.3, 1.0)
    vao.render(moderngl.TRIANGLES)
    return {"color": np.frombuffer(fbo.read(components=4), np.uint8).reshape(96, 128, 4)}
