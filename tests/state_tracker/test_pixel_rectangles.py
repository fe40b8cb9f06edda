"""Raster position, pixel rectangles, bitmaps and pixel transfer, compared with native GL."""

from __future__ import annotations

import mmap
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.optional.compatibility.pixel_ops.bitmaps import _pixels, bitmap_layout
from gallette.state_tracker.pixel_data.pixels import PackState
from tests.conftest import native_context
from tests.state_tracker.helpers import errors
from tests.state_tracker.pictures import compare

RNG = np.random.default_rng(5)
PICTURE = RNG.integers(0, 256, (12, 16, 4), dtype=np.uint8)
LETTER = bytes([0x18, 0x24, 0x42, 0x42, 0x7E, 0x42, 0x42, 0x42])


def plain(gl: Any) -> None:
    gl.window_pos2i(5, 7)
    gl.draw_pixels(16, 12, GL.RGBA, GL.UNSIGNED_BYTE, PICTURE)
    gl.window_pos2i(40, 40)
    gl.draw_pixels(16, 12, GL.LUMINANCE, GL.UNSIGNED_BYTE, PICTURE[..., 0].copy())
    gl.window_pos2i(-4, 50)
    gl.draw_pixels(16, 12, GL.BGR, GL.UNSIGNED_BYTE, PICTURE[..., :3].copy())


def zoomed(gl: Any) -> None:
    gl.raster_pos2f(-0.59375, -0.59375)
    gl.pixel_zoom(2.3, 2.3)
    gl.draw_pixels(16, 12, GL.RGBA, GL.UNSIGNED_BYTE, PICTURE)
    gl.raster_pos3f(0.9, 0.9, 0.1)
    gl.pixel_zoom(-1.0, -1.0)
    gl.draw_pixels(16, 12, GL.RGBA, GL.UNSIGNED_BYTE, PICTURE)


def blended_and_scissored(gl: Any) -> None:
    gl.clear_color(0.2, 0.4, 0.6, 1.0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.enable(GL.SCISSOR_TEST)
    gl.scissor(10, 10, 20, 9)
    gl.enable(GL.BLEND)
    gl.blend_func(GL.SRC_ALPHA, GL.ONE_MINUS_SRC_ALPHA)
    gl.window_pos2i(8, 8)
    gl.draw_pixels(16, 12, GL.RGBA, GL.UNSIGNED_BYTE, PICTURE)


def transferred(gl: Any) -> None:
    gl.pixel_transferf(GL.RED_SCALE, 0.5)
    gl.pixel_transferf(GL.GREEN_BIAS, 0.25)
    gl.window_pos2i(3, 3)
    gl.draw_pixels(16, 12, GL.RGBA, GL.UNSIGNED_BYTE, PICTURE)
    gl.pixel_transferf(GL.RED_SCALE, 1.0)
    gl.pixel_transferf(GL.GREEN_BIAS, 0.0)


def depth_tested(gl: Any) -> None:
    gl.enable(GL.DEPTH_TEST)
    depth = np.linspace(0.0, 1.0, 32 * 32, dtype=np.float32).reshape(32, 32)
    gl.depth_func(GL.ALWAYS)
    gl.color_mask(0, 0, 0, 0)
    gl.window_pos2i(8, 8)
    gl.draw_pixels(32, 32, GL.DEPTH_COMPONENT, GL.FLOAT, depth)
    gl.color_mask(1, 1, 1, 1)
    gl.depth_func(GL.LESS)
    gl.color3f(1.0, 0.5, 0.0)
    gl.begin(GL.QUADS)
    for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        gl.vertex3f(x, y, 0.1)
    gl.end()


def stencilled(gl: Any) -> None:
    pattern = (np.indices((24, 24)).sum(axis=0) % 3).astype(np.uint8)
    gl.window_pos2i(10, 10)
    gl.draw_pixels(24, 24, GL.STENCIL_INDEX, GL.UNSIGNED_BYTE, pattern)
    gl.enable(GL.STENCIL_TEST)
    for value in (1, 2):
        gl.stencil_func(GL.EQUAL, value, 0xFF)
        gl.color3f(value / 2.0, 1.0 - value / 2.0, 0.5)
        gl.rectf(-1.0, -1.0, 1.0, 1.0)


def copied(gl: Any) -> None:
    plain(gl)
    gl.window_pos2i(30, 10)
    gl.copy_pixels(4, 6, 20, 14, GL.COLOR)
    gl.pixel_zoom(2.0, 1.0)
    gl.window_pos2i(2, 30)
    gl.copy_pixels(4, 6, 20, 14, GL.COLOR)


def bitmaps(gl: Any) -> None:
    gl.pixel_storei(GL.UNPACK_ALIGNMENT, 1)
    gl.color3f(1.0, 0.8, 0.2)
    gl.raster_pos2f(-0.5, -0.25)
    gl.color3f(0.0, 0.0, 1.0)
    for _ in range(3):
        gl.bitmap(8, 8, 0.0, 0.0, 10.0, 3.0, LETTER)
    assert gl.get_floatv(GL.CURRENT_RASTER_POSITION)[:2] == [46.0, 33.0]


def textured(gl: Any) -> None:
    """Texturing applies to pixels as well, with the raster position's coordinates."""
    texel = np.array([128, 255, 64, 255], np.uint8)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA, 1, 1, 0, GL.RGBA, GL.UNSIGNED_BYTE, texel)
    gl.enable(GL.TEXTURE_2D)
    gl.raster_pos3f(-0.5, -0.5, -0.5)
    gl.draw_pixels(16, 12, GL.RGBA, GL.UNSIGNED_BYTE, PICTURE)


