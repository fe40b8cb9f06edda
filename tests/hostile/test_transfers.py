"""Pixels and images that calls bring: numbers that are none, regions that are no blocks."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context

WILD = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 0.5, -0.0, 2.0], np.float32)
FORMATS = [
    ("RGBA8UI", "RED_INTEGER", "FLOAT"),
    ("DEPTH_COMPONENT24", "DEPTH_COMPONENT", "FLOAT"),
    ("DEPTH24_STENCIL8", "DEPTH_COMPONENT", "FLOAT"),
    ("STENCIL_INDEX8", "STENCIL_INDEX", "FLOAT"),
    ("RGBA8_SNORM", "RED", "FLOAT"),
    ("RGB9_E5", "RED", "FLOAT"),
    ("R11F_G11F_B10F", "RED", "FLOAT"),
    ("RGB10_A2UI", "RED_INTEGER", "INT"),
]


@pytest.fixture
def gl() -> GLInterface:
    return create_context("numpipe", version=(4, 5))


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("internal,format,type", FORMATS)
def test_numbers_that_are_none_become_some(
    gl: GLInterface, internal: str, format: str, type: str
) -> None:
    (texture,) = gl.create_textures(GL.TEXTURE_2D, 1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    what = getattr(GL, format), getattr(GL, type)
    gl.tex_image2d(GL.TEXTURE_2D, 0, getattr(GL, internal), 8, 1, 0, *what, WILD)
    gl.get_texture_image(texture, 0, *what, 256)
    assert gl.get_error() in (GL.NO_ERROR, GL.INVALID_OPERATION, GL.INVALID_ENUM)


BLOCKS = [
    ((0, 0, 8, 8), (0, 0), "NO_ERROR"),
    ((4, 8, 4, 2), (8, 8), "NO_ERROR"),  # to the edges
    ((8, 8, 4, 2), (0, 0), "NO_ERROR"),
    ((4, 8, 4, 4), (8, 4), "INVALID_VALUE"),
    ((1, 0, 4, 4), (0, 0), "INVALID_VALUE"),
    ((0, 0, 4, 1), (0, 0), "INVALID_VALUE"),
    ((0, 0, 4, 4), (2, 0), "INVALID_VALUE"),
]


@pytest.mark.parametrize("box,to,error", BLOCKS)
@pytest.mark.parametrize("driver", ["numpipe", pytest.param("native", marks=pytest.mark.native)])
def test_images_of_blocks_are_copied_in_blocks(
    driver: str, box: tuple[int, ...], to: tuple[int, int], error: str
) -> None:
    gl = (
        native_context(version=(4, 5))
        if driver == "native"
        else create_context(driver, version=(4, 5))
    )
    one, other = gl.create_textures(GL.TEXTURE_2D, 2)
    for texture in (one, other):
        gl.texture_storage2d(texture, 1, GL.COMPRESSED_RGBA_BPTC_UNORM, 12, 10)
    x, y, width, height = box
    place = (one, GL.TEXTURE_2D, 0, x, y, 0, other, GL.TEXTURE_2D, 0, *to, 0)
    gl.copy_image_sub_data(*place, width, height, 1)
    assert GL.name_of(gl.get_error(), "error").removeprefix("GL_") == error


def test_blocks_become_as_many_texels(gl: GLInterface) -> None:
    one, other = gl.create_textures(GL.TEXTURE_2D, 2)
    gl.texture_storage2d(one, 1, GL.COMPRESSED_RGBA_BPTC_UNORM, 8, 8)
    gl.texture_storage2d(other, 1, GL.RGBA32UI, 2, 2)
    blocks = np.arange(64, dtype=np.uint8)
    gl.compressed_texture_sub_image2d(one, 0, 0, 0, 8, 8, GL.COMPRESSED_RGBA_BPTC_UNORM, 64, blocks)
    place = (one, GL.TEXTURE_2D, 0, 0, 0, 0, other, GL.TEXTURE_2D, 0, 0, 0, 0)
    gl.copy_image_sub_data(*place, 8, 8, 1)
    assert gl.get_error() == GL.NO_ERROR
    found = gl.get_texture_image(other, 0, GL.RGBA_INTEGER, GL.UNSIGNED_INT, 64)
    assert bytes(found) == blocks.tobytes()
