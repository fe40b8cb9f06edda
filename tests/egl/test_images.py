"""EGL images: one storage seen by textures and renderbuffers of contexts that share nothing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from gallette.egl.constants import EGL
from gallette.egl.images import Image, source_of
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.texturing.external_images import Source

Pair = tuple[Context, Context, dict[int, Image]]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Two contexts of one screen, and the images they know by number."""
    first = Context(profile="compat", version=(3, 3), size=(8, 8))
    second = Context(profile="es", version=(3, 0), size=(8, 8), screen=first.screen)
    images: dict[int, Image] = {}

    def find(handle: int) -> Source | None:
        found = images.get(handle)
        return (found.resource, found.level, found.layer, found.info) if found else None

    first.find_image = second.find_image = find
    yield first, second, images
    for image in images.values():
        image.release()
    second.release()
    first.release()


def paint(gl: Context, texture: int, level: int, value: int, size: int) -> None:
    data = np.full((size, size, 4), value, np.uint8)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_sub_image2d(GL.TEXTURE_2D, level, 0, 0, size, size, GL.RGBA, GL.UNSIGNED_BYTE, data)
    gl.flush()


def seen(gl: Context, texture: int) -> int:
    (framebuffer,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
    assert gl.check_framebuffer_status(GL.FRAMEBUFFER) == GL.FRAMEBUFFER_COMPLETE
    raw = gl.read_pixels(1, 1, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)
    gl.bind_framebuffer(GL.FRAMEBUFFER, 0)
    return int(raw[0])


def mipmapped(gl: Context) -> int:
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    for level in range(3):
        gl.tex_image2d(
            GL.TEXTURE_2D, level, GL.RGBA8, 8 >> level, 8 >> level, 0, GL.RGBA,
            GL.UNSIGNED_BYTE, np.full((8, 8, 4), 10 * level, np.uint8),
        )  # fmt: skip
    return int(texture)


@pytest.mark.parametrize("level", [0, 1])
def test_a_texture_of_an_image_shows_what_its_siblings_draw(pair: Pair, level: int) -> None:
    first, second, images = pair
    first.make_current()
    original = mipmapped(first)
    images[1] = Image(source_of(first, EGL.GL_TEXTURE_2D, original, {EGL.GL_TEXTURE_LEVEL: level}))
    second.make_current()
    (twin,) = second.gen_textures(1)
    second.bind_texture(GL.TEXTURE_2D, twin)
    second.egl_image_target_texture2d_oes(GL.TEXTURE_2D, 1)
    assert second.get_error() == GL.NO_ERROR
    assert seen(second, twin) == 10 * level
    first.make_current()
    paint(first, original, level, 77, 8 >> level)
    second.make_current()
    assert seen(second, twin) == 77
    # Storage of its own ends the relation; the others keep theirs.
    second.bind_texture(GL.TEXTURE_2D, twin)
    second.tex_image2d(
        GL.TEXTURE_2D, 0, GL.RGBA, 8 >> level, 8 >> level, 0, GL.RGBA, GL.UNSIGNED_BYTE,
        np.full((8, 8, 4), 200, np.uint8),
    )  # fmt: skip
    assert seen(second, twin) == 200
    first.make_current()
    data = first.get_tex_image(GL.TEXTURE_2D, level, GL.RGBA, GL.UNSIGNED_BYTE)
    assert data[0] == 77


def test_a_renderbuffer_of_an_image_draws_into_the_texture(pair: Pair) -> None:
    first, second, images = pair
    first.make_current()
    original = mipmapped(first)
    images[1] = Image(source_of(first, EGL.GL_TEXTURE_2D, original, {EGL.GL_TEXTURE_LEVEL: 1}))
    second.make_current()
    (buffer,) = second.gen_renderbuffers(1)
    second.bind_renderbuffer(GL.RENDERBUFFER, buffer)
    second.egl_image_target_renderbuffer_storage_oes(GL.RENDERBUFFER, 1)
    assert second.get_renderbuffer_parameteriv(GL.RENDERBUFFER, GL.RENDERBUFFER_WIDTH) == [4]
    (framebuffer,) = second.gen_framebuffers(1)
    second.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    second.framebuffer_renderbuffer(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, buffer)
    second.clear_color(0.2, 0.2, 0.2, 1.0)
    second.clear(GL.COLOR_BUFFER_BIT)
    second.finish()
    first.make_current()
    levels = [
        first.get_tex_image(GL.TEXTURE_2D, level, GL.RGBA, GL.UNSIGNED_BYTE)[0]
        for level in range(3)
    ]
    assert levels == [0, 51, 20]


def test_what_is_no_image_is_refused(pair: Pair) -> None:
    first, second, images = pair
    second.make_current()
    (texture,) = second.gen_textures(1)
    second.bind_texture(GL.TEXTURE_2D, texture)
    second.egl_image_target_texture2d_oes(GL.TEXTURE_2D, 99)
    assert second.get_error() == GL.INVALID_VALUE
    second.egl_image_target_texture2d_oes(GL.TEXTURE_3D, 99)
    assert second.get_error() == GL.INVALID_ENUM
    first.make_current()
    images[1] = Image(source_of(first, EGL.GL_TEXTURE_2D, mipmapped(first), {}))
    second.make_current()
    second.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA8, 8, 8)
    second.egl_image_target_texture2d_oes(GL.TEXTURE_2D, 1)
    assert second.get_error() == GL.INVALID_OPERATION
    (other,) = second.gen_textures(1)
    second.bind_texture(GL.TEXTURE_2D, other)
    second.egl_image_target_tex_storage_ext(GL.TEXTURE_2D, 1, None)
    assert second.get_error() == GL.NO_ERROR
    assert second.get_tex_parameteriv(GL.TEXTURE_2D, GL.TEXTURE_IMMUTABLE_FORMAT) == [1]
