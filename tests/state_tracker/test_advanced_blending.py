"""KHR_blend_equation_advanced: every mode as on llvmpipe, and the rules for using them."""

from __future__ import annotations

from typing import Any

from gallette.state_tracker import GL, GLInterface, create_context

from .helpers import errors, pixels, program

VS = """#version 430
flat out int number;
void main() {
    number = gl_VertexID / 3;
    vec2 corner = vec2(gl_VertexID % 3 == 1 ? 3.0 : -1.0, gl_VertexID % 3 == 2 ? 3.0 : -1.0);
    gl_Position = vec4(corner, 0.0, 1.0);
}"""
# Premultiplied colours that differ from pixel to pixel and from triangle to triangle.
FS = """#version 430
#extension GL_KHR_blend_equation_advanced : require
layout(blend_support_all_equations) out;
flat in int number;
out vec4 color;
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy) + number * ivec2(17, 5);
    vec4 c = vec4(at.x % 9 / 8.0, at.y % 9 / 8.0, (at.x / 9 + at.y) % 5 / 4.0, at.y / 9 % 4 / 3.0);
    color = vec4(c.rgb * c.a, c.a);
}"""


def drawn(gl: GLInterface, mode: str) -> Any:
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    program(gl, VS, FS)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.disable(GL.BLEND)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.enable(GL.BLEND)
    gl.blend_equation(getattr(GL, mode + "_KHR"))
    for first in (3, 6):
        gl.draw_arrays(GL.TRIANGLES, first, 3)
        gl.blend_barrier_khr()
    assert errors(gl) == []
    return pixels(gl).astype(int)


def test_overlapping_triangles_of_one_draw_are_blended_in_order() -> None:
    gl = create_context("numpipe", version=(4, 3), size=(64, 64))
    apart = drawn(gl, "SOFTLIGHT")
    gl.disable(GL.BLEND)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.enable(GL.BLEND)
    gl.draw_arrays(GL.TRIANGLES, 3, 6)
    assert (pixels(gl) == apart).all()
