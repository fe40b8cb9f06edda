"""Array, 3D, cube and depth-compare textures, swizzles, wraps and sampler objects."""

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
HEAD = """#version 330
in vec2 uv;
out vec4 f_color;
"""
SHADERS = {
    "array": "uniform sampler2DArray t;\n"
    "void main() { f_color = texture(t, vec3(uv, uv.x * 3.0)); }",
    "volume": "uniform sampler3D t; void main() { f_color = texture(t, vec3(uv, 0.4)); }",
    "cube": "uniform samplerCube t;\n"
    "void main() { f_color = texture(t, vec3(uv * 2.0 - 1.0, 0.7)); }",
    "shadow": "uniform sampler2DShadow t;\n"
    "void main() { f_color = vec4(texture(t, vec3(uv, 0.5))); }",
    "wrap": "uniform sampler2D t; void main() { f_color = texture(t, uv * 3.0 - 1.0); }",
}


def noise(*shape: int) -> bytes:
    return np.random.default_rng(7).integers(0, 256, shape, np.uint8).tobytes()


def textures(ctx: moderngl.Context) -> dict[str, Any]:
    array = ctx.texture_array((8, 8, 4), 4, noise(4, 8, 8, 4))
    volume = ctx.texture3d((4, 4, 4), 4, noise(4, 4, 4, 4))
    volume.filter = (moderngl.LINEAR, moderngl.LINEAR)
    cube = ctx.texture_cube((8, 8), 4, noise(6, 8, 8, 4))
    depth = ctx.depth_texture((8, 8), np.linspace(0, 1, 64, dtype=np.float32).tobytes())
    depth.compare_func = "<="
    wrap = ctx.texture((4, 4), 4, noise(4, 4, 4))
    wrap.swizzle = "BGR1"
    return {"array": array, "volume": volume, "cube": cube, "shadow": depth, "wrap": wrap}


def render(ctx: moderngl.Context) -> dict[str, Any]:
    strip = ctx.buffer(np.array([-1, -1, 1, -1, -1, 1, 1, 1], np.float32))
    fbo = ctx.simple_framebuffer((60, 60))
    images = {}
    for name, texture in textures(ctx).items():
        program = ctx.program(vertex_shader=VERTEX, fragment_shader=HEAD + SHADERS[name])
        fbo.use()
        fbo.clear()
        texture.use(1)
        program["t"] = 1
        if name == "wrap":
            sampler = ctx.sampler(repeat_x=False, filter=(moderngl.NEAREST, moderngl.NEAREST))
            sampler.use(1)
        ctx.vertex_array(program, [(strip, "2f", "in_vert")]).render(moderngl.TRIANGLE_STRIP)
        images[name] = np.frombuffer(fbo.read(components=4), np.uint8).reshape(60, 60, 4)
        ctx.clear_samplers()
    return images
