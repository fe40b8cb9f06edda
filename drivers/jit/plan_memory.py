"""Memory between the stages of planned draws, shared by a context's plans (see `draw_plan`)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Stage
from gallette.drivers.common.bound import ConstantBuffer
from gallette.drivers.common.draw.splitting import (
    LEAST_LANES,
    MOST_LANES,
    Assembly,
    are_plain,
    are_whole,
    assemblies,
    lanes_at_once,
)
from gallette.drivers.common.draw.state import DrawState
from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.output.order import Scratch
from gallette.drivers.common.program import LONGEST_BLOCK
from gallette.drivers.common.queries import Counters
from gallette.drivers.common.vertex.stream import indices_of, submitted
from gallette.drivers.common.work import LANE, PRIMITIVE
from gallette.pipe.enums import Primitive
from gallette.pipe.state import DrawInfo

from .shader.layout import ClipWords, DrawWords, Record, StreamWords, TallyWords

Array = npt.NDArray[Any]

ROOM = MOST_LANES + DrawWords.MOST_PIECES + 16
"""Elements of arrays by vertex: the last ones are for vertices made by clipping. It is no multiple
of a page, so that values of one vertex do not displace one another in the cache.
"""
MOST_TRIANGLES = DrawWords.MOST_TRIANGLES
CONSTANTS = LONGEST_BLOCK
"""Bytes a constant block 0 has at most."""

_ROWS = 16  # outputs that are allocated at a time
_LAST_ROW = (1 << 31) - 1
_MOST_COMPARED, _MOST_MOVED = 1 << 10, 1 << 16  # bytes of indices
_MOST_KEPT, _MOST_BYTES = 1024, 1 << 26
"""Limits on the streams and rows that are kept for later draws."""


@lazy_dataclass()
class Stream:
    """The triangles of a part of a draw and their vertices, numbered from its first vertex."""

    first: int  # number of the first vertex, without indices counted from where the draw starts
    instance: int  # number of the first instance
    count: int  # vertices of an instance
    lanes: int
    cost: int  # of its vertices and triangles (see `common.work`)
    at: int  # its `StreamWords`
    arrays: tuple[Array, ...]  # the words, and what they point at
    clipped: Stream | None = None  # what it is instead, if vertices are outside of the view


Streams = tuple[Stream | None, ...]
"""The parts of a draw, up to the first one that has no stream (None)."""


class PlanMemory:
    """The arrays that all plans of a context share, and the vertex streams of recent draws."""

    def __init__(self) -> None:
        self._outputs: list[Array] = []  # blocks of rows
        self._outputs_at: list[int] = []
        self.window = np.zeros((4, ROOM), np.float32)
        self.zeros, self.ones = np.zeros(ROOM, np.float32), np.ones(ROOM, np.float32)
        self.ids = np.zeros((2, ROOM), np.int32)
        self.records = np.empty((MOST_TRIANGLES, Record.SIZE), np.int32)
        self.fronts = np.ones(
            MOST_TRIANGLES, np.bool_
        )  # of lines and points, which face the viewer
        self.fronts_at = int(self.fronts.ctypes.data)
        self.counters = np.zeros(4, np.int64)
        self.tally = np.zeros(TallyWords.SIZE, np.int64)
        self._tallied = self.tally.data
        self._cut_rooms()
        self._point_at_rooms()
        self._constants = [np.zeros(CONSTANTS, np.uint8) for _ in range(2)]
        self._bytes = [each.data for each in self._constants]
        self.constants_at = [int(each.ctypes.data) for each in self._constants]
        self._filled = [0, 0]
        self._starts: dict[int, Array] = {}
        self.room = 0
        self.make_room(1024)
        self.calls: dict[Any, Any] = {}  # of series that came before (see `command_lists`)
        self.ended = 0  # how many plans were used otherwise than for the run they were prepared for
        self.moved = 0  # how often plans got other vertex buffers and textures
        # Kinds of the last series, and the identities of the framebuffers that are drawn to.
        self.targets: tuple[Any, Array] | None = None
        self.crowded = 0  # so many of them are looked through for deleted resources
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

    def row(self, number: int) -> Array:
        """The values of an output by vertex. The first sixteen lie one after the other."""
        block, place = divmod(number, _ROWS)
        while len(self._outputs) <= block:
            self._outputs.append(np.zeros((_ROWS, ROOM), np.float32))
            self._outputs_at.append(int(self._outputs[-1].ctypes.data))
        found: Array = self._outputs[block][place]
        return found

    def row_at(self, number: int) -> int:
        """The address of the values of an output."""
        block, place = divmod(number, _ROWS)
        if block >= len(self._outputs_at):
            self.row(number)
        return self._outputs_at[block] + 4 * ROOM * place

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
        self.codes = np.empty(ROOM, np.int32)
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
            ClipWords.CUTS: np.empty(ROOM, np.float32),
            ClipWords.CUTS + 1: np.empty(ROOM, np.int64),
            ClipWords.CUTS + 2: np.empty(ROOM, np.int64),
            ClipWords.CUTS + 3: np.empty(ROOM, np.int64),
            ClipWords.SCREEN: np.empty(ROOM, np.float32),
        }

    def _point_at_rooms(self) -> None:
        """Blocks with the addresses that are the same for all plans."""
        named = {ClipWords.PLACES: self.row(0), ClipWords.WINDOW: self.window, **self.cutting}
        self.clip_block = _addresses(named, ClipWords.SIZE)
        self.clip_block[ClipWords.ROOM] = self.clip_block[ClipWords.STRIDE] = ROOM
        named = {DrawWords.MERGED + number: each for number, each in enumerate(self.merged)}
        named |= {DrawWords.COUNTERS: self.counters, DrawWords.TALLY: self.tally}
        named |= {DrawWords.CODES: self.codes, DrawWords.KINDS: self.kinds}
        self.draw_block = _addresses(named, DrawWords.SIZE)
        self.counters_at, self.window_at, self.records_at = (
            int(array.ctypes.data) for array in (self.counters, self.window, self.records)
        )

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

    def streams(self, draw: DrawState, info: DrawInfo, mode: Primitive) -> Streams:
        """The vertices and triangles of a draw, kept for later draws of the same mode and counts,
        and with the same indices.
        """
        raster = draw.fixed.raster
        first, plain = raster.state.flatshade_first, are_plain(raster)
        if mode is Primitive.QUADS:
            plain = plain and are_whole(raster, info)
        key: tuple[Any, ...] = mode, first, plain, info.instance_count
        if info.count * info.instance_count > LEAST_LANES:  # how it is cut depends on the shader
            key = *key, lanes_at_once(draw.fixed.selection.stages[Stage.VERTEX].facts)
        if not info.index_size:
            return self._kept_streams((*key, info.count), draw, info, plain)
        restart = info.restart_index if info.primitive_restart else None
        contents = contents_of(info)
        if contents is None:
            return _made(draw, info, plain)
        key = *key, info.index_size, restart
        found = self._kept.get((*key, info.index_bias, contents))
        if found is None:
            moved = self._moved(key, draw, info, plain)
            found = self._keep_streams((*key, info.index_bias, contents), moved)
        return found

    def _moved(self, key: Any, draw: DrawState, info: DrawInfo, plain: bool) -> Streams:
        """The streams of new indices; those that differ in the first vertex only share arrays."""
        if info.count * info.index_size > _MOST_MOVED:
            return _made(draw, info, plain)
        indices = indices_of(info)
        low, high = (int(indices.min()), int(indices.max())) if len(indices) else (0, 0)
        first = low + info.index_bias
        if first < 0 or (high + info.index_bias) >> 32:
            return _made(draw, info, plain)  # it wraps
        if info.primitive_restart and high >= info.restart_index:
            return _made(draw, info, plain)
        found = self._kept_streams((*key, (indices - low).tobytes()), draw, info, plain)
        if not found or found[0] is None or found[0].first == first:
            return found
        shift = first - found[0].first
        return tuple(each and replace(each, first=each.first + shift) for each in found)

    def _kept_streams(self, key: Any, draw: DrawState, info: DrawInfo, plain: bool) -> Streams:
        found: Streams | None = self._kept.get(key)
        return self._keep_streams(key, _made(draw, info, plain)) if found is None else found

    def rows(self, stream: Stream, divisor: int, start: int) -> tuple[Array, int]:
        """The row of a vertex buffer that each lane reads: its vertex, or with a divisor the row of
        its instance, from that of instance `start` on; and the address of the rows.
        """
        key = "rows", stream.count, stream.lanes, divisor, stream.instance, start
        known: tuple[Array, int] | None = self._kept.get(key)
        if known is None:
            lanes = np.arange(stream.lanes)
            found = lanes % stream.count
            if divisor:
                found = (lanes // stream.count + stream.instance) // divisor + start
            if int(found.max()) > _LAST_ROW:
                found = np.where(found > _LAST_ROW, -1, found)
            rows = found.astype(np.int32)
            known = rows, int(rows.ctypes.data)
            self._keep(key, known, rows.nbytes)
        return known

    def _keep_streams(self, key: Any, streams: Streams) -> Streams:
        size = sum(len(part) for part in key if isinstance(part, bytes))
        size += sum(array.nbytes for each in streams if each for array in each.arrays)
        self._keep(key, streams, size)
        return streams

    def _keep(self, key: Any, value: Any, size: int) -> None:
        """Keep a value of so many bytes, unless it would displace most others. Its user needs a
        reference, since the next may drop it.
        """
        if size > _MOST_BYTES // 2:
            return
        if len(self._kept) >= _MOST_KEPT or self._kept_bytes + size > _MOST_BYTES:
            self._kept.clear()
            self._kept_bytes = 0
        self._kept[key] = value
        self._kept_bytes += size


def _addresses(named: dict[int, Array], size: int) -> Array:
    """A block of so many words, those that are named with the addresses of arrays."""
    block = np.zeros(size, np.uint64)
    for word, array in named.items():
        block[word] = array.ctypes.data
    return block


def _made(draw: DrawState, info: DrawInfo, plain: bool) -> Streams:
    """The streams of a draw's parts."""
    parts = list(assemblies(draw, info))
    vertices, made = submitted(info) * info.instance_count, list[Stream | None]()
    cost = -(-LANE * info.count * info.instance_count // max(1, len(parts)))
    for part in parts:
        made.append(_stream(part, info, plain, vertices, cost))
        if made[-1] is None:
            break
        vertices = 0  # the first part counts those of all
    return tuple(made)


def _stream(part: Assembly, info: DrawInfo, plain: bool, vertices: int, cost: int) -> Stream | None:
    source = part.source
    if source.ids is not None or source.lanes > MOST_LANES:
        return None
    corners, provoking, identity, _ = part.make(np.full(source.instances, plain))
    triangles = len(corners)
    if triangles > MOST_TRIANGLES:
        return None
    arrays = [np.ascontiguousarray(each) for each in (corners, provoking, identity)]
    words = np.zeros(StreamWords.SIZE, np.uint64)
    words[StreamWords.LANES], words[StreamWords.TRIANGLES] = source.lanes, triangles
    words[StreamWords.VERTICES] = vertices
    unclipped = plain and info.mode is Primitive.QUADS
    words[StreamWords.UNCLIPPED] = unclipped
    words[StreamWords.CORNERS : StreamWords.CORNERS + 3] = [a.ctypes.data for a in arrays]
    return Stream(
        source.first if info.index_size else source.first - info.start,
        source.first_instance,
        source.count,
        source.lanes,
        cost + PRIMITIVE * triangles,
        int(words.ctypes.data),
        (words, *arrays),
        _stream(part, info, False, vertices, cost) if unclipped and source.instances == 1 else None,
    )


def contents_of(info: DrawInfo) -> object | None:
    """Stands for a draw's indices, to be compared with a later draw's: the bytes if they are few,
    else an object for the contents of the buffer. None if they may change at any time, or if the
    buffer ends before them.
    """
    buffer, size = info.index_buffer, info.index_size
    start = info.index_offset + info.start * size
    end = start + info.count * size
    if not isinstance(buffer, HostResource) or start < 0 or end > buffer.desc.width:
        return None
    if end - start <= _MOST_COMPARED:
        return buffer.memory[start:end].tobytes()
    return None if buffer.live else (buffer.derive("contents", object), start, end)
