"""What the machine lacks is computed as the reference computes it, or nearly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.enums import GL
from tests.state_tracker.helpers import linked

_VERTEX = """#version 330
void main() {
    vec2 at = vec2(gl_VertexID % 2, gl_VertexID / 2) * 4.0 - 1.0;
    gl_Position = vec4(at, 0.0, 1.0);
}
"""
_HEAD = """#version 330
out vec4 color;
float x() { return gl_FragCoord.x * 0.37 + 0.11; }
float y() { return gl_FragCoord.y * 0.73 + 0.29; }
int i() { return (int(gl_FragCoord.x) - 20) * 104729; }
int j() { return int(gl_FragCoord.y) - 13; }
uint u() { return uint(gl_FragCoord.x) * 0x9E3779B9u; }
uint v() { return uint(gl_FragCoord.y) * 77777u; }
"""
EXACT = {
    "division": "vec4(x() / y(), y() / x(), 1.0 / x(), x() / 0.0)",
    "root": "vec4(sqrt(x()), sqrt(y() * 1e-9), length(vec2(x(), y())), sqrt(0.0))",
    "integers": "vec4(i() / j(), i() % max(j(), 1), i() / 7, (-i()) / 3)",
    "unsigned": "vec4(u() / v(), u() % v(), u() / 10u, 4294967295u / v())",
    "fraction": "vec4(fract(x()), mod(x(), y()), trunc(-x()), sign(x() - y()))",
    "selection": "vec4(x() > y() ? x() : y(), min(x(), y()), clamp(x(), 1., 3.), mix(1., x(), .3))",
}


def picture(driver: str, expression: str, **options: Any) -> np.ndarray:
    """48x32 pixels of the expression, in 32-bit floats."""
    gl = Context(driver, profile="compat", size=(8, 8), **options)
    try:
        fragment = f"{_HEAD}void main() {{ color = {expression}; }}"
        program = linked(gl, vertex=_VERTEX, fragment=fragment, used=False)
        (target,), (texture,) = gl.gen_framebuffers(1), gl.gen_textures(1)
        gl.bind_texture(GL.TEXTURE_2D, texture)
        gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA32F, 48, 32, 0, GL.RGBA, GL.FLOAT, None)
        gl.bind_framebuffer(GL.FRAMEBUFFER, target)
        gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
        gl.viewport(0, 0, 48, 32)
        gl.use_program(program)
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        data = gl.read_pixels(0, 0, 48, 32, GL.RGBA, GL.FLOAT)
        assert gl.get_error() == GL.NO_ERROR
        gl.delete_program(program)
        gl.delete_framebuffers(1, [target])
        gl.delete_textures(1, [texture])
        return np.frombuffer(data, np.float32).reshape(32, 48, 4)
    finally:
        gl.release()


@pytest.mark.parametrize("name", EXACT)
def test_lowered_arithmetic_is_the_reference_s(name: str) -> None:
    ours, theirs = (picture(driver, EXACT[name]) for driver in ("tiler", "numpipe"))
    assert np.abs(theirs[np.isfinite(theirs)]).max() > 0
    assert np.array_equal(ours, theirs, equal_nan=True)


@pytest.mark.parametrize(
    "expression",
    [
        "vec4(x() / y(), sqrt(x()), inversesqrt(y()), 1.0 / x())",
        "vec4(sin(x()), cos(y()), exp2(x() * 0.3), log2(y()))",
        "vec4(pow(x(), 1.7), length(vec2(x(), y())), normalize(vec2(x(), y())))",
        "vec4(i() / 7, u() / 10u, i() % max(j(), 1), u() % v())",
    ],
)
def test_a_reciprocal_of_eight_bits_is_enough(expression: str) -> None:
    ours = picture("tiler", expression, special_functions=False)
    theirs = picture("numpipe", expression)
    np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-6)
