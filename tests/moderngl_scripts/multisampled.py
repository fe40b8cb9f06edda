"""A multisampled framebuffer, resolved by a blit, and geometry shaders in front of it."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np

VERTEX = """#version 330
in vec2 in_vert;
void main() {
    gl_Position = vec4(in_vert, 0.0, 1.0);
}
"""
GEOMETRY = """#version 330
layout(points) in;
layout(triangle_strip, max_vertices = 3) out;
out vec3 tint;
void main() {
    vec2 at = gl_in[0].gl_Position.xy;
    for (int i = 0; i < 3; i++) {
        tint = vec3(i == 0, i == 1, 0.5);
        gl_Position = vec4(at + vec2(0.4 * float(i) - 0.4, i == 1 ? 0.5 : -0.1), 0.0, 1.0);
        EmitVertex();
    }
    EndPrimitive();
}
"""
FRAGMENT = """#version 330
in vec3 tint;
out vec4 f_color;
void main() {
    f_color = vec4(tint, 1.0);
}
"""
PLAIN = """#version 330
out vec4 f_color;
void main() {
    f_color = vec4(1.0, 0.6, 0.2, 1.0);
}
"""


def render(ctx: moderngl.Context) -> dict[str, Any]:
    size = (64, 48)
    triangle = ctx.buffer(np.array([-0.9, -0.8, 0.8, -0.3, -0.1, 0.9], np.float32))
    samples = ctx.framebuffer(
        [ctx.renderbuffer(size, 4, samples=4)], ctx.depth_renderbuffer(size, samples=4)
    )
    resolved = ctx.simple_framebuffer(size)
    plain = ctx.program(vertex_shader=VERTEX, fragment_shader=PLAIN)
    samples.use()
    samples.clear()
    ctx.vertex_array(plain, [(triangle, "2f", "in_vert")]).render(moderngl.TRIANGLES)
    ctx.copy_framebuffer(resolved, samples)
    images = {"edges": np.frombuffer(resolved.read(components=4), np.uint8).reshape(48, 64, 4)}
    made = ctx.program(vertex_shader=VERTEX, geometry_shader=GEOMETRY, fragment_shader=FRAGMENT)
    resolved.use()
    resolved.clear()
    ctx.vertex_array(made, [(triangle, "2f", "in_vert")]).render(moderngl.POINTS)
    images["geometry"] = np.frombuffer(resolved.read(components=4), np.uint8).reshape(48, 64, 4)
    return images
