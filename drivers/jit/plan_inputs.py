"""Addresses of the vertices of planned draws: columns of vertex buffers, prepared (see
`draw_plan`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.vertex.fetch import FetchedVertices, VertexSource, is_words, rows_there
from gallette.pipe.codecs import unpack_planes
from gallette.pipe.formats import FORMATS
from gallette.pipe.state import DrawInfo, VertexBuffer, VertexElement

from .plan_memory import PlanMemory, Stream
from .shader.chunk import Column, Input, is_strided, of_clip_plane

Array = npt.NDArray[Any]
_MOST_AT_ONCE, _MOST_CONVERTED = 1 << 16, 1 << 22
"""Rows of a buffer in another format that are converted: all at once, or those that draws read."""
_BLOCK = 1 << 10  # rows

_MOST_KEPT = 64  # conversions of a buffer

_SYSTEM = ("vertex_id", "instance_id")
_FOREVER = (1 << 31) - 1


@lazy_dataclass()
class _Converted:
    """Inputs whose values are converted from the contents of a buffer."""

    element: VertexElement
    buffer: VertexBuffer
    elements: Sequence[VertexElement]
    buffers: Sequence[VertexBuffer | None]
    index: int
    available: int
    inputs: list[tuple[int, int]]  # row of the table, component
    writes: int = -1
    rows: _Rows | None = None

    @property
    def at_once(self) -> bool:
        """Whether all rows are converted, whatever draws read."""
        return self.available <= _MOST_AT_ONCE

    def refresh(self, base: Array) -> bool:
        """Convert again if the contents have changed; returns whether addresses have."""
        resource = self.buffer.buffer
        assert isinstance(resource, HostResource)
        if resource.writes == self.writes and not resource.live:
            return False
        self.writes, old, self.rows = resource.writes, self.rows, self._shared(resource)
        if self.rows.writes != resource.writes or resource.live:
            self.rows.converted[:] = False
            self.rows.writes = resource.writes
        if self.at_once:
            self.convert(0, self.available)
        if self.rows is old:
            return False
        for row, component in self.inputs:
            base[row] = self.rows.values[component].ctypes.data
        return True

    def _shared(self, resource: HostResource) -> _Rows:
        """Where plans that differ in other state have the same rows."""
        kept: dict[Any, _Rows] = resource.derived.setdefault("rows", (0, {}))[1]
        offset = self.buffer.offset + self.element.src_offset
        key = self.element.src_format, offset, self.buffer.stride, self.available
        if key not in kept:
            if len(kept) >= _MOST_KEPT:
                kept.clear()
            values = np.zeros((4, self.available), np.uint32)
            kept[key] = _Rows(values, np.zeros(-(-self.available // _BLOCK), np.bool_))
        return kept[key]

    def convert(self, first: int, count: int) -> None:
        """Convert the blocks in which some rows are, if they are not converted yet."""
        assert self.rows is not None
        begin, end = first // _BLOCK, -(-min(first + count, self.available) // _BLOCK)
        missing = (~self.rows.converted[begin:end]).nonzero()[0]
        if len(missing):
            begin, end = begin + int(missing[0]), begin + int(missing[-1]) + 1
            self._convert(self.rows.values, begin * _BLOCK, min(end * _BLOCK, self.available))
            self.rows.converted[begin:end] = True

    def _convert(self, values: Array, first: int, end: int) -> None:
        format = self.element.src_format
        if format.is_array and format.channels[0].bits == 8:
            rows = rows_there(self.element, self.buffer)
            words = _words_of(format.channels[0].type)
            for component, place in enumerate(format.swizzle):
                if isinstance(place, int):
                    out = values[component, first:end]
                    words.take(rows[first:end, place], out=out, mode="clip")
            return
        source = VertexSource(first, end - first, None, 1, 0, 0, 0)
        vertices = FetchedVertices(source, self.elements, self.buffers, 0, end - first)
        for component in range(4):
            found = np.asarray(vertices.attribute(self.index, component))
            values[component, first:end] = (
                found.view(np.uint32) if found.ndim else found.reshape(1).view(np.uint32)
            )


@cache
def _words_of(type: str) -> Array:
    """What each byte means, as a word."""
    values = unpack_planes(FORMATS[f"R8_{type}"], np.arange(256, dtype=np.uint8))[0]
    return values.view(np.uint32)


@lazy_dataclass(eq=False)
class _Rows:
    """The components of all elements of a buffer in one format, as words."""

    values: Array
    converted: Array  # which blocks of them are
    writes: int = -1  # of the buffer then


class Columns:
    """The inputs of a vertex shader in one state: a `Column` of each attribute's component."""

    def __init__(self, memory: PlanMemory, inputs: int) -> None:
        self._memory = memory
        self._table = np.zeros((inputs + 1, 4), np.uint64)  # the last one is for no input
        self._base = np.zeros(inputs, np.int64)
        self._stride = np.zeros(inputs, np.int64)
        self._limit = np.full(inputs, _FOREVER, np.int64)
        self._divisor = np.zeros(inputs, np.int64)
        self._with_vertices = np.zeros(inputs, np.bool_)  # with the number of the vertex
        self._words, self._at = self._table.reshape(-1).data, int(self._table.ctypes.data)
        # The words of the first vertex and the limit; base, stride, limit: see `_lay`. Those that
        # move with the vertex, and those that move with the instance.
        self._moving: list[tuple[int, int, int, int, int]] = []
        self._by_turns: list[tuple[int, int, int, int, int]] = []
        self._moves: Array | None = None  # rows of `MoveWords`
        # Of the columns that are no constants: the word for the rows, and the divisor.
        self._in_turn: list[tuple[int, int]] = []
        self._laid = self._in_rows = False
        self._keep: list[Any] = []
        self._rows: list[Array] = []  # the table points at them
        self._converted: dict[int, _Converted] = {}
        self._system: list[tuple[str, Array]] = []
        self.addresses: list[int] = []  # what the block's words of the inputs are
        self._stream: Stream | None = None  # of the draw pointed at, its first vertex and call
        self._first = -1
        self._info: DrawInfo | None = None

    # -- making ------------------------------------------------------------------------------------

    def add_system(self, name: str) -> None:
        """A number for every lane."""
        values = self._memory.ids[_SYSTEM.index(name)]
        self._system.append((name, values))
        self.addresses.append(int(values.ctypes.data))

    def add_number(self, value: np.float32) -> None:
        """One value, which has no `Column`."""
        array = np.array((value,))
        self._keep.append(array)
        self.addresses.append(int(array.ctypes.data))

    def add_constant(self, row: int, value: Any) -> None:
        """One value for all lanes."""
        array = np.asarray(value).reshape(1).copy()
        self._keep.append(array)
        self._base[row] = array.ctypes.data
        self._named(row)

    def _named(self, row: int) -> None:
        self.addresses.append(self._at + 32 * row)

    def add(
        self,
        row: int,
        key: Input,
        elements: Sequence[VertexElement],
        buffers: Sequence[VertexBuffer | None],
    ) -> bool:
        """Add a component of an attribute; returns false if there is no column for it."""
        index = key.slot
        assert isinstance(index, int)
        element = elements[index] if index < len(elements) else None
        buffer = None
        if element is not None and element.buffer_index < len(buffers):
            buffer = buffers[element.buffer_index]
        if element is None or buffer is None:
            self.add_constant(row, np.float32(1.0 if key.component == 3 else 0.0))
            return True
        resource, stride = buffer.buffer, buffer.stride
        assert isinstance(resource, HostResource)
        size = element.src_format.block_bytes
        offset = buffer.offset + element.src_offset
        data = resource.bytes_at(offset, resource.desc.width - offset)
        if offset < 0 or len(data) < size or len(data) >> 31 or (resource.live and not stride):
            return False
        available = (len(data) - size) // stride + 1 if stride else 1
        source = element.src_format.swizzle[key.component]
        if not isinstance(source, int):  # the format lacks the component
            one = int(source == "1")
            whole = element.src_format.is_pure_integer
            self.add_constant(row, np.int32(one) if whole else np.float32(one))
            return True
        self._divisor[row] = element.instance_divisor
        self._with_vertices[row] = bool(stride) and not element.instance_divisor
        self._limit[row] = available if stride else _FOREVER
        if is_words(element.src_format):
            self._base[row] = int(data.ctypes.data) + 4 * source
            self._stride[row] = stride
        else:
            if available > (_MOST_AT_ONCE if element.instance_divisor else _MOST_CONVERTED):
                return False
            found = self._converted.get(index)
            if found is None:
                rows = [replace(each, instance_divisor=0) for each in elements]  # all there are
                found = self._converted[index] = _Converted(
                    element, buffer, rows, buffers, index, available, []
                )
            found.inputs.append((row, key.component))
            self._stride[row] = 4 if stride else 0
        self._keep.append(resource)
        self._named(row)
        return True

    # -- a draw ------------------------------------------------------------------------------------

    @property
    def steady(self) -> bool:
        """Whether the vertices of later draws are at the same addresses, whatever the buffers hold
        then.
        """
        return not self._converted and not self._system

    @property
    def in_place(self) -> bool:
        """Whether all are read from the buffers themselves."""
        return not self._converted

    @property
    def plain(self) -> bool:
        """Whether none of them depends on the vertices' numbers, nor is converted for them."""
        return not self._system and all(each.at_once for each in self._converted.values())

    def looked_at(self) -> Iterator[HostResource]:
        """The buffers whose contents are converted, and not read in place."""
        for each in self._converted.values():
            assert isinstance(each.buffer.buffer, HostResource)
            yield each.buffer.buffer

    def moves(self) -> tuple[int, int]:
        """The address of the `MoveWords` of columns that move with the first vertex or, of a single
        instance, with that; and how many there are.
        """
        if self._moves is None:
            unused = 4 * (len(self._table) - 1)  # the limit of a row for all lanes
            turns = [(first, unused, *more) for first, _, *more in self._by_turns]
            every = np.array([*self._moving, *turns], np.int64).reshape(-1, 5)
            every[:, :2] = 8 * every[:, :2] + self._at
            by_instance = np.arange(len(every)) >= len(self._moving)
            self._moves = np.hstack((every, by_instance[:, None].astype(np.int64)))
        count = len(self._moving) if self._in_rows else len(self._moves)
        return int(self._moves.ctypes.data), count

    @property
    def least(self) -> int:
        """The number of vertices available in all of them."""
        return min((limit for *_, limit in self._moving), default=_FOREVER)

    @property
    def least_instances(self) -> int:
        """The number of rows by instance available in all of them."""
        return min((limit for *_, limit in self._by_turns), default=_FOREVER)

    def forget(self) -> None:
        """Forget the first vertex and instance."""
        self._stream = None

    def refresh(self) -> bool:
        """Convert what has changed; returns whether all addresses are still right."""
        for each in self._converted.values():
            if each.refresh(self._base):
                self._laid = False
        return self._laid

    def begin(self, stream: Stream, info: DrawInfo, start: int) -> bool:
        """Point at the vertices of a draw, from `start` on if they have no indices; returns false
        if some are missing.
        """
        self.refresh()
        first = stream.first + (0 if info.index_size else start)
        for name, values in self._system:
            _number(name, values, stream, info, first)
        for each in self._converted.values():
            if not each.at_once and 0 <= first < each.available:
                each.convert(first, stream.count)
        if not self._laid:
            self._lay()
        elif stream is self._stream and first == self._first and info is self._info:
            return True
        self._stream = None
        if not 0 <= first <= _FOREVER:
            return False
        words = self._words
        for start, end, base, stride, limit in self._moving:
            if limit <= first:
                return False
            words[start] = base + first * stride
            words[end] = limit - first
        if self._in_rows:
            self._table[:-1, Column.ROWS] = 0
        self._in_rows = info.instance_count > 1
        if self._in_rows:
            self._by_instance(stream, info)
        elif self._by_turns:
            self._of_instance(info.start_instance)
        self._stream, self._first, self._info = stream, first, info  # its rows are pointed at
        return True

    def _lay(self) -> None:
        """Write the words that are equal for all draws, and note those that are not."""
        table, rows = self._table[:-1], range(len(self._base))
        if rows:
            table[:, Column.FIRST], table[:, Column.STRIDE] = self._base, self._stride
            table[:, Column.LIMIT], table[:, Column.ROWS] = self._limit, 0
        moving = [row for row in rows if self._with_vertices[row]]
        base, stride, limit = (each.tolist() for each in (self._base, self._stride, self._limit))
        divisors = self._divisor.tolist()
        turning = [row for row in rows if divisors[row] and stride[row]]
        self._moving, self._by_turns = (
            [
                (4 * row + Column.FIRST, 4 * row + Column.LIMIT, base[row], stride[row], limit[row])
                for row in some
            ]
            for some in (moving, turning)
        )
        self._moves = None
        self._in_turn = [(4 * row + Column.ROWS, divisors[row]) for row in rows if stride[row]]
        self._laid = True

    def _of_instance(self, instance: int) -> None:
        """All lanes have the row of one instance."""
        words = self._words
        for first, end, base, stride, limit in self._by_turns:
            there = instance < limit
            words[first] = base + instance * stride if there else base
            words[end] = _FOREVER if there else 0
            words[first + Column.STRIDE - Column.FIRST] = 0

    def _by_instance(self, stream: Stream, info: DrawInfo) -> None:
        """The row of each lane, where rows do not follow the lanes."""
        self._rows, words = [], self._words
        for first, end, base, stride, limit in self._by_turns:
            words[first], words[end] = base, limit
            words[first + Column.STRIDE - Column.FIRST] = stride
        for word, divisor in self._in_turn:
            if divisor or stream.lanes != stream.count:
                start = info.start_instance if divisor else 0
                rows, self._words[word] = self._memory.rows(stream, divisor, start)
                self._rows.append(rows)


def _number(name: str, values: Array, stream: Stream, info: DrawInfo, first: int) -> None:
    lanes = np.arange(stream.lanes, dtype=np.int64)
    if name == "instance_id":
        found = lanes // stream.count + stream.instance
    else:
        found = lanes % stream.count + first
    values[: stream.lanes] = found.astype(np.int32)


def columns_of(
    inputs: Sequence[Input],
    elements: Sequence[VertexElement],
    buffers: Sequence[VertexBuffer | None],
    clip_planes: Sequence[Sequence[float]],
    memory: PlanMemory,
) -> Columns | None:
    """The columns of a vertex shader's inputs; None if one of them has no column."""
    columns = Columns(memory, len(inputs))
    for row, key in enumerate(inputs):
        if key.kind == "system" and key.slot in _SYSTEM:
            columns.add_system(str(key.slot))
        elif key.kind == "plane":
            columns.add_number(of_clip_plane(key, clip_planes))
        elif not is_strided(key) or not columns.add(row, key, elements, buffers):
            return None
    return columns
