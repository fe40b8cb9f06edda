"""KHR_blend_equation_advanced: every mode as on llvmpipe, and the rules for using them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context

from .helpers import errors, pixels, program

MODES = (
    *("MULTIPLY", "SCREEN", "OVERLAY", "DARKEN", "LIGHTEN", "COLORDODGE", "COLORBURN"),
    *("HARDLIGHT", "SOFTLIGHT", "DIFFERENCE", "EXCLUSION"),
    *("HSL_HUE", "HSL_SATURATION", "HSL_COLOR", "HSL_LUMINOSITY"),
)
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


@pytest.mark.native
@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_every_mode_is_as_on_llvmpipe(driver: str) -> None:
    if driver == "jit":
        pytest.importorskip("llvmlite")
    options: dict[str, Any] = {"version": (4, 3), "size": (64, 64)}
    native = native_context(profile="core", **options)
    expected = {mode: drawn(native, mode) for mode in MODES}
    native.release()
    gl = create_context(driver, **options)
    for mode in MODES:
        seen = drawn(gl, mode)
        assert len(np.unique(expected[mode])) > 20
        difference = abs(seen - expected[mode]).max(axis=-1)
        # Intermediate results of two layers are rounded to bytes: a code more or less each.
        assert (difference > 2).mean() < 0.002, mode
        assert (difference > 0).mean() < 0.2, mode


def test_overlapping_triangles_of_one_draw_are_blended_in_order() -> None:
    gl = create_context("numpipe", version=(4, 3), size=(64, 64))
    apart = drawn(gl, "SOFTLIGHT")
    gl.disable(GL.BLEND)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.enable(GL.BLEND)
    gl.draw_arrays(GL.TRIANGLES, 3, 6)
    assert (pixels(gl) == apart).all()


def test_rules() -> None:
    gl = create_context("numpipe", version=(4, 3), size=(64, 64))
    gl.blend_equation_separate(GL.MULTIPLY_KHR, GL.MULTIPLY_KHR)
    assert errors(gl) == ["GL_INVALID_ENUM"]
    gl.blend_equationi(0, GL.SCREEN_KHR)
    assert gl.get_integerv(GL.BLEND_EQUATION_RGB)[0] == GL.SCREEN_KHR
    assert gl.is_enabled(GL.BLEND_ADVANCED_COHERENT_KHR)
    gl.disable(GL.BLEND_ADVANCED_COHERENT_KHR)
    assert not gl.is_enabled(GL.BLEND_ADVANCED_COHERENT_KHR)
    assert errors(gl) == []
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    gl.enable(GL.BLEND)
    program(gl, VS, FS.replace("all_equations", "screen"))
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    assert errors(gl) == []
    program(gl, VS, FS.replace("all_equations", "overlay"))
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    assert errors(gl) == ["GL_INVALID_OPERATION"]
    gl.disable(GL.BLEND)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    assert errors(gl) == []
