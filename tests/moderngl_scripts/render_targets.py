"""Several render targets of different formats, then a second pass that reads them."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np

VERTEX = """#version 330
in vec2 in_vert;
out vec2 uv;
void main() {
    uv = in_vert * 0.5 + 0.5;
    gl_Position = vec4(in_vert, 0.0, 1.0);
}
"""
WRITE = """#version 330
in vec2 uv;
layout(location = 0) out vec4 color;
layout(location = 1) out vec2 half_floats;
layout(location = 2) out uvec4 integers;
void main() {
    color = vec4(uv, 0.25, 1.0);
    half_floats = uv * 4.0 - 2.0;
    integers = uvec4(uv * 100.0, 7u, 9u);
}
"""
READ = """#version 330
in vec2 uv;
uniform sampler2D colors;
uniform sampler2D floats;
uniform usampler2D integers;
out vec4 result;
void main() {
    uvec4 i = texture(integers, uv);
    vec2 f = texture(floats, uv.yx).xy * 0.1;
    result = texture(colors, uv) * 0.5 + vec4(f, float(i.x) / 200.0, 0.5);
}
"""


def render(ctx: moderngl.Context) -> dict[str, Any]:
    size = (48, 32)
    strip = ctx.buffer(np.array([-1, -1, 1, -1, -1, 1, 1, 1], np.float32))
    color = ctx.texture(size, 4)
    floats = ctx.texture(size, 2, dtype="f2")
    integers = ctx.texture(size, 4, dtype="u4")
    integers.filter = floats.filter = color.filter = (moderngl.NEAREST, moderngl.NEAREST)
    first = ctx.framebuffer([color, floats, integers])
    write = ctx.program(vertex_shader=VERTEX, fragment_shader=WRITE)
    first.use()
    ctx.vertex_array(write, [(strip, "2f", "in_vert")]).render(moderngl.TRIANGLE_STRIP)
    read = ctx.program(vertex_shader=VERTEX, fragment_shader=READ)
    read["colors"], read["floats"], read["integers"] = 0, 1, 2
    color.use(0)
    floats.use(1)
    integers.use(2)
    second = ctx.simple_framebuffer(size)
    second.use()
    second.clear()
    ctx.vertex_array(read, [(strip, "2f", "in_vert")]).render(moderngl.TRIANGLE_STRIP)
    return {
        "color": np.frombuffer(color.read(), np.uint8).reshape(32, 48, 4),
        "floats": np.frombuffer(floats.read(), np.float16).reshape(32, 48, 2).astype(np.float32),
        "integers": np.frombuffer(integers.read(), np.uint32).reshape(32, 48, 4),
        "second": np.frombuffer(second.read(components=4), np.uint8).reshape(32, 48, 4),
    }
