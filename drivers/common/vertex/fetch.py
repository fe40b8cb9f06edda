"""Vertex fetch: attributes are unpacked from vertex buffers when the shader reads them.

Lanes are vertices times instances, instance by instance. A value that is equal for every lane (such
as an attribute with stride 0, or per instance with one instance) stays a scalar. Vertices outside a
buffer read as zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.common.lanes import Value
from gallette.drivers.common.memory.resource import HostResource
from gallette.pipe.codecs import texel_layout, unpack_planes
from gallette.pipe.formats import Format
from gallette.pipe.state import VertexBuffer, VertexElement

from .vertices import Ints

Column = tuple[int, int, int, "npt.NDArray[np.int32] | None"]
"""An address, the stride in bytes, the number of rows, and the row of each lane."""


@lazy_dataclass()
class VertexSource:
    """Which vertices to fetch: unique vertex numbers (a range when `ids` is None), per instance."""

    first: int
    count: int
    ids: Ints | None
    instances: int
    start_instance: int
    base_vertex: int  # or the first one, where there are no indices
    draw_id: int
    first_instance: int = 0  # of a draw executed in parts: preceding instances
    firsts: Ints | None = None  # of draws merged into instances: the first vertex of each
    merged: bool = False  # the instances are draws, of one instance each
    draws: Ints | None = None  # by lane, where `ids` are those of several draws: the draw's number
    numbers: Ints | None = None  # and the instance's number, where draws have several
    bases: Ints | None = None  # and the first instance, where draws differ
    is_indexed: bool = True

    @property
    def lanes(self) -> int:
        return self.count * self.instances


class FetchedVertices:
    """`VertexLanes` for the lanes `start..stop` of a source."""

    __slots__ = (
        "_buffers",
        "_columns",
        "_elements",
        "_planes",
        "_raw",
        "_rows_of",
        "_source",
        "_start",
        "_stop",
        "count",
    )

    def __init__(
        self,
        source: VertexSource,
        elements: Sequence[VertexElement],
        buffers: Sequence[VertexBuffer | None],
        start: int,
        stop: int,
    ) -> None:
        self._source = source
        self._elements = elements
        self._buffers = buffers
        self._start = start
        self._stop = stop
        self._planes: dict[int, list[Value]] = {}
        self._raw: dict[int, npt.NDArray[np.float64] | None] = {}
        self._columns: dict[int, Column | None] = {}
        self._rows_of: dict[int, npt.NDArray[np.int32]] = {}
        self.count = stop - start

    def attribute(self, index: int, component: int) -> Value:
        planes = self._planes.get(index)
        if planes is None:
            planes = self._planes[index] = self._fetch(index)
        return planes[component]

    def column(self, index: int, component: int) -> Column | None:
        """The address of a component for compiled code to read; None: call `attribute` instead."""
        if index in self._columns:
            found = self._columns[index]
        else:
            found = self._columns[index] = self._column(index)
        if found is None:
            return None
        format = self._elements[index].src_format
        source = format.swizzle[component]
        if not isinstance(source, int):
            constant = _CONSTANTS[format.is_pure_integer, source]
            return int(constant.ctypes.data), 0, _ANY_ROW, None
        address, stride, limit, rows = found
        return address + 4 * source, stride, limit, rows

    def _column(self, index: int) -> Column | None:
        element = self._elements[index] if index < len(self._elements) else None
        slot = -1 if element is None else element.buffer_index
        buffer = self._buffers[slot] if 0 <= slot < len(self._buffers) else None
        if element is None or buffer is None or not is_words(element.src_format):
            return None
        resource, source, stride = buffer.buffer, self._source, buffer.stride
        assert isinstance(resource, HostResource)
        size = element.src_format.block_bytes
        offset = buffer.offset + element.src_offset
        data = resource.bytes_at(offset, resource.desc.width - offset)
        one_instance = source.instances == 1
        if not stride or len(data) < size or len(data) >> 31:
            return None
        available = (len(data) - size) // stride + 1
        address = int(data.ctypes.data)
        if element.instance_divisor:
            if one_instance or source.merged:
                return None
            return address, stride, available, self._rows_by(element.instance_divisor)
        first = source.first + self._start
        if one_instance and source.ids is None and 0 <= first < available:
            return address + first * stride, stride, available - first, None
        return address, stride, available, self._rows_by(0)

    def _rows_by(self, divisor: int) -> npt.NDArray[np.int32]:
        """The row of each lane, by vertex or by instance divisor."""
        found = self._rows_of.get(divisor)
        if found is None:
            source = self._source
            ids = self._vertex_ids()
            if divisor:
                ids = self._instance_ids() // divisor + source.start_instance
            limit = np.iinfo(np.int32).max
            if len(ids) and (ids.max() > limit or ids.min() < -limit):
                ids = np.where(abs(ids) > limit, -1, ids)
            found = self._rows_of[divisor] = ids.astype(np.int32)
        return found

    def attribute64(self, index: int, component: int) -> Value:
        """A component of a 64-bit attribute as it is in memory; 0 if the format lacks it."""
        if index in self._raw:
            raw = self._raw[index]
        else:
            raw = self._raw[index] = self._fetch64(index)
        if raw is None or component >= len(raw):
            return np.zeros((), np.float64)
        column: npt.NDArray[np.float64] = raw[component]
        return column.reshape(()) if column.shape[0] == 1 else column

    def _fetch64(self, index: int) -> npt.NDArray[np.float64] | None:
        """All components of a 64-bit attribute."""
        element = self._elements[index] if index < len(self._elements) else None
        if element is None or element.src_format.block_bytes % 8:
            return None
        slot = element.buffer_index
        buffer = self._buffers[slot] if slot < len(self._buffers) else None
        if buffer is None:
            return None
        texels = np.ascontiguousarray(self._texels(element, buffer))
        return np.ascontiguousarray(texels.reshape(len(texels), -1).view(np.float64).T)

    def _fetch(self, index: int) -> list[Value]:
        if index >= len(self._elements):
            return list(_MISSING)
        element = self._elements[index]
        slot = element.buffer_index
        buffer = self._buffers[slot] if slot < len(self._buffers) else None
        if buffer is None:
            return list(_MISSING)
        texels = self._texels(element, buffer)
        planes = unpack_planes(element.src_format, texels)
        if texels.shape[0] == 1:
            return [np.asarray(plane).reshape(-1)[0:1].reshape(()) for plane in planes]
        return [np.ascontiguousarray(plane) if plane.ndim else plane for plane in planes]

    def _texels(self, element: VertexElement, buffer: VertexBuffer) -> npt.NDArray[Any]:
        """Raw texels of one element, for every lane or (if all are the same) for one."""
        rows = rows_there(element, buffer)
        if len(rows):
            rows = self._rows(element, rows, buffer.stride)
        else:
            rows = np.zeros((1, rows.shape[1]), np.uint8)
        return _as_texels(element.src_format, rows)

    def _rows(
        self, element: VertexElement, rows: npt.NDArray[np.uint8], stride: int
    ) -> npt.NDArray[np.uint8]:
        source = self._source
        available = len(rows)
        if not stride:
            return rows
        if element.instance_divisor:
            if source.numbers is not None:
                some = slice(self._start, self._stop)
                base = source.start_instance if source.bases is None else source.bases[some]
                return _clamped(rows, source.numbers[some] // element.instance_divisor + base)
            if source.merged:
                return _clamped(rows, np.array([source.start_instance], np.int64))
            if source.instances == 1:
                only = source.first_instance // element.instance_divisor + source.start_instance
                return _clamped(rows, np.array([only], np.int64))
            numbers = self._instance_ids() // element.instance_divisor
            return _clamped(rows, numbers + source.start_instance)
        if source.ids is None and source.instances == 1:
            first, last = source.first + self._start, source.first + self._stop
            if first >= 0 and last <= available:
                return rows[first:last]
        return _clamped(rows, self._vertex_ids())

    def _vertex_ids(self) -> Ints:
        source = self._source
        if source.instances == 1 and source.firsts is None:
            if source.ids is None:
                return np.arange(source.first + self._start, source.first + self._stop)
            return source.ids[self._start : self._stop]
        if source.firsts is not None:
            lanes = self._repeated(np.arange(source.count))
            return np.asarray(lanes + source.firsts[self._instances()])
        if source.ids is None:
            return self._repeated(np.arange(source.first, source.first + source.count))
        return self._repeated(source.ids)

    def _repeated(self, ids: Ints) -> Ints:
        """What each instance has, for the lanes."""
        start = self._start % self._source.count
        return np.resize(ids, start + self.count)[start:]

    def _instances(self) -> Ints:
        """The instance of each lane, counted from the first one that is fetched."""
        count = self._source.count
        first, start = divmod(self._start, count)
        numbers = np.arange(first, -(-self._stop // count)).repeat(count)
        return numbers[start : start + self.count]

    def _instance_ids(self) -> Ints:
        return self._instances() + self._source.first_instance

    def system(self, name: str) -> Value:
        getter = _SYSTEM.get(name)
        if getter is None:
            raise GalletteError(f"a vertex has no {name}")
        return getter(self)

    def _vertex_id(self) -> Value:
        return self._vertex_ids().astype(np.int32)

    def _instance_id(self) -> Value:
        source = self._source
        if source.numbers is not None:
            return source.numbers[self._start : self._stop].astype(np.int32)
        if source.merged:
            return np.zeros((), np.int32)
        return self._number()

    def _number(self) -> Value:
        """The number of an instance, or of a merged draw."""
        source = self._source
        if source.draws is not None:
            return source.draws[self._start : self._stop].astype(np.int32)
        if source.instances == 1:
            return np.asarray(source.first_instance, np.int32)
        return self._instance_ids().astype(np.int32)

    def _base_vertex(self) -> Value:
        """The base vertex; zero for draws without indices."""
        source = self._source
        return _word(source.base_vertex if source.is_indexed else 0)

    def _base_instance(self) -> Value:
        return _word(self._source.start_instance)

    def _draw_id(self) -> Value:
        return _word(self._source.draw_id)


def _word(number: int) -> Value:
    """The lowest 32 bits of a draw's parameter, since unsigned values may exceed a signed word."""
    return np.asarray(number & 0xFFFFFFFF, np.uint32).view(np.int32)


