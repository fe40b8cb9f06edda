"""Anisotropic filtering: nearer to the mean of the footprint than any single level of detail."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.state_tracker.helpers import program, quad

SIZE = 64
FS = """#version 330
uniform sampler2D image;
uniform vec2 scale;
out vec4 result;
void main() { result = texture(image, gl_FragCoord.xy * scale); }
"""


def striped() -> npt.NDArray[np.uint8]:
    """Stripes along s, four texels each, all the same along t: blurring along t is harmless."""
    image = np.zeros((256, 256), np.uint8)
    image[:, (np.arange(256) // 4) % 2 == 1] = 255
    return image


def drawn(
    gl: GLInterface, anisotropy: float, scale: tuple[float, float], fragment: str = FS
) -> Any:
    name = program(gl, fragment=fragment)
    quad(gl, name)
    gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.R8, 256, 256, 0, GL.RED, GL.UNSIGNED_BYTE, striped())
    gl.generate_mipmap(GL.TEXTURE_2D)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.LINEAR_MIPMAP_LINEAR)
    gl.tex_parameterf(GL.TEXTURE_2D, GL.TEXTURE_MAX_ANISOTROPY, anisotropy)
    gl.uniform2f(gl.get_uniform_location(name, "scale"), *scale)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    raw = gl.read_pixels(0, 0, SIZE, SIZE, GL.RED, GL.UNSIGNED_BYTE)
    return np.frombuffer(raw, np.uint8).reshape(SIZE, SIZE).astype(int)


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_stripes_along_the_footprint_stay_sharp(driver: str) -> None:
    if driver == "jit":
        pytest.importorskip("llvmlite")
    gl = create_context(driver, size=(SIZE, SIZE))
    scale = (1 / 256, 16 / 256)  # one texel across, sixteen down
    blurred = drawn(gl, 1.0, scale)
    two = drawn(gl, 2.0, scale)
    sharp = drawn(gl, 16.0, scale)
    exact = striped()[0, :SIZE].astype(int)
    assert (np.ptp(blurred, axis=1) < 10).all()  # a sixteenth of the resolution: plain grey
    assert abs(sharp - exact).max() <= 2  # a probe per texel down, none across
    error = [abs(seen - exact).mean() for seen in (blurred, two, sharp)]
    assert error[0] >= error[1] > error[2]


def test_nothing_changes_where_the_footprint_is_square() -> None:
    gl = create_context("numpipe", size=(SIZE, SIZE))
    scale = (3 / 256, 3 / 256)
    assert (drawn(gl, 1.0, scale) == drawn(gl, 16.0, scale)).all()


def test_derivatives_of_the_shader_count() -> None:
    gl = create_context("numpipe", size=(SIZE, SIZE))
    explicit = FS.replace(
        "texture(image, gl_FragCoord.xy * scale)",
        "textureGrad(image, gl_FragCoord.xy * scale, vec2(scale.x, 0), vec2(0, scale.y))",
    )
    scale = (1 / 256, 8 / 256)
    seen = drawn(gl, 8.0, scale, explicit)
    assert abs(seen - drawn(gl, 8.0, scale)).max() <= 1
