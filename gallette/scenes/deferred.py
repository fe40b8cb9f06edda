"""Deferred shading: geometry into several targets at once, light from them afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gallette.scenes.common import (
    Pass,
    capture,
    capture_depth,
    gl_matrix,
    look_at,
    perspective,
    quad,
    scene,
    sphere,
    torus,
    upload,
)

GEOMETRY_VERTEX = """
#version 330
in vec3 position;
in vec3 normal;
in vec2 uv;
uniform mat4 matrix;
out vec3 p;
out vec3 n;
out vec2 t;
void main() {
    gl_Position = matrix * vec4(position, 1.0);
    p = position;
    n = normal;
    t = uv;
}
"""
GEOMETRY_FRAGMENT = """
#version 330
in vec3 p;
in vec3 n;
in vec2 t;
layout(location = 0) out vec4 albedo;
layout(location = 1) out vec4 normals;
layout(location = 2) out vec4 positions;
void main() {
    float checks = mod(floor(t.x * 16.0) + floor(t.y * 8.0), 2.0);
    albedo = vec4(mix(vec3(0.9, 0.3, 0.2), vec3(0.9, 0.85, 0.7), checks), 1.0);
    normals = vec4(normalize(n), 1.0);
    positions = vec4(p, 1.0);
}
"""
LIGHT_VERTEX = """
#version 330
in vec2 position;
void main() {
    gl_Position = vec4(position, 0.0, 1.0);
}
"""
LIGHT_FRAGMENT = """
#version 330
uniform sampler2D albedo;
uniform sampler2D normals;
uniform sampler2D positions;
uniform vec3 lamps[3];
uniform vec3 colors[3];
out vec4 color;
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    vec4 a = texelFetch(albedo, at, 0);
    if (a.a == 0.0)
        discard;
    vec3 n = texelFetch(normals, at, 0).xyz;
    vec3 p = texelFetch(positions, at, 0).xyz;
    vec3 sum = vec3(0.05);
    for (int i = 0; i < 3; i++) {
        vec3 d = lamps[i] - p;
        sum += colors[i] * max(dot(n, normalize(d)), 0.0) / (0.3 + dot(d, d));
    }
    color = vec4(a.rgb * sum, 1.0);
}
"""


@scene("deferred", tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A ball in a ring, drawn into albedo, normal and position targets, then lit by three lamps."""
    program = ctx.program(GEOMETRY_VERTEX, GEOMETRY_FRAGMENT)
    matrix = perspective(45, size[0] / size[1], 0.1, 12) @ look_at((0.7, 1.6, 1.9))
    program["matrix"].write(gl_matrix(matrix))
    targets = [ctx.texture(size, 4), *(ctx.texture(size, 4, dtype="f4") for _ in range(2))]
    depth = ctx.depth_texture(size)
    geometry = ctx.framebuffer(targets, depth)
    geometry.use()
    geometry.clear()
    ctx.enable(ctx.DEPTH_TEST)
    names = "position normal uv"
    for mesh in (torus(48, 12), sphere(32, 16, 0.4)):
        upload(ctx, program, "3f 3f 2f", mesh, names, ctx.TRIANGLES).render()
    for index, name in enumerate(("albedo", "normals", "positions")):
        yield capture(name, geometry, attachment=index)
    yield capture_depth("depth", depth)

    light = ctx.program(LIGHT_VERTEX, LIGHT_FRAGMENT)
    for unit, (name, texture) in enumerate(
        zip(("albedo", "normals", "positions"), targets, strict=True)
    ):
        texture.filter = ctx.NEAREST, ctx.NEAREST
        texture.use(unit)
        light[name].value = unit
    light["lamps"].value = [(1.0, 1.0, 1.0), (-1.2, 0.8, 0.6), (0.0, 0.4, -1.0)]
    light["colors"].value = [(1.0, 0.9, 0.7), (0.2, 0.5, 1.0), (0.2, 0.9, 0.3)]
    ctx.disable(ctx.DEPTH_TEST)
    final = ctx.framebuffer([ctx.texture(size, 4)])
    final.use()
    final.clear()
    upload(ctx, light, "2f", quad(), "position", ctx.TRIANGLE_STRIP).render()
    yield capture("lit", final)
