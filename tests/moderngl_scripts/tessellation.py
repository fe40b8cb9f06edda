"""Tessellation: triangles, quads, isolines and points of several levels, displaced and coloured."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np

SIZE = 128

VERTEX = """#version 330
in vec2 position;
out vec2 corner;
void main() {
    corner = position;
}
"""
CONTROL = """#version 330
#extension GL_ARB_tessellation_shader : require
layout(vertices = %d) out;
in vec2 corner[];
out vec2 point[];
patch out float shade;
uniform vec4 outer;
uniform vec2 inner;
void main() {
    point[gl_InvocationID] = corner[gl_InvocationID];
    shade = float(gl_PrimitiveID) / 4.0;
    gl_TessLevelOuter[0] = outer.x;
    gl_TessLevelOuter[1] = outer.y;
    gl_TessLevelOuter[2] = outer.z;
    gl_TessLevelOuter[3] = outer.w;
    gl_TessLevelInner[0] = inner.x;
    gl_TessLevelInner[1] = inner.y;
}
"""
EVALUATION = """#version 330
#extension GL_ARB_tessellation_shader : require
layout(%s) in;
in vec2 point[];
patch in float shade;
out vec3 color;
void main() {
    vec3 t = gl_TessCoord;
    vec2 at = %s;
    at += 0.05 * vec2(sin(9.0 * at.y), cos(7.0 * at.x));
    color = %s;
    gl_Position = vec4(at, 0.0, 1.0);
    gl_PointSize = 3.0;
}
"""
FRAGMENT = """#version 330
in vec3 color;
out vec4 result;
void main() {
    result = vec4(color, 1.0);
}
"""
EXACT = "vec3(t.xy, shade)"
OUTLINE = "vec3(shade, 0.8, 0.3)"  # how an inside is divided is the implementation's choice
IN_TRIANGLE = "t.x * point[0] + t.y * point[1] + t.z * point[2]"
IN_QUAD = "mix(mix(point[0], point[1], t.x), mix(point[3], point[2], t.x), t.y)"
TRIANGLES = [(-0.9, -0.9), (0.8, -0.7), (-0.5, 0.9), (0.9, -0.4), (0.7, 0.9), (-0.2, 0.8)]
QUADS = [(-0.9, -0.8), (0.1, -0.9), (0.0, 0.7), (-0.8, 0.9),
         (0.2, -0.8), (0.9, -0.9), (0.9, 0.8), (0.15, 0.6)]  # fmt: skip
SCENES = {
    "one triangle": (EXACT, "triangles, ccw", IN_TRIANGLE, 3, (1, 1, 1, 1), (1, 1)),
    "triangles": (EXACT, "triangles, ccw", IN_TRIANGLE, 3, (4, 4, 4, 4), (4, 4)),
    "odd triangles": (OUTLINE, "triangles, ccw", IN_TRIANGLE, 3, (5, 5, 5, 5), (5, 5)),
    "uneven triangles": (OUTLINE, "triangles, ccw", IN_TRIANGLE, 3, (2, 7, 3, 1), (6, 1)),
    "one quad": (EXACT, "quads, ccw", IN_QUAD, 4, (1, 1, 1, 1), (1, 1)),
    "quads": (OUTLINE, "quads, ccw", IN_QUAD, 4, (6, 6, 6, 6), (6, 6)),
    "uneven quads": (OUTLINE, "quads, ccw", IN_QUAD, 4, (3, 6, 2, 5), (4, 7)),
    "culled quads": (EXACT, "quads, cw", IN_QUAD, 4, (3, 3, 3, 3), (3, 3)),
    "isolines": (EXACT, "isolines", IN_QUAD, 4, (5, 8, 1, 1), (1, 1)),
    "points": (EXACT, "quads, point_mode", IN_QUAD, 4, (4, 5, 3, 6), (5, 4)),
}


def render(ctx: moderngl.Context) -> dict[str, Any]:
    fbo = ctx.simple_framebuffer((SIZE, SIZE))
    fbo.use()
    images: dict[str, Any] = {}
    for name, (color, layout, place, corners, outer, inner) in SCENES.items():
        program = ctx.program(
            vertex_shader=VERTEX,
            tess_control_shader=CONTROL % corners,
            tess_evaluation_shader=EVALUATION % (layout, place, color),
            fragment_shader=FRAGMENT,
        )
        program["outer"].value = tuple(map(float, outer))
        program["inner"].value = tuple(map(float, inner))
        data = np.array(TRIANGLES if corners == 3 else QUADS, np.float32)
        array = ctx.vertex_array(program, [(ctx.buffer(data), "2f", "position")])
        ctx.patch_vertices = corners
        ctx.enable_only(moderngl.PROGRAM_POINT_SIZE)
        if name == "culled quads":
            ctx.enable(moderngl.CULL_FACE)
        fbo.clear(0.3, 0.1, 0.1, 0.0)
        array.render(moderngl.PATCHES)
        pixels = np.frombuffer(fbo.read(components=4), np.uint8)
        images[name] = pixels.reshape(SIZE, SIZE, 4)
    return images