def uploaded(gl: Any) -> None:
    """Pixels are transferred on their way into textures, too, unless they are no colours."""
    gl.pixel_transferf(GL.RED_SCALE, 0.5)
    gl.pixel_transferf(GL.GREEN_BIAS, 0.25)
    gl.pixel_mapfv(GL.PIXEL_MAP_B_TO_B, 4, np.array([1.0, 0.5, 0.25, 0.0], np.float32))
    gl.enable(GL.TEXTURE_2D)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MAG_FILTER, GL.NEAREST)
    for place, form in enumerate((GL.RGBA, GL.LUMINANCE, GL.RGB, GL.DEPTH_COMPONENT)):
        gl.pixel_transferi(GL.MAP_COLOR, place % 2)
        pixel = GL.DEPTH_COMPONENT if form == GL.DEPTH_COMPONENT else GL.RGBA
        image = PICTURE[..., 0].copy() if pixel == GL.DEPTH_COMPONENT else PICTURE
        gl.tex_image2d(GL.TEXTURE_2D, 0, form, 16, 12, 0, pixel, GL.UNSIGNED_BYTE, image)
        gl.pixel_transferi(GL.MAP_COLOR, (place + 1) % 2)
        gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 4, 4, 8, 6, pixel, GL.UNSIGNED_BYTE, image)
        gl.viewport(place % 2 * 32, place // 2 * 32, 32, 32)
        gl.begin(GL.QUADS)
        for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
            gl.tex_coord2f((x + 1) / 2, (y + 1) / 2)
            gl.vertex2f(x, y)
        gl.end()


SCENES = [
    plain,
    uploaded,
    zoomed,
    blended_and_scissored,
    transferred,
    depth_tested,
    stencilled,
    copied,
    bitmaps,
    textured,
]


@pytest.mark.native
@pytest.mark.parametrize("scene", SCENES, ids=[s.__name__ for s in SCENES])
def test_pixels_are_drawn_as_native_gl_draws_them(scene: Callable[[Any], None]) -> None:
    compare(scene)


COPIED = """
    RED RG RGB RGBA RGB565 RGB10 RGB10_A2 RGBA4 R11F_G11F_B10F R16F RGB16F RGBA16F RG16_SNORM
    ALPHA LUMINANCE LUMINANCE_ALPHA INTENSITY
"""


@pytest.mark.native
def test_pixels_are_copied_from_buffers_with_any_components_as_on_native_gl() -> None:
    """What a colour buffer lacks is 0, and an alpha of 1. (Mesa copies sRGB as if sampled.)"""
    found: list[dict[str, Any]] = []
    for create in (native_context, lambda **options: create_context("numpipe", **options)):
        gl = create(profile="compat", version=(4, 5), size=(16, 12))
        found.append({})
        for name in COPIED.split():
            (texture,), (framebuffer,) = gl.gen_textures(1), gl.gen_framebuffers(1)
            gl.bind_texture(GL.TEXTURE_2D, texture)
            internal = int(getattr(GL, name))
            gl.tex_image2d(
                GL.TEXTURE_2D, 0, internal, 16, 12, 0, GL.RGBA, GL.UNSIGNED_BYTE, PICTURE
            )
            gl.bind_framebuffer(GL.READ_FRAMEBUFFER, framebuffer)
            gl.framebuffer_texture2d(
                GL.READ_FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0
            )
            gl.read_buffer(GL.COLOR_ATTACHMENT0)
            gl.clear_color(0.25, 0.5, 0.75, 0.125)
            gl.clear(GL.COLOR_BUFFER_BIT)
            gl.window_pos2i(1, 2)
            gl.copy_pixels(4, 3, 10, 8, GL.COLOR)
            gl.bind_framebuffer(GL.READ_FRAMEBUFFER, 0)
            picture = np.zeros((12, 16, 4), np.uint8)
            gl.read_pixels(0, 0, 16, 12, GL.RGBA, GL.UNSIGNED_BYTE, picture)
            found[-1][name] = (errors(gl), picture.astype(int))
        gl.release()
    native, ours = found
    assert sum(not error for error, _ in native.values()) > 10
    for name, (error, picture) in native.items():
        assert ours[name][0] == error, name
        assert np.abs(ours[name][1] - picture).max() <= 1, name


@pytest.mark.parametrize("part", [False, True])
@pytest.mark.parametrize("how", ["nothing", "scaled", "looked up"])
def test_texels_are_transferred_like_pixels(compat: GLInterface, how: str, part: bool) -> None:
    """On their way into an image or a part of one, and not a second time on the way out."""
    compat.bind_texture(GL.TEXTURE_2D, compat.gen_textures(1)[0])
    if part:
        compat.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 16, 12, 0, GL.RGBA, GL.UNSIGNED_BYTE, None)
    expected = PICTURE.astype(np.float64)
    if how == "scaled":
        compat.pixel_transferf(GL.RED_SCALE, 0.5)
        compat.pixel_transferf(GL.GREEN_BIAS, 0.25)
        expected = np.clip(expected * (0.5, 1, 1, 1) + (0, 63.75, 0, 0), 0, 255)
    elif how == "looked up":
        compat.pixel_mapfv(GL.PIXEL_MAP_B_TO_B, 256, np.linspace(1, 0, 256, dtype=np.float32))
        for name in "RGA":
            table = np.linspace(0, 1, 256, dtype=np.float32)
            compat.pixel_mapfv(getattr(GL, f"PIXEL_MAP_{name}_TO_{name}"), 256, table)
        compat.pixel_transferi(GL.MAP_COLOR, 1)
        expected[..., 2] = 255 - expected[..., 2]
    kind = (GL.RGBA, GL.UNSIGNED_BYTE)
    if part:
        compat.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 16, 12, *kind, PICTURE)
    else:
        compat.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 16, 12, 0, *kind, PICTURE)
    compat.pixel_transferf(GL.RED_SCALE, 1.0)
    compat.pixel_transferf(GL.GREEN_BIAS, 0.0)
    compat.pixel_transferi(GL.MAP_COLOR, 0)
    found = np.zeros((12, 16, 4), np.uint8)
    compat.get_tex_image(GL.TEXTURE_2D, 0, *kind, found)
    assert abs(found - expected).max() <= 1
    assert errors(compat) == []


