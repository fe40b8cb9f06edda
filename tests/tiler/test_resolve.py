"""Samples are resolved in the tile: the same pixels as a blit afterwards, and fewer bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from gallette.drivers.machines.tiler.picture import bins_picture, described
from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from tests.state_tracker.helpers import errors, program

SIZE = 96, 80
SAMPLES = 4
PIXELS = SIZE[0] * SIZE[1]
VERTEX = """#version 330
flat out vec4 tint;
void main() {
    float a = float(gl_VertexID / 3) * 0.7 + float(gl_VertexID % 3) * 2.1;
    gl_Position = vec4(0.9 * cos(a), 0.9 * sin(a * 1.3), fract(a) - 0.5, 1.0);
    tint = vec4(fract(a * vec3(1.0, 3.0, 7.0)), 0.5);
}
"""
FRAGMENT = """#version 330
flat in vec4 tint;
out vec4 color;
void main() { color = tint; }
"""


@contextmanager
def window(**options: Any) -> Iterator[Any]:
    gl = Context("tiler", version=(4, 3), half_colors="never", **options)
    with gl:
        gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
        program(gl, VERTEX, FRAGMENT)
        yield gl
        assert errors(gl) == []
    gl.release()


def framebuffer(gl: Any, samples: int, size: tuple[int, int] = SIZE) -> int:
    """Colour and depth-stencil renderbuffers of so many samples."""
    (name,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, name)
    for point, format in (
        (GL.COLOR_ATTACHMENT0, GL.RGBA8),
        (GL.DEPTH_STENCIL_ATTACHMENT, GL.DEPTH24_STENCIL8),
    ):
        (buffer,) = gl.gen_renderbuffers(1)
        gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
        gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, samples, format, *size)
        gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, point, GL.RENDERBUFFER, buffer)
    return int(name)


def draw(gl: Any, many: int, first: int = 0) -> None:
    gl.bind_framebuffer(GL.FRAMEBUFFER, many)
    gl.viewport(0, 0, *SIZE)
    gl.enable(GL.DEPTH_TEST)
    gl.draw_arrays(GL.TRIANGLES, first, 90)


def clear(gl: Any) -> None:
    gl.clear_color(0.1, 0.2, 0.3, 1.0)
    gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)


def resolve(
    gl: Any, many: int, one: int, area: tuple[int, ...] = (0, 0, *SIZE, 0, 0, *SIZE),
    mask: int = GL.COLOR_BUFFER_BIT,
) -> None:  # fmt: skip
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, many)
    gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, one)
    gl.blit_framebuffer(*area, mask, GL.NEAREST)


def read(gl: Any, name: int, what: int = GL.RGBA) -> Any:
    gl.bind_framebuffer(GL.FRAMEBUFFER, name)
    type, dtype = GL.UNSIGNED_BYTE, np.uint8
    if what == GL.DEPTH_COMPONENT:
        type, dtype = GL.FLOAT, np.float32
    return np.frombuffer(gl.read_pixels(0, 0, *SIZE, what, type), dtype)


def frame(
    area: tuple[int, ...] = (0, 0, *SIZE, 0, 0, *SIZE), scissor: bool = False, **options: Any
) -> tuple[list[Any], list[Any]]:
    """Draw, resolve, draw on, resolve again: the pictures, and reports of the passes."""
    with window(**options) as gl:
        many, one = framebuffer(gl, SAMPLES), framebuffer(gl, 0)
        clear(gl)
        gl.bind_framebuffer(GL.FRAMEBUFFER, many)
        clear(gl)
        found = []
        both = GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT
        for first in (0, 90):
            draw(gl, many, first)
            if scissor:
                gl.enable(GL.SCISSOR_TEST)
                gl.scissor(7, 5, 61, 50)
            resolve(gl, many, one, area, both if area[:4] == area[4:] else GL.COLOR_BUFFER_BIT)
            gl.disable(GL.SCISSOR_TEST)
            found += [read(gl, one), read(gl, one, GL.DEPTH_COMPONENT)]
        return found, list(gl.pipe.reports)


@pytest.mark.parametrize("memory", [256, 32])
@pytest.mark.parametrize("scissor", [False, True])
@pytest.mark.parametrize(
    "area",
    [
        (0, 0, *SIZE, 0, 0, *SIZE),
        (10, 8, 60, 70, 10, 8, 60, 70),
        (10, 8, 60, 70, 33, 1, 83, 63),
        (10, 8, 60, 70, 60, 70, 10, 8),  # flipped: no tile does that
    ],
    ids=["all", "part", "moved", "flipped"],
)
def test_tiles_resolve_what_a_blit_would(memory: int, scissor: bool, area: tuple[int, ...]) -> None:
    ours, reports = frame(area, scissor, tile_memory=memory)
    theirs, plain = frame(area, scissor, tile_memory=memory, resolve_in_tile=False)
    direct, _ = frame(area, scissor, bypass=True)
    for one, other, third in zip(ours, theirs, direct, strict=True):
        assert np.array_equal(one, other) and np.array_equal(one, third)
    assert len(np.unique(ours[0])) > 20
    in_tiles = sum(tile.resolved for report in reports for tile in report.tiles)
    assert bool(in_tiles) == (area[6] > area[4])
    assert not any(tile.resolved for report in plain for tile in report.tiles)


def one_frame(forget: bool, draws_on: bool = False, **options: Any) -> tuple[Any, Any, Any]:
    """The report of the first pass, its resolved picture, and what the samples are afterwards."""
    with window(tile_memory=32, **options) as gl:
        many, one = framebuffer(gl, SAMPLES), framebuffer(gl, 0)
        gl.bind_framebuffer(GL.FRAMEBUFFER, many)
        clear(gl)
        draw(gl, many)
        resolve(gl, many, one)
        if forget:
            names = [GL.COLOR_ATTACHMENT0, GL.DEPTH_STENCIL_ATTACHMENT]
            gl.invalidate_framebuffer(GL.READ_FRAMEBUFFER, len(names), names)
        if draws_on:
            gl.bind_framebuffer(GL.FRAMEBUFFER, many)
            clear(gl)
            draw(gl, many)
        picture = read(gl, one)
        report = gl.pipe.reports[0]
        resolve(gl, many, one)
        return report, picture, read(gl, one)


def test_bytes_are_counted_and_shown() -> None:
    report, picture, again = one_frame(forget=False)
    assert np.array_equal(picture, again)  # the samples were stored, too
    assert len(report.tiles) > 1
    assert sum(tile.loaded for tile in report.tiles) == 0
    assert sum(tile.resolved for tile in report.tiles) == 4 * PIXELS
    assert sum(tile.stored for tile in report.tiles) == SAMPLES * 8 * PIXELS
    assert f"{4 * PIXELS} resolved" in described(report)
    green = (bins_picture(report) == (60, 170, 60)).all(axis=-1)
    assert green.any()


def test_unused_samples_are_never_stored() -> None:
    report, picture, _ = one_frame(forget=True)
    assert np.array_equal(picture, one_frame(forget=False)[1])
    assert report.moved == 4 * PIXELS
    assert sum(tile.spared for tile in report.tiles) == SAMPLES * 8 * PIXELS
    assert f"{SAMPLES * 8 * PIXELS} not stored" in described(report)


def test_what_is_drawn_after_an_invalidation_counts() -> None:
    _, first, second = one_frame(forget=True, draws_on=True)
    assert np.array_equal(first, second)


def test_half_of_a_depth_stencil_buffer_is_not_forgotten() -> None:
    with window() as gl:
        many = framebuffer(gl, SAMPLES)
        clear(gl)
        draw(gl, many)
        gl.invalidate_framebuffer(GL.FRAMEBUFFER, 1, [GL.DEPTH_ATTACHMENT])
        gl.finish()
        assert not any(tile.spared for tile in gl.pipe.reports[-1].tiles)


def test_a_pass_that_reads_the_target_is_over_before_it_is_resolved() -> None:
    """The picture that is drawn with is the one that samples are resolved into."""

    def pictures(**options: Any) -> Any:
        with window(tile_memory=32, **options) as gl:
            many = framebuffer(gl, SAMPLES)
            (texture,) = gl.gen_textures(1)
            gl.bind_texture(GL.TEXTURE_2D, texture)
            gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA8, *SIZE)
            (one,) = gl.gen_framebuffers(1)
            gl.bind_framebuffer(GL.FRAMEBUFFER, one)
            gl.framebuffer_texture2d(
                GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0
            )
            gl.bind_framebuffer(GL.FRAMEBUFFER, many)
            clear(gl)
            draw(gl, many)
            resolve(gl, many, one)
            program(gl, _SCREEN, _MIRROR)
            gl.bind_framebuffer(GL.FRAMEBUFFER, many)
            gl.disable(GL.DEPTH_TEST)
            gl.draw_arrays(GL.TRIANGLES, 0, 3)
            resolve(gl, many, one)
            return read(gl, one)

    assert np.array_equal(pictures(), pictures(resolve_in_tile=False))


_SCREEN = """#version 330
void main() {
    gl_Position = vec4(float(gl_VertexID % 2) * 4.0 - 1.0, float(gl_VertexID / 2) * 4.0 - 1.0,
                       0.0, 1.0);
}
"""
_MIRROR = """#version 330
uniform sampler2D image;
out vec4 color;
void main() {
    ivec2 size = textureSize(image, 0);
    color = texelFetch(image, size - 1 - ivec2(gl_FragCoord.xy), 0) * 0.9;
}
"""