class Supplier(Protocol):
    """Provides the vertex buffers of some draws."""

    @property
    def vertex_buffers(self) -> Sequence[VertexBuffer | None]: ...

    def bytes_of(self, slot: int) -> npt.NDArray[np.uint8]:
        """The contents of the buffer in a slot."""
        ...


@lazy_dataclass(frozen=True)
class Gathered:
    """The vertex buffers of draws merged into instances."""

    suppliers: Sequence[Supplier]
    which: npt.NDArray[np.uint16]  # by draw: the number of its supplier
    alike: bool = False  # they differ only in the contents of buffers


class GatheredVertices(FetchedVertices):
    """Vertex fetch for merged draws, where every draw has its own vertex buffers.

    The caller keeps `known` from chunk to chunk of a draw.
    """

    __slots__ = ("_gathered", "_known")

    def __init__(
        self,
        source: VertexSource,
        elements: Sequence[VertexElement],
        gathered: Gathered,
        known: dict[int, npt.NDArray[Any]],
        start: int,
        stop: int,
    ) -> None:
        super().__init__(source, elements, gathered.suppliers[0].vertex_buffers, start, stop)
        self._gathered = gathered
        self._known = known

    def _column(self, index: int) -> Column | None:
        """None, because draws read different buffers."""
        return None

    def _texels(self, element: VertexElement, buffer: VertexBuffer) -> npt.NDArray[Any]:
        found = self._known.get(id(element))
        if found is None:
            found = self._known[id(element)] = self._of_all_draws(element)
        return found[self._start : self._stop]

    def _of_all_draws(self, element: VertexElement) -> npt.NDArray[Any]:
        gathered, firsts = self._gathered, self._source.firsts
        if self._source.draws is not None:
            return self._of_concatenated_draws(element, self._source.draws)
        one = replace(self._source, instances=1, first_instance=0, firsts=None)
        which: Ints = gathered.which.astype(np.int64)
        picks = [(supplier, one.first) for supplier in gathered.suppliers]
        if firsts is not None:  # the rows read differ by supplier, too
            pairs = list(zip(which.tolist(), firsts.tolist(), strict=True))
            numbers = {pair: number for number, pair in enumerate(dict.fromkeys(pairs))}
            picks = [(gathered.suppliers[supplier], first) for supplier, first in numbers]
            which = np.array([numbers[pair] for pair in pairs], np.int64)
        found = self._side_by_side(element, one, picks)
        if found is None:
            found = np.stack([self._one_by_one(element, one, *pick) for pick in picks])
        found = found.take(which, axis=0)
        return found.reshape(-1, *found.shape[2:])

    def _of_concatenated_draws(self, element: VertexElement, draws: Ints) -> npt.NDArray[Any]:
        """The texels of draws whose numbers of vertices differ."""
        gathered, slot = self._gathered, element.buffer_index
        places: dict[Any, int] = {}
        buffers: list[VertexBuffer] = []  # the different ones
        number: list[int] = []  # of the buffer that each supplier provides
        for supplier in gathered.suppliers:
            buffer = supplier.vertex_buffers[slot]
            assert buffer is not None
            key = id(buffer.buffer), buffer.offset, buffer.stride
            number.append(places.setdefault(key, len(places)))
            if number[-1] == len(buffers):
                buffers.append(buffer)
        which = np.array(number)[gathered.which].take(draws)
        lanes = which.argsort(kind="stable")
        wanted = self._row_numbers(element).take(lanes)
        found = np.zeros((len(lanes), element.src_format.block_bytes), np.uint8)
        ends, first = np.cumsum(np.bincount(which, minlength=len(buffers))).tolist(), 0
        for buffer, end in zip(buffers, ends, strict=True):
            rows = rows_there(element, buffer)
            if len(rows) and end > first:
                found[first:end] = _clamped(rows, wanted[first:end]) if buffer.stride else rows
            first = end
        ordered = np.empty_like(found)
        ordered[lanes] = found
        return _as_texels(element.src_format, ordered)

    def _row_numbers(self, element: VertexElement) -> Ints:
        """The row that each lane of several draws reads."""
        source = self._source
        assert source.ids is not None
        if not element.instance_divisor:
            return source.ids
        base = source.start_instance if source.bases is None else source.bases
        if source.numbers is None:
            return np.full(source.count, base)
        return source.numbers // element.instance_divisor + base

    def _one_by_one(
        self, element: VertexElement, one: VertexSource, supplier: Supplier, first: int
    ) -> npt.NDArray[Any]:
        """The rows that one draw reads."""
        buffers, count = supplier.vertex_buffers, one.count
        buffer = buffers[element.buffer_index]
        assert buffer is not None
        vertices = FetchedVertices(replace(one, first=first), self._elements, buffers, 0, count)
        some = vertices._texels(element, buffer)
        return np.broadcast_to(some, (count, *some.shape[1:]))

    def _side_by_side(
        self, element: VertexElement, one: VertexSource, picks: Sequence[tuple[Supplier, int]]
    ) -> npt.NDArray[Any] | None:
        """The rows of all draws with one gather, if they all have buffers and read bytes of many of
        them.
        """
        slot = element.buffer_index
        buffer = picks[0][0].vertex_buffers[slot]
        if len(picks) < _MANY_BUFFERS or buffer is None or element.instance_divisor:
            return None
        offset, stride, size = buffer.offset, buffer.stride, element.src_format.block_bytes
        if one.ids is not None or not stride or min(first for _, first in picks) < 0:
            return None
        if not self._gathered.alike:
            for supplier in self._gathered.suppliers:
                each = supplier.vertex_buffers[slot]
                if each is None or each.stride != stride or each.offset != offset:
                    return None
        low, length = offset + element.src_offset, (one.count - 1) * stride + size
        places = [(supplier, low + first * stride) for supplier, first in picks]
        some = [supplier.bytes_of(slot)[at : at + length] for supplier, at in places]
        if any(len(data) < length for data in some):
            return None
        data = np.concatenate(some)
        texels = np.ndarray((len(some), one.count, size), np.uint8, data, 0, (length, stride, 1))
        word, words = texel_layout(element.src_format)
        texels = np.ascontiguousarray(texels).view(word)
        return texels if words > 1 else texels[..., 0]