def test_pixel_maps_are_looked_up_at_the_nearest_entry() -> None:
    """Mesa's llvmpipe interpolates between entries; the specification rounds to one."""
    gl = create_context("numpipe", profile="compat", version=(2, 1), size=(16, 12))
    tables = [np.array(t, np.float32) for t in ([1, 0], [0, 0.5, 1], [1, 0.6, 0.3, 0], [0, 1])]
    for name, table in zip("RGBA", tables, strict=True):
        gl.pixel_mapfv(getattr(GL, f"PIXEL_MAP_{name}_TO_{name}"), table.size, table)
    gl.pixel_transferi(GL.MAP_COLOR, 1)
    gl.window_pos2i(0, 0)
    gl.draw_pixels(16, 12, GL.RGBA, GL.UNSIGNED_BYTE, PICTURE)
    gl.pixel_transferi(GL.MAP_COLOR, 0)
    found = np.frombuffer(gl.read_pixels(0, 0, 16, 12, GL.RGBA, GL.UNSIGNED_BYTE), np.uint8)
    for channel, table in enumerate(tables):
        at = np.rint(PICTURE[..., channel] / 255.0 * (table.size - 1)).astype(int)
        expected = np.rint(table[at].astype(np.float64) * 255.0)
        assert abs(found.reshape(12, 16, 4)[..., channel] - expected).max() <= 1
    gl.release()


