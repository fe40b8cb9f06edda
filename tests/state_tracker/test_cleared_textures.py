"""glClearTexSubImage: which boxes of a cube map there are, and which faces one clears."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface

from .helpers import errors

SIZE = 4
BOXES = {
    (0, 6): True, (5, 1): True, (6, 0): True, (2, 3): True, (0, 0): True,
    (6, 1): False, (7, 0): False, (0, 7): False, (-1, 1): False, (5, 2): False,
}  # fmt: skip
"""the first face and how many: are they there?"""


@pytest.fixture
def cube(gl: GLInterface) -> int:
    (name,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_CUBE_MAP, name)
    gl.tex_storage2d(GL.TEXTURE_CUBE_MAP, 2, GL.RGBA8, SIZE, SIZE)
    for face in range(6):
        target = GL.TEXTURE_CUBE_MAP_POSITIVE_X + face
        data = np.full((SIZE, SIZE, 4), face + 1, np.uint8)
        image = (target, 0, 0, 0, SIZE, SIZE, GL.RGBA, GL.UNSIGNED_BYTE, data)
        gl.tex_sub_image2d(*image)
    return int(name)


@pytest.mark.parametrize("box", BOXES)
def test_faces_of_a_box(gl: GLInterface, cube: int, box: tuple[int, int]) -> None:
    first, count = box
    white: Any = np.full(4, 255, np.uint8)
    where = (cube, 0, 1, 0, first, 2, 3, count)
    gl.clear_tex_sub_image(*where, GL.RGBA, GL.UNSIGNED_BYTE, white)
    assert errors(gl) == ([] if BOXES[box] else ["GL_INVALID_OPERATION"])
    for face in range(6):
        found = np.zeros((SIZE, SIZE, 4), np.uint8)
        target = GL.TEXTURE_CUBE_MAP_POSITIVE_X + face
        gl.get_tex_image(target, 0, GL.RGBA, GL.UNSIGNED_BYTE, found)
        expected = np.full((SIZE, SIZE, 4), face + 1)
        if BOXES[box] and first <= face < first + count:
            expected[:3, 1:3] = 255
        np.testing.assert_array_equal(found, expected)


def test_faces_that_have_no_image(gl: GLInterface, cube: int) -> None:
    gl.clear_tex_sub_image(cube, 2, 0, 0, 0, 1, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE, None)
    assert errors(gl) == ["GL_INVALID_OPERATION"]
    gl.clear_tex_sub_image(cube, 1, 0, 0, 0, 2, 2, 6, GL.RGBA, GL.UNSIGNED_BYTE, None)
    assert errors(gl) == []
