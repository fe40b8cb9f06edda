"""Outlines of clipped triangles, and points of every size the shader cares to write."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np

OUTLINE = """#version 330
in vec3 at;
void main() { gl_Position = vec4(at, 1.0 + at.z * 0.3); }
"""
WHITE = """#version 330
out vec4 color;
void main() { color = vec4(1.0); }
"""
POINT = """#version 330
in vec2 at;
void main() {
    gl_PointSize = 3.0 + at.x * 4.0;  // from less than nothing to seven pixels
    gl_Position = vec4(at, 0.0, 1.0);
}
"""
COORDINATE = """#version 330
out vec4 color;
void main() { color = vec4(gl_PointCoord, 1.0, 1.0); }
"""


def render(ctx: moderngl.Context) -> dict[str, Any]:
    random = np.random.default_rng(9)
    target = ctx.simple_framebuffer((96, 96))
    target.use()
    images = {}
    for provoking in (moderngl.LAST_VERTEX_CONVENTION, moderngl.FIRST_VERTEX_CONVENTION):
        ctx.provoking_vertex = provoking
        ctx.wireframe = True
        target.clear()
        corners = ctx.buffer(random.uniform(-1.6, 1.6, (45, 3)).astype("f4"))
        program = ctx.program(vertex_shader=OUTLINE, fragment_shader=WHITE)
        ctx.vertex_array(program, [(corners, "3f", "at")]).render()
        ctx.wireframe = False
        images[f"wireframe {provoking:#x}"] = pixels(target)
    target.clear()
    ctx.enable(moderngl.PROGRAM_POINT_SIZE)
    places = ctx.buffer(random.uniform(-1, 1, (80, 2)).astype("f4"))
    program = ctx.program(vertex_shader=POINT, fragment_shader=COORDINATE)
    ctx.vertex_array(program, [(places, "2f", "at")]).render(moderngl.POINTS)
    ctx.disable(moderngl.PROGRAM_POINT_SIZE)
    images["points"] = pixels(target)
    return images


def pixels(target: moderngl.Framebuffer) -> Any:
    return np.frombuffer(target.read(components=4), np.uint8).reshape(96, 96, 4)
