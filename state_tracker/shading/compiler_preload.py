"""Loading of the compiler before the first program needs it.

Its modules are imported and its tables built on first use: a process that finds all programs in the
cache needs none of them. If the first frame is time-critical (see `Screen.loads_early`), a small
program is compiled when the context is created; it is cached, too, if there is a cache.
"""

from __future__ import annotations

import functools

from gallette.compiler.glsl import CompileOptions, LinkOptions, compile_cached, link_cached
from gallette.compiler.nir.ir import Stage

_SOURCES = {
    Stage.VERTEX: """
#version 330
uniform mat4 matrix;
in vec4 position;
in vec3 normal;
out vec3 n;
out vec2 uv;
void main() {
    n = mat3(matrix) * normal;
    uv = position.xy * 0.5 + 0.5;
    gl_Position = matrix * position;
}
""",
    Stage.FRAGMENT: """
#version 330
uniform sampler2D image;
uniform vec3 lights[4];
in vec3 n;
in vec2 uv;
out vec4 color;
float lit(vec3 light) { return pow(max(dot(normalize(n), light), 0.0), 8.0); }
void main() {
    float sum = sin(uv.x);
    for (int i = 0; i < 4; i++) {
        if (lights[i].x > uv.y)
            sum += lit(lights[i]);
    }
    color = texture(image, uv) * mix(0.25, 1.0, sum);
}
""",
}


@functools.cache
def load_compiler() -> None:
    """Import the modules needed for compiling and linking, once."""
    compiled = [compile_cached(stage, text, CompileOptions()) for stage, text in _SOURCES.items()]
    linked = link_cached(compiled, LinkOptions())
    assert linked.ok, linked.info_log
    for shader in linked.shaders.values():
        shader.unref()
