"""What unmodified C programs met: small rules that no picture of ours had shown."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.enums import GL


@pytest.fixture
def gl() -> Iterator[Context]:
    context = Context(profile="compat", version=(4, 3), size=(32, 32))
    yield context
    context.release()


def pixel(gl: Context, x: int, y: int, format: int = GL.RGBA) -> list[float]:
    raw = gl.read_pixels(x, y, 1, 1, format, GL.FLOAT)
    return [round(float(v), 3) for v in np.frombuffer(raw, np.float32)]


def test_a_bitmap_at_a_whole_position_is_not_a_pixel_off(gl: Context) -> None:
    gl.matrix_mode(GL.PROJECTION)
    for size in (400.0, 96.0, 7.0 * 32):
        gl.load_identity()
        gl.ortho(0.0, size, 0.0, size, -1.0, 1.0)
        for column in range(0, 24, 5):
            gl.clear(GL.COLOR_BUFFER_BIT)
            gl.raster_pos2f(column * size / 32.0, 3 * size / 32.0)
            gl.bitmap(1, 1, 0.0, 0.0, 0.0, 0.0, b"\x80\0\0\0")
            assert pixel(gl, column, 3)[0] == 1.0, (size, column)


def test_debug_groups_end_with_what_was_switched_inside() -> None:
    gl = Context(profile="compat", version=(4, 3), debug=True)
    arguments = (GL.DEBUG_SOURCE_APPLICATION, GL.DEBUG_TYPE_MARKER)

    def say() -> int:
        gl.get_debug_message_log(100)
        gl.debug_message_insert(*arguments, 7, GL.DEBUG_SEVERITY_HIGH, -1, "hello")
        return len(gl.get_debug_message_log(100))

    gl.push_debug_group(GL.DEBUG_SOURCE_APPLICATION, 1, -1, "outer")
    gl.debug_message_control(*arguments, GL.DONT_CARE, 1, [7], False)
    gl.push_debug_group(GL.DEBUG_SOURCE_APPLICATION, 1, -1, "inner")
    assert say() == 0
    gl.debug_message_control(*arguments, GL.DONT_CARE, 1, [7], True)
    assert say() == 1
    gl.pop_debug_group()
    assert say() == 0
    gl.pop_debug_group()
    assert say() == 1
    gl.release()


def test_bindings_of_the_compiler_are_those_of_the_api(gl: Context) -> None:
    limit = gl.get_integerv(GL.MAX_UNIFORM_BUFFER_BINDINGS)[0]
    for binding in (limit - 4, limit - 3):
        shader = gl.create_shader(GL.VERTEX_SHADER)
        gl.shader_source(
            shader,
            f"#version 430\nlayout(binding={binding}) uniform B {{ vec4 a; }} b[2][2];"
            "void main() { gl_Position = b[0][0].a + b[1][1].a; }",
        )
        gl.compile_shader(shader)
        assert gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0] == (binding == limit - 4)


def test_level_ranges_come_back(gl: Context) -> None:
    """Views are kept per level range; new images reach all of them."""
    for level in range(3):
        size = 4 >> level
        gl.tex_image2d(
            GL.TEXTURE_2D, level, GL.RGBA8, size, size, 0, GL.RGBA, GL.FLOAT,
            np.full((size, size, 4), 0.2 * (level + 1), np.float32),
        )  # fmt: skip
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST_MIPMAP_NEAREST)
    gl.enable(GL.TEXTURE_2D)

    def seen(base: int, most: int) -> float:
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_BASE_LEVEL, base)
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MAX_LEVEL, most)
        gl.rectf(-1.0, -1.0, 1.0, 1.0)
        return pixel(gl, 5, 5)[0]

    for _ in range(2):
        assert [seen(*r) for r in ((0, 0), (1, 1), (2, 2), (1, 2))] == [0.2, 0.4, 0.6, 0.4]
    white = np.ones((2, 2, 4), np.float32)
    gl.tex_image2d(GL.TEXTURE_2D, 1, GL.RGBA8, 2, 2, 0, GL.RGBA, GL.FLOAT, white)
    assert [seen(*r) for r in ((0, 0), (1, 1), (2, 2), (1, 2))] == [0.2, 1.0, 0.6, 1.0]


@pytest.mark.parametrize(
    "name",
    ["COMPRESSED_RGB_S3TC_DXT1_EXT", "COMPRESSED_RGBA_S3TC_DXT5_EXT",
     "COMPRESSED_SRGB_ALPHA_S3TC_DXT5_EXT", "COMPRESSED_RED_RGTC1", "COMPRESSED_SIGNED_RG_RGTC2",
     "COMPRESSED_LUMINANCE_ALPHA_LATC2_EXT"],
)  # fmt: skip
def test_images_uploaded_as_pixels_can_be_read_compressed(gl: Context, name: str) -> None:
    internal, kind = getattr(GL, name), GL.TEXTURE_2D
    first, second = gl.gen_textures(2)
    pixels = np.zeros((10, 10, 4), np.float32)
    pixels[:5] = (0.0, 1.0, 0.0, 1.0)
    pixels[5:] = (1.0, 0.0, 0.0, 1.0)
    gl.bind_texture(kind, first)
    gl.tex_image2d(kind, 0, internal, 10, 10, 0, GL.RGBA, GL.FLOAT, pixels)
    assert gl.get_tex_level_parameteriv(kind, 0, GL.TEXTURE_COMPRESSED) == [1]
    (size,) = gl.get_tex_level_parameteriv(kind, 0, GL.TEXTURE_COMPRESSED_IMAGE_SIZE)
    blocks = gl.get_compressed_tex_image(kind, 0)
    assert len(blocks) == size == 9 * (8 if "DXT1" in name or "RGTC1" in name else 16)
    gl.bind_texture(kind, second)
    gl.compressed_tex_image2d(kind, 0, internal, 10, 10, 0, size, blocks)
    assert gl.get_error() == GL.NO_ERROR
    images = []
    for texture in (first, second):
        gl.bind_texture(kind, texture)
        images.append(np.frombuffer(gl.get_tex_image(kind, 0, GL.RGBA, GL.FLOAT), np.float32))
    assert np.abs(images[0] - images[1]).max() < 0.01
    gl.bind_texture(kind, first)
    gl.compressed_tex_sub_image2d(kind, 0, 0, 8, 10, 2, internal, size // 3, blocks[: size // 3])
    assert gl.get_error() == GL.NO_ERROR
    updated = np.frombuffer(gl.get_tex_image(kind, 0, GL.RGBA, GL.FLOAT), np.float32)
    rows = updated.reshape(10, 10, 4)
    assert np.abs(rows[8:] - rows[:2]).max() < 0.01
    assert np.abs(rows[6] - rows[0]).max() > 0.9
