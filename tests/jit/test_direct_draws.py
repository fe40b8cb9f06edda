"""Small draws made by a few native calls: the same pixels and counts as on the long way."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import moderngl
import numpy as np
import pytest

import gallette
from gallette.compiler.nir.ir import Stage
from gallette.drivers.common.memory.resource import create_resource
from gallette.drivers.jit import draw_plan, plan_memory
from gallette.drivers.jit.draw_plan import DrawPlan
from gallette.drivers.jit.plan_inputs import columns_of
from gallette.drivers.jit.plan_memory import PlanMemory, Stream
from gallette.drivers.jit.program import BoundJit
from gallette.drivers.jit.shader.chunk import Column, Input
from gallette.pipe.enums import Primitive, Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc, ResourceLedger
from gallette.pipe.state import DrawInfo, VertexBuffer, VertexElement
from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from tests.state_tracker.stream.worlds import World

VERTEX = """
#version 330
in vec2 position; in vec4 paint; in vec2 place;
layout(std140) uniform Object { vec2 offset; float number; };
uniform float turn;
out vec4 c; flat out int id; out vec2 uv;
void main() {
    vec2 at = position * 0.3 + place + offset;
    gl_Position = vec4(at.x * cos(turn) - at.y * sin(turn), at.y, 0.1 * number, 1.0);
    c = paint;
    id = gl_VertexID + gl_InstanceID;
    uv = position;
}
"""
FRAGMENT = """
#version 330
in vec4 c; flat in int id; in vec2 uv; out vec4 o;
uniform sampler2D image;
layout(std140) uniform Object { vec2 offset; float number; };
void main() {
    o = c * texture(image, uv) + vec4(float(id & 7) * 0.05, number * 0.1, 0.0, 0.0);
}
"""
SIZE = (80, 72)


class _Frame:
    """What draws are made of."""

    def __init__(self, context: moderngl.Context) -> None:
        rng = np.random.default_rng(3)
        self.context = context
        self.frame = context.framebuffer(
            [context.texture(SIZE, 4)], context.depth_renderbuffer(SIZE)
        )
        self.frame.use()
        self.frame.clear()
        self.program = context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
        self.rng = rng
        table = np.zeros(40, np.dtype([("p", "f4", 2), ("c", "u1", 4)]))
        table["p"] = rng.uniform(-0.9, 0.9, (40, 2))
        table["c"] = rng.integers(0, 256, (40, 4))
        self.vertices = context.buffer(table.tobytes())
        self.table = table
        self.places = context.buffer(rng.uniform(-0.4, 0.4, (40, 2)).astype("f4").tobytes())
        blocks = np.zeros((8, 64), np.float32)
        blocks[:, :3] = rng.uniform(-0.3, 0.6, (8, 3))
        self.blocks = context.buffer(blocks.tobytes())
        self.image = context.texture((8, 8), 4, rng.integers(0, 256, 256, np.uint8).tobytes())
        self.image.use(0)
        self.block(0)

    def block(self, number: int) -> None:
        self.blocks.bind_to_uniform_block(0, offset=256 * number, size=256)

    def array(self, indices: Any = None, size: int = 4, divided: bool = True) -> Any:
        each = "2f/i" if divided else "2f"
        elements = None if indices is None else self.context.buffer(indices.tobytes())
        return self.context.vertex_array(
            self.program,
            [(self.vertices, "2f 4f1", "position", "paint"), (self.places, each, "place")],
            elements,
            index_element_size=size,
        )


def _arrays(frame: _Frame) -> None:
    array = frame.array()
    for k in range(10):
        frame.program["turn"] = k * 0.1
        array.render(moderngl.TRIANGLES, vertices=6, first=3 * k)


def _written(frame: _Frame) -> None:
    array = frame.array()
    for _ in range(5):
        frame.table["p"] = frame.rng.uniform(-0.9, 0.9, (40, 2))
        frame.table["c"] = frame.rng.integers(0, 256, (40, 4))
        frame.vertices.write(frame.table.tobytes())
        frame.image.write(frame.rng.integers(0, 256, 256, np.uint8).tobytes())
        array.render(moderngl.TRIANGLES, vertices=9)


def _blocks(frame: _Frame) -> None:
    array = frame.array()
    for k in range(8):
        frame.block(k)
        array.render(moderngl.TRIANGLES, vertices=6)
        frame.blocks.write(np.array([0.1, -0.2, k / 9], np.float32).tobytes(), offset=256)
        frame.block(1)
        array.render(moderngl.TRIANGLES, vertices=6, first=9)


def _indexed(frame: _Frame) -> None:
    indices = frame.rng.integers(0, 40, 60).astype(np.uint16)
    indices[[7, 20]] = 0xFFFF
    array = frame.array(indices, 2)
    gl = frame.context.extra
    gl.enable(0x8F9D)
    gl.primitive_restart_index(0xFFFF)
    for k in range(4):
        array.render(moderngl.TRIANGLE_STRIP, vertices=20, first=5 * k)
    gl.disable(0x8F9D)
    array.render(moderngl.TRIANGLE_FAN, vertices=12, first=30)


def _indices_written(frame: _Frame) -> None:
    """The same triangles of other vertices, others, an index that restarts, and one that did."""
    pattern = np.array([0, 1, 2, 2, 1, 3], np.uint16)
    array = frame.array(pattern, 2)
    frame.context.extra.enable(0x8F9D)
    frame.context.extra.primitive_restart_index(7)
    for k, last in enumerate((3, 3, 3, 5, 3, 3)):
        pattern[5] = last
        array.index_buffer.write((pattern + 4 * (k % 4)).tobytes())
        array.render(moderngl.TRIANGLES)
        array.render(moderngl.TRIANGLE_STRIP)


def _instances(frame: _Frame) -> None:
    array = frame.array()
    for k in range(4):
        array.render(moderngl.TRIANGLES, vertices=6, first=3 * k, instances=5 + k)
    array = frame.array(divided=False)
    array.render(moderngl.TRIANGLES, vertices=12, instances=3)


def _converted(frame: _Frame) -> None:
    """Colours in bytes, another for every second instance."""
    vertices = [(frame.vertices, "2f 4x", "position"), (frame.vertices, "8x 4f1/i", "paint")]
    array = frame.context.vertex_array(frame.program, [*vertices, (frame.places, "2f/i", "place")])
    array.render(moderngl.TRIANGLES, vertices=6, instances=7)


def _beyond(frame: _Frame) -> None:
    """Vertices after the buffer's end, and triangles that are to be clipped."""
    array = frame.array()
    for first in (30, 39, 41, 4000):
        array.render(moderngl.TRIANGLES, vertices=12, first=first)
    frame.context.enable(moderngl.DEPTH_TEST)
    frame.program["turn"] = 2.0
    frame.blocks.write(np.array([0.9, 0.9, 0.5], np.float32).tobytes())
    frame.block(0)
    array.render(moderngl.TRIANGLES, vertices=24)