BOTH = pytest.mark.parametrize(
    "driver", ["numpipe", pytest.param("native:llvmpipe", marks=pytest.mark.native)]
)


def _stipple(gl: GLInterface) -> list[int]:
    raw = np.zeros(128, np.uint8)
    gl.get_polygon_stipple(raw)
    return [int.from_bytes(row.tobytes(), "big") for row in raw.reshape(32, 4)]


@BOTH
def test_stipple_patterns_are_bitmaps_in_rows_as_the_pixel_store_says(driver: str) -> None:
    gl = create_context(driver, profile="compat", version=(2, 1), size=(4, 4))
    rng = np.random.default_rng(5)
    memory = rng.integers(0, 256, (40, 8), np.uint8)
    for name, value in (("ROW_LENGTH", 64), ("SKIP_ROWS", 3), ("SKIP_PIXELS", 5), ("LSB_FIRST", 1)):
        gl.pixel_storei(getattr(GL, f"UNPACK_{name}"), value)
    gl.polygon_stipple(memory)
    bits = np.unpackbits(memory, axis=1, bitorder="little")[3:35, 5:37]
    assert _stipple(gl) == [int("".join(map(str, row)), 2) for row in bits]
    for name, value in (("ROW_LENGTH", 64), ("SKIP_ROWS", 3), ("SKIP_PIXELS", 5), ("LSB_FIRST", 1)):
        gl.pixel_storei(getattr(GL, f"PACK_{name}"), value)
    back = np.full((40, 8), 0x5A, np.uint8)
    gl.get_polygon_stipple(back)
    there = np.unpackbits(back, axis=1, bitorder="little")
    assert (there[3:35, 5:37] == bits).all()
    if driver == "numpipe":  # Mesa 22.3 writes whole bytes
        old = np.unpackbits(np.full((40, 8), 0x5A, np.uint8), axis=1, bitorder="little")
        there[3:35, 5:37] = old[3:35, 5:37]
        assert (there == old).all()
    gl.release()


def test_rows_of_bitmaps_may_lie_gigabytes_apart() -> None:
    """Only what is shown is read."""
    state = PackState(row_length=(1 << 31) - 1, skip_pixels=(1 << 30) + 3, alignment=1)
    _, stride, size = bitmap_layout(state, 11, 4)
    assert size > 1 << 29
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)
    for row in range(4):
        memory[row * stride + (1 << 27)] = 0b00010101
    tracemalloc.start()
    bits = _pixels(state, np.frombuffer(memory, np.uint8), 11, 4)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (bits == [1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]).all()
    assert peak < 1 << 20


