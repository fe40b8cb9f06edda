"""Depths of lines: every bit is the native GL's, and every driver's.

The viewport's size is a power of two, so that scaling to it is exact. Else llvmpipe rounds once,
after multiplying and adding, numpipe after each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context

from .helpers import errors, program

SIZE = 64
VERTEX = """#version 330 compatibility
layout(location = 0) in vec4 position;
void main() { gl_Position = position; }"""
FRAGMENT = """#version 330 compatibility
out vec4 color;
void main() { color = vec4(gl_FragCoord.z); }"""

Floats = npt.NDArray[np.float32]
Setting = Callable[[GLInterface], object]


def corners(
    seed: int,
    reach: float = 1.0,
    grid: int = 0,
    w: tuple[float, float] = (1.0, 1.0),
    z: tuple[float, float] = (-1.0, 1.0),
) -> Floats:
    """Clip coordinates of random places, maybe on a grid of so many steps in a pixel."""
    random = np.random.default_rng(seed)
    place = random.uniform(-reach, reach, (42, 2))
    if grid:
        place = np.rint(place * SIZE / 2 * grid) / (SIZE / 2 * grid)
    weight, height = random.uniform(*w, (42, 1)), random.uniform(*z, (42, 1))
    xyz = np.concatenate((place, height), axis=1) * weight
    return np.concatenate((xyz, weight), axis=1).astype("f4")


def short_ones(seed: int, grid: int) -> Floats:
    """A line in each square of eight pixels, from one place of the grid to another: many are as
    wide as high, and end in the middle of pixels or between two of them.
    """
    random = np.random.default_rng(seed)
    squares = np.stack(np.meshgrid(*[np.arange(0, SIZE, 8)] * 2), axis=-1).reshape(-1, 1, 2)
    start = random.integers(2 * grid, 6 * grid, (len(squares), 1, 2))
    step = random.integers(-2 * grid, 2 * grid + 1, start.shape)
    step[::3, :, 1] = step[::3, :, 0] * random.choice((-1, 1), step[::3, :, 0].shape)
    place = squares + np.concatenate((start, start + step), axis=1) / grid
    xy = place.reshape(-1, 2) / (SIZE / 2) - 1
    rest = np.stack((random.uniform(-1, 1, len(xy)), np.ones(len(xy))), axis=1)
    return np.concatenate((xy, rest), axis=1).astype("f4")


def plain(gl: GLInterface) -> None:
    pass


def wide(gl: GLInterface) -> None:
    gl.line_width(3.0)


def stippled(gl: GLInterface) -> None:
    gl.enable(GL.LINE_STIPPLE)
    gl.line_stipple(2, 0x5A5F)


def outlined(gl: GLInterface) -> None:
    gl.polygon_mode(GL.FRONT_AND_BACK, GL.LINE)


def smooth(gl: GLInterface) -> None:
    gl.enable(GL.LINE_SMOOTH)
    gl.line_width(2.0)


AS_NATIVE: dict[str, tuple[Floats, int, Setting]] = {
    "plain": (corners(1), GL.LINES, plain),
    "on pixels": (corners(2, grid=1), GL.LINES, plain),
    "on half pixels": (corners(3, grid=2), GL.LINES, plain),
    "short": (corners(4, reach=0.1), GL.LINES, plain),
    **{f"short, {n}": (short_ones(20 + n, 1 << n % 3), GL.LINES, plain) for n in range(6)},
    "short and wide": (short_ones(26, 2), GL.LINES, wide),
    "across the border": (corners(5, reach=2.0), GL.LINES, plain),
    "across the depth range": (corners(6, z=(-2.0, 2.0)), GL.LINES, plain),
    "of clamped depth": (corners(7, z=(-2.0, 2.0)), GL.LINES, lambda gl: gl.enable(GL.DEPTH_CLAMP)),
    "in perspective": (corners(8, w=(0.3, 4.0)), GL.LINES, plain),
    "behind the eye": (corners(9, w=(-1.0, 4.0)), GL.LINES, plain),
    "strip": (corners(10), GL.LINE_STRIP, plain),
    "loop": (corners(11), GL.LINE_LOOP, plain),
    "wide": (corners(12), GL.LINES, wide),
    "stippled": (corners(13), GL.LINES, stippled),
    "stippled strip": (corners(14), GL.LINE_STRIP, stippled),
    "outlines": (corners(15), GL.TRIANGLES, outlined),
    "cut outlines": (corners(16, w=(-0.5, 2.0), z=(-2.0, 2.0)), GL.TRIANGLES, outlined),
}
ON_DIAMONDS = {"on half pixels", "short and wide", *(f"short, {n}" for n in (1, 2, 4, 5))}
"""Ends lie on the borders of pixels' diamonds, and llvmpipe's framebuffer objects draw other pixels
there than its windows (`test_lines_from_centers.py`). Depths are compared where both drew."""
# llvmpipe moves multisampled lines' values by half a pixel, and draws smooth ones in its own way.
ALIKE: dict[str, tuple[Floats, int, Setting, int]] = {
    **{name: (*case, 0) for name, case in AS_NATIVE.items()},
    "smooth": (corners(17), GL.LINES, smooth, 0),
    "multisampled": (corners(18), GL.LINES, plain, 4),
    "multisampled and wide": (corners(19), GL.LINES, wide, 4),
}


def target(gl: GLInterface, samples: int) -> int:
    """A framebuffer of floats, bound."""
    (name,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, name)
    for place, kind in (
        (GL.COLOR_ATTACHMENT0, GL.RGBA32F),
        (GL.DEPTH_ATTACHMENT, GL.DEPTH_COMPONENT32F),
    ):
        (buffer,) = gl.gen_renderbuffers(1)
        gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
        gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, samples, kind, SIZE, SIZE)
        gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, place, GL.RENDERBUFFER, buffer)
    return int(name)


def depths(
    gl: GLInterface, places: Floats, mode: int, setting: Setting, samples: int = 0
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Bits of the depth buffer and of gl_FragCoord.z."""
    program(gl, VERTEX, FRAGMENT)
    drawn = target(gl, samples)
    gl.viewport(0, 0, SIZE, SIZE)
    gl.clear_color(-1.0, -1.0, -1.0, -1.0)
    gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
    gl.enable(GL.DEPTH_TEST)
    gl.depth_func(GL.ALWAYS)
    gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
    gl.buffer_data(GL.ARRAY_BUFFER, places.nbytes, places, GL.STATIC_DRAW)
    gl.vertex_attrib_pointer(0, 4, GL.FLOAT, 0, 0, None)
    gl.enable_vertex_attrib_array(0)
    setting(gl)
    gl.draw_arrays(mode, 0, len(places))
    if samples:
        single = target(gl, 0)
        both = GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT
        gl.bind_framebuffer(GL.READ_FRAMEBUFFER, drawn)
        gl.blit_framebuffer(0, 0, SIZE, SIZE, 0, 0, SIZE, SIZE, both, GL.NEAREST)
        gl.bind_framebuffer(GL.READ_FRAMEBUFFER, single)
    raw = gl.read_pixels(0, 0, SIZE, SIZE, GL.DEPTH_COMPONENT, GL.FLOAT)
    shaded = gl.read_pixels(0, 0, SIZE, SIZE, GL.RED, GL.FLOAT)
    assert errors(gl) == []
    gl.release()
    return np.frombuffer(raw, np.uint32), np.frombuffer(shaded, np.uint32)


