"""Streams of vertices: every position is the vertex that its index names; what is captured."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.vertex import stream
from gallette.drivers.common.vertex.stream import IndexStream, vertex_stream
from gallette.drivers.common.vertex.stream_output import capture
from gallette.drivers.common.vertex.vertices import VertexSet
from gallette.pipe.enums import Primitive, Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc
from gallette.pipe.state import (
    DrawInfo,
    StreamOutput,
    StreamOutputInfo,
    StreamOutputTarget,
    ViewportState,
)


def buffer(data: Any) -> HostResource:
    raw = np.array(data).view(np.uint8).reshape(1, 1, -1).copy()
    desc = ResourceDesc(Target.BUFFER, FORMATS["R8_UINT"], raw.size)
    return HostResource(desc, lambda _: None, [raw])


INDICES = [7, 3, 9, 65535, 3, 4, 5, 0, 65535, 65535, 900, 2]
CALLS: list[dict[str, Any]] = [
    {"start": 5, "count": 4},
    {"start": 0, "count": 12, "index_size": 2},
    {"start": 4, "count": 3, "index_size": 2, "index_bias": -3},
    {"start": 0, "count": 12, "index_size": 2, "primitive_restart": True, "restart_index": 65535},
    {"start": 1, "count": 6, "index_size": 2, "primitive_restart": True, "restart_index": 3},
    {"start": 9, "count": 6, "index_size": 2, "index_bias": 10},  # three lie outside
    {"start": 9, "count": 6, "index_size": 2, "primitive_restart": True, "restart_index": 0},
    {"start": 50, "count": 4, "index_size": 2, "index_bias": 1},
    {"start": 1, "count": 3, "index_size": 2, "index_offset": 4},
]


def call(many: dict[str, Any]) -> DrawInfo:
    more: Any = (
        {"index_buffer": buffer(np.array(INDICES, np.uint16))} if "index_size" in many else {}
    )
    common: dict[str, Any] = {"instance_count": 3, "start_instance": 4, "draw_id": 2}
    return DrawInfo(Primitive.POINTS, **many, **more, **common)


def runs_wanted(info: DrawInfo) -> list[list[int]]:
    """The vertices of each run; empty ones are left out."""
    if not info.index_size:
        return [list(range(info.start, info.start + info.count))]
    found: list[list[int]] = [[]]
    first = info.index_offset // 2 + info.start
    for k in range(first, first + info.count):
        index = INDICES[k] if k < len(INDICES) else 0
        if info.primitive_restart and index == info.restart_index:
            found.append([])
        else:
            found[-1].append(index + info.index_bias)
    return [run for run in found if run]


def vertices_of(source: Any, lanes: Any) -> list[int]:
    """Which vertices lanes are."""
    if source.ids is not None:
        return [int(each) for each in source.ids[lanes]]
    return [int(source.first + lane) for lane in np.asarray(lanes).reshape(-1)]


@pytest.mark.parametrize("sparse", [1, 1000])
@pytest.mark.parametrize("many", CALLS)
def test_streams_name_the_vertices_of_indices(
    many: dict[str, Any], sparse: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "_SPARSE", sparse)
    info = call(many)
    lanes, runs, source = vertex_stream(info)
    pairs = zip(runs.start.tolist(), runs.length.tolist(), strict=True)
    found = [vertices_of(source, lanes[a : a + n]) for a, n in pairs]
    assert [run for run in found if run] == runs_wanted(info)
    assert (source.instances, source.start_instance, source.draw_id) == (3, 4, 2)
    assert source.is_indexed is bool(info.index_size)
    assert source.base_vertex == (info.index_bias if info.index_size else info.start)


@pytest.mark.parametrize("sparse", [1, 1000])
@pytest.mark.parametrize("many", CALLS)
def test_parts_of_streams_name_the_vertices_of_indices(
    many: dict[str, Any], sparse: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "_SPARSE", sparse)
    info = call(many)
    parts = IndexStream(info)
    pairs = zip(parts.runs.start.tolist(), parts.runs.length.tolist(), strict=True)
    places = [list(range(a, a + n)) for a, n in pairs if n]
    for turned in (1, -1):
        found = []
        for run in places:
            positions = np.array(run[::turned], np.int64)
            source, lane_of = parts.source(positions, 7)
            found.append(vertices_of(source, lane_of(positions))[::turned])
            assert vertices_of(source, lane_of(positions[-1:])) == found[-1][::turned][-1:]
            assert (source.instances, source.start_instance, source.draw_id) == (1, 4, 2)
            assert source.first_instance == 7
            assert source.base_vertex == (info.index_bias if info.index_size else info.start)
            assert source.is_indexed is bool(info.index_size)
        assert found == runs_wanted(info)


# -- captured --------------------------------------------------------------------------------------


def captured(
    sizes: list[Any], corners: Any, written: int = 0, strides: Any = (12, 8), number: int = 0
) -> tuple[list[Any], Any]:
    """What targets of so many bytes hold, and what was counted."""
    outputs = (
        StreamOutput(40, 0, 2, 0, 0),
        StreamOutput(41, 1, 1, 0, 8),
        StreamOutput(40, 2, 2, 1, 0),
    )
    info = StreamOutputInfo(outputs, strides)
    varyings: Any = {
        40: [np.arange(5, dtype=np.float32) + 10 * k for k in range(4)],
        41: [None, np.float32(99), None, None],
    }
    vertices = VertexSet(
        5, np.zeros((4, 5), np.float32), varyings, ViewportState((1, 1, 1), (0, 0, 0))
    )
    targets: list[Any] = []
    for size in sizes:
        if size is None:
            targets.append(None)
            continue
        targets.append(StreamOutputTarget(buffer(np.full(100, 7, np.uint8)), 4, size))
        targets[-1].written = written
    counters: Any = SimpleNamespace(emitted=0, unwritten=0)
    capture(targets, info, counters, vertices, np.array(corners, np.int64), number)
    return targets, counters


@pytest.mark.parametrize("corners", [[[0], [1], [2]], [[2], [0], [4]], [[0, 3], [3, 1]]])
def test_primitives_are_captured_vertex_by_vertex(corners: Any) -> None:
    targets, counters = captured([96, 96], corners)
    order = [vertex for each in corners for vertex in each]
    assert (counters.emitted, counters.unwritten) == (len(corners), 0)
    for target, stride, rows in (
        (targets[0], 12, [[v, 10 + v, 99] for v in order]),
        (targets[1], 8, [[20 + v, 30 + v] for v in order]),
    ):
        data = target.buffer.storage[0].reshape(-1)
        size = stride * len(order)
        assert target.written == size and target.stride == stride
        assert data[4 : 4 + size].view(np.float32).reshape(len(order), -1).tolist() == rows
        assert set(data[:4].tolist()) | set(data[4 + size :].tolist()) == {7}


@pytest.mark.parametrize(
    ("sizes", "written", "fits"),
    [
        ([36, 96], 0, 3),
        ([35, 96], 0, 2),
        ([96, 16], 0, 2),
        ([96, 15], 0, 1),
        ([200, 96], 60, 3),  # the buffer has 96 bytes behind the offset
        ([200, 96], 61, 2),
        ([96, 96], 97, 0),
        ([None, 96], 0, 0),
        ([96], 0, 0),
    ],
)
def test_whole_primitives_are_captured_into_all_targets(
    sizes: list[Any], written: int, fits: int
) -> None:
    targets, counters = captured(sizes, [[0], [1], [2]], written)
    assert (counters.emitted, counters.unwritten) == (fits, 3 - fits)
    for target, stride in zip(targets, (12, 8), strict=False):
        assert target is None or target.written == written + fits * stride


def test_nothing_is_captured_of_other_streams_or_without_strides() -> None:
    targets, counters = captured([96, 96], [[0]], number=1)
    assert (counters.emitted, counters.unwritten) == (0, 0)
    for strides in ((12,), (12, 0)):
        targets, counters = captured([96, 96], [[0]], strides=strides)
        assert (counters.emitted, counters.unwritten) == (0, 1)
        assert [target.written for target in targets] == [0, 0]
