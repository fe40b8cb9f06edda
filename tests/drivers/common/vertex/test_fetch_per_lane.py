"""What each lane fetches, worked out lane by lane; what is captured, vertex by vertex."""

from __future__ import annotations

import ctypes
import itertools
import struct
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.memory.resource import HostResource, create_resource
from gallette.drivers.common.queries import StreamCounters
from gallette.drivers.common.vertex.fetch import (
    FetchedVertices,
    Gathered,
    GatheredVertices,
    VertexSource,
    is_words,
)
from gallette.drivers.common.vertex.stream_output import capture
from gallette.drivers.common.vertex.vertices import VertexSet
from gallette.pipe.enums import Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc, ResourceLedger
from gallette.pipe.state import (
    StreamOutput,
    StreamOutputInfo,
    StreamOutputTarget,
    VertexBuffer,
    VertexElement,
    ViewportState,
)

Array = npt.NDArray[Any]
FORMAT = {"R32G32_UINT": "II", "R32_FLOAT": "f", "R32G32B32A32_SINT": "iiii", "R64_FLOAT": "d",
          "R8G8B8A8_UINT": "BBBB"}  # fmt: skip


def buffer(size: int, seed: int = 0) -> HostResource:
    made = create_resource(ResourceDesc(Target.BUFFER, FORMATS["R8_UNORM"], size), ResourceLedger())
    made.bytes_at(0, size)[:] = np.random.default_rng(seed + size).integers(1, 63, size)
    return made


def sources() -> list[VertexSource]:
    plain = VertexSource(3, 4, None, 1, 0, 3, 0)
    return [
        plain,
        replace(plain, first=-2),
        replace(plain, first=18, count=7),
        replace(plain, instances=3, start_instance=2, first_instance=1),
        replace(plain, instances=1, start_instance=2, first_instance=5),
        replace(plain, ids=np.array([7, 0, 2, 300])),
        replace(plain, ids=np.array([7, 0, -1, 3]), instances=2),
        replace(plain, instances=3, merged=True, start_instance=1),
        replace(plain, instances=3, merged=True, firsts=np.array([4, 0, 9])),
        replace(plain, count=8, ids=np.array([3, 1, 3, 0, 1, 2, 2, 7]),
                numbers=np.array([0, 0, 1, 1, 2, 2, 3, 3]), start_instance=1),
        replace(plain, count=4, ids=np.array([3, 1, 3, 0]), numbers=np.array([0, 5, 1, 2]),
                bases=np.array([0, 1, 2, 0])),
    ]  # fmt: skip


def vertex_of(source: VertexSource, lane: int) -> int:
    instance, vertex = divmod(lane, source.count)
    if source.firsts is not None:
        return int(source.firsts[instance]) + vertex
    if source.ids is not None:
        return int(source.ids[vertex])
    return source.first + vertex


def row_of(source: VertexSource, lane: int, divisor: int) -> int:
    if not divisor:
        return vertex_of(source, lane)
    if source.numbers is not None:
        base = source.start_instance if source.bases is None else int(source.bases[lane])
        return int(source.numbers[lane]) // divisor + base
    if source.merged:
        return source.start_instance
    number = lane // source.count + source.first_instance
    return number // divisor + source.start_instance


def read(data: bytes, format: str, offset: int, stride: int, row: int) -> list[Any]:
    """Zeros outside of the buffer, of which a row is a whole element at least."""
    code = f"<{FORMAT[format]}"
    at = offset + row * stride
    if row < 0 or at + struct.calcsize(code) > len(data):
        return [0] * len(FORMAT[format])
    return list(struct.unpack_from(code, data, at))


@pytest.mark.parametrize("format", FORMAT)
@pytest.mark.parametrize("number", range(len(sources())))
def test_attributes_by_lane(format: str, number: int) -> None:
    source = sources()[number]
    resource = buffer(173)
    data = resource.storage[0].tobytes()
    for stride, divisor, offset in itertools.product((0, 8, 20), (0, 1, 2, 3), (0, 4, 170)):
        for start, stop in {(0, source.lanes), (1, source.lanes - 1)}:
            element = VertexElement(offset, 0, FORMATS[format], divisor)
            buffers = (VertexBuffer(resource, 4, stride),)
            lanes = FetchedVertices(source, (element,), buffers, start, stop)
            assert lanes.count == stop - start
            given = range(start, stop)
            wanted = [
                read(data, format, offset + 4, stride, row_of(source, k, divisor) if stride else 0)
                for k in given
            ]
            wide = format == "R64_FLOAT"
            names = FORMAT[format]
            for component in range(len(names)):
                fetch = lanes.attribute64 if wide else lanes.attribute
                value = np.broadcast_to(np.asarray(fetch(0, component)), (lanes.count,))
                bits = struct.Struct(f"<{names[component]}")
                if format == "R8G8B8A8_UINT":
                    assert value.view(np.int32).tolist() == [w[component] for w in wanted]
                    continue
                found = value.astype(value.dtype).tobytes()
                assert found == b"".join(bits.pack(w[component]) for w in wanted)
            column = lanes.column(0, 0)
            if column is None:
                continue
            assert is_words(FORMATS[format]) and stride
            for component in range(len(names)):
                place = lanes.column(0, component)
                assert place is not None
                address, step, limit, rows = place
                assert step == stride
                for k in range(lanes.count):
                    row = k if rows is None else int(rows[k])
                    raw = b"\0" * 4
                    if 0 <= row < limit:
                        raw = ctypes.string_at(address + row * step, 4)
                    assert raw == struct.pack(f"<{names[component]}", wanted[k][component])