def is_words(format: Format) -> bool:
    """Whether components are stored as 32-bit words."""
    return format.is_array and all(
        c.bits == 32 and c.type in ("FLOAT", "UINT", "SINT") for c in format.channels
    )


def rows_there(element: VertexElement, buffer: VertexBuffer) -> npt.NDArray[np.uint8]:
    """The rows of an element that a buffer holds, as bytes; with stride 0 the only one."""
    resource = buffer.buffer
    assert isinstance(resource, HostResource)
    size, stride = element.src_format.block_bytes, buffer.stride
    offset = buffer.offset + element.src_offset
    data = resource.bytes_at(offset, resource.desc.width - offset)
    if len(data) < size:
        return np.zeros((0, size), np.uint8)
    available = (len(data) - size) // stride + 1 if stride else 1
    return np.ndarray((available, size), np.uint8, data, 0, (stride, 1))


def _as_texels(format: Format, rows: npt.NDArray[np.uint8]) -> npt.NDArray[Any]:
    word, words = texel_layout(format)
    texels: npt.NDArray[Any] = np.ascontiguousarray(rows).view(word)
    return texels if words > 1 else texels[:, 0]


def _clamped(rows: npt.NDArray[np.uint8], ids: Ints) -> npt.NDArray[np.uint8]:
    """Rows by number; numbers out of range read as zero."""
    low, high = int(ids.min()), int(ids.max())
    if low >= 0 and high < len(rows):
        return rows[ids]
    inside = (ids >= 0) & (ids < len(rows))
    found = rows[np.where(inside, ids, 0)]
    found[~inside] = 0
    return found


_MANY_BUFFERS = 4  # from this many buffers on, one gather is faster

_ZERO = np.zeros((), np.float32)
_ONE = np.ones((), np.float32)
_MISSING: tuple[Value, ...] = (_ZERO, _ZERO, _ZERO, _ONE)
_CONSTANTS = {
    (integer, digit): np.array([int(digit)], np.int32 if integer else np.float32)
    for integer in (False, True)
    for digit in "01"
}
"""The components that a format lacks, by whether it is one of integers."""
_ANY_ROW = (1 << 31) - 1

_SYSTEM: dict[str, Callable[[FetchedVertices], Value]] = {
    "vertex_id": FetchedVertices._vertex_id,
    "instance_id": FetchedVertices._instance_id,
    "merged_draw": FetchedVertices._number,
    "base_vertex": FetchedVertices._base_vertex,
    "base_instance": FetchedVertices._base_instance,
    "draw_id": FetchedVertices._draw_id,
}
