"""Parts of a cube map changed by its name: faces are layers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context
from tests.state_tracker.helpers import errors

RED = GL.COMPRESSED_RED_RGTC1
FACES = [GL.TEXTURE_CUBE_MAP_POSITIVE_X + i for i in range(6)]


@pytest.fixture(
    params=[
        pytest.param(create_context, id="numpipe"),
        pytest.param(native_context, id="native", marks=pytest.mark.native),
    ]
)
def gl(request: pytest.FixtureRequest) -> Iterator[GLInterface]:
    context = request.param(profile="core", version=(4, 5), size=(16, 16))
    yield context
    context.release()


def cube(gl: GLInterface, size: int, format: int) -> int:
    (name,) = gl.create_textures(GL.TEXTURE_CUBE_MAP, 1)
    gl.texture_storage2d(name, 1, format, size, size)
    gl.bind_texture(GL.TEXTURE_CUBE_MAP, name)
    return int(name)


def faces(gl: GLInterface) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """[face, y, x] of the bound cube of 4x4 red bytes."""
    raw = [bytes(gl.get_tex_image(face, 0, GL.RED, GL.UNSIGNED_BYTE)) for face in FACES]
    return np.frombuffer(b"".join(raw), np.uint8).reshape(6, 4, 4)


def test_boxes_reach_over_faces(gl: GLInterface) -> None:
    name, expected = cube(gl, 4, GL.R8), np.zeros((6, 4, 4), np.uint8)
    gl.pixel_storei(GL.UNPACK_ALIGNMENT, 1)
    pixels = (GL.RED, GL.UNSIGNED_BYTE)
    gl.texture_sub_image3d(name, 0, 0, 0, 0, 4, 4, 6, *pixels, bytes(96))
    gl.texture_sub_image3d(name, 0, 1, 0, 1, 2, 3, 4, *pixels, bytes(range(1, 25)))
    gl.texture_sub_image3d(name, 0, 3, 3, 5, 1, 1, 1, *pixels, b"\x63")
    expected[1:5, :3, 1:3] = np.arange(1, 25).reshape(4, 3, 2)
    expected[5, 3, 3] = 99
    assert errors(gl) == []
    assert faces(gl).tolist() == expected.tolist()
    for z, depth in ((5, 2), (-1, 1), (0, 7)):
        gl.texture_sub_image3d(name, 0, 0, 0, z, 1, 1, depth, *pixels, bytes(8))
        assert errors(gl) == ["GL_INVALID_VALUE"]
    gl.texture_sub_image2d(name, 0, 0, 0, 1, 1, *pixels, bytes(8))
    assert errors(gl) == ["GL_INVALID_OPERATION"]
    assert faces(gl).tolist() == expected.tolist()


def test_a_face_alone_is_no_cube(gl: GLInterface) -> None:
    (name,) = gl.create_textures(GL.TEXTURE_CUBE_MAP, 1)
    gl.bind_texture(GL.TEXTURE_CUBE_MAP, name)
    pixels = (GL.RED, GL.UNSIGNED_BYTE)
    for face in FACES:
        gl.texture_sub_image3d(name, 0, 0, 0, 0, 1, 1, 1, *pixels, bytes(8))
        assert errors(gl) == ["GL_INVALID_OPERATION"]
        gl.tex_image2d(face, 0, GL.R8, 4, 4, 0, *pixels, None)
    gl.texture_sub_image3d(name, 0, 0, 0, 0, 1, 1, 1, *pixels, bytes(8))
    assert errors(gl) == []


def test_the_framebuffer_is_copied_to_a_face(gl: GLInterface) -> None:
    name = cube(gl, 4, GL.R8)
    gl.clear_tex_image(name, 0, GL.RED, GL.UNSIGNED_BYTE, b"\x07")
    gl.clear_color(1.0, 0.0, 0.0, 0.0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.copy_texture_sub_image3d(name, 0, 2, 1, 4, 0, 0, 2, 2)
    assert errors(gl) == []
    expected = np.full((6, 4, 4), 7, np.uint8)
    expected[4, 1:3, 2:4] = 255
    assert faces(gl).tolist() == expected.tolist()
    gl.copy_texture_sub_image2d(name, 0, 0, 0, 0, 0, 2, 2)
    assert errors(gl) == ["GL_INVALID_OPERATION"]


def test_blocks_reach_over_faces() -> None:
    """Not asked of the native GL, which reads the blocks of each face further on than they are."""
    gl = create_context("numpipe", profile="core", version=(4, 5), size=(16, 16))
    name, blocks = cube(gl, 8, RED), bytes(range(32))
    everything = bytes(6 * 4 * 8)
    gl.compressed_texture_sub_image3d(name, 0, 0, 0, 0, 8, 8, 6, RED, 192, everything)
    gl.compressed_texture_sub_image3d(name, 0, 4, 4, 2, 4, 4, 4, RED, 32, blocks)
    assert errors(gl) == []
    found = [bytes(gl.get_compressed_tex_image(face, 0)) for face in FACES]
    wanted = [bytes(32)] * 2 + [bytes(24) + blocks[8 * i : 8 * i + 8] for i in range(4)]
    assert found == wanted
    gl.compressed_texture_sub_image3d(name, 0, 4, 4, 3, 4, 4, 4, RED, 32, blocks)
    assert errors(gl) == ["GL_INVALID_VALUE"]
    gl.release()
