"""Geometry shaders: points to quads, adjacency, several strips per primitive, primitive numbers."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np

SIZE = 96

VERTEX = """#version 330
in vec2 position;
in vec3 tint;
out vec3 vertex_tint;
void main() {
    vertex_tint = tint;
    gl_Position = vec4(position, 0.0, 1.0);
}
"""
FRAGMENT = """#version 330
in vec3 color;
flat in int number;
out vec4 result;
void main() {
    result = vec4(color, float(number % 8) / 8.0);
}
"""
QUADS = """#version 330
layout(points) in;
layout(triangle_strip, max_vertices = 8) out;
in vec3 vertex_tint[];
out vec3 color;
flat out int number;
void corner(vec2 at, vec3 tint) {
    color = tint;
    number = gl_PrimitiveIDIn;
    gl_Position = gl_in[0].gl_Position + vec4(at, 0.0, 0.0);
    EmitVertex();
}
void main() {
    int strips = 1 + gl_PrimitiveIDIn % 2;
    for (int i = 0; i < strips; i++) {
        vec2 shift = vec2(0.0, 0.3 * float(i));
        corner(shift + vec2(-0.09, -0.07), vertex_tint[0]);
        corner(shift + vec2(0.09, -0.07), vertex_tint[0]);
        corner(shift + vec2(-0.09, 0.07), vec3(1.0) - vertex_tint[0]);
        corner(shift + vec2(0.09, 0.07), vec3(0.0));
        EndPrimitive();
    }
}
"""
NEIGHBOURS = """#version 330
layout(%s) in;
layout(%s, max_vertices = %d) out;
in vec3 vertex_tint[];
out vec3 color;
flat out int number;
void main() {
    vec3 all_of_them = vec3(0.0);
    for (int i = 0; i < %d; i++)
        all_of_them += vertex_tint[i] * float(i + 1) / %d.0;
    for (int i = 0; i < %d; i++) {
        int k = i * %d + %d;
        color = all_of_them * (0.5 + 0.25 * float(i));
        number = gl_PrimitiveIDIn;
        gl_Position = gl_in[k].gl_Position;
        EmitVertex();
    }
}
"""
KINDS = {
    "triangles": ("triangles", "triangle_strip", 3, 3, 8, 3, 1, 0),
    "triangles adjacency": ("triangles_adjacency", "triangle_strip", 3, 6, 24, 3, 2, 0),
    "lines": ("lines", "line_strip", 2, 2, 3, 2, 1, 0),
    "lines adjacency": ("lines_adjacency", "line_strip", 2, 4, 12, 2, 1, 1),
}
MODES = {
    "triangles": [moderngl.TRIANGLES, moderngl.TRIANGLE_STRIP, moderngl.TRIANGLE_FAN],
    "triangles adjacency": [moderngl.TRIANGLES_ADJACENCY, moderngl.TRIANGLE_STRIP_ADJACENCY],
    "lines": [moderngl.LINES, moderngl.LINE_STRIP, moderngl.LINE_LOOP],
    "lines adjacency": [moderngl.LINES_ADJACENCY, moderngl.LINE_STRIP_ADJACENCY],
}


def render(ctx: moderngl.Context) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    fbo = ctx.simple_framebuffer((SIZE, SIZE))
    fbo.use()
    ctx.enable_only(moderngl.NOTHING)
    images: dict[str, Any] = {}

    def draw(name: str, geometry: str, mode: int, count: int) -> None:
        program = ctx.program(
            vertex_shader=VERTEX, geometry_shader=geometry, fragment_shader=FRAGMENT
        )
        data = np.empty((count, 5), np.float32)
        data[:, :2] = rng.uniform(-0.9, 0.9, (count, 2))
        data[:, 2:] = rng.uniform(0.0, 1.0, (count, 3))
        array = ctx.vertex_array(program, [(ctx.buffer(data), "2f 3f", "position", "tint")])
        fbo.clear(0.1, 0.1, 0.2, 0.0)
        array.render(mode)
        pixels = np.frombuffer(fbo.read(components=4), np.uint8)
        images[name] = pixels.reshape(SIZE, SIZE, 4)

    draw("points to quads", QUADS, moderngl.POINTS, 13)
    for kind, values in KINDS.items():
        for mode in MODES[kind]:
            draw(f"{kind} {mode}", NEIGHBOURS % values, mode, 12)
    return images
