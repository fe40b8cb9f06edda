"""Anisotropic filtering: nearer to the mean of the footprint than any single level of detail."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context
from tests.state_tracker.helpers import program, quad

Array = npt.NDArray[Any]
SIZE = 64
PLACE = "gl_FragCoord.xy * scale"
FS = f"""#version 330
uniform sampler2D image;
uniform vec2 scale;
out vec4 result;
void main() {{ result = texture(image, {PLACE}); }}
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
    sharp = drawn(gl, 16.0, scale)
    exact = striped()[0, :SIZE].astype(int)
    assert (np.ptp(blurred, axis=1) < 10).all()  # a sixteenth of the resolution: plain grey
    assert abs(sharp - exact).max() <= 51  # a texel's neighbours have a weight
    assert (abs(sharp - exact) <= 1).mean() == 0.5


def weighted(image: Array, matrix: Array) -> Array:
    """The mean of the texels in Heckbert's ellipse for every pixel; the image repeats, and the
    matrix takes places of pixels to places of texels.
    """
    rows, columns = image.shape
    (ux, uy), (vx, vy) = matrix
    a, b, c = vx * vx + vy * vy + 1, -2 * (ux * vx + uy * vy), ux * ux + uy * uy + 1
    border = a * c - b * b / 4
    reach = int(np.sqrt(max(a, c))) + 2
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    found = np.zeros((16, 16))
    for row, column in np.ndindex(found.shape):
        s, t = matrix @ (column + 0.5, row + 0.5) - 0.5
        i, j = x + int(np.floor(s)), y + int(np.floor(t))
        u, v = i - s, j - t
        form = (a * u * u + b * u * v + c * v * v) / border
        weight = np.where(form < 1024 / 1023, np.exp(-2 * form), 0)
        found[row, column] = (weight * image[j % rows, i % columns]).sum() / weight.sum()
    return found


@pytest.mark.parametrize(
    "footprint,level",
    [
        ((0.3, 0.0, 0.0, 0.3), 0),  # magnified
        ((1.0, 0.0, 0.0, 1.0), 0),
        ((1.3, 0.4, -0.2, 0.9), 0),
        ((0.7, 0.0, 0.3, 5.9), 0),
        ((5.0, 1.0, -1.0, 2.1), 1),  # the shorter derivative selects the level
        ((4.5, 19.0, 4.7, -2.0), 2),
    ],
)
@pytest.mark.parametrize(
    "filters",
    [(GL.LINEAR_MIPMAP_LINEAR, GL.LINEAR), (GL.NEAREST_MIPMAP_NEAREST, GL.NEAREST)],
)
@pytest.mark.parametrize(
    "driver", ["numpipe", "jit", pytest.param("native", marks=pytest.mark.native)]
)
def test_the_texels_of_an_ellipse_are_weighted(
    driver: str, footprint: tuple[float, ...], level: int, filters: tuple[int, int]
) -> None:
    """The limit counts only in that it is more than one, and filters do not, as on llvmpipe."""
    if driver == "jit":
        pytest.importorskip("llvmlite")
    gl: Any = (native_context if driver == "native" else partial(create_context, driver))(
        size=(16, 16)
    )
    lookup = "mat2(scale, scale2) * gl_FragCoord.xy"
    name = program(
        gl, fragment=FS.replace("vec2 scale", "vec2 scale, scale2").replace(PLACE, lookup)
    )
    quad(gl, name)
    gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
    random = np.random.default_rng(5)
    levels = [random.integers(0, 256, (32 >> n, 64 >> n), np.uint8) for n in range(4)]
    for number, image in enumerate(levels):
        height, width = image.shape
        size = (width, height, 0)
        gl.tex_image2d(GL.TEXTURE_2D, number, GL.R8, *size, GL.RED, GL.UNSIGNED_BYTE, image)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MAX_LEVEL, 3)
    for which, mode in zip((GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER), filters, strict=True):
        gl.tex_parameteri(GL.TEXTURE_2D, which, mode)
    gl.tex_parameterf(GL.TEXTURE_2D, GL.TEXTURE_MAX_ANISOTROPY, 2.0)
    texels = np.array(footprint).reshape(2, 2)
    for label, column in zip(("scale", "scale2"), texels.T / (64, 32), strict=True):
        gl.uniform2f(gl.get_uniform_location(name, label), *column)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    raw = gl.read_pixels(0, 0, 16, 16, GL.RED, GL.UNSIGNED_BYTE)
    seen = np.frombuffer(raw, np.uint8).reshape(16, 16)
    assert abs(seen - weighted(levels[level], texels / 2**level)).max() < 1.1
    gl.release()


def test_derivatives_of_the_shader_count() -> None:
    gl = create_context("numpipe", size=(SIZE, SIZE))
    explicit = FS.replace(
        "texture(image, gl_FragCoord.xy * scale)",
        "textureGrad(image, gl_FragCoord.xy * scale, vec2(scale.x, 0), vec2(0, scale.y))",
    )
    scale = (1 / 256, 8 / 256)
    seen = drawn(gl, 8.0, scale, explicit)
    assert abs(seen - drawn(gl, 8.0, scale)).max() <= 1
