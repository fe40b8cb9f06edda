"""A geometry shader at work: flat facets, and a line along every facet's normal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gallette.scenes.common import (
    Pass,
    capture,
    gl_matrix,
    look_at,
    perspective,
    scene,
    sphere,
    upload,
)

VERTEX = """
#version 330
in vec3 position;
out vec3 p;
void main() {
    p = position;
    gl_Position = vec4(position, 1.0);
}
"""
FACETS = """
#version 330
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
uniform mat4 matrix;
in vec3 p[];
flat out vec3 normal;
void main() {
    vec3 across = cross(p[1] - p[0], p[2] - p[0]);
    if (dot(across, across) == 0.0)
        return;
    for (int i = 0; i < 3; i++) {
        gl_Position = matrix * vec4(p[i], 1.0);
        normal = normalize(across);
        EmitVertex();
    }
    EndPrimitive();
}
"""
FACET_COLOR = """
#version 330
flat in vec3 normal;
out vec4 color;
void main() {
    color = vec4(vec3(0.25 + 0.6 * max(dot(normal, vec3(0.36, 0.48, 0.8)), 0.0)), 1.0);
}
"""
SPIKES = """
#version 330
layout(triangles) in;
layout(line_strip, max_vertices = 2) out;
uniform mat4 matrix;
in vec3 p[];
flat out int id;
void main() {
    vec3 middle = (p[0] + p[1] + p[2]) * 0.333333;
    for (int i = 0; i < 2; i++) {
        gl_Position = matrix * vec4(middle * (1.0 + 0.25 * float(i)), 1.0);
        id = gl_PrimitiveIDIn;
        EmitVertex();
    }
}
"""
SPIKE_COLOR = """
#version 330
flat in int id;
out vec4 color;
void main() {
    color = vec4(float(id % 5) * 0.25, 0.8, 1.0 - float(id % 3) * 0.5, 1.0);
}
"""


@scene("normals", size=(192, 144), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A ball in flat facets, and a spike on each: triangles in, triangles or lines out."""
    matrix = gl_matrix(perspective(45, size[0] / size[1], 0.1, 10) @ look_at((1.2, 1.4, 2.6)))
    target = ctx.framebuffer([ctx.texture(size, 4)], ctx.depth_renderbuffer(size))
    target.use()
    target.clear()
    ctx.enable(ctx.DEPTH_TEST)
    for name, geometry, fragment in (
        ("facets", FACETS, FACET_COLOR),
        ("spikes", SPIKES, SPIKE_COLOR),
    ):
        program = ctx.program(VERTEX, fragment, geometry)
        program["matrix"].write(matrix)
        mesh = upload(ctx, program, "3f 3f 2f", sphere(12, 6), "position normal uv", ctx.TRIANGLES)
        mesh.render()
        yield capture(name, target)