def test_what_lies_in_memory_as_it_is_wanted() -> None:
    for name in ("R32_FLOAT", "R32G32_UINT", "R32G32B32A32_SINT"):
        assert is_words(FORMATS[name])
    for name in ("R16_FLOAT", "R8G8B8A8_UINT", "R64_FLOAT", "R32_UNORM", "R10G10B10A2_UINT"):
        assert name not in FORMATS or not is_words(FORMATS[name])
    source = sources()[0]
    element = VertexElement(0, 0, FORMATS["R32G32_UINT"], 0)
    for elements, buffers in (
        ((), (VertexBuffer(buffer(99), 0, 8),)),
        ((element,), (None,)),
        ((element,), ()),
        ((element,), (VertexBuffer(buffer(99), 0, 0),)),  # one value for all
        ((element,), (VertexBuffer(buffer(7), 0, 8),)),  # too short for one
        ((replace(element, instance_divisor=1),), (VertexBuffer(buffer(99), 0, 8),)),
    ):
        lanes = FetchedVertices(source, elements, buffers, 0, source.lanes)
        assert lanes.column(0, 0) is None


@pytest.mark.parametrize("format", ["R32G32_UINT", "R32G32_FLOAT"])
def test_components_that_a_format_lacks_are_constants(format: str) -> None:
    element, buffers = VertexElement(0, 0, FORMATS[format], 0), (VertexBuffer(buffer(99), 0, 8),)
    lanes = FetchedVertices(sources()[0], (element,), buffers, 0, sources()[0].lanes)
    for component in (2, 3):
        column = lanes.column(0, component)
        assert column is not None
        address, stride, limit, rows = column
        assert stride == 0 and rows is None and limit > 1 << 30
        raw, wanted = ctypes.string_at(address, 4), lanes.attribute(0, component)
        assert raw == np.asarray(wanted).tobytes()


