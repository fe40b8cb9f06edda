"""One texture bound to two units: what belongs to a unit is that unit's alone."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface
from tests.state_tracker.helpers import errors, pixels, program, quad

BOTH = """#version 330
uniform sampler2D first, second;
out vec4 result;
void main() {
    vec2 at = gl_FragCoord.xy / 64.0;
    result = vec4(texture(first, at).r, texture(second, at).r, 0.0, 1.0);
}
"""
LEVEL = 40
"""what one level is brighter than the one before"""


def both(gl: GLInterface) -> int:
    """A texture of levels that differ, bound to units 0 and 1, of which a program reads both."""
    (texture,) = gl.gen_textures(1)
    for unit in (1, 0):
        gl.active_texture(GL.TEXTURE0 + unit)
        gl.bind_texture(GL.TEXTURE_2D, texture)
    for level in range(5):
        size = 64 >> level
        texels = np.full((size, size, 4), LEVEL * (level + 1), np.uint8)
        gl.tex_image2d(GL.TEXTURE_2D, level, GL.RGBA8, size, size, 0, GL.RGBA, GL.UNSIGNED_BYTE,
                       texels)  # fmt: skip
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MAX_LEVEL, 4)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST_MIPMAP_NEAREST)
    name = program(gl, fragment=BOTH)
    quad(gl, name)
    gl.uniform1i(gl.get_uniform_location(name, "second"), 1)
    return name


def levels(gl: GLInterface) -> list[float]:
    """Which levels are seen through the first unit and the second."""
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    found: list[float] = (pixels(gl)[32, 32, :2] / LEVEL - 1).tolist()
    assert errors(gl) == []
    return found


def bias(gl: GLInterface, unit: int, value: float) -> None:
    gl.active_texture(GL.TEXTURE0 + unit)
    gl.tex_envf(GL.TEXTURE_FILTER_CONTROL, GL.TEXTURE_LOD_BIAS, value)


def test_each_unit_has_its_bias(compat: GLInterface) -> None:
    both(compat)
    assert levels(compat) == [0, 0]
    bias(compat, 1, 2.0)
    assert levels(compat) == [0, 2]
    bias(compat, 0, 3.0)
    assert levels(compat) == [3, 2]
    bias(compat, 1, 0.0)
    assert levels(compat) == [3, 0]


def test_the_bias_of_a_unit_is_added_to_that_of_its_sampler(compat: GLInterface) -> None:
    both(compat)
    (sampler,) = compat.gen_samplers(1)
    compat.sampler_parameteri(sampler, GL.TEXTURE_MIN_FILTER, GL.NEAREST_MIPMAP_NEAREST)
    compat.sampler_parameterf(sampler, GL.TEXTURE_LOD_BIAS, 1.0)
    bias(compat, 1, 2.0)
    for unit in (0, 1):
        compat.bind_sampler(unit, sampler)
    assert levels(compat) == [1, 3]


@pytest.mark.parametrize("unit", [0, 1])
def test_each_unit_has_its_sampler(gl: GLInterface, unit: int) -> None:
    both(gl)
    (sampler,) = gl.gen_samplers(1)
    gl.sampler_parameteri(sampler, GL.TEXTURE_MIN_FILTER, GL.NEAREST_MIPMAP_NEAREST)
    gl.sampler_parameterf(sampler, GL.TEXTURE_MIN_LOD, 3.0)
    gl.bind_sampler(unit, sampler)
    assert levels(gl) == ([3, 0] if unit == 0 else [0, 3])
    gl.sampler_parameterf(sampler, GL.TEXTURE_MIN_LOD, 1.0)
    assert levels(gl) == ([1, 0] if unit == 0 else [0, 1])
    gl.bind_sampler(unit, 0)
    assert levels(gl) == [0, 0]