def _large(frame: _Frame) -> None:
    """More vertices than are shaded at once: many instances, and many vertices of one."""
    array = frame.array()
    array.render(moderngl.TRIANGLES, vertices=24, first=3, instances=5000)
    frame.program["turn"] = 0.3
    array.render(moderngl.TRIANGLE_STRIP, vertices=24, instances=6000)
    indices = frame.rng.integers(0, 40, 130_000).astype(np.uint16)
    array = frame.array(indices, 2)
    array.render(moderngl.TRIANGLES)
    array.render(moderngl.TRIANGLE_STRIP, vertices=120_000, first=7)
    array.render(moderngl.TRIANGLES)


def _states(frame: _Frame) -> None:
    array = frame.array()
    context = frame.context
    for k in range(12):
        context.enable_only((moderngl.NOTHING, moderngl.BLEND, moderngl.DEPTH_TEST)[k % 3])
        context.scissor = (5 * k, 3, 30, 60) if k % 2 else None
        frame.frame.viewport = (k, 2 * k, 60, 40)
        array.render(moderngl.TRIANGLES, vertices=9, first=2 * k)


def _drawn(draw: Callable[[_Frame], None]) -> tuple[bytes, list[int]]:
    gl = gallette.moderngl_context("jit", version=(4, 6))
    with moderngl.create_context(standalone=True, context=gl) as context:
        context.extra = gl
        frame = _Frame(context)
        names = [0x8914, *range(0x82EE, 0x82F8)]  # samples passed, pipeline statistics
        queries = gl.gen_queries(len(names))
        for target, query in zip(names, queries, strict=True):
            gl.begin_query(target, query)
        draw(frame)
        for target in names:
            gl.end_query(target)
        data = bytes(frame.frame.read(components=4))
        return data, [int(gl.get_query_objectuiv(query, 0x8866)[0]) for query in queries]


def _noting(method: Callable[..., Any], done: list[bool]) -> Callable[..., Any]:
    """The method, which notes whether it made the whole draw: `repeat` returns true then, `draw`
    that no part is left.
    """

    def noting(*args: Any) -> Any:
        found = method(*args)
        done.append(found is None or found is True)
        return found

    return noting


