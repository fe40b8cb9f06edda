"""Textures that are written while draws wait: each draw sees what was there when it was made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.drivers.common.draw import copy_on_write, execution, queue
from gallette.state_tracker import GL, create_context

from .helpers import pixels, program

VS = """#version 330
layout(location = 0) in vec2 corner;
uniform vec4 place;
uniform sampler2D moves;
out vec2 uv;
void main() {
    vec2 moved = place.xy + texelFetch(moves, ivec2(0), 0).xy * 0.2;
    gl_Position = vec4(corner * place.zw + moved, 0.0, 1.0);
    uv = corner * 0.75 + 0.5;
}"""
PLAIN = """#version 330
uniform sampler2D image;
in vec2 uv;
out vec4 color;
void main() { color = texture(image, uv) * 0.4; }"""
MANY_WAYS = """#version 400
uniform sampler2D image, other;
uniform vec4 place;
in vec2 uv;
out vec4 color;
void main() {
    color = texture(image, uv, 0.5) * 0.2 + textureLod(image, uv, 1.3) * 0.1;
    color += textureGrad(image, uv, vec2(0.04, 0), vec2(0, 0.04)) * 0.1;
    color += textureGather(image, uv, 1) * 0.1 + texelFetch(image, ivec2(uv * 20), 1) * 0.1;
    color.rg += vec2(textureSize(image, 1)) * 0.001;
    if (fract(uv.x * 3.0 + place.x) > 0.5) color += textureOffset(image, uv, ivec2(1, 2)) * 0.1;
    for (int i = 0; i < 4; i++) if (i > place.y * 8.0) color += texture(other, uv * i) * 0.05;
}"""
SQUARE = np.array([[-1, -1], [1, -1], [-1, 1], [-1, 1], [1, -1], [1, 1]], np.float32)
SIZE, EXTENT = 64, (40, 24)  # of the picture, of textures
DRAWS = 30

Format = tuple[int, int, int, type]
RGBA8 = GL.RGBA8, GL.RGBA, GL.UNSIGNED_BYTE, np.uint8
R8 = GL.R8, GL.RED, GL.UNSIGNED_BYTE, np.uint8
RGBA32F = GL.RGBA32F, GL.RGBA, GL.FLOAT, np.float32
RGB8 = GL.RGB8, GL.RGB, GL.UNSIGNED_BYTE, np.uint8
SRGB = GL.SRGB8_ALPHA8, GL.RGBA, GL.UNSIGNED_BYTE, np.uint8


class Painter:
    """A context with three textures, of which the vertex shader reads one."""

    def __init__(self, fragments: str = PLAIN, format: Format = RGBA8, seed: int = 3) -> None:
        self.rng = np.random.default_rng(seed)
        self.format = format
        self.gl = gl = create_context(profile="core", version=(4, 3), size=(SIZE, SIZE))
        name = program(gl, VS, fragments)
        gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
        gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
        gl.buffer_data(GL.ARRAY_BUFFER, SQUARE.nbytes, SQUARE, GL.STATIC_DRAW)
        gl.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, 8, None)
        gl.enable_vertex_attrib_array(0)
        self.place = gl.get_uniform_location(name, "place")
        self.textures = gl.gen_textures(3)
        for unit, sampler in enumerate(("image", "other", "moves")):
            gl.uniform1i(gl.get_uniform_location(name, sampler), unit)
            self.texture(unit)
        gl.active_texture(GL.TEXTURE0)
        gl.enable(GL.BLEND)
        gl.blend_func(GL.ONE, GL.ONE)

    def texture(self, unit: int) -> None:
        """All levels of one, as it is at first."""
        gl = self.gl
        gl.active_texture(GL.TEXTURE0 + unit)
        gl.bind_texture(GL.TEXTURE_2D, self.textures[unit])
        for level in range(3):
            width, height = (extent >> level for extent in EXTENT)
            self.define(level, width, height)
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MAX_LEVEL, 2)
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.LINEAR_MIPMAP_LINEAR)
        gl.active_texture(GL.TEXTURE0)

    def define(self, level: int, width: int, height: int) -> None:
        inner, format, type_, _ = self.format
        data = self.texels(width, height)
        self.gl.tex_image2d(GL.TEXTURE_2D, level, inner, width, height, 0, format, type_, data)

    def texels(self, width: int, height: int) -> npt.NDArray[Any]:
        _, format, _, dtype = self.format
        channels = {GL.RED: 1, GL.RGB: 3}.get(format, 4)
        self.gl.pixel_storei(GL.UNPACK_ALIGNMENT, 1)
        shape = height, width, channels
        if dtype is np.uint8:
            return self.rng.integers(0, 256, shape, np.uint8)
        return self.rng.uniform(0, 1, shape).astype(np.float32)

    def part(self, level: int = 0) -> None:
        """A box of texels anywhere in a level."""
        x0, x1 = sorted(self.rng.integers(0, (EXTENT[0] >> level) + 1, 2).tolist())
        y0, y1 = sorted(self.rng.integers(0, (EXTENT[1] >> level) + 1, 2).tolist())
        data = self.texels(x1 - x0, y1 - y0)
        _, format, type_, _ = self.format
        self.gl.tex_sub_image2d(GL.TEXTURE_2D, level, x0, y0, x1 - x0, y1 - y0, format, type_, data)

    def draw(self) -> None:
        place = (*self.rng.uniform(-0.6, 0.6, 2), *self.rng.uniform(0.2, 0.6, 2))
        self.gl.uniform4f(self.place, *map(float, place))
        self.gl.draw_arrays(GL.TRIANGLES, 0, 6)


Step = Callable[[Painter], None]


def a_part(p: Painter) -> None:
    p.part()
    p.draw()


def several_parts(p: Painter) -> None:
    """Some of them overlap, and some levels are not the first."""
    for _ in range(int(p.rng.integers(4))):
        p.part(int(p.rng.integers(3)))
    for _ in range(int(p.rng.integers(3))):
        p.draw()


def all_of_it(p: Painter) -> None:
    p.define(0, *EXTENT)
    p.draw()


def read(p: Painter) -> None:
    """Somebody looks at the texture, and at what he has written."""
    _, format, type_, dtype = p.format
    data = p.texels(4, 4)
    p.gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 8, 8, 4, 4, format, type_, data)
    p.draw()
    found = np.frombuffer(bytes(p.gl.get_tex_image(GL.TEXTURE_2D, 0, format, type_)), dtype)
    found = found[: EXTENT[0] * EXTENT[1] * data.shape[2]].reshape(EXTENT[1], EXTENT[0], -1)
    np.testing.assert_array_equal(found[8:12, 8:12], data)


def other_textures(p: Painter) -> None:
    """That of the vertex shader, too."""
    unit = int(p.rng.integers(3))
    p.gl.bind_texture(GL.TEXTURE_2D, p.textures[unit])
    p.part()
    p.gl.bind_texture(GL.TEXTURE_2D, p.textures[0])
    p.draw()


def other_state(p: Painter) -> None:
    """Draws of several states, which are dealt out."""
    p.part()
    if p.rng.random() < 0.3:
        (p.gl.enable if p.rng.random() < 0.5 else p.gl.disable)(GL.BLEND)
    filter = p.rng.choice([GL.NEAREST, GL.LINEAR])
    p.gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MAG_FILTER, int(filter))
    p.draw()


def texture_units(p: Painter) -> None:
    """Draws that read one texture or another, both written."""
    unit = int(p.rng.integers(2))
    p.gl.bind_texture(GL.TEXTURE_2D, p.textures[unit])
    p.part()
    p.draw()


def mipmaps(p: Painter) -> None:
    p.part()
    p.gl.generate_mipmap(GL.TEXTURE_2D)
    p.draw()


def copied(p: Painter) -> None:
    """A part comes from the texture that the vertex shader reads, or goes there."""
    one, other = (0, 2) if p.rng.random() < 0.7 else (2, 0)
    x, y = p.rng.integers(0, 12, 2).tolist()
    p.gl.copy_image_sub_data(
        *(p.textures[one], GL.TEXTURE_2D, 0, x, y, 0),
        *(p.textures[other], GL.TEXTURE_2D, 0, y, x, 0),
        *(12, 9, 1),
    )
    p.draw()


def everything(p: Painter) -> None:
    """Any of these; textures that draws read are deleted and defined anew."""
    some: list[Step] = [
        a_part,
        several_parts,
        all_of_it,
        other_textures,
        other_state,
        texture_units,
        copied,
    ]
    some[int(p.rng.integers(len(some)))](p)
    if p.rng.random() < 0.1:
        unit = int(p.rng.integers(3))
        p.gl.delete_textures(1, [p.textures[unit]])
        (p.textures[unit],) = p.gl.gen_textures(1)
        p.texture(unit)
        p.gl.bind_texture(GL.TEXTURE_2D, p.textures[0])
    if p.rng.random() < 0.1:
        p.gl.generate_mipmap(GL.TEXTURE_2D)
    if p.rng.random() < 0.1:
        p.gl.copy_tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 0, 0, 20, 10)


STEPS: list[Step] = [
    a_part,
    several_parts,
    all_of_it,
    read,
    other_textures,
    other_state,
    texture_units,
    mipmaps,
    copied,
    everything,
]


def picture(step: Step, painter: Painter, times: int = DRAWS) -> npt.NDArray[Any]:
    for _ in range(times):
        step(painter)
    found = np.array(pixels(painter.gl))
    assert painter.gl.get_error() == 0
    painter.gl.release()
    return found


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
@pytest.mark.parametrize("fragments", [PLAIN, MANY_WAYS], ids=["plain", "many_ways"])
def test_each_draw_sees_what_was_there(
    step: Step, fragments: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "WORTH_MERGING", 2)
    waited = picture(step, Painter(fragments))
    monkeypatch.setattr(queue, "SMALL", 0)
    assert len(np.unique(waited.reshape(-1, 4), axis=0)) > 10
    np.testing.assert_array_equal(waited, picture(step, Painter(fragments)))


@pytest.mark.parametrize("format", [R8, RGBA32F, RGB8, SRGB], ids=["R8", "RGBA32F", "RGB8", "SRGB"])
def test_whatever_the_format(format: Format, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "WORTH_MERGING", 2)
    waited = picture(everything, Painter(MANY_WAYS, format))
    monkeypatch.setattr(queue, "SMALL", 0)
    np.testing.assert_array_equal(waited, picture(everything, Painter(MANY_WAYS, format)))


@pytest.mark.parametrize("step", [a_part, all_of_it, read, other_state, texture_units])
def test_they_stay_pending_all_the_same(step: Step, executed: list[int]) -> None:
    picture(step, Painter())
    assert executed == [DRAWS]


def test_writes_to_what_vertices_sample_flush_the_batch(executed: list[int]) -> None:
    picture(other_textures, Painter())
    assert len(executed) > 1 and sum(executed) == DRAWS


def test_boxes_that_are_kept_have_a_bound(
    executed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copy_on_write, "MOST_TEXELS", 4 * EXTENT[0] * EXTENT[1] * 5)
    picture(all_of_it, Painter())
    assert executed == [6] * (DRAWS // 6)


def test_draws_by_themselves_see_it_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too few of them to be merged."""
    waited = picture(several_parts, Painter(), 8)
    monkeypatch.setattr(queue, "SMALL", 0)
    np.testing.assert_array_equal(waited, picture(several_parts, Painter(), 8))
