"""glCopyTexImage and glCopyTexSubImage, into textures of every target and of other formats."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.state_tracker import GL, GLInterface

WIDE, HIGH = 13, 9
FORMATS = ("RGBA8", "RGB8", "R8", "RGBA32F")  # the framebuffer's own, and three to convert to
# target of the texture -> its images, dimensions, where a part of it begins (x, y, z)
TARGETS = {
    "TEXTURE_1D": (("TEXTURE_1D",), 1, (2, 0, 0)),
    "TEXTURE_2D": (("TEXTURE_2D",), 2, (2, 1, 0)),
    "TEXTURE_RECTANGLE": (("TEXTURE_RECTANGLE",), 2, (1, 3, 0)),
    "TEXTURE_1D_ARRAY": (("TEXTURE_1D_ARRAY",), 2, (2, 1, 0)),
    "TEXTURE_CUBE_MAP": (
        tuple(f"TEXTURE_CUBE_MAP_{s}_{a}" for a in "XYZ" for s in ("POSITIVE", "NEGATIVE")),
        2,
        (1, 2, 0),
    ),
    "TEXTURE_3D": (("TEXTURE_3D",), 3, (2, 1, 1)),
    "TEXTURE_2D_ARRAY": (("TEXTURE_2D_ARRAY",), 3, (0, 1, 2)),
}
Picture = npt.NDArray[np.floating[Any]]


def framebuffer(gl: GLInterface) -> Picture:
    """One whose colours are all different, bound to be read."""
    picture = np.random.default_rng(5).permutation(WIDE * HIGH * 4) % 251
    texels = picture.astype(np.uint8).reshape(HIGH, WIDE, 4)
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, WIDE, HIGH, 0, GL.RGBA, GL.UNSIGNED_BYTE, texels)
    (name,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, name)
    gl.framebuffer_texture2d(GL.READ_FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
    gl.bind_texture(GL.TEXTURE_2D, 0)
    return texels.astype(np.float32) / 255


def kept(picture: Picture, format: str) -> Picture:
    """What a format keeps of colours."""
    channels = {"RGBA8": 4, "RGB8": 3, "R8": 1, "RGBA32F": 4}[format]
    found = np.zeros_like(picture)
    found[..., 3] = 1
    found[..., :channels] = picture[..., :channels]
    return found


def image(gl: GLInterface, target: int, shape: tuple[int, ...]) -> Picture:
    gl.pixel_storei(GL.PACK_ALIGNMENT, 1)
    raw: Any = np.zeros((*shape, 4), np.float32)
    gl.get_tex_image(target, 0, GL.RGBA, GL.FLOAT, raw)
    return np.asarray(raw)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("target", [t for t, row in TARGETS.items() if row[1] < 3])
def test_whole_images(target: str, format: str, gl: GLInterface) -> None:
    source = kept(framebuffer(gl), format)
    images, dimensions, _ = TARGETS[target]
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(getattr(GL, target), texture)
    wide, high = (5, 5) if dimensions == 2 else (7, 1)
    for number, one in enumerate(images):
        x, y = 1 + number, 2
        size = (wide,) if dimensions == 1 else (wide, high)
        copy = getattr(gl, f"copy_tex_image{dimensions}d")
        copy(getattr(GL, one), 0, getattr(GL, format), x, y, *size, 0)
        found = image(gl, getattr(GL, one), (high, wide))
        np.testing.assert_allclose(found, source[y : y + high, x : x + wide], atol=1e-6)
    assert gl.get_error() == 0


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("target", TARGETS)
def test_parts_of_images(target: str, format: str, gl: GLInterface) -> None:
    """Also from a rectangle that begins outside the framebuffer: what is outside changes nothing
    that is inside."""
    source = kept(framebuffer(gl), format)
    images, dimensions, at = TARGETS[target]
    (texture,) = gl.gen_textures(1)
    name = getattr(GL, target)
    gl.bind_texture(name, texture)
    shape = (8, 8, 4)[:dimensions] if target != "TEXTURE_CUBE_MAP" else (8, 8)
    for one in images:
        make = getattr(gl, f"tex_image{dimensions}d")
        zeros = np.zeros((*shape[::-1], 4), np.float32)
        internal = getattr(GL, format)
        make(getattr(GL, one), 0, internal, *shape, 0, GL.RGBA, GL.FLOAT, zeros)
    for number, (x, y) in enumerate(((3, 4), (-1, -2))):
        one = getattr(GL, images[number * 3 % len(images)])
        size = (5, 4)[:dimensions]
        copy = getattr(gl, f"copy_tex_sub_image{dimensions}d")
        copy(one, 0, *at[:dimensions], x, max(y, 0) if dimensions == 1 else y, *size)
        full = (1, 1, 1, *shape[::-1])[-3:]
        found = image(gl, one, full)[at[2] if dimensions == 3 else 0]
        high = 4 if dimensions > 1 else 1
        for row in range(high):
            for column in range(5):
                from_y, from_x = (y if dimensions > 1 else max(y, 0)) + row, x + column
                if 0 <= from_x < WIDE and 0 <= from_y < HIGH:
                    texel = found[at[1] + row if dimensions > 1 else 0, at[0] + column]
                    np.testing.assert_allclose(texel, source[from_y, from_x], atol=1e-6)
        if number == 0:
            assert not found[..., 0].any(axis=0)[: at[0]].any()
            assert not found[at[1] + high :, :, 0].any() or dimensions == 1
    assert gl.get_error() == 0