def lit_raster_colors(gl: GLInterface) -> list[list[float]]:
    """The raster position's colours under lights of every kind."""
    random = np.random.default_rng(8)
    gl.enable(GL.LIGHTING)
    gl.enable(GL.LIGHT0)
    found = []
    for number in range(48):
        place = [*random.uniform(-1, 1, 3).tolist(), float(number % 3 > 0)]
        gl.lightfv(GL.LIGHT0, GL.POSITION, place)
        for name in (GL.AMBIENT, GL.DIFFUSE, GL.SPECULAR):
            gl.lightfv(GL.LIGHT0, name, random.uniform(0, 1, 4).tolist())
            gl.materialfv(GL.FRONT_AND_BACK, name, random.uniform(0, 1, 4).tolist())
        for name in (GL.CONSTANT_ATTENUATION, GL.LINEAR_ATTENUATION, GL.QUADRATIC_ATTENUATION):
            gl.lightf(GL.LIGHT0, name, random.uniform(0, 2))
        gl.lightf(GL.LIGHT0, GL.SPOT_CUTOFF, (180.0, 80.0)[number // 6 % 2])
        gl.lightf(GL.LIGHT0, GL.SPOT_EXPONENT, random.uniform(0, 3))
        gl.lightfv(GL.LIGHT0, GL.SPOT_DIRECTION, random.uniform(-1, 1, 3).tolist())
        gl.materialf(GL.FRONT_AND_BACK, GL.SHININESS, random.uniform(0, 5))
        gl.light_modeli(GL.LIGHT_MODEL_LOCAL_VIEWER, number % 2)
        gl.light_modeli(
            GL.LIGHT_MODEL_COLOR_CONTROL,
            (GL.SINGLE_COLOR, GL.SEPARATE_SPECULAR_COLOR)[number // 12 % 2],
        )
        gl.normal3f(*random.uniform(-0.5, 0.5, 3).tolist())
        gl.raster_pos3f(*random.uniform(-0.9, 0.9, 3).tolist())
        found.append(gl.get_floatv(GL.CURRENT_RASTER_COLOR))
        found.append(gl.get_floatv(GL.CURRENT_RASTER_SECONDARY_COLOR)[:3])
    return found


@pytest.mark.native
def test_raster_positions_are_lit_as_on_native_gl() -> None:
    with create_context("numpipe", profile="compat") as ours:
        found = lit_raster_colors(ours)
    native = native_context(profile="compat")
    expected = lit_raster_colors(native)
    native.release()
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=2e-3)
    assert len({tuple(each) for each in found}) > 48


# What would change a triangle, and is nothing to a rectangle of pixels.
TRIANGLES_ONLY: dict[str, Callable[[Any], None]] = {
    "a clip plane": lambda gl: (
        gl.clip_plane(GL.CLIP_PLANE0, [1.0, 0.0, 0.0, 0.5]),
        gl.enable(GL.CLIP_PLANE0),
    ),
    "the last clip plane": lambda gl: (
        gl.clip_plane(GL.CLIP_PLANE5, [0.0, 1.0, 0.0, 0.25]),
        gl.enable(GL.CLIP_PLANE5),
    ),
    "culled fronts": lambda gl: (gl.cull_face(GL.FRONT), gl.enable(GL.CULL_FACE)),
    "culled backs": lambda gl: (gl.cull_face(GL.BACK), gl.enable(GL.CULL_FACE)),
    "culled sides": lambda gl: (gl.cull_face(GL.FRONT_AND_BACK), gl.enable(GL.CULL_FACE)),
    "backs in front": lambda gl: (gl.front_face(GL.CW), gl.enable(GL.CULL_FACE)),
    "lines": lambda gl: gl.polygon_mode(GL.FRONT_AND_BACK, GL.LINE),
    "points": lambda gl: gl.polygon_mode(GL.FRONT_AND_BACK, GL.POINT),
    "a stipple": lambda gl: (gl.polygon_stipple(bytes(128)), gl.enable(GL.POLYGON_STIPPLE)),
    "smooth edges": lambda gl: (
        gl.enable(GL.POLYGON_SMOOTH),
        gl.enable(GL.BLEND),
        gl.blend_func(GL.SRC_ALPHA, GL.ONE),
    ),
    "an offset": lambda gl: (gl.polygon_offset(0.0, 1e8), gl.enable(GL.POLYGON_OFFSET_FILL)),
    "flat colours": lambda gl: gl.shade_model(GL.FLAT),
    "two sides": lambda gl: gl.enable(GL.VERTEX_PROGRAM_TWO_SIDE),
    "clamped depths": lambda gl: gl.enable(GL.DEPTH_CLAMP),
    "half of the depths": lambda gl: gl.clip_control(GL.LOWER_LEFT, GL.ZERO_TO_ONE),
    "clamped colours": lambda gl: gl.clamp_color(GL.CLAMP_VERTEX_COLOR, GL.TRUE),
}


@pytest.mark.native
@pytest.mark.parametrize("depth", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("name", TRIANGLES_ONLY)
def test_what_is_about_triangles_is_not_about_rectangles_of_pixels(name: str, depth: float) -> None:
    def scene(gl: Any) -> None:
        gl.enable(GL.DEPTH_TEST)
        gl.depth_func(GL.LEQUAL)
        gl.color4f(0.2, 0.9, 0.4, 0.8)
        gl.pixel_storei(GL.UNPACK_ALIGNMENT, 1)
        gl.window_pos3f(2.0, 3.0, depth)
        gl.push_attrib(GL.ALL_ATTRIB_BITS)
        TRIANGLES_ONLY[name](gl)
        gl.draw_pixels(16, 12, GL.RGBA, GL.UNSIGNED_BYTE, PICTURE)
        gl.window_pos3f(20.0, 3.0, depth)
        gl.bitmap(8, 8, 0.0, 0.0, 0.0, 0.0, LETTER)
        gl.window_pos3f(20.0, 15.0, depth)
        gl.copy_pixels(2, 3, 8, 9, GL.COLOR)
        gl.pop_attrib()
        gl.color3f(1.0, 1.0, 1.0)
        gl.begin(GL.QUADS)  # seen where what lies there is farther
        for x, y in ((-1, -1), (1, -1), (1, 0), (-1, 0)):
            gl.vertex3f(x, y, 0.5)
        gl.end()

    compare(scene, size=(32, 32), version=(4, 5))
