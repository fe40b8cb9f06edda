"""Reading images of textures back beside the native GL: formats, boxes, and what is refused."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context

pytestmark = pytest.mark.native

Pair = tuple[GLInterface, GLInterface]


@pytest.fixture
def both() -> Iterator[Pair]:
    options: dict[str, Any] = {"profile": "compat", "version": (4, 5), "size": (8, 8)}
    made = create_context("numpipe", **options), native_context(**options)
    yield made
    for gl in made:
        gl.release()


def name(gl: GLInterface) -> str:
    return GL.name_of(gl.get_error(), "error")


STORED = (
    "LUMINANCE8", "LUMINANCE8_ALPHA8", "INTENSITY8", "ALPHA8", "LUMINANCE32F_ARB",
    "LUMINANCE_ALPHA32F_ARB", "INTENSITY32F_ARB", "ALPHA32F_ARB", "LUMINANCE_SNORM",
    "LUMINANCE_ALPHA_SNORM", "INTENSITY_SNORM", "ALPHA_SNORM", "SLUMINANCE8",
    "SLUMINANCE8_ALPHA8", "R8", "RG8", "RGB8", "RGBA8", "SRGB8_ALPHA8", "RGB10_A2", "RGB5_A1",
    "R32F", "RGBA16F", "RGB9_E5", "R11F_G11F_B10F", "RGBA8_SNORM", "R16",
    "COMPRESSED_LUMINANCE_LATC1_EXT", "COMPRESSED_LUMINANCE_ALPHA_LATC2_EXT",
)  # fmt: skip
COLORS = ("RED", "GREEN", "BLUE", "ALPHA", "RG", "RGB", "BGR", "RGBA", "BGRA", "LUMINANCE",
          "LUMINANCE_ALPHA")  # fmt: skip
TEXELS = np.array([[0.1, 0.5, 0.9, 0.3], [0.8, 0.2, 0.4, 0.7]] * 8, np.float32)


@pytest.mark.parametrize("stored", STORED)
def test_colors_of_every_format(both: Pair, stored: str) -> None:
    for gl in both:
        gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
        kind = getattr(GL, stored)
        gl.tex_image2d(GL.TEXTURE_2D, 0, kind, 4, 4, 0, GL.RGBA, GL.FLOAT, TEXELS)
        assert name(gl) == "GL_NO_ERROR"
    near = 0.1 if "COMPRESSED" in stored else 0.01
    for word, type in itertools.product(COLORS, (GL.FLOAT, GL.UNSIGNED_BYTE)):
        found = []
        for gl in both:
            memory = np.full(256, 7, np.uint8)
            gl.get_tex_image(GL.TEXTURE_2D, 0, getattr(GL, word), type, memory)
            found.append((name(gl), memory))
        assert found[0][0] == found[1][0], word
        values = [m.view(np.float32) if type == GL.FLOAT else m / 255.0 for _, m in found]
        assert np.allclose(values[0], values[1], rtol=0, atol=near, equal_nan=True), word


SHAPES: dict[str, tuple[int, ...]] = {
    "TEXTURE_1D": (8,), "TEXTURE_2D": (8, 4), "TEXTURE_3D": (8, 4, 2), "TEXTURE_1D_ARRAY": (8, 3),
    "TEXTURE_2D_ARRAY": (8, 4, 3), "TEXTURE_CUBE_MAP": (4, 4), "TEXTURE_CUBE_MAP_ARRAY": (4, 4, 12),
    "TEXTURE_RECTANGLE": (8, 4),
}  # fmt: skip


@pytest.mark.parametrize("target", SHAPES)
def test_boxes_of_every_target(both: Pair, target: str) -> None:
    """Every side of a box one within, on and past the end, and levels that there are or are not."""
    shape, where = SHAPES[target], getattr(GL, target)
    names = []
    for gl in both:
        (texture,) = gl.create_textures(where, 1)
        levels = 1 if target == "TEXTURE_RECTANGLE" else 2
        getattr(gl, f"texture_storage{len(shape)}d")(texture, levels, GL.R8, *shape)
        names.append(texture)
    whole = (*shape, 1, 1)[:3] if target != "TEXTURE_CUBE_MAP" else (4, 4, 6)
    boxes: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = []
    for level in (-1, 0, 1, 2, 40):
        boxes += [(level, (0, 0, 0), (1, 1, 1)), (level, (0, 0, 0), (0, 0, 0))]
    for axis in range(3):
        unit = tuple(int(i == axis) for i in range(3))
        for first, size in itertools.product((-1, 0, 1, whole[axis] - 1, whole[axis]),
                                             (-1, 0, 1, whole[axis], whole[axis] + 1)):  # fmt: skip
            at = tuple(first * u for u in unit)
            boxes.append((0, at, tuple(size if u else 1 for u in unit)))
    for level, at, extent in boxes:
        found = []
        for gl, texture in zip(both, names, strict=True):
            memory = np.zeros(4096, np.uint8)
            gl.get_texture_sub_image(
                texture, level, *at, *extent, GL.RED, GL.UNSIGNED_BYTE, 4096, memory
            )
            found.append(name(gl))
        assert found[0] == found[1], (level, at, extent)
