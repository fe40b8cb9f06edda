"""Memory between the stages of small draws, shared by all plans of a context (see `draw_plan`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.bound import ConstantBuffer
from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.output.order import Scratch
from gallette.drivers.common.program import LONGEST_BLOCK
from gallette.drivers.common.queries import Counters
from gallette.drivers.common.vertex.assembly import assemble
from gallette.drivers.common.vertex.stream import indices_of, submitted, vertex_stream
from gallette.drivers.common.work import LANE, PRIMITIVE
from gallette.pipe.enums import Primitive
from gallette.pipe.state import DrawInfo

from .shader.layout import ClipWords, DrawWords, Record, StreamWords, TallyWords

__all__ = ["CONSTANTS", "MOST_LANES", "MOST_TRIANGLES", "PlanMemory", "Stream"]

Array = npt.NDArray[Any]

MOST_LANES = 1 << 14
MOST_TRIANGLES = DrawWords.MOST_TRIANGLES
CONSTANTS = LONGEST_BLOCK
"""Bytes a constant block 0 has at most."""

_LAST_ROW = (1 << 31) - 1
_MOST_COMPARED = 1 << 10  # bytes of indices
_MOST_KEPT, _MOST_BYTES = 1024, 1 << 25
"""Limits on the streams and rows that are kept for later draws."""


@dataclass(slots=True)
class Stream:
    """The triangles of a draw and their vertices, numbered from its first vertex."""

    first: int  # number of the first vertex, of draws with indices; else 0: where the draw starts
    count: int  # vertices of an instance
    lanes: int
    cost: int  # of its vertices and triangles (see `common.work`)
    at: int  # its `StreamWords`
    arrays: tuple[Array, ...]  # the words, and what they point at


class PlanMemory:
    """The arrays that all plans of a context share, and the vertex streams of recent draws."""

    ROWS = 64  # outputs of a vertex shader

    def __init__(self) -> None:
        self.outputs = np.zeros((self.ROWS, MOST_LANES), np.float32)
        self.window = np.zeros((4, MOST_LANES), np.float32)
        self.zeros, self.ones = np.zeros(MOST_LANES, np.float32), np.ones(MOST_LANES, np.float32)
        self.ids = np.zeros((2, MOST_LANES), np.int32)
        self.records = np.empty((MOST_TRIANGLES, Record.SIZE), np.int32)
        self.counters = np.zeros(4, np.int64)
        self.tally = np.zeros(TallyWords.SIZE, np.int64)
        self._tallied = self.tally.data
        self._cut_rooms()
        self._constants = [np.zeros(CONSTANTS, np.uint8) for _ in range(2)]
        self._bytes = [each.data for each in self._constants]
        self.constants_at = [int(each.ctypes.data) for each in self._constants]
        self._filled = [0, 0]
        self._starts: dict[int, Array] = {}
        self.room = 0
        self.make_room(1024)
        self._kept: dict[Any, Any] = {}  # streams and rows
        self._kept_bytes = 0

    @classmethod
    def of(cls, scratch: Scratch, counters: Counters) -> PlanMemory:
        """The memory of a context. Its tally is added to the counters when these are read."""
        found = scratch.own.get("plan memory")
        if found is None:
            found = scratch.own["plan memory"] = cls()
            counters.apart.append(found)
        assert isinstance(found, PlanMemory)
        return found

    @property
    def samples_passed(self) -> int:
        """The number of passed samples in draws that the statistics do not include yet."""
        passed: int = self._tallied[TallyWords.PASSED]
        return passed

    def report(self, counters: Counters) -> None:
        """Add the draws since the last call to the pipeline statistics."""
        vertices, lanes, triangles, left, passed, shaded = self.tally.tolist()
        if not vertices:
            return
        self.tally[:] = 0
        counters.ia_vertices += vertices
        counters.vs_invocations += lanes
        counters.ia_primitives += triangles
        counters.streams[0].generated += triangles
        counters.clipper_in += triangles
        counters.clipper_out += left
        counters.samples_passed += passed
        counters.fs_invocations += shaded

    def _cut_rooms(self) -> None:
        """Arrays for clipping, large enough for any plan."""
        most = DrawWords.MOST_PIECES
        every = MOST_TRIANGLES + most
        self.codes = np.empty(MOST_LANES, np.int32)
        self.kinds = np.empty(MOST_TRIANGLES, np.int32)
        self.merged: list[Array] = [
            np.empty((every, 3), np.int64),
            np.empty(every, np.int64),
            np.empty(every, np.int32),
        ]
        self.cutting: dict[int, Array] = {
            ClipWords.CORNERS: np.empty((MOST_TRIANGLES, 3), np.int64),
            ClipWords.CODES: np.empty(MOST_TRIANGLES, np.uint32),
            ClipWords.PROVOKING: np.empty(MOST_TRIANGLES, np.int64),
            ClipWords.PIECES: np.empty((most, 3), np.int64),
            ClipWords.ROWS: np.empty(most, np.int64),
            ClipWords.CUTS: np.empty(MOST_LANES, np.float32),
            ClipWords.CUTS + 1: np.empty(MOST_LANES, np.int64),
            ClipWords.CUTS + 2: np.empty(MOST_LANES, np.int64),
            ClipWords.CUTS + 3: np.empty(MOST_LANES, np.int64),
            ClipWords.SCREEN: np.empty(MOST_LANES, np.float32),
        }

    def starts(self, size: int) -> Array:
        """An array for the starts of `size` lists."""
        found = self._starts.get(size)
        if found is None:
            found = self._starts[size] = np.zeros(size, np.int32)
        return found

    def make_room(self, size: int) -> None:
        """Make the lists' array large enough for `size` entries."""
        if size > self.room:
            self._items = np.empty(size + size // 2, np.int32)
            self.items_at, self.room = int(self._items.ctypes.data), len(self._items)

    def put_block(self, place: int, block: ConstantBuffer | None) -> int:
        """Copy a constant buffer; returns the number of its bytes, or -1 if it is too large."""
        if block is None:
            return self.put(place, b"")
        return self.put(place, block.raw if block.raw is not None else block.data.tobytes())

    def put(self, place: int, data: bytes | bytearray) -> int:
        """Copy bytes and fill the rest with zeros; returns their number, or -1 if there are too
        many.
        """
        size, memory = len(data), self._bytes[place]
        if size > CONSTANTS:
            return -1
        memory[:size] = data
        filled = self._filled[place]
        if size < filled:
            memory[size:filled] = bytes(filled - size)
        self._filled[place] = size
        return size

    # -- streams -----------------------------------------------------------------------------------

    def stream(
        self, info: DrawInfo, mode: Primitive, first: bool, plain: bool = False
    ) -> Stream | None:
        """The draw's vertices and triangles; None if there are too many or indices are far
        apart.

        Streams are kept for later draws of the same mode and counts.
        """
        if info.index_size:
            return self._indexed(info, mode, first, plain)
        key = mode, first, plain, info.count, info.instance_count
        if key in self._kept:
            return self._stream(key)
        return self._keep_stream(key, self._made(info, mode, first, plain))

    def _stream(self, key: Any) -> Stream | None:
        found: Stream | None = self._kept[key]
        return found

    def _indexed(self, info: DrawInfo, mode: Primitive, first: bool, plain: bool) -> Stream | None:
        """The stream of an indexed draw; equal bytes of an index buffer find an earlier one."""
        if info.count > MOST_LANES * 3:
            return None
        raw = _stored_indices(info)
        if raw is None:
            return self._of_indices(info, mode, first, plain)
        restart = info.restart_index if info.primitive_restart else None
        words = info.instance_count, info.index_size, info.index_bias, restart
        key = mode, first, plain, *words, raw
        if key in self._kept:
            return self._stream(key)
        return self._keep_stream(key, self._of_indices(info, mode, first, plain))

    def _of_indices(
        self, info: DrawInfo, mode: Primitive, first: bool, plain: bool
    ) -> Stream | None:
        """The stream of an index buffer with new contents."""
        indices = indices_of(info)
        low, high = (int(indices.min()), int(indices.max())) if len(indices) else (0, 0)
        low, high = low + info.index_bias, high + info.index_bias
        if low < 0 or high >> 32:
            return self._made(info, mode, first, plain)  # it wraps
        if info.primitive_restart and high - info.index_bias >= info.restart_index:
            return self._made(info, mode, first, plain)
        key = (
            mode,
            first,
            plain,
            info.instance_count,
            (indices - (low - info.index_bias)).tobytes(),
            info.index_size,
        )
        found = (
            self._stream(key)
            if key in self._kept
            else self._keep_stream(key, self._made(info, mode, first, plain))
        )
        return found if found is None or found.first == low else replace(found, first=low)

    def rows(self, stream: Stream, divisor: int, start: int) -> Array:
        """The row of a vertex buffer that each lane reads: its vertex, or with a divisor the row of
        its instance, from that of instance `start` on.
        """
        key = "rows", stream.count, stream.lanes, divisor, start
        rows: Array | None = self._kept.get(key)
        if rows is None:
            lanes = np.arange(stream.lanes)
            found = lanes // stream.count // divisor + start if divisor else lanes % stream.count
            if int(found.max()) > _LAST_ROW:
                found = np.where(found > _LAST_ROW, -1, found)
            rows = found.astype(np.int32)
            self._keep(key, rows, rows.nbytes)
        return rows

    def _keep_stream(self, key: Any, stream: Stream | None) -> Stream | None:
        size = sum(len(part) for part in key if isinstance(part, bytes))
        if stream is not None:
            size += sum(each.nbytes for each in stream.arrays)
        self._keep(key, stream, size)
        return stream

    def _keep(self, key: Any, value: Any, size: int) -> None:
        """Keep a value of so many bytes. Its user needs a reference, since the next may drop it."""
        if len(self._kept) >= _MOST_KEPT or self._kept_bytes + size > _MOST_BYTES:
            self._kept.clear()
            self._kept_bytes = 0
        self._kept[key] = value
        self._kept_bytes += size

    def _made(self, info: DrawInfo, mode: Primitive, first: bool, plain: bool) -> Stream | None:
        if info.count * info.instance_count > MOST_LANES * 3:
            return None
        stream, runs, source = vertex_stream(info)
        instances = source.instances
        if source.ids is not None or not source.count or source.lanes > MOST_LANES:
            return None
        made = assemble(mode, runs, first, plain)
        triangles = len(made.corners)
        if triangles * instances > MOST_TRIANGLES:
            return None
        corners, provoking = stream[made.corners], stream[made.provoking]
        identity = np.arange(triangles, dtype=np.int32)
        if mode in (Primitive.QUADS, Primitive.QUAD_STRIP):
            identity //= 2  # both halves of a quad have its number
        if instances > 1:
            shift = np.repeat(np.arange(instances) * source.count, triangles)
            corners = np.tile(corners, (instances, 1)) + shift[:, None]
            provoking = np.tile(provoking, instances) + shift
            identity = np.tile(identity, instances)
        arrays = [np.ascontiguousarray(each) for each in (corners, provoking, identity)]
        words = np.zeros(StreamWords.SIZE, np.uint64)
        words[StreamWords.LANES] = source.lanes
        words[StreamWords.TRIANGLES] = triangles * instances
        words[StreamWords.VERTICES] = submitted(info) * instances
        words[StreamWords.UNCLIPPED] = plain and mode is Primitive.QUADS
        words[StreamWords.CORNERS : StreamWords.CORNERS + 3] = [a.ctypes.data for a in arrays]
        return Stream(
            source.first if info.index_size else 0,
            source.count,
            source.lanes,
            LANE * info.count * instances + PRIMITIVE * triangles * instances,
            int(words.ctypes.data),
            (words, *arrays),
        )


def _stored_indices(info: DrawInfo) -> bytes | None:
    """The bytes of a draw's indices, for comparison with a later draw's.

    None if there are too many for comparing to pay, or if the buffer ends before them.
    """
    buffer, size = info.index_buffer, info.index_size
    start = info.index_offset + info.start * size
    end = start + info.count * size
    if end - start > _MOST_COMPARED or not isinstance(buffer, HostResource):
        return None
    if start < 0 or end > buffer.desc.width:
        return None
    return buffer.memory[start:end].tobytes()
