"""Memory between the stages of small draws, shared by all plans of a context (see `direct`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.bound import ConstantBuffer
from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.output.order import Scratch
from gallette.drivers.common.vertex.assembly import assemble
from gallette.drivers.common.vertex.stream import vertex_stream
from gallette.pipe.enums import Primitive
from gallette.pipe.state import DrawInfo

from .shader.layout import Record

__all__ = ["CONSTANTS", "MOST_LANES", "MOST_TRIANGLES", "DirectMemory", "Stream"]

Array = npt.NDArray[Any]

MOST_LANES = 4096
MOST_TRIANGLES = 4096
CONSTANTS = 1 << 16
"""Bytes a constant block 0 has at most."""

_MOST_STREAMS = 1024


@dataclass(slots=True)
class Stream:
    """The triangles of a draw and the vertices behind them, counted from its first."""

    first: int  # number of the first vertex, of draws with indices; else 0: where the draw starts
    count: int  # vertices of an instance
    lanes: int
    vertices: int  # that were named
    triangles: int
    corners_at: int
    provoking_at: int
    identity_at: int
    keep: tuple[Any, ...]
    rows: dict[tuple[int, int, int], Array]  # of attributes per instance, and of all others


class DirectMemory:
    """The arrays, and streams of draws made lately."""

    ROWS = 64  # outputs of a vertex shader

    def __init__(self) -> None:
        self.outputs = np.zeros((self.ROWS, MOST_LANES), np.float32)
        self.window = np.zeros((4, MOST_LANES), np.float32)
        self.zeros, self.ones = np.zeros(MOST_LANES, np.float32), np.ones(MOST_LANES, np.float32)
        self.ids = np.zeros((3, MOST_LANES), np.int32)
        self.records = np.empty((MOST_TRIANGLES, Record.SIZE), np.int32)
        self.counters = np.zeros(4, np.int64)
        self._constants = [np.zeros(CONSTANTS, np.uint8) for _ in range(2)]
        self._bytes = [each.data for each in self._constants]
        self.constants_at = [int(each.ctypes.data) for each in self._constants]
        self._filled = [0, 0]
        self._starts: dict[int, Array] = {}
        self._items, self._items_at = np.zeros(0, np.int32), 0
        self._streams: dict[Any, Stream | None] = {}

    @classmethod
    def of(cls, scratch: Scratch) -> DirectMemory:
        """That of a context."""
        found = scratch.own.get("direct")
        if found is None:
            found = scratch.own["direct"] = cls()
        assert isinstance(found, DirectMemory)
        return found

    def starts(self, size: int) -> Array:
        """For the starts of so many lists."""
        found = self._starts.get(size)
        if found is None:
            found = self._starts[size] = np.zeros(size, np.int32)
        return found

    def items(self, size: int) -> int:
        """The address of room for so many numbers of triangles."""
        if size > len(self._items) or not self._items_at:
            self._items = np.empty(max(1024, size + size // 2), np.int32)
            self._items_at = int(self._items.ctypes.data)
        return self._items_at

    def put_constants(self, place: int, block: ConstantBuffer | None) -> int:
        """Copy a block; what follows it is zero. How long it is: -1 if there is no room."""
        data: Any = b""
        if block is not None:
            data = block.raw if block.raw is not None else block.data.tobytes()
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

    def stream(self, info: DrawInfo, mode: Primitive, first: bool) -> Stream | None:
        """The triangles of a draw; None if it is too large or its vertices are far apart."""
        key: Any = (mode, first, info.count, info.instance_count)
        buffer = info.index_buffer
        if info.index_size:
            assert isinstance(buffer, HostResource)
            if buffer.live:
                return self._made(info, mode, first)
            key += (
                id(buffer), buffer.writes, info.index_offset, info.start, info.index_size,
                info.index_bias, info.primitive_restart, info.restart_index,
            )  # fmt: skip
        if key in self._streams:
            return self._streams[key]
        if len(self._streams) >= _MOST_STREAMS:
            self._streams.clear()
        found = self._streams[key] = self._made(info, mode, first)
        return found

    def _made(self, info: DrawInfo, mode: Primitive, first: bool) -> Stream | None:
        if info.count * info.instance_count > MOST_LANES * 3:
            return None
        stream, runs, source = vertex_stream(info)
        instances = source.instances
        if source.ids is not None or not source.count or source.lanes > MOST_LANES:
            return None
        made = assemble(mode, runs, first)
        triangles = len(made.corners)
        if triangles * instances > MOST_TRIANGLES:
            return None
        corners, provoking = stream[made.corners], stream[made.provoking]
        identity = np.arange(triangles, dtype=np.int32)
        if instances > 1:
            shift = np.repeat(np.arange(instances) * source.count, triangles)
            corners = np.tile(corners, (instances, 1)) + shift[:, None]
            provoking = np.tile(provoking, instances) + shift
            identity = np.tile(identity, instances)
        arrays = [np.ascontiguousarray(each) for each in (corners, provoking, identity)]
        return Stream(
            source.first if info.index_size else 0,
            source.count,
            source.lanes,
            info.count * instances,
            triangles * instances,
            int(arrays[0].ctypes.data),
            int(arrays[1].ctypes.data),
            int(arrays[2].ctypes.data),
            (tuple(arrays), info.index_buffer),
            {},
        )