@pytest.mark.parametrize("several", [False, True])
def test_draws_that_become_instances_read_their_own_buffers(several: bool) -> None:
    """With so many buffers that they are looked at all at once, and with fewer."""

    class Supplier:
        def __init__(self, resource: HostResource, stride: int) -> None:
            self.resource = resource
            self.vertex_buffers = (VertexBuffer(resource, 4, stride),)

        def bytes_of(self, slot: int) -> Array:
            found: Array = self.resource.storage[slot][0, 0]
            return found

    for count, size, other, firsts in itertools.product(
        (2, 6), (100, 40), (8, 12), (None, (5, 0, 2, 9, 1))
    ):
        suppliers = [Supplier(buffer(size, k), other if k == 1 else 8) for k in range(count)]
        which = np.array([0, 1, 1, count - 1, 0], np.uint16)
        source = VertexSource(
            1, 3, np.array([2, 0, 7]) if several else None, 5, 0, 1, 0, merged=True,
            firsts=None if firsts is None or several else np.array(firsts),
        )  # fmt: skip
        element = VertexElement(4, 0, FORMATS["R32G32_UINT"], 0)
        known: dict[int, Array] = {}
        lanes = GatheredVertices(source, (element,), Gathered(suppliers, which), known, 0, 15)
        assert lanes.column(0, 0) is None
        for component in range(2):
            wanted = []
            for lane in range(15):
                supplier = suppliers[which[lane // 3]]
                data = supplier.resource.storage[0].tobytes()
                row = vertex_of(source, lane)
                stride = supplier.vertex_buffers[0].stride
                wanted.append(read(data, "R32G32_UINT", 8, stride, row)[component])
            assert lanes.attribute(0, component).view(np.uint32).tolist() == wanted
        again = GatheredVertices(source, (element,), Gathered(suppliers, which), known, 4, 9)
        assert len(known) == 1
        assert again.attribute(0, 1).view(np.uint32).tolist() == wanted[4:9]


# -- captured --------------------------------------------------------------------------------------


def vertex_set(count: int) -> VertexSet:
    rng = np.random.default_rng(count)
    zeros = np.zeros((4, count), np.float32)
    varyings: Any = {
        VaryingSlot.VAR0: [rng.integers(0, 1000, count).astype(np.float32) for _ in range(4)],
        VaryingSlot.VAR1: [np.asarray(np.float32(7)), None, None, None],
        VaryingSlot.POS: list(rng.integers(0, 99, (4, count)).astype(np.float32)),
    }
    return VertexSet(count, zeros, varyings, ViewportState())


INFO = StreamOutputInfo(
    (
        StreamOutput(VaryingSlot.VAR0, 1, 3, 0, 4),
        StreamOutput(VaryingSlot.VAR1, 0, 1, 1, 0),
        StreamOutput(VaryingSlot.VAR0, 0, 1, 1, 8),
        StreamOutput(VaryingSlot.VAR0, 2, 2, 3, 0, stream=1),
    ),
    (16, 12, 0, 8),
)


def targets(sizes: tuple[int | None, ...]) -> list[StreamOutputTarget | None]:
    return [
        None if size is None else StreamOutputTarget(buffer(2000, 7), 8, size) for size in sizes
    ]


@pytest.mark.parametrize("corners", [1, 2, 3])
@pytest.mark.parametrize("order", ["in a row", "backwards", "anyhow"])
@pytest.mark.parametrize("sizes", [(2000, 2000), (100, 2000), (2000, 77), (0, 2000), (15, 30),
                                   (None, 2000), (2000, None), (2000,)])  # fmt: skip
def test_whole_primitives_are_captured_while_all_buffers_have_room(
    corners: int, order: str, sizes: tuple[int | None, ...]
) -> None:
    vertices, primitives = vertex_set(12), 12 // corners
    numbers = np.arange(12)
    if order != "in a row":
        numbers = numbers[::-1] if order == "backwards" else np.array([3, 3, 0, 9, 1, 2, 7, 7, 5,
                                                                      4, 11, 8])  # fmt: skip
    table, bound, counters = numbers.reshape(primitives, corners), targets(sizes), StreamCounters()
    before = [None if t is None else t.buffer.storage[0].copy() for t in bound]
    fitting: list[int] = []
    generated = 0
    for number in range(2):  # twice: what is written goes on where it ended
        capture(bound, INFO, counters, vertices, table)
        generated += primitives
        room = []
        for at, stride in ((0, 16), (1, 12)):
            target = bound[at] if at < len(bound) else None
            size = 0 if target is None else min(target.size, 2000 - 8)
            room.append(size // stride - corners * sum(fitting))
        fitting.append(min(primitives, max(0, min(room)) // corners))
        assert counters.emitted == sum(fitting)
        assert counters.unwritten == generated - sum(fitting)
        assert counters.generated == 0, number
    captured = [int(v) for made in fitting for v in table[:made].reshape(-1)]
    values = [vertices.component(VaryingSlot.VAR0, k) for k in range(4)]
    for at, stride in ((0, 16), (1, 12)):
        target, old = (bound[at], before[at]) if at < len(bound) else (None, None)
        if target is None or old is None:
            continue
        wanted = bytearray(old.tobytes())
        for number, vertex in enumerate(captured):
            begin = 8 + number * stride
            if at == 0:
                struct.pack_into("<3f", wanted, begin + 4, *(v[vertex] for v in values[1:]))
            else:
                struct.pack_into("<f", wanted, begin, 7.0)
                struct.pack_into("<f", wanted, begin + 8, values[0][vertex])
        assert target.buffer.storage[0].tobytes() == bytes(wanted)
        assert target.written == stride * len(captured)
        assert target.stride == (stride if captured else 0)
        assert isinstance(target.buffer, HostResource)
        assert target.buffer.writes == sum(1 for made in fitting if made)


def test_streams_have_buffers_of_their_own() -> None:
    vertices, counters = vertex_set(5), StreamCounters()
    bound = targets((500, 500, 500, 500))
    capture(bound, INFO, counters, vertices, np.arange(5)[:, None], stream=1)
    written = [0 if t is None else t.written for t in bound]
    assert written == [0, 0, 0, 40] and counters.emitted == 5
    last = bound[3]
    assert last is not None
    words = last.buffer.storage[0][0, 0, 8:48].view(np.float32).reshape(5, 2)
    for k in range(2):
        assert words[:, k].tolist() == vertices.component(VaryingSlot.VAR0, 2 + k).tolist()
    capture(bound, INFO, counters, vertices, np.arange(5)[:, None], stream=2)  # captures nothing
    assert (counters.emitted, counters.unwritten) == (5, 0)
    lacking = replace(INFO, strides=(16, 0))
    capture(targets((500, 500)), lacking, counters, vertices, np.arange(5)[:, None])
    assert (counters.emitted, counters.unwritten) == (5, 5)
    short = replace(INFO, strides=(16,))
    capture(targets((500, 500)), short, counters, vertices, np.arange(5)[:, None])
    assert (counters.emitted, counters.unwritten) == (5, 10)
