"""Buffers that are written while draws wait: each draw sees what was there when it was made."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.drivers.common.draw import copy_on_write, execution, queue
from gallette.drivers.common.memory.storage import TAIL
from gallette.state_tracker import GL, create_context

from .helpers import pixels, program

VS = """#version 330
layout(location = 0) in vec2 corner;
layout(location = 1) in vec3 paint;
layout(std140) uniform Place { vec4 place; };
out vec3 tint;
void main() {
    gl_Position = vec4(corner * place.zw + place.xy, 0.0, 1.0);
    tint = paint;
}"""
FS = """#version 330
layout(std140) uniform Paint { vec4 paint; };
in vec3 tint;
out vec4 color;
void main() { color = vec4(tint, 1.0) * paint; }"""
SQUARE = np.array([[-1, -1], [1, -1], [-1, 1], [-1, 1], [1, -1], [1, 1]], np.float32)
SIZE, ROOM = 64, 24  # pixels, vertices that a buffer has room for
STRIDE = 20
NEVER = 1 << 30


class Painter:
    """A context with a vertex array, an index buffer and two uniform blocks in one buffer."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.gl = gl = create_context(profile="core", version=(3, 3), size=(SIZE, SIZE))
        name = program(gl, VS, FS)
        for number, block in enumerate(("Place", "Paint")):
            gl.uniform_block_binding(name, gl.get_uniform_block_index(name, block), number)
        gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
        self.indices, self.vertices, self.blocks = gl.gen_buffers(3)
        gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, self.indices)
        order = np.arange(ROOM, dtype=np.uint16)
        gl.buffer_data(GL.ELEMENT_ARRAY_BUFFER, order.nbytes, order, GL.DYNAMIC_DRAW)
        gl.bind_buffer(GL.UNIFORM_BUFFER, self.blocks)
        gl.buffer_data(GL.UNIFORM_BUFFER, 512, self.numbers(512), GL.DYNAMIC_DRAW)
        gl.bind_buffer_range(GL.UNIFORM_BUFFER, 0, self.blocks, 0, 16)
        gl.bind_buffer_range(GL.UNIFORM_BUFFER, 1, self.blocks, 256, 16)
        self.attributes(self.vertices)
        gl.enable(GL.BLEND)
        gl.blend_func(GL.ONE, GL.ONE)

    def attributes(self, buffer: int) -> None:
        gl = self.gl
        gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
        data = np.concatenate([self.square() for _ in range(ROOM // 6)])
        gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes, data, GL.DYNAMIC_DRAW)
        gl.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, STRIDE, None)
        gl.vertex_attrib_pointer(1, 3, GL.FLOAT, 0, STRIDE, 8)
        gl.enable_vertex_attrib_array(0)
        gl.enable_vertex_attrib_array(1)

    def numbers(self, size: int) -> npt.NDArray[Any]:
        return self.rng.uniform(0.1, 0.7, size // 4).astype(np.float32)

    def square(self, count: int = 1) -> npt.NDArray[Any]:
        corners = SQUARE * self.rng.uniform(0.1, 0.9) + self.rng.uniform(-0.5, 0.5, 2)
        paint = np.broadcast_to(self.rng.uniform(0, 0.3, 3), (6, 3))
        return np.tile(np.concatenate((corners, paint), 1).astype(np.float32), (count, 1))

    def draw(self, first: int = 0) -> None:
        self.gl.draw_arrays(GL.TRIANGLES, first, 6)

    def draw_indexed(self) -> None:
        self.gl.draw_elements(GL.TRIANGLES, 6, GL.UNSIGNED_SHORT, None)

    def mapped(self, target: int, offset: int, data: npt.NDArray[Any], access: int = 0) -> None:
        address = self.gl.map_buffer_range(target, offset, data.nbytes, GL.MAP_WRITE_BIT | access)
        ctypes.memmove(address, data.tobytes(), data.nbytes)
        self.gl.unmap_buffer(target)


def vertices(p: Painter) -> None:
    """All that is drawn is written anew."""
    p.gl.buffer_sub_data(GL.ARRAY_BUFFER, 0, 6 * STRIDE, p.square())
    p.draw()


def a_part(p: Painter) -> None:
    """One vertex is."""
    p.gl.buffer_sub_data(GL.ARRAY_BUFFER, 2 * STRIDE, STRIDE, p.square()[0])
    p.draw()


def elsewhere(p: Painter) -> None:
    """Vertices of the next draw but one are written."""
    first = int(p.rng.integers(4)) * 6
    p.gl.buffer_sub_data(GL.ARRAY_BUFFER, first * STRIDE, 6 * STRIDE, p.square())
    p.draw((first + 12) % ROOM)


def by_mapping(p: Painter) -> None:
    access = p.rng.choice([0, GL.MAP_INVALIDATE_BUFFER_BIT, GL.MAP_UNSYNCHRONIZED_BIT])
    p.mapped(GL.ARRAY_BUFFER, 0, p.square(4), int(access))
    p.draw(int(p.rng.integers(4)) * 6)


def orphaned(p: Painter) -> None:
    """The buffer gets other storage, now and then of another size."""
    count = int(p.rng.integers(1, 4))
    data = p.square(count)
    p.gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes, data, GL.STREAM_DRAW)
    p.draw(6 * (count - 1))


def read(p: Painter) -> None:
    """Somebody looks at the buffer, and at what he has written."""
    data = p.square()
    p.gl.buffer_sub_data(GL.ARRAY_BUFFER, 0, 6 * STRIDE, data)
    p.draw()
    assert bytes(p.gl.get_buffer_sub_data(GL.ARRAY_BUFFER, 0, 6 * STRIDE)) == data.tobytes()


def blocks(p: Painter) -> None:
    offset = int(p.rng.choice([0, 256]))
    p.gl.buffer_sub_data(GL.UNIFORM_BUFFER, offset, 16, p.numbers(16))
    p.draw()


def indices(p: Painter) -> None:
    order = p.rng.permutation(ROOM)[:6].astype(np.uint16)
    p.gl.buffer_sub_data(GL.ELEMENT_ARRAY_BUFFER, 0, 12, order)
    p.draw_indexed()


def all_of_it(p: Painter) -> None:
    """Any of these, in any order; buffers that draws read are deleted, too."""
    some = [vertices, a_part, elsewhere, by_mapping, blocks, indices]
    some[int(p.rng.integers(len(some)))](p)
    if p.rng.random() < 0.1:
        p.gl.delete_buffers(1, [p.vertices])
        (p.vertices,) = p.gl.gen_buffers(1)
        p.attributes(p.vertices)
    if p.rng.random() < 0.1:
        p.gl.use_program(0)
        p.gl.use_program(program(p.gl, VS, FS))


STEPS = [
    vertices,
    a_part,
    elsewhere,
    by_mapping,
    orphaned,
    read,
    blocks,
    indices,
    all_of_it,
]


def picture(step: Callable[[Painter], None], times: int = 40) -> npt.NDArray[Any]:
    painter = Painter(5)
    for _ in range(times):
        step(painter)
    found = np.array(pixels(painter.gl))
    assert painter.gl.get_error() == 0
    painter.gl.release()
    return found


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_each_draw_sees_what_was_there(
    step: Callable[[Painter], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "WORTH_MERGING", 2)
    waited = picture(step)
    monkeypatch.setattr(queue, "SMALL", 0)
    assert len(np.unique(waited.reshape(-1, 4), axis=0)) > 10
    np.testing.assert_array_equal(waited, picture(step))


@pytest.mark.parametrize(
    "step",
    [vertices, a_part, elsewhere, by_mapping, read, blocks, indices],
    ids=lambda step: step.__name__,
)
def test_they_stay_pending_all_the_same(
    step: Callable[[Painter], None], executed: list[int]
) -> None:
    picture(step)
    assert executed == [40]


def test_copies_have_a_bound(executed: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    size = ROOM * STRIDE + TAIL
    monkeypatch.setattr(copy_on_write, "MOST", 10 * size)
    picture(vertices)
    assert max(executed) == 11
    assert sum(executed) == 40


def through_a_texture(p: Painter) -> None:
    """The buffer of the vertices is read through a texture as well."""
    gl = p.gl
    gl.bind_texture(GL.TEXTURE_BUFFER, gl.gen_textures(1)[0])
    gl.tex_buffer(GL.TEXTURE_BUFFER, GL.R32F, p.vertices)
    vs = VS.replace("paint;\n}", "abs(texelFetch(values, 2).rrr) * 0.2;\n}")
    vs = vs.replace("out vec3 tint", "uniform samplerBuffer values;\nout vec3 tint")
    name = program(gl, vs, FS)
    gl.uniform_block_binding(name, gl.get_uniform_block_index(name, "Paint"), 1)


# -- what tells a draw's vertices from those of others ---------------------------------------------


def numbered(p: Painter) -> None:
    """The shader sees the numbers of vertices."""
    vs = VS.replace("tint = paint", "tint = paint * (0.2 + 0.1 * float(gl_VertexID))")
    p.gl.use_program(program(p.gl, vs, FS))
    p.gl.uniform_block_binding(p.gl.get_integerv(GL.CURRENT_PROGRAM)[0], 1, 1)


def two_buffers(p: Painter) -> None:
    """Colours come from another one, which nobody writes."""
    gl = p.gl
    (paints,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.ARRAY_BUFFER, paints)
    gl.buffer_data(GL.ARRAY_BUFFER, 12 * ROOM, p.numbers(12 * ROOM), GL.STATIC_DRAW)
    gl.vertex_attrib_pointer(1, 3, GL.FLOAT, 0, 12, None)
    gl.bind_buffer(GL.ARRAY_BUFFER, p.vertices)


def by_instance(p: Painter) -> None:
    """Colours are those of the first vertex."""
    p.gl.vertex_attrib_divisor(1, 1)


def of_two_strides(p: Painter) -> None:
    p.gl.vertex_attrib_pointer(1, 3, GL.FLOAT, 0, STRIDE * 2, 8)


def with_a_rest(p: Painter) -> None:
    """The buffer is a little larger than its vertices."""
    data = np.append(p.square(ROOM // 6).view(np.uint8), np.zeros(7, np.uint8))
    p.gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes, data, GL.DYNAMIC_DRAW)


def too_small(p: Painter) -> None:
    """Draws go beyond its end."""
    data = p.square(2)[:10]
    p.gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes, data, GL.DYNAMIC_DRAW)


LAYOUTS = [
    numbered,
    two_buffers,
    by_instance,
    of_two_strides,
    with_a_rest,
    too_small,
]


def streamed(layout: Callable[[Painter], None]) -> npt.NDArray[Any]:
    painter = Painter(9)
    gl = painter.gl
    layout(painter)
    for number in range(40):
        first = 3 * (number % 3)
        gl.buffer_sub_data(GL.ARRAY_BUFFER, first * STRIDE, STRIDE, painter.square()[number % 6])
        painter.draw(first)
    found = np.array(pixels(gl))
    assert gl.get_error() == 0
    painter.gl.release()
    return found


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_each_draw_sees_its_copy_whatever_it_reads(
    layout: Callable[[Painter], None], monkeypatch: pytest.MonkeyPatch, executed: list[int]
) -> None:
    monkeypatch.setattr(execution, "WORTH_MERGING", 2)
    waited = streamed(layout)
    assert executed == [40]
    monkeypatch.setattr(queue, "SMALL", 0)
    assert len(np.unique(waited.reshape(-1, 4), axis=0)) > 10
    np.testing.assert_array_equal(waited, streamed(layout))


def test_writes_to_a_buffer_that_is_sampled_flush_the_batch(
    monkeypatch: pytest.MonkeyPatch, executed: list[int]
) -> None:
    waited = streamed(through_a_texture)
    assert len(executed) != 1
    monkeypatch.setattr(queue, "SMALL", 0)
    assert len(np.unique(waited.reshape(-1, 4), axis=0)) > 10
    np.testing.assert_array_equal(waited, streamed(through_a_texture))


def test_draws_by_index_and_others_see_versions_of_one_buffer(
    monkeypatch: pytest.MonkeyPatch, executed: list[int]
) -> None:
    """They are kept apart where one reads a version, and others all of them."""
    monkeypatch.setattr(execution, "WORTH_MERGING", 2)

    def drawn() -> npt.NDArray[Any]:
        painter = Painter(11)
        gl = painter.gl
        for count in (3, 6, 9, 12):
            gl.draw_elements(GL.TRIANGLES, count, GL.UNSIGNED_SHORT, None)
        gl.buffer_sub_data(GL.ARRAY_BUFFER, 0, ROOM * STRIDE, painter.square(4))
        for count in (3, 6, 9, 12):
            gl.draw_arrays(GL.TRIANGLES, 3, count)
        found = np.array(pixels(gl))
        gl.release()
        return found

    waited = drawn()
    assert executed == [8]
    monkeypatch.setattr(queue, "SMALL", 0)
    assert len(np.unique(waited.reshape(-1, 4), axis=0)) > 2
    np.testing.assert_array_equal(waited, drawn())


@pytest.mark.parametrize("divisor", [1, 2])
def test_instances_see_versions_of_their_own(
    divisor: int, monkeypatch: pytest.MonkeyPatch, executed: list[int]
) -> None:
    """Colours by instance, written before each draw."""
    monkeypatch.setattr(execution, "WORTH_MERGING", 2)

    def drawn() -> npt.NDArray[Any]:
        painter = Painter(12)
        gl = painter.gl
        (paints,) = gl.gen_buffers(1)
        gl.bind_buffer(GL.ARRAY_BUFFER, paints)
        gl.buffer_data(GL.ARRAY_BUFFER, 100, painter.numbers(100) / 40, GL.DYNAMIC_DRAW)
        gl.vertex_attrib_pointer(1, 3, GL.FLOAT, 0, 16, None)
        gl.vertex_attrib_divisor(1, divisor)
        for number in range(20):
            gl.buffer_sub_data(GL.ARRAY_BUFFER, number % 4 * 16, 16, painter.numbers(16) / 40)
            count = 1 + number % 7 if divisor == 1 else 8
            gl.draw_arrays_instanced(GL.TRIANGLES, number % 2 * 6, 6, count)
        found = np.array(pixels(gl))
        gl.release()
        return found

    waited = drawn()
    assert executed == [20]
    monkeypatch.setattr(queue, "SMALL", 0)
    assert len(np.unique(waited.reshape(-1, 4), axis=0)) > 2
    np.testing.assert_array_equal(waited, drawn())
