"""The lesson: eight channels or sixteen, and what registers have to do with it."""

from __future__ import annotations

from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.drivers.machines.simd.compile import BackendOptions, Compiled, compile_shader
from gallette.lessons.experiments import fragment_of

VERTEX = """
#version 330
in vec2 position;
void main() {
    gl_Position = vec4(position, 0.0, 1.0);
}
"""


def blur_of(taps: int) -> str:
    """A fragment shader that holds `taps` texels at once, because it needs their sum before each
    weight.
    """
    fetch = "\n".join(
        f"    vec4 t{k} = texelFetch(image, at + ivec2({k % 8}, {k // 8}), 0);" for k in range(taps)
    )
    total = " + ".join(f"t{k}" for k in range(taps))
    apart = " + ".join(f"abs(t{k} - mean) * {k + 1}.0" for k in range(taps))
    return f"""
#version 330
uniform sampler2D image;
out vec4 color;
void main() {{
    ivec2 at = ivec2(gl_FragCoord.xy);
{fetch}
    vec4 mean = ({total}) * {1 / taps:.8f};
    color = {apart};
}}
"""


def shader_of(taps: int) -> Shader:
    """The fragment shader with this many texels; the caller owns it."""
    shader = fragment_of(VERTEX, blur_of(taps))
    optimize(shader, OptimizeOptions(scalar=True))
    return shader


def measured(taps: int, width: int, registers: int = 128) -> Compiled:
    """The costs of the shader with this many texels, for this many channels."""
    shader = shader_of(taps)
    try:
        options = BackendOptions(width=width, registers=registers, record=True)
        return compile_shader(shader, options)
    finally:
        shader.unref()


def chosen_width(taps: int) -> int:
    """The width that the compiler chooses."""
    return measured(taps, 0).executable.width
