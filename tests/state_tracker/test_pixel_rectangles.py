"""Raster position, pixel rectangles, bitmaps and pixel transfer, compared with native GL."""

from __future__ import annotations

import mmap
import tracemalloc

import numpy as np
import pytest

from gallette.drivers.jit import draw_plan
from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.optional.compatibility.pixel_ops.bitmaps import _pixels, bitmap_layout
from gallette.state_tracker.pixel_data.pixels import PackState
from tests.state_tracker.helpers import errors

RNG = np.random.default_rng(5)
PICTURE = RNG.integers(0, 256, (12, 16, 4), dtype=np.uint8)


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


def test_rectangles_of_one_size_are_drawn_in_one_state(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    plan = draw_plan.make_plan
    monkeypatch.setattr(
        draw_plan, "make_plan", lambda draw, mode: made.append(mode) or plan(draw, mode)
    )
    gl = create_context("jit", profile="compat", version=(2, 1), size=(16, 12))
    found = np.zeros_like(PICTURE)
    for drawn in (PICTURE, PICTURE[::-1].copy(), 255 - PICTURE):
        gl.window_pos2i(0, 0)
        gl.draw_pixels(16, 12, GL.RGBA, GL.UNSIGNED_BYTE, drawn)
        gl.read_pixels(0, 0, 16, 12, GL.RGBA, GL.UNSIGNED_BYTE, found)
        assert np.array_equal(found, drawn)
    assert len(made) == 1


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
