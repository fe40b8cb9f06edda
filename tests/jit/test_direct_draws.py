"""Small draws made by a few native calls: the same pixels and counts as on the long way."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gallette.compiler.nir.ir import Stage
from gallette.drivers.common.memory.resource import create_resource
from gallette.drivers.jit import draw_plan, plan_memory
from gallette.drivers.jit.plan_inputs import columns_of
from gallette.drivers.jit.plan_memory import PlanMemory, Stream
from gallette.drivers.jit.shader.chunk import Column, Input
from gallette.pipe.enums import Primitive, Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc, ResourceLedger
from gallette.pipe.state import DrawInfo, RasterizerState, VertexBuffer, VertexElement
from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from tests.state_tracker.stream.worlds import World


def _streams(memory: PlanMemory, info: DrawInfo) -> tuple[Stream | None, ...]:
    """The streams of a draw without other stages."""
    raster = SimpleNamespace(state=RasterizerState())
    facts = SimpleNamespace(facts=SimpleNamespace(outputs={}))
    selection = SimpleNamespace(stages={Stage.VERTEX: facts})
    state: Any = SimpleNamespace(
        fixed=SimpleNamespace(raster=raster, selection=selection), firsts=None
    )
    return memory.streams(state, info, info.mode)


def test_rows_are_those_of_the_draw_being_made() -> None:
    """Two streams may be alike in all numbers: the first one's rows are gone with it."""
    ledger = ResourceLedger()
    desc = ResourceDesc(Target.BUFFER, FORMATS["R32_FLOAT"], 64)
    buffer = create_resource(desc, ledger)
    elements = (VertexElement(0, 0, FORMATS["R32_FLOAT"], instance_divisor=1),)
    inputs = [Input("attribute", 0, 0)]
    columns = columns_of(inputs, elements, [VertexBuffer(buffer, 0, 4)], (), PlanMemory())
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
        parts = [each for some in kept for each in some]
        arrays = [each for each in parts if isinstance(each, np.ndarray)]
        streams = [each for each in parts if isinstance(each, plan_memory.Stream)]
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