def context(driver: str) -> GLInterface:
    if driver == "jit":
        pytest.importorskip("llvmlite")
    return create_context(driver, profile="compat", version=(3, 3))


@pytest.mark.native
@pytest.mark.parametrize("name", AS_NATIVE)
def test_every_bit_is_the_native_gls(name: str) -> None:
    reference = depths(native_context(profile="compat", version=(3, 3)), *AS_NATIVE[name])
    ours = depths(context("numpipe"), *AS_NATIVE[name])
    for have, wanted, cleared in zip(ours, reference, np.float32([1, -1]), strict=True):
        assert len(np.unique(wanted)) > 10
        if name in ON_DIAMONDS:
            undrawn = (have == cleared.view("u4")) | (wanted == cleared.view("u4"))
            assert (undrawn & (have != wanted)).sum() < 0.02 * undrawn.size
            have, wanted = have[~undrawn], wanted[~undrawn]
        np.testing.assert_array_equal(have, wanted)


@pytest.mark.parametrize("name", ALIKE)
def test_every_driver_agrees(name: str) -> None:
    reference = depths(context("numpipe"), *ALIKE[name])
    for driver in ("jit", "tiler", "simd"):
        for have, wanted in zip(depths(context(driver), *ALIKE[name]), reference, strict=True):
            assert len(np.unique(wanted)) > 10
            np.testing.assert_array_equal(have, wanted, driver)
