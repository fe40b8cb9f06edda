"""Draws from versions of a buffer as draws from one larger buffer: when that can be, and how."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gallette.compiler.nir.ir import Stage
from gallette.drivers.common.draw import snapshot_copies
from gallette.drivers.common.draw.snapshot_copies import Begun, Stream, stream_of
from gallette.drivers.common.memory.resource import HostResource
from gallette.pipe.enums import Primitive, Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc
from gallette.pipe.state import DrawInfo, FramebufferState, VertexBuffer, VertexElement

TRIANGLES = Primitive.TRIANGLES
VECTOR = FORMATS["R32G32B32_FLOAT"]  # 12 bytes


def buffer(width: int = 64) -> HostResource:
    desc = ResourceDesc(Target.BUFFER, FORMATS["R8_UINT"], width)
    return HostResource(desc, lambda _: None, [np.zeros((1, 1, width), np.uint8)])


def stream(width: int = 64, divisor: int = 0, versions: int = 3, last: int = 12) -> Stream:
    snapshot: Any = None
    return Stream(snapshot, width, 16, last, divisor, versions, Begun())


@pytest.mark.parametrize(("width", "rows"), [(64, 4), (63, 4), (65, 5)])
def test_a_call_begins_in_each_version(width: int, rows: int) -> None:
    """So many rows of 16 bytes further."""
    info = DrawInfo(TRIANGLES, start=1, count=3)
    calls = stream(width).calls(info)
    assert [call.start for call in calls] == [1, 1 + rows, 1 + 2 * rows]
    assert all(call.count == 3 and call.start_instance == 0 for call in calls)
    assert stream(width).calls(info) == calls


@pytest.mark.parametrize("last", [12, 16])
def test_calls_that_could_read_beyond_a_version_have_none(last: int) -> None:
    """The last of `start + count` rows ends `last` bytes behind its begin."""
    info = DrawInfo(TRIANGLES, start=1, count=3)
    assert stream(3 * 16 + last, last=last).calls(info)
    assert stream(3 * 16 + last - 1, last=last).calls(info) == []


def test_calls_of_instances_begin_at_other_instances() -> None:
    info = DrawInfo(TRIANGLES, start=9, count=99, instance_count=5, start_instance=1)
    calls = stream(divisor=2, versions=2).calls(info)
    assert [(call.start, call.start_instance) for call in calls] == [(9, 1), (9, 5)]
    assert stream(48 + 12, divisor=2).calls(info)  # row 1 + 4 // 2 is the last
    assert stream(48 + 11, divisor=2).calls(info) == []
    assert stream(divisor=1).calls(DrawInfo(TRIANGLES, count=3)) == []
    assert stream(divisor=1).calls(DrawInfo(TRIANGLES, count=3, instance_count=2))


def test_calls_are_kept_from_batch_to_batch() -> None:
    begun, info = Begun(), DrawInfo(TRIANGLES, count=3)
    moved = begun.at(info, 12)
    assert moved == replace(info, start=12) and begun.at(info, 12) is moved
    for start in range(1 << 12):
        begun.at(info, start)
    assert begun.at(info, 12) == moved  # it is made again at some time


def test_calls_are_made_once_for_a_batch() -> None:
    one, info, other = stream(), DrawInfo(TRIANGLES, count=3), DrawInfo(TRIANGLES, count=2)
    calls = one.calls(info)
    assert one.calls(other) is not calls and one.calls(info) is calls


def test_each_version_starts_at_a_row() -> None:
    whole = snapshot_copies._end_to_end(buffer(6), [b"abcdef", b"ghijkl"], 4)
    data = b"abcdef\0\0ghijkl\0\0"
    assert whole.storage[0].tobytes() == data
    assert whole.desc.width == len(data) and whole.desc.target is Target.BUFFER
    whole = snapshot_copies._end_to_end(buffer(4), [b"abcd", b"efgh"], 4)
    assert whole.storage[0].tobytes() == b"abcdefgh"


def draws(elements: Any, buffers: Any, sees: bool = False, facts: Any = (), **more: Any) -> Any:
    stage = SimpleNamespace(views=[], constants=[None, *more.get("blocks", [])])
    bound = SimpleNamespace(
        elements=SimpleNamespace(state=elements),
        vertex_buffers=buffers,
        stages={Stage.VERTEX: stage, Stage.FRAGMENT: stage},
        shaders={},
        framebuffer=FramebufferState(),
    )
    program = SimpleNamespace(facts=SimpleNamespace(system_values=frozenset(facts)))
    selection = SimpleNamespace(stages={Stage.VERTEX: program})
    found = SimpleNamespace(
        states=SimpleNamespace(bound=bound),
        state_key=(),
        reads=(),
        scissors=0,
        viewports=0,
        blocks=(),
        buffers=(),
        sampled=frozenset(),
        observes_start=lambda mode: sees,
        selection=lambda mode: None if more.get("lost") else selection,
    )
    found.like = found
    return found


WRITTEN, OTHER = buffer(640), buffer()


def element(slot: int, divisor: int = 0, offset: int = 4) -> VertexElement:
    return VertexElement(offset, slot, VECTOR, divisor)


def streamed(elements: Any, buffers: Any, **more: Any) -> Stream | None:
    snapshot = draws(elements, buffers, **more)
    return stream_of(snapshot, TRIANGLES, WRITTEN, [bytes(640)] * 2, Begun())


INSIDE = VertexBuffer(WRITTEN, 8, 32)


def test_a_stream_is_made_of_what_vertices_read() -> None:
    found = streamed([element(0), element(0, offset=16)], [INSIDE])
    assert found is not None
    assert (found.width, found.stride, found.divisor, found.versions) == (640, 32, 0, 2)
    assert found.last == 16 + 8 + 12  # the end of the element that ends last
    mixed = streamed([element(0), element(1, 3)], [INSIDE, VertexBuffer(OTHER, 0, 4)])
    assert mixed is not None and mixed.divisor == 0
    instances = streamed([element(0, 3), element(1), element(0, 2)], [INSIDE, None])
    assert instances is not None and instances.divisor == 2
    # What repeats one value, and what has no buffer, begins nowhere.
    still = [INSIDE, VertexBuffer(OTHER, 0, 0)]
    assert streamed([element(0), element(1), element(2)], still) is not None


@pytest.mark.parametrize(
    ("elements", "buffers", "more"),
    [
        ([element(0)], [VertexBuffer(OTHER, 0, 32)], {}),
        ([element(0)], [VertexBuffer(WRITTEN, 0, 0)], {}),
        ([element(0)], [INSIDE], {"blocks": [SimpleNamespace(buffer=WRITTEN)]}),
        ([element(0), element(1)], [INSIDE, VertexBuffer(WRITTEN, 0, 0)], {}),
        ([element(0)], [INSIDE], {"sees": True}),
        ([element(0)], [INSIDE], {"lost": True}),
        ([element(0)], [INSIDE], {"facts": ["vertex_id"]}),
        ([element(0), element(1)], [INSIDE, VertexBuffer(WRITTEN, 8, 16)], {}),
        ([element(0), element(0, 1)], [INSIDE], {}),
        ([element(0), element(1)], [INSIDE, VertexBuffer(OTHER, 0, 4)], {}),
        ([element(0, 2), element(1, 1)], [INSIDE, VertexBuffer(OTHER, 0, 4)], {}),
    ],
)
def test_what_is_no_stream(elements: Any, buffers: Any, more: Any) -> None:
    assert streamed(elements, buffers, **more) is None
