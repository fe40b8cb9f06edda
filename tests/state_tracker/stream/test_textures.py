"""Parts of textures are written between draws, as commands where the texels are RGBA bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL
from gallette.state_tracker.entry_points import machine_code
from tests.state_tracker.stream.worlds import Recorded, draw, pending, switch_off

pytestmark = pytest.mark.skipif(
    not machine_code.possible(), reason="there is a command stream on x86-64 with Linux only"
)

SIDE = 4
TEXELS = np.arange(256, dtype=np.uint8).repeat(2)


def textures(world: Recorded) -> None:
    """Define all textures anew; the first is bound, and its first part was written."""
    gl = world.gl
    for texture in reversed(world.textures):
        gl.bind_texture(GL.TEXTURE_2D, texture)
        kind = (GL.RGBA8, SIDE, SIDE, 0, GL.RGBA, GL.UNSIGNED_BYTE)
        gl.tex_image2d(GL.TEXTURE_2D, 0, *kind, TEXELS)
    write(gl)
    draw(world, 4)


def write(gl: Any, x: int = 0, y: int = 0, size: int = 1, texels: Any = TEXELS) -> None:
    box = (x, y, size, size)
    gl.tex_sub_image2d(GL.TEXTURE_2D, 0, *box, GL.RGBA, GL.UNSIGNED_BYTE, texels)


def image(gl: Any) -> bytes:
    found: bytes = gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RGBA, GL.UNSIGNED_BYTE)
    return found


def _with_rows_apart(gl: Any) -> None:
    gl.pixel_storei(GL.UNPACK_ROW_LENGTH, 3)
    write(gl, size=2)


def _with_a_wide_alignment(gl: Any) -> None:
    gl.pixel_storei(GL.UNPACK_ALIGNMENT, 8)
    write(gl, size=3)


def _from_a_buffer(gl: Any) -> None:
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
    gl.buffer_data(GL.ARRAY_BUFFER, 64, TEXELS[100:164].copy(), GL.STATIC_DRAW)
    write(gl)
    gl.bind_buffer(GL.PIXEL_UNPACK_BUFFER, buffer)
    gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 2, 2, GL.RGBA, GL.UNSIGNED_BYTE, 8)
    gl.bind_buffer(GL.PIXEL_UNPACK_BUFFER, 0)
    write(gl, 3, 3)


def _of_other_formats(gl: Any) -> None:
    for format, type in ((GL.BGRA, GL.UNSIGNED_BYTE), (GL.RGBA, GL.UNSIGNED_SHORT)):
        gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 1, 1, 2, 2, format, type, TEXELS)


def _of_a_texture_that_stores_others(gl: Any) -> None:
    for kind in (GL.RGB8, GL.RGBA16F, GL.SRGB8_ALPHA8):
        given = (kind, SIDE, SIDE, 0, GL.RGBA, GL.UNSIGNED_BYTE)
        gl.tex_image2d(GL.TEXTURE_2D, 0, *given, TEXELS)
        write(gl)
        write(gl, 1, 1, 2)


def _of_a_level_beside_the_chain(gl: Any) -> None:
    gl.tex_image2d(GL.TEXTURE_2D, 1, GL.RGBA8, 3, 3, 0, GL.RGBA, GL.UNSIGNED_BYTE, TEXELS)
    write(gl)
    write(gl, 1, 1, 2)


def _with_errors(gl: Any) -> None:
    write(gl, SIDE, 0)
    assert gl.get_error() == GL.INVALID_VALUE
    write(gl, -1, 0)
    assert gl.get_error() == GL.INVALID_VALUE
    gl.tex_sub_image2d(GL.TEXTURE_2D, 9, 0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE, TEXELS)
    assert gl.get_error() == GL.INVALID_OPERATION
    gl.tex_sub_image2d(GL.TEXTURE_2D, -1, 0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE, TEXELS)
    assert gl.get_error() == GL.INVALID_VALUE
    gl.tex_sub_image2d(77, 0, 0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE, TEXELS)
    assert gl.get_error() == GL.INVALID_ENUM
    write(gl, 0, 0, -1)
    assert gl.get_error() == GL.INVALID_VALUE
    write(gl, 0, 0, 1 << 20)
    assert gl.get_error() == GL.INVALID_VALUE
    gl.pixel_storei(GL.UNPACK_ALIGNMENT, 3)
    assert gl.get_error() == GL.INVALID_VALUE
    gl.pixel_storei(77, 1)
    assert gl.get_error() == GL.INVALID_ENUM


@pytest.mark.parametrize(
    "others",
    [
        _with_rows_apart,
        _with_a_wide_alignment,
        _from_a_buffer,
        _of_other_formats,
        _of_a_texture_that_stores_others,
        _of_a_level_beside_the_chain,
        _with_errors,
    ],
)
def test_other_writes_among_them_are_as_they_were(
    others: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for recorded in (True, False):
        if not recorded:
            switch_off(monkeypatch)
        world = Recorded("numpipe", 5)
        gl = world.gl
        gl.uniform4fv(world.place, 1, np.array([0, 0, 0, 0.9], np.float32))
        textures(world)
        draw(world, 4)
        write(gl, 2, 1)
        assert pending() == recorded  # the draws still are
        draw(world, 4)
        others(gl)
        draw(world, 4)
        found.append(world.read(0) + image(gl))
        assert gl.get_error() == GL.NO_ERROR
        gl.release()
    assert found[0] == found[1]
    assert any(found[0])


def test_an_update_before_a_buffer_of_texels_does_not_make_offsets_pointers() -> None:
    """The first update is executed after the buffer was bound, in the same batch."""
    world = Recorded("numpipe", 5)
    gl = world.gl
    textures(world)
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
    gl.buffer_data(GL.ARRAY_BUFFER, 64, TEXELS[100:164].copy(), GL.STATIC_DRAW)
    write(gl)
    write(gl, 1, 1)
    gl.bind_buffer(GL.PIXEL_UNPACK_BUFFER, buffer)
    assert pending()
    assert gl.get_error() == GL.NO_ERROR
    write(gl, size=2, texels=8)
    assert not pending()
    gl.bind_buffer(GL.PIXEL_UNPACK_BUFFER, 0)
    assert image(gl)[:8] == TEXELS[108:116].tobytes()
    gl.release()
