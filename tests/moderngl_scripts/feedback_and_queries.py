"""Transform feedback, occlusion and primitive queries, scopes, buffer copies."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np

CAPTURE = """#version 330
in vec2 in_vert;
out vec2 doubled;
out float length_of;
void main() {
    doubled = in_vert * 2.0;
    length_of = dot(in_vert, in_vert);
}
"""
VERTEX = """#version 330
in vec2 in_vert;
void main() {
    gl_Position = vec4(in_vert, 0.0, 1.0);
}
"""
FRAGMENT = """#version 330
out vec4 f_color;
void main() {
    f_color = vec4(1.0);
}
"""


def render(ctx: moderngl.Context) -> dict[str, Any]:
    fbo = ctx.simple_framebuffer((40, 40))
    fbo.use()  # a surfaceless context draws nothing, captures nothing without one
    points = np.array([0.1, 0.2, -0.3, 0.4, 0.5, -0.6], np.float32)
    capture = ctx.program(vertex_shader=CAPTURE, varyings=["doubled", "length_of"])
    output = ctx.buffer(reserve=36)
    source = ctx.buffer(points)
    ctx.vertex_array(capture, [(source, "2f", "in_vert")]).transform(output, moderngl.POINTS)
    program = ctx.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
    scope = ctx.scope(fbo, moderngl.DEPTH_TEST)
    query = ctx.query(samples=True, primitives=True)
    vao = ctx.vertex_array(program, [(source, "2f", "in_vert")])
    with scope, query:
        fbo.clear()
        vao.render(moderngl.TRIANGLES)
    copied = ctx.buffer(reserve=24)
    ctx.copy_buffer(copied, source)
    return {
        "captured": np.frombuffer(output.read(), np.float32).reshape(1, 3, 3),
        "image": np.frombuffer(fbo.read(components=4), np.uint8).reshape(40, 40, 4),
        "counts": np.array([[[query.samples, query.primitives]]], np.uint32),
        "copied": np.frombuffer(copied.read(), np.float32).reshape(1, 3, 2),
    }
