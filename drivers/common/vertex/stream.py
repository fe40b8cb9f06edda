"""From a draw call to its vertex stream: parameters in buffers, indices, restarts.

A vertex that occurs several times is shaded once: the stream has numbers of lanes, and a
`VertexSource` gives the vertices of the lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.memory.resource import HostResource
from gallette.pipe.state import DrawInfo

from .assembly import Runs, cut_runs
from .fetch import VertexSource
from .vertices import Ints

_REMEMBERED = 1024
"""Streams of up to this many vertices without indices are cached."""

_SPARSE = 4
"""Index ranges up to this many times the number of indices are shaded as a whole."""


def resolved(info: DrawInfo) -> Sequence[DrawInfo]:
    """The draws of an indirect or counted draw."""
    if info.indirect is not None:
        return _indirect(info)
    target = info.count_from_stream_output
    if target is not None:
        count = target.written // target.stride if target.stride else 0
        info = replace(info, count=count, start=0, count_from_stream_output=None)
    return (info,)


def _indirect(info: DrawInfo) -> list[DrawInfo]:
    """The draws whose parameters are in a buffer."""
    indirect = info.indirect
    assert indirect is not None
    count = indirect.draw_count
    if indirect.count_buffer is not None:
        words = _words(indirect.count_buffer, indirect.count_offset, 1)
        count = min(count, int(words[0]))
    fields = 5 if info.index_size else 4
    draws = []
    for number in range(count):
        offset = indirect.offset + number * (indirect.stride or fields * 4)
        words = _words(indirect.buffer, offset, fields)
        values = [int(w) for w in words]
        common = {
            "count": values[0],
            "instance_count": values[1],
            "start": values[2],
            "draw_id": info.draw_id + number,
            "indirect": None,
        }
        if info.index_size:
            bias = values[3] - (1 << 32) if values[3] >= 1 << 31 else values[3]
            draws.append(replace(info, index_bias=bias, start_instance=values[4], **common))  # type: ignore[arg-type]
        else:
            draws.append(replace(info, start_instance=values[3], **common))  # type: ignore[arg-type]
    return draws


def _words(resource: Any, offset: int, count: int) -> npt.NDArray[np.uint32]:
    """Words of a buffer; words outside read as zero."""
    assert isinstance(resource, HostResource)
    found = resource.bytes_at(offset, count * 4)
    padded = np.zeros(count * 4, np.uint8)
    padded[: len(found)] = found
    return padded.view(np.uint32)


def vertex_stream(info: DrawInfo) -> tuple[Ints, Runs, VertexSource]:
    """The stream of vertex lanes, its runs, and the vertices of the lanes."""
    start, count = info.start, info.count
    many, first = info.instance_count, info.start_instance
    if not info.index_size:
        source = VertexSource(
            start, count, None, many, first, start, info.draw_id, is_indexed=False
        )
        return *_whole(count), source
    common: dict[str, Any] = {"instances": many, "start_instance": first, "draw_id": info.draw_id}
    indices = indices_of(info)
    runs = Runs.whole(len(indices))
    if info.primitive_restart:
        kept, runs = cut_runs(indices, info.restart_index)
        if len(kept) != len(indices):
            indices = indices[kept]
    if not len(indices):
        return np.zeros(0, np.int64), runs, VertexSource(0, 0, None, base_vertex=0, **common)
    bias = info.index_bias
    wide = moved(indices.astype(np.int64), bias)
    low, high = int(wide.min()), int(wide.max())
    extent = high - low + 1
    wide -= low
    if extent <= _SPARSE * len(wide):
        source = VertexSource(low, extent, None, base_vertex=bias, **common)
        return wide, runs, source
    unique, inverse = np.unique(wide, return_inverse=True)
    source = VertexSource(low, len(unique), unique + low, base_vertex=bias, **common)
    return inverse.astype(np.int64, copy=False), runs, source


def submitted(info: DrawInfo) -> int:
    """The number of vertices per instance, without restart indices."""
    if not (info.index_size and info.primitive_restart):
        return info.count
    return info.count - int(np.count_nonzero(indices_of(info) == info.restart_index))


def moved(numbers: Ints, bias: int) -> Ints:
    """Vertex numbers plus the base vertex, wrapped at 32 bits."""
    if bias:
        numbers += bias
        numbers &= 0xFFFFFFFF
    return numbers


def _whole(count: int) -> tuple[Ints, Runs]:
    """The stream of vertices 0 to `count`; short ones are shared and must not be written."""
    return _short(count) if count <= _REMEMBERED else (np.arange(count), Runs.whole(count))


@lru_cache(maxsize=256)
def _short(count: int) -> tuple[Ints, Runs]:
    numbers = np.arange(count)
    numbers.flags.writeable = False
    return numbers, Runs.whole(count)


class IndexStream:
    """The stream of one instance of a large indexed draw, read part by part."""

    __slots__ = ("_indices", "_info", "runs")

    def __init__(self, info: DrawInfo) -> None:
        self._info = info
        self._indices = _indices_there(info) if info.index_size else None
        self.runs = self._cut()

    def _cut(self) -> Runs:
        info, indices = self._info, self._indices
        if indices is None or not info.primitive_restart:
            return Runs.whole(info.count)
        stops = np.flatnonzero(indices == info.restart_index)
        # Indices outside the buffer read as zero, which is a valid index and may be the restart
        # index.
        end = info.count if info.restart_index else len(indices)
        starts = np.concatenate(([0], stops + 1))
        return Runs(starts, np.concatenate((stops, [end])) - starts)

    def _numbers(self, positions: Ints) -> Ints:
        """The vertex numbers at positions of the stream."""
        info, indices = self._info, self._indices
        if indices is None:
            return positions + info.start
        flat = positions.reshape(-1)
        if not len(indices) or not len(flat):
            return np.full(positions.shape, info.index_bias, np.int64)
        first, last = int(flat[0]), int(flat[-1])
        if last - first + 1 == len(flat) and last < len(indices) and _counts_up(flat):
            found = indices[first : last + 1].astype(np.int64).reshape(positions.shape)
        elif int(flat.max()) < len(indices):
            found = indices.take(positions).astype(np.int64)
        else:
            inside = positions < len(indices)
            found = indices.take(np.where(inside, positions, 0)).astype(np.int64)
            found[~inside] = 0
        return moved(found, info.index_bias)

    def source(self, positions: Ints, instance: int) -> tuple[VertexSource, Callable[[Ints], Ints]]:
        """The vertices that some positions need, and a function from positions to indices of these
        vertices.
        """
        info = self._info
        numbers = self._numbers(positions)
        low, high = int(numbers.min()), int(numbers.max())
        extent = high - low + 1
        dense = extent <= _SPARSE * numbers.size
        ids = None if dense else np.unique(numbers)
        source = VertexSource(
            low,
            extent if ids is None else len(ids),
            ids,
            instances=1,
            start_instance=info.start_instance,
            base_vertex=info.index_bias if info.index_size else info.start,
            draw_id=info.draw_id,
            first_instance=instance,
            is_indexed=bool(info.index_size),
        )

        def lane_of(at: Ints) -> Ints:
            wanted = numbers if at is positions else self._numbers(at)
            return wanted - low if ids is None else np.searchsorted(ids, wanted)

        return source, lane_of


def _counts_up(positions: Ints) -> bool:
    """Whether positions are consecutive, as in lists of triangles."""
    return bool((np.diff(positions) == 1).all())


def restarts(info: DrawInfo) -> bool:
    """Whether an index of the draw is the restart index."""
    if not (info.index_size and info.primitive_restart):
        return False
    return bool((indices_of(info) == info.restart_index).any())


def indices_of(info: DrawInfo) -> npt.NDArray[Any]:
    """The index values of a draw; indices outside the buffer read as zero."""
    there = _indices_there(info)
    if len(there) == info.count:
        return there
    padded = np.zeros(info.count, there.dtype)
    padded[: len(there)] = there
    return padded


def _indices_there(info: DrawInfo) -> npt.NDArray[Any]:
    """The index values of a draw, those inside the buffer only."""
    resource = info.index_buffer
    assert isinstance(resource, HostResource)
    size = info.index_size
    data = resource.bytes_at(info.index_offset + info.start * size, info.count * size)
    data = data[: len(data) // size * size]
    if info.index_offset % size:  # buffers begin at multiples of much more
        data = data.copy()
    return data.view(f"<u{size}")
