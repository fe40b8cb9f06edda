"""Clears of small parts between small draws: the picture is that of one after the other."""

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
    uv = corner;
}"""
FS = """#version 330
uniform vec4 place;
in vec2 uv;
layout(location = 0) out vec4 color;
layout(location = 1) out vec4 other;
void main() { color = vec4(place.xz, uv.x * 0.5 + 0.5, 0.5); other = color.bgra; }"""
IN_QUADS = FS.replace("0.5); other", "fwidth(uv.y * uv.y)); other")
SQUARE = np.array([[-1, -1], [1, -1], [-1, 1], [-1, 1], [1, -1], [1, 1]], np.float32)
SIZE, STEPS = 48, 60
FORMATS = (GL.RGBA8, GL.RGBA32F, GL.RGB565)


class Painter:
    """A context with two colour buffers, depth and stencil."""

    def __init__(self, fragments: str = FS, format: int = GL.RGBA8) -> None:
        self.rng = np.random.default_rng(11)
        self.gl = gl = create_context(profile="core", version=(3, 3))
        name = program(gl, VS, fragments)
        self.place = gl.get_uniform_location(name, "place")
        gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
        gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
        gl.buffer_data(GL.ARRAY_BUFFER, SQUARE.nbytes, SQUARE, GL.STATIC_DRAW)
        gl.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, 8, None)
        gl.enable_vertex_attrib_array(0)
        gl.viewport(0, 0, SIZE, SIZE)
        self.framebuffer = gl.gen_framebuffers(1)[0]
        gl.bind_framebuffer(GL.FRAMEBUFFER, self.framebuffer)
        kinds = (format, GL.RGBA16F, GL.DEPTH24_STENCIL8)
        places = (GL.COLOR_ATTACHMENT0, GL.COLOR_ATTACHMENT1, GL.DEPTH_STENCIL_ATTACHMENT)
        self.buffers = gl.gen_renderbuffers(3)
        for kind, place, buffer in zip(kinds, places, self.buffers, strict=True):
            gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
            gl.renderbuffer_storage(GL.RENDERBUFFER, kind, SIZE, SIZE)
            gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, place, GL.RENDERBUFFER, buffer)
        gl.draw_buffers(2, places[:2])
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
        gl.enable(GL.SCISSOR_TEST)

    def draw(self) -> None:
        place = (*self.rng.uniform(-0.7, 0.7, 2), *self.rng.uniform(0.2, 0.6, 2))
        self.gl.uniform4f(self.place, *map(float, place))
        self.gl.scissor(0, 0, SIZE, SIZE)
        self.gl.draw_arrays(GL.TRIANGLES, 0, 6)

    def scissor(self) -> None:
        """Anywhere, perhaps partly or all outside."""
        at, size = self.rng.integers(-8, SIZE, 2), self.rng.integers(0, 24, 2)
        self.gl.scissor(*map(int, (*at, *size)))

    def contents(self) -> list[npt.NDArray[Any]]:
        """All four buffers."""
        gl, found = self.gl, []
        gl.bind_framebuffer(GL.READ_FRAMEBUFFER, self.framebuffer)
        for place in (GL.COLOR_ATTACHMENT0, GL.COLOR_ATTACHMENT1):
            gl.read_buffer(place)
            data = gl.read_pixels(0, 0, SIZE, SIZE, GL.RGBA, GL.FLOAT)
            found.append(np.frombuffer(bytes(data), np.uint32))
        for format, kind in (
            (GL.DEPTH_COMPONENT, GL.UNSIGNED_INT),
            (GL.STENCIL_INDEX, GL.UNSIGNED_BYTE),
        ):
            found.append(np.frombuffer(bytes(gl.read_pixels(0, 0, SIZE, SIZE, format, kind))))
        assert gl.get_error() == 0
        return found


Step = Callable[[Painter], None]


def one_color(p: Painter) -> None:
    p.scissor()
    p.gl.clear_color(*p.rng.uniform(0, 1, 4).tolist())
    p.gl.clear(GL.COLOR_BUFFER_BIT)
    p.draw()


def one_buffer(p: Painter) -> None:
    p.scissor()
    color = p.rng.uniform(0, 1, 4).astype(np.float32)
    p.gl.clear_bufferfv(GL.COLOR, int(p.rng.integers(2)), color)
    p.draw()


def some_channels(p: Painter) -> None:
    p.scissor()
    p.gl.color_mask(*p.rng.integers(0, 2, 4).tolist())
    p.gl.clear_color(*p.rng.uniform(0, 1, 4).tolist())
    p.gl.clear(GL.COLOR_BUFFER_BIT)
    if p.rng.random() < 0.5:
        p.gl.color_mask(1, 1, 1, 1)
    p.draw()


def depth(p: Painter) -> None:
    p.gl.enable(GL.DEPTH_TEST)
    p.scissor()
    p.gl.clear_depth(float(p.rng.uniform(0, 1)))
    p.gl.clear(GL.DEPTH_BUFFER_BIT)
    p.draw()


def stencil(p: Painter) -> None:
    p.gl.enable(GL.STENCIL_TEST)
    p.gl.stencil_func(GL.EQUAL, int(p.rng.integers(4)), 3)
    p.gl.stencil_op(GL.KEEP, GL.INCR_WRAP, GL.INCR_WRAP)
    p.gl.stencil_mask(int(p.rng.choice([255, 1, 2])))
    p.scissor()
    p.gl.clear_stencil(int(p.rng.integers(4)))
    p.gl.clear(GL.STENCIL_BUFFER_BIT | GL.COLOR_BUFFER_BIT)
    p.draw()


def several_states(p: Painter) -> None:
    (p.gl.enable if p.rng.random() < 0.5 else p.gl.disable)(GL.BLEND)
    p.gl.blend_func(GL.ONE, GL.ONE)
    one_color(p)


def queries(p: Painter) -> None:
    """Samples are counted between."""
    query = p.gl.gen_queries(1)[0]
    p.gl.enable(GL.DEPTH_TEST)
    p.draw()
    depth(p)
    p.gl.begin_query(GL.SAMPLES_PASSED, query)
    depth(p)
    p.gl.end_query(GL.SAMPLES_PASSED)
    depth(p)
    samples = p.gl.get_query_objectuiv(query, GL.QUERY_RESULT)[0]
    p.gl.clear_color(samples / 10000, 0, 0, 1)
    p.gl.clear(GL.COLOR_BUFFER_BIT)


def everything(p: Painter) -> None:
    some: list[Step] = [one_color, one_buffer, some_channels, depth, stencil, several_states]
    some[int(p.rng.integers(len(some)))](p)
    for cap in (GL.DEPTH_TEST, GL.STENCIL_TEST):
        if p.rng.random() < 0.3:
            p.gl.disable(cap)
    if p.rng.random() < 0.1:
        p.gl.disable(GL.SCISSOR_TEST)
        p.gl.clear(GL.DEPTH_BUFFER_BIT)
        p.gl.enable(GL.SCISSOR_TEST)


STEPS_: list[Step] = [
    one_color,
    one_buffer,
    some_channels,
    depth,
    stencil,
    several_states,
    queries,
    everything,
]


def contents(step: Step, painter: Painter) -> list[npt.NDArray[Any]]:
    for _ in range(STEPS):
        step(painter)
    found = painter.contents()
    painter.gl.release()
    return found


def same_as_at_once(
    step: Step, make: Callable[[], Painter], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "WORTH_MERGING", 2)
    waited = contents(step, make())
    monkeypatch.setattr(queue, "SMALL", 0)
    for one, other in zip(waited, contents(step, make()), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("step", STEPS_, ids=lambda step: step.__name__)
@pytest.mark.parametrize("fragments", [FS, IN_QUADS], ids=["pixels", "quads"])
def test_the_picture_is_the_same(
    step: Step, fragments: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    same_as_at_once(step, lambda: Painter(fragments), monkeypatch)


@pytest.mark.parametrize("format", FORMATS, ids=lambda f: GL.name_of(f))
def test_whatever_the_format(format: int, monkeypatch: pytest.MonkeyPatch) -> None:
    same_as_at_once(everything, lambda: Painter(FS, format), monkeypatch)


def test_a_framebuffer_may_be_deleted_after_clears() -> None:
    painter = Painter()
    for _ in range(3):
        one_color(painter)
    painter.gl.delete_framebuffers(1, [painter.framebuffer])
    painter.gl.delete_renderbuffers(3, painter.buffers)
    painter.gl.finish()
    assert painter.gl.get_error() == 0
    painter.gl.release()


LOOK = """#version 330
uniform sampler2D image;
out vec4 color;
void main() { color = texture(image, gl_FragCoord.xy / 48.0); }"""


@pytest.mark.parametrize("cleared", [GL.DEPTH_ATTACHMENT, GL.COLOR_ATTACHMENT1])
def test_what_clears_alone_write_is_sampled(cleared: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """An image was sampled before, and draws between the clears leave it alone."""
    monkeypatch.setattr(execution, "WORTH_MERGING", 2)
    painter = Painter(FS.replace("other = color.bgra;", ""))
    gl, rng = painter.gl, painter.rng
    image = gl.gen_textures(1)[0]
    gl.bind_texture(GL.TEXTURE_2D, image)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.LINEAR)
    is_depth = cleared == GL.DEPTH_ATTACHMENT
    format = GL.DEPTH_COMPONENT24 if is_depth else GL.RGBA8  # sampled as copies
    channels = GL.DEPTH_COMPONENT if is_depth else GL.RGBA
    gl.tex_image2d(GL.TEXTURE_2D, 0, format, SIZE, SIZE, 0, channels, GL.FLOAT, None)
    gl.bind_framebuffer(GL.FRAMEBUFFER, painter.framebuffer)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.DEPTH_STENCIL_ATTACHMENT, GL.TEXTURE_2D, 0, 0)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, cleared, GL.TEXTURE_2D, image, 0)
    gl.scissor(0, 0, SIZE, SIZE)
    gl.clear_bufferfv(GL.DEPTH if is_depth else GL.COLOR, 0 if is_depth else 1, np.zeros(4, "f4"))
    drawing, looking = gl.get_integerv(GL.CURRENT_PROGRAM)[0], program(gl, VS, LOOK)
    expected = np.zeros((SIZE, SIZE), np.float32)
    shown = gl.gen_framebuffers(1)[0]
    gl.bind_framebuffer(GL.FRAMEBUFFER, shown)
    gl.framebuffer_renderbuffer(
        GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, painter.buffers[1]
    )

    def seen() -> npt.NDArray[Any]:
        gl.use_program(looking)
        gl.uniform4f(gl.get_uniform_location(looking, "place"), 0.0, 0.0, 1.0, 1.0)
        gl.bind_framebuffer(GL.FRAMEBUFFER, shown)
        gl.scissor(0, 0, SIZE, SIZE)
        gl.draw_arrays(GL.TRIANGLES, 0, 6)
        data = gl.read_pixels(0, 0, SIZE, SIZE, GL.RED, GL.FLOAT)
        return np.frombuffer(data, np.float32).reshape(SIZE, SIZE)

    for _ in range(2):
        np.testing.assert_allclose(seen(), expected, atol=0.02)
        gl.bind_framebuffer(GL.FRAMEBUFFER, painter.framebuffer)
        gl.use_program(drawing)
        gl.color_maski(1, 0, 0, 0, 0)
        for step in range(9):
            painter.draw()
            x, y, width, height = (*rng.integers(0, SIZE - 8, 2), *rng.integers(1, 9, 2))
            expected[y : y + height, x : x + width] = step / 8
            gl.scissor(int(x), int(y), int(width), int(height))
            gl.color_maski(1, 1, 1, 1, 1)
            if is_depth:
                gl.clear_depth(step / 8)
                gl.clear(GL.DEPTH_BUFFER_BIT)
            else:
                gl.clear_bufferfv(GL.COLOR, 1, np.full(4, step / 8, np.float32))
            gl.color_maski(1, 0, 0, 0, 0)
    np.testing.assert_allclose(seen(), expected, atol=0.02)
    assert gl.get_error() == 0
    gl.release()
