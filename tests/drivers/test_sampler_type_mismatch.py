"""Samplers whose type is not the texture's, and samplers of incomplete textures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gallette
from gallette.state_tracker import GL
from tests.state_tracker.helpers import errors, program, quad

DRIVERS = ["numpipe", "jit", "simd", "tiler"]
LOOKUP = {
    "1D": "texelFetch(image, 0, 0)",
    "2D": "textureLod(image, vec2(0.5), 0.0)",
    "3D": "texture(image, vec3(0.5))",
    "Cube": "texture(image, vec3(0.5, 1.0, 0.25))",
    "2DArray": "texelFetch(image, ivec3(0), 0)",
    "2DRect": "texture(image, vec2(0.5))",
}


def looked_up(driver: str, prefix: str, kind: str, internal: str = "", texel: Any = None) -> Any:
    """What a lookup yields, as four words."""
    gl: Any = gallette.create_context(driver, version=(4, 3))
    try:
        vector = {"i": "ivec4", "u": "uvec4", "": "vec4"}[prefix]
        lookup = LOOKUP[kind]
        value = {"i": f"uvec4({lookup})", "u": lookup, "": f"floatBitsToUint({lookup})"}[prefix]
        source = f"""#version 430
            uniform {prefix}sampler{kind} image;
            out uvec4 result;
            void main() {{ {vector} same = {vector}(0); result = {value} + uvec4(same); }}"""
        (texture,) = gl.gen_textures(1)
        if internal:
            gl.bind_texture(GL.TEXTURE_2D, texture)
            gl.tex_storage2d(GL.TEXTURE_2D, 1, getattr(GL, internal), 1, 1)
            gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
            gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MAG_FILTER, GL.NEAREST)
            gl.clear_tex_image(texture, 0, *texel)
        (color,) = gl.gen_renderbuffers(1)
        (target,) = gl.gen_framebuffers(1)
        gl.bind_framebuffer(GL.FRAMEBUFFER, target)
        gl.bind_renderbuffer(GL.RENDERBUFFER, color)
        gl.renderbuffer_storage(GL.RENDERBUFFER, GL.RGBA32UI, 4, 4)
        gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, color)
        gl.viewport(0, 0, 4, 4)
        quad(gl, program(gl, fragment=source))
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        raw = bytes(gl.read_pixels(1, 1, 1, 1, GL.RGBA_INTEGER, GL.UNSIGNED_INT))
        assert errors(gl) == []
        return np.frombuffer(raw, np.uint32)
    finally:
        gl.release()


@pytest.mark.parametrize("kind", LOOKUP)
@pytest.mark.parametrize("prefix", ["", "i", "u"])
@pytest.mark.parametrize("driver", DRIVERS)
def test_an_incomplete_texture_is_black_in_any_numbers(driver: str, prefix: str, kind: str) -> None:
    one = 0x3F800000 if prefix == "" else 1
    assert looked_up(driver, prefix, kind).tolist() == [0, 0, 0, one]


FLOATS = np.array([1.5, -2.0, 0.25, 1.0], np.float32)
WORDS = np.array([7, 0x3F800000, 0xFFFFFFFF, 0x80000001], np.uint32)


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("prefix", ["i", "u"])
def test_integer_samplers_see_the_bits_of_floats(driver: str, prefix: str) -> None:
    found = looked_up(driver, prefix, "2D", "RGBA32F", (GL.RGBA, GL.FLOAT, FLOATS))
    assert found.tolist() == FLOATS.view(np.uint32).tolist()


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("prefix", ["i", "u"])
@pytest.mark.parametrize("internal", ["RGBA32I", "RGBA32UI"])
def test_integer_samplers_see_the_bits_of_integers(driver: str, prefix: str, internal: str) -> None:
    type = GL.UNSIGNED_INT if internal.endswith("UI") else GL.INT
    found = looked_up(driver, prefix, "2D", internal, (GL.RGBA_INTEGER, type, WORDS))
    assert found.tolist() == WORDS.tolist()


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("internal", ["RGBA32UI", "RGBA32I"])
def test_float_samplers_see_the_bits_of_integers(driver: str, internal: str) -> None:
    words = FLOATS.view(np.uint32).copy()
    type = GL.UNSIGNED_INT if internal.endswith("UI") else GL.INT
    found = looked_up(driver, "", "2D", internal, (GL.RGBA_INTEGER, type, words))
    assert found.tolist() == words.tolist()
