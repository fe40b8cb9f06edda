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


# The native GL takes the rows of an array of lines for images, and skips no faces of a cube.
THEIR_OWN = {("TEXTURE_1D_ARRAY", "IMAGE_HEIGHT"), ("TEXTURE_CUBE_MAP", "SKIP_IMAGES")}


@pytest.mark.parametrize("target", SHAPES)
def test_boxes_of_every_target(both: Pair, target: str) -> None:
    """Every side of a box one within, on and past the end, and levels that there are or are not."""
    shape, where = SHAPES[target], getattr(GL, target)
    names = []
    for gl in both:
        (texture,) = gl.create_textures(where, 1)
        levels = 1 if target == "TEXTURE_RECTANGLE" else 2
        getattr(gl, f"texture_storage{len(shape)}d")(texture, levels, GL.R8, *shape)
        fill(gl, texture, target)
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
        same(both, names, level, at, extent)
    for setting, number in (("ROW_LENGTH", 9), ("IMAGE_HEIGHT", 5), ("SKIP_PIXELS", 2),
                            ("SKIP_ROWS", 1), ("SKIP_IMAGES", 1), ("ALIGNMENT", 8)):  # fmt: skip
        if (target, setting) in THEIR_OWN:
            continue
        for gl in both:
            gl.pixel_storei(getattr(GL, f"PACK_{setting}"), number)
        box = tuple(min(2, w) for w in whole)
        same(both, names, 0, tuple(w - b for w, b in zip(whole, box, strict=True)), box)
        same(both, names, 0, (0, 0, 0), whole)
        whole_image(both, names)


def fill(gl: GLInterface, texture: int, target: str) -> None:
    """Every texel of the first level is another number."""
    shape = SHAPES[target] if target != "TEXTURE_CUBE_MAP" else (4, 4, 6)
    texels = np.arange(np.prod(shape)).astype(np.uint8)
    gl.pixel_storei(GL.UNPACK_ALIGNMENT, 1)
    call = getattr(gl, f"texture_sub_image{len(shape)}d")
    call(texture, 0, *(0,) * len(shape), *shape, GL.RED, GL.UNSIGNED_BYTE, texels)
    assert name(gl) == "GL_NO_ERROR"


def same(
    both: Pair, names: list[int], level: int, at: tuple[int, ...], extent: tuple[int, ...],
    *, room: int = 4096,
) -> None:  # fmt: skip
    """A box of both, and what is refused."""
    found = []
    for gl, texture in zip(both, names, strict=True):
        memory = np.full(4096, 251, np.uint8)
        gl.get_texture_sub_image(
            texture, level, *at, *extent, GL.RED, GL.UNSIGNED_BYTE, room, memory
        )
        found.append((name(gl), memory.tolist()))
    assert found[0] == found[1], (level, at, extent, room)


def whole_image(both: Pair, names: list[int]) -> None:
    for room in (0, 1, 40, 4096):
        found = []
        for gl, texture in zip(both, names, strict=True):
            memory = np.full(4096, 251, np.uint8)
            gl.get_texture_image(texture, 0, GL.RED, GL.UNSIGNED_BYTE, room, memory)
            found.append((name(gl), memory.tolist()))
        assert found[0] == found[1], room


def test_as_much_as_there_is_room_for(both: Pair) -> None:
    names = []
    for gl in both:
        (texture,) = gl.create_textures(GL.TEXTURE_2D, 1)
        gl.texture_storage2d(texture, 1, GL.R8, 8, 4)
        fill(gl, texture, "TEXTURE_2D")
        names.append(texture)
        gl.pixel_storei(GL.PACK_ALIGNMENT, 1)
    for room in (0, 1, 31, 32, 33):
        same(both, names, 0, (0, 0, 0), (8, 4, 1), room=room)
    for room in (0, 5, 6, 7):
        same(both, names, 0, (1, 1, 0), (3, 2, 1), room=room)
    same(both, names, 0, (0, 0, 0), (0, 4, 1), room=0)


BLOCKS = {"TEXTURE_2D": (12, 8), "TEXTURE_2D_ARRAY": (12, 8, 3), "TEXTURE_CUBE_MAP": (8, 8)}


@pytest.mark.parametrize("target", BLOCKS)
def test_boxes_of_blocks(both: Pair, target: str) -> None:
    """Compressed images as blocks: whole ones, or up to the image's end."""
    shape, kind = BLOCKS[target], GL.COMPRESSED_RED_RGTC1
    layers = 6 if target == "TEXTURE_CUBE_MAP" else (*shape, 1)[2]
    names = []
    for gl in both:
        (texture,) = gl.create_textures(getattr(GL, target), 1)
        getattr(gl, f"texture_storage{len(shape)}d")(texture, 2, kind, *shape)
        size = shape[0] // 4 * (shape[1] // 4) * 8 * layers
        data = (np.arange(size) * 7 % 256).astype(np.uint8)
        if target == "TEXTURE_2D":
            gl.compressed_texture_sub_image2d(texture, 0, 0, 0, *shape, kind, size, data)
        else:
            whole = (*shape[:2], layers)
            gl.compressed_texture_sub_image3d(texture, 0, 0, 0, 0, *whole, kind, size, data)
        assert name(gl) == "GL_NO_ERROR"
        names.append(texture)
    for level, x, y, z, width, height, depth in itertools.product(
        (-1, 0, 1, 2), (0, 4, 2), (0, 4), (0, 1), (4, 8, 6, 3), (4, 8, 2), (0, 1, layers)
    ):
        found = []
        for gl, texture in zip(both, names, strict=True):
            memory = np.full(1024, 251, np.uint8)
            gl.get_compressed_texture_sub_image(
                texture, level, x, y, z, width, height, depth, 1024, memory
            )
            found.append((name(gl), memory.tobytes() if level == 0 else b""))
        if depth or found[1][0] == "GL_NO_ERROR":  # nothing of a cube is no error with us
            assert found[0] == found[1], (level, x, y, z, width, height, depth)
    for room in (0, size - 1, size, size + 1):
        found = []
        for gl, texture in zip(both, names, strict=True):
            memory = np.full(1024, 251, np.uint8)
            gl.get_compressed_texture_image(texture, 0, room, memory)
            found.append((name(gl), memory.tobytes()))
        assert found[0] == found[1], room
