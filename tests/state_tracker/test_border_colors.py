"""Border colours of every kind of format, with swizzles, as on llvmpipe."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context

from .helpers import errors, pixels, program, quad

FS = """#version 430
uniform %ssampler2D image;
out vec4 color;
void main() { color = vec4(texture(image, gl_FragCoord.xy / 8.0 - 0.5))%s + 0.25; }"""
# Internal format, client format and type, kind of sampler.
FORMATS = """
R8 RED UNSIGNED_BYTE
RG8 RG UNSIGNED_BYTE
RGB8 RGB UNSIGNED_BYTE
RGBA8 RGBA UNSIGNED_BYTE
ALPHA8 ALPHA UNSIGNED_BYTE
LUMINANCE8 LUMINANCE UNSIGNED_BYTE
LUMINANCE8_ALPHA8 LUMINANCE_ALPHA UNSIGNED_BYTE
INTENSITY8 LUMINANCE UNSIGNED_BYTE
SRGB8_ALPHA8 RGBA UNSIGNED_BYTE
RGBA16F RGBA FLOAT
R11F_G11F_B10F RGB FLOAT
RGB9_E5 RGB FLOAT
RGBA8_SNORM RGBA BYTE
DEPTH_COMPONENT24 DEPTH_COMPONENT UNSIGNED_INT
COMPRESSED_RGBA_S3TC_DXT1_EXT RGBA UNSIGNED_BYTE
COMPRESSED_RED_RGTC1 RED UNSIGNED_BYTE
COMPRESSED_LUMINANCE_ALPHA_LATC2_EXT LUMINANCE_ALPHA UNSIGNED_BYTE
RGBA8UI RGBA_INTEGER UNSIGNED_BYTE u
RG16I RG_INTEGER SHORT i
R32I RED_INTEGER INT i
RGB10_A2UI RGBA_INTEGER UNSIGNED_SHORT u
"""
LINES = FORMATS.strip().splitlines()
OPTIONS: dict[str, Any] = {"profile": "compat", "version": (4, 3), "size": (16, 16)}
SWIZZLES: tuple[tuple[int, ...], ...] = (
    (GL.RED, GL.GREEN, GL.BLUE, GL.ALPHA),
    (GL.ALPHA, GL.BLUE, GL.ONE, GL.RED),
    (GL.GREEN, GL.ZERO, GL.RED, GL.BLUE),
)


def drawn(gl: GLInterface, line: str) -> list[Any]:
    name, form, type, *kind = line.split()
    sampler = kind[0] if kind else ""
    shader = program(gl, fragment=FS % (sampler, " / 255.0" if sampler else ""))
    quad(gl, shader)
    target, seen = GL.TEXTURE_2D, []
    gl.bind_texture(target, gl.gen_textures(1)[0])
    data = (target, 0, getattr(GL, name), 4, 4, 0, getattr(GL, form), getattr(GL, type))
    gl.tex_image2d(*data, bytes(256))
    for wrap in (GL.TEXTURE_WRAP_S, GL.TEXTURE_WRAP_T):
        gl.tex_parameteri(target, wrap, GL.CLAMP_TO_BORDER)
    numbers = (60, 120, 180, 240)
    if sampler == "u":
        gl.tex_parameter_iuiv(target, GL.TEXTURE_BORDER_COLOR, np.array(numbers, np.uint32))
    elif sampler == "i":
        gl.tex_parameter_iiv(target, GL.TEXTURE_BORDER_COLOR, np.array(numbers, np.int32))
    else:
        # Formats without a sign, and normalised ones, clamp the red.
        color = np.array([-0.25, 0.5, 0.75, 0.9], np.float32)
        gl.tex_parameterfv(target, GL.TEXTURE_BORDER_COLOR, color)
    for filter in (GL.NEAREST,) if sampler else (GL.NEAREST, GL.LINEAR):
        gl.tex_parameteri(target, GL.TEXTURE_MIN_FILTER, filter)
        gl.tex_parameteri(target, GL.TEXTURE_MAG_FILTER, filter)
        # Swizzles are applied to what was filtered: one is enough for the second filter.
        for swizzle in SWIZZLES if filter == GL.NEAREST else SWIZZLES[1:2]:
            gl.tex_parameteriv(target, GL.TEXTURE_SWIZZLE_RGBA, np.array(swizzle, np.int32))
            gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
            seen.append(pixels(gl, 16, 16).astype(int))
    assert errors(gl) == []
    return seen


@cache
def expected() -> dict[str, list[Any]]:
    """What llvmpipe draws for each format."""
    native = native_context(**OPTIONS)
    pictures = {line: drawn(native, line) for line in LINES}
    native.release()
    return pictures


@pytest.mark.native
@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_borders_look_as_on_llvmpipe(driver: str) -> None:
    if driver == "jit":
        pytest.importorskip("llvmlite")
    gl = create_context(driver, **OPTIONS)
    for line in LINES:
        for number, (a, b) in enumerate(zip(drawn(gl, line), expected()[line], strict=True)):
            assert abs(a - b).max() <= 1, (line, number)
