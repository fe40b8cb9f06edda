"""Draws into several framebuffers in turn, with clears, writes and queries between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.drivers.common.draw import execution, queue
from gallette.state_tracker import GL, create_context

from .helpers import program

VS = """#version 330
layout(location = 0) in vec2 corner;
uniform vec4 place;
out vec2 uv;
void main() {
    gl_Position = vec4(corner * place.zw + place.xy, place.z * 2.0 - 1.0, 1.0);
    uv = corner * 0.5 + 0.5;
}"""
FS = """#version 330
uniform vec4 place;
uniform sampler2D image;
in vec2 uv;
out vec4 color;
void main() { color = vec4(place.xz, uv.x, 0.5) * 0.5 + texture(image, uv) * 0.3; }"""
SQUARE = np.array([[-1, -1], [1, -1], [-1, 1], [-1, 1], [1, -1], [1, 1]], np.float32)
SIZE, TARGETS, TURNS = 24, 6, 60


class Painter:
    """A context with framebuffers whose textures may be sampled; the last two share their depth."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(17)
        self.gl = gl = create_context(profile="core", version=(3, 3))
        self.place = gl.get_uniform_location(program(gl, VS, FS), "place")
        gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
        gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
        gl.buffer_data(GL.ARRAY_BUFFER, SQUARE.nbytes, SQUARE, GL.STATIC_DRAW)
        gl.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, 8, None)
        gl.enable_vertex_attrib_array(0)
        gl.viewport(0, 0, SIZE, SIZE)
        self.framebuffers = gl.gen_framebuffers(TARGETS)
        self.textures = [self.texture() for _ in range(TARGETS)]
        self.picture = self.texture()
        self.depths = gl.gen_renderbuffers(TARGETS - 1)
        for buffer in self.depths:
            gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
            gl.renderbuffer_storage(GL.RENDERBUFFER, GL.DEPTH_COMPONENT24, SIZE, SIZE)
        for number in range(TARGETS):
            self.attach(number)
        gl.enable(GL.BLEND)
        gl.blend_func(GL.ONE, GL.ONE)
        gl.bind_texture(GL.TEXTURE_2D, self.picture)

    def texture(self) -> int:
        gl, name = self.gl, self.gl.gen_textures(1)[0]
        gl.bind_texture(GL.TEXTURE_2D, name)
        data = self.rng.integers(0, 64, (SIZE, SIZE, 4), np.uint8)
        gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, SIZE, SIZE, 0, GL.RGBA, GL.UNSIGNED_BYTE, data)
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
        return int(name)

    def attach(self, number: int) -> None:
        gl = self.gl
        self.use(number)
        place, depth = GL.COLOR_ATTACHMENT0, self.depths[min(number, TARGETS - 2)]
        gl.framebuffer_texture2d(GL.FRAMEBUFFER, place, GL.TEXTURE_2D, self.textures[number], 0)
        gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, GL.DEPTH_ATTACHMENT, GL.RENDERBUFFER, depth)
        gl.clear(GL.DEPTH_BUFFER_BIT)

    def use(self, number: int) -> None:
        self.gl.bind_framebuffer(GL.FRAMEBUFFER, self.framebuffers[number])

    def draw(self) -> None:
        place = (*self.rng.uniform(-0.7, 0.7, 2), *self.rng.uniform(0.2, 0.6, 2))
        self.gl.uniform4f(self.place, *map(float, place))
        self.gl.draw_arrays(GL.TRIANGLES, 0, 6)

    def contents(self) -> list[npt.NDArray[Any]]:
        found = []
        for number in range(TARGETS):
            self.use(number)
            for format, kind in (
                (GL.RGBA, GL.UNSIGNED_BYTE),
                (GL.DEPTH_COMPONENT, GL.UNSIGNED_INT),
            ):
                data = self.gl.read_pixels(0, 0, SIZE, SIZE, format, kind)
                found.append(np.frombuffer(bytes(data), np.uint8))
        assert self.gl.get_error() == 0
        return found


Step = Callable[[Painter], None]


def in_turn(p: Painter) -> None:
    p.use(int(p.rng.integers(TARGETS - 1)))
    p.draw()


def with_depth(p: Painter) -> None:
    """Two of them share it."""
    p.gl.enable(GL.DEPTH_TEST)
    p.use(int(p.rng.integers(TARGETS)))
    p.draw()


def sampled(p: Painter) -> None:
    """One samples another's texture, which is drawn into before and afterwards."""
    one, other = p.rng.choice(TARGETS, 2, replace=False).tolist()
    p.use(one)
    p.gl.bind_texture(GL.TEXTURE_2D, p.textures[other])
    p.draw()
    p.gl.bind_texture(GL.TEXTURE_2D, p.picture)


def cleared(p: Painter) -> None:
    p.use(int(p.rng.integers(TARGETS)))
    if p.rng.random() < 0.3:
        p.gl.clear_color(*p.rng.uniform(0, 0.5, 4).tolist())
        p.gl.clear(GL.COLOR_BUFFER_BIT)
    p.draw()