@pytest.mark.parametrize(
    "draw",
    [
        _arrays,
        _written,
        _blocks,
        _indexed,
        _indices_written,
        _instances,
        _converted,
        _beyond,
        _large,
        _states,
    ],
)
def test_plans_draw_the_same_pictures(
    draw: Callable[[_Frame], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[bool] = []
    for name in ("draw", "repeat"):
        monkeypatch.setattr(DrawPlan, name, _noting(getattr(DrawPlan, name), done))
    have, counts = _drawn(draw)
    assert any(done)
    monkeypatch.setattr(BoundJit, "plan", lambda *_: None)
    wanted, expected = _drawn(draw)
    assert len(set(have)) > 8
    assert have == wanted
    assert counts == expected


@pytest.mark.parametrize("driver", ["jit", "numpipe"])
def test_a_query_begins_after_a_single_draw(driver: str) -> None:
    """What is bound while samples are counted is not what was bound for the draw that waited."""
    gl = gallette.moderngl_context(driver)
    with moderngl.create_context(standalone=True, context=gl) as context:
        context.extra = gl
        frame = _Frame(context)
        frame.blocks.write(bytes(12))
        array = frame.array()
        array.render(moderngl.TRIANGLES, vertices=3, first=3)
        query = context.query(samples=True)
        with query:
            array.render(moderngl.TRIANGLES, vertices=6)
        assert query.samples > 0


def _streams(memory: PlanMemory, info: DrawInfo) -> tuple[Stream | None, ...]:
    """The streams of a draw without other stages."""
    raster = SimpleNamespace(state=SimpleNamespace(flatshade_first=False))
    facts = SimpleNamespace(facts=SimpleNamespace(outputs={}))
    selection = SimpleNamespace(stages={Stage.VERTEX: facts})
    state: Any = SimpleNamespace(
        fixed=SimpleNamespace(raster=raster, selection=selection), firsts=None
    )
    return memory.streams(state, info, info.mode, False)


def test_rows_are_those_of_the_draw_being_made() -> None:
    """Two streams may be alike in all numbers: the first one's rows are gone with it."""
    ledger = ResourceLedger()
    desc = ResourceDesc(Target.BUFFER, FORMATS["R32_FLOAT"], 64)
    buffer = create_resource(desc, ledger)
    elements = (VertexElement(0, 0, FORMATS["R32_FLOAT"], instance_divisor=1),)
    inputs = [Input("attribute", 0, 0)]
    columns = columns_of(inputs, elements, [VertexBuffer(buffer, 0, 4)], PlanMemory())
    assert columns is not None
    for mode in (Primitive.TRIANGLES, Primitive.TRIANGLE_STRIP):
        info = DrawInfo(mode, 0, 6, instance_count=4)
        (stream,) = _streams(PlanMemory(), info)
        assert stream is not None and columns.begin(stream, info, info.start)
        words = (ctypes.c_uint64 * 4).from_address(columns.addresses[0])
        rows = (ctypes.c_int32 * 24).from_address(words[Column.ROWS])
        assert list(rows) == [k // 6 for k in range(24)]
    buffer.unref()


@pytest.mark.parametrize("count", [6, 3072])
def test_streams_and_rows_are_kept_within_limits(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan_memory, "_MOST_KEPT", 20)
    monkeypatch.setattr(plan_memory, "_MOST_BYTES", 1 << 20)
    memory = PlanMemory()
    most = 0
    for number in range(100):
        info = DrawInfo(Primitive.TRIANGLES, 0, count + 3 * number, instance_count=4)
        (stream,) = _streams(memory, info)
        assert _streams(memory, info)[0] is stream
        assert stream is not None
        rows = memory.rows(stream, 1, number)
        assert memory.rows(stream, 1, number) is rows
        kept = memory._kept.values()
        streams = [each for some in kept if isinstance(some, tuple) for each in some]
        arrays = [each for each in kept if isinstance(each, np.ndarray)]
        assert len(kept) <= 20
        arrays += [array for each in streams for array in each.arrays]
        most = max(most, sum(each.nbytes for each in arrays))
    assert most <= 1 << 20
    assert most > 1 << 19 or count == 6


WHOLE = """
#version 330
void main() { gl_Position = vec4(ivec2(gl_VertexID & 1, gl_VertexID >> 1) * 4 - 1, 0.0, 1.0); }
"""
LOOP = """
#version 330
uniform int rounds; out vec4 o;
void main() {
    o = vec4(gl_FragCoord.xy / 256.0, 0.0, 1.0);
    for (int i = 0; i < rounds; i++) o.z = fract(o.z + 0.1);
}
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_large_draws_end_with_their_budget(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[None] = []

    def thread_count() -> int:
        asked.append(None)
        return threads

    monkeypatch.setattr(draw_plan, "thread_count", thread_count)
    gl: Any = Context("jit", version=(4, 5), size=(256, 256), budget=1 << 24)
    program = World.program_of(gl, WHOLE, LOOP)
    gl.use_program(program)
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    rounds = gl.get_uniform_location(program, "rounds")
    pixels = []
    for count in (4, 4, 8):
        gl.uniform1i(rounds, count)
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        read = gl.read_pixels(0, 0, 256, 256, GL.RGBA, GL.UNSIGNED_BYTE)
        pixels.append(np.frombuffer(read, np.uint8).reshape(256, 256, 4))
    assert (pixels[0] == pixels[1]).all()
    assert [int(each[9, 9, 2]) for each in pixels[1:]] == [102, 204]
    assert gl.get_graphics_reset_status() == GL.NO_ERROR
    gl.uniform1i(rounds, 1 << 30)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.finish()
    assert gl.get_graphics_reset_status() == GL.GUILTY_CONTEXT_RESET
    assert len(asked) == 4  # by each draw
    gl.release()
