"""Uniform buffers, uniform arrays and matrices of every shape, integer and boolean uniforms."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np

VERTEX = """#version 330
in vec2 in_vert;
uniform mat2 turn;
uniform vec2 offsets[4];
out float shade;
void main() {
    shade = float(gl_InstanceID) / 4.0;
    gl_Position = vec4(turn * in_vert * 0.3 + offsets[gl_InstanceID], 0.0, 1.0);
}
"""
FRAGMENT = """#version 330
in float shade;
layout(std140) uniform Material {
    vec3 base;
    float gain;
    vec4 steps[3];
};
uniform mat3x2 mix_matrix;
uniform ivec3 select;
uniform bool invert;
uniform uint mask;
out vec4 f_color;
void main() {
    vec3 c = base * gain + steps[select.y].rgb * shade;
    c.rg += mix_matrix * vec3(0.1, 0.2, 0.3);
    if (invert) c = 1.0 - c;
    if ((mask & 4u) != 0u) c.b *= 0.5;
    f_color = vec4(c, 1.0);
}
"""


def render(ctx: moderngl.Context) -> dict[str, Any]:
    program = ctx.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
    strip = ctx.buffer(np.array([-1, -1, 1, -1, -1, 1, 1, 1], np.float32))
    block = ctx.buffer(
        np.array([0.2, 0.3, 0.4, 1.5, *range(4), 0.5, 0.1, 0.9, 1, *range(4)], np.float32)
    )
    block.bind_to_uniform_block(3)
    program["Material"].binding = 3
    program["turn"].value = (0.8, 0.6, -0.6, 0.8)
    program["offsets"].value = [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)]
    program["mix_matrix"].value = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    program["select"].value = (0, 1, 2)
    program["invert"].value = True
    program["mask"].value = 6
    vao = ctx.vertex_array(program, [(strip, "2f", "in_vert")])
    fbo = ctx.simple_framebuffer((64, 64))
    fbo.use()
    fbo.clear(0.0, 0.0, 0.0, 1.0)
    vao.render(moderngl.TRIANGLE_STRIP, instances=4)
    return {"color": np.frombuffer(fbo.read(components=4), np.uint8).reshape(64, 64, 4)}