def written(p: Painter) -> None:
    """Textures are, while draws that sample them wait."""
    sampled(p)
    if p.rng.random() < 0.5:
        name = p.textures[int(p.rng.integers(TARGETS))] if p.rng.random() < 0.3 else p.picture
        p.gl.bind_texture(GL.TEXTURE_2D, name)
        data = p.rng.integers(0, 64, (8, 8, 4), np.uint8)
        p.gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 4, 4, 8, 8, GL.RGBA, GL.UNSIGNED_BYTE, data)
        p.gl.bind_texture(GL.TEXTURE_2D, p.picture)
    in_turn(p)


def counted(p: Painter) -> None:
    """A query runs while targets change; what it counts is drawn."""
    query = p.gl.gen_queries(1)[0]
    p.gl.enable(GL.DEPTH_TEST)
    in_turn(p)
    if p.rng.random() < 0.5:
        p.use(int(p.rng.integers(TARGETS)))
    p.gl.begin_query(GL.SAMPLES_PASSED, query)
    p.draw()
    in_turn(p)
    in_turn(p)
    p.gl.end_query(GL.SAMPLES_PASSED)
    in_turn(p)
    samples = p.gl.get_query_objectuiv(query, GL.QUERY_RESULT)[0]
    p.gl.clear_color(samples / 1000, 0, 0, 1)
    p.gl.clear(GL.COLOR_BUFFER_BIT)


def scissored(p: Painter) -> None:
    """Small parts are cleared."""
    p.gl.enable(GL.SCISSOR_TEST)
    p.gl.scissor(2, 3, 9, 9)
    in_turn(p)
    if p.rng.random() < 0.7:
        p.gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
        p.draw()
    p.gl.disable(GL.SCISSOR_TEST)


def everything(p: Painter) -> None:
    some: list[Step] = [in_turn, with_depth, sampled, cleared, written, counted, scissored]
    some[int(p.rng.integers(len(some)))](p)
    p.gl.disable(GL.DEPTH_TEST)
    if p.rng.random() < 0.1:
        number = int(p.rng.integers(TARGETS))
        p.gl.delete_framebuffers(1, [p.framebuffers[number]])
        p.gl.delete_textures(1, [p.textures[number]])
        (p.framebuffers[number],) = p.gl.gen_framebuffers(1)
        p.textures[number] = p.texture()
        p.attach(number)
        p.gl.bind_texture(GL.TEXTURE_2D, p.picture)


STEPS: list[Step] = [
    in_turn,
    with_depth,
    sampled,
    cleared,
    written,
    counted,
    scissored,
    everything,
]


def contents(step: Step) -> list[npt.NDArray[Any]]:
    painter = Painter()
    for _ in range(TURNS):
        step(painter)
    found = painter.contents()
    painter.gl.release()
    return found


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_all_of_them_hold_the_same(step: Step, monkeypatch: pytest.MonkeyPatch) -> None:
    """Merged, one by one, and without waiting."""
    waited = []
    for worth in (2, 1000):
        monkeypatch.setattr(execution, "WORTH_MERGING", worth)
        waited.append(contents(step))
    monkeypatch.setattr(queue, "SMALL", 0)
    for merged, alone, at_once in zip(*waited, contents(step), strict=True):
        np.testing.assert_array_equal(merged, at_once)
        np.testing.assert_array_equal(alone, at_once)


def test_another_framebuffer_flushes_the_batch(flushes: list[int]) -> None:
    painter = Painter()
    for number in (0, 0, 1):
        painter.use(number)
        painter.draw()
    assert flushes == [2]
    painter.gl.release()


@pytest.mark.parametrize("order", ["0110", "01012", "001120", "0123210"])
def test_clears_come_between_draws(order: str) -> None:
    """Each lies between the draws into its own framebuffer that came before and behind it."""
    pictures = []
    for waiting in (True, False):
        painter = Painter()
        gl, random = painter.gl, np.random.default_rng(5)
        gl.enable(GL.SCISSOR_TEST)
        for number in map(int, order * 3):
            painter.use(number)
            if random.random() < 0.6:
                gl.clear_color(*random.random(4).tolist())
                gl.scissor(*(int(v) for v in random.integers(0, SIZE // 2, 2)), 9, 7)
                gl.clear(GL.COLOR_BUFFER_BIT)
                gl.scissor(0, 0, SIZE, SIZE)
            if not waiting:
                gl.finish()
            painter.draw()
        pictures.append(painter.contents())
        gl.release()
    for one, other in zip(*pictures, strict=True):
        np.testing.assert_array_equal(one, other)


def test_samples_are_those_of_the_draws_in_between() -> None:
    """The query begins when another framebuffer is bound, but before anything is drawn there."""
    painter = Painter()
    gl, query = painter.gl, painter.gl.gen_queries(1)[0]
    for _ in range(3):
        painter.use(0)
        painter.draw()
        painter.use(1)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.begin_query(GL.SAMPLES_PASSED, query)
        gl.uniform4f(painter.place, 0.0, 0.0, 1.0, 1.0)
        gl.draw_arrays(GL.TRIANGLES, 0, 6)
        gl.end_query(GL.SAMPLES_PASSED)
        assert gl.get_query_objectuiv(query, GL.QUERY_RESULT)[0] == SIZE * SIZE
    gl.release()
