"""Queries: segments of Vulkan queries, one for each render pass that a query spans.

Vulkan lets one query of a type be active at a time, within a render pass. So a segment is shared by
all queries that are active while it runs, and a query's result is the sum over its segments.
"""

from __future__ import annotations

import ctypes
import time

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.pipe.enums import QueryType

from .api.binding import byref
from .batch import Batch, Stream

_POOL = 128
_OCCLUSION = (
    QueryType.OCCLUSION_COUNTER,
    QueryType.OCCLUSION_PREDICATE,
    QueryType.OCCLUSION_PREDICATE_CONSERVATIVE,
)
_STATISTICS = (
    "ia_vertices", "ia_primitives", "vs_invocations", "gs_invocations", "gs_primitives",
    "c_invocations", "c_primitives", "ps_invocations", "hs_invocations", "ds_invocations",
    "cs_invocations",
)  # fmt: skip
"""Pipeline statistics in the order of Vulkan's bits."""
_OVERFLOW = (QueryType.SO_OVERFLOW_PREDICATE, QueryType.SO_OVERFLOW_ANY_PREDICATE)
# Kinds of Vulkan queries: VkQueryType, statistics, values of a result.
_KINDS: dict[str, tuple[int, int, int]] = {
    "occlusion": (0, 0, 1),
    "statistics": (1, 0x7FF, 11),
    "feedback": (1000028004, 0, 2),
    "generated": (1000382000, 0, 1),
}
_KIND_OF = {
    QueryType.PIPELINE_STATISTICS: "statistics", QueryType.PRIMITIVES_GENERATED: "generated",
    QueryType.PRIMITIVES_EMITTED: "feedback", QueryType.SO_OVERFLOW_PREDICATE: "feedback",
}  # fmt: skip
_INDEXED = ("feedback", "generated")  # by vertex stream


class _Pool:
    """Vulkan queries of one kind, reset by the host."""

    def __init__(self, stream: Stream, kind: str) -> None:
        self.stream, self.kind = stream, kind
        type, statistics, self.values = _KINDS[kind]
        device = stream.device
        self.handle = device.new(
            "QueryPool", queryType=type, queryCount=_POOL, pipelineStatistics=statistics
        )
        device.vk.vkResetQueryPool(device.handle, self.handle, 0, _POOL)
        self.free = list(range(_POOL))


class Segment:
    """A Vulkan query that ran in one render pass."""

    def __init__(self, pool: _Pool, number: int) -> None:
        self.pool, self.number = pool, number
        self.batch: Batch = pool.stream.batch
        self.batch.keeps.add(self)
        self._values: tuple[int, ...] | None = None

    def values(self) -> tuple[int, ...]:
        """The values that it counted; waits for the device."""
        if self._values is None:
            self.batch.finish()
            count, device = self.pool.values, self.pool.stream.device
            found = (ctypes.c_uint64 * count)()
            device.vk.vkGetQueryPoolResults(
                device.handle, self.pool.handle, self.number, 1, 8 * count, byref(found),
                8 * count, 3,
            )  # fmt: skip
            self._values = tuple(found)
        return self._values

    def __del__(self) -> None:
        """Free its number, because the device has finished with it: its batch has released it."""
        device = self.pool.stream.device
        if self.pool.handle and device.handle:
            device.vk.vkResetQueryPool(device.handle, self.pool.handle, self.number, 1)
            self.pool.free.append(self.number)


@lazy_dataclass(eq=False)
class VulkanQuery:
    """A query object."""

    type: QueryType
    index: int = 0
    active: bool = False
    segments: list[Segment] = field(default_factory=list)
    by_host: list[tuple[int, ...]] = field(default_factory=list)  # values, as of segments
    before: int = 0  # nanoseconds
    after: int = 0

    @property
    def counts_samples(self) -> bool:
        """Whether it counts samples, so that it may begin and end within a render pass."""
        return self.type in _OCCLUSION

    @property
    def kinds(self) -> tuple[tuple[str, int], ...]:
        """The Vulkan queries that it needs, and their vertex streams."""
        if self.type is QueryType.SO_OVERFLOW_ANY_PREDICATE:
            return tuple(("feedback", stream) for stream in range(4))
        kind = "occlusion" if self.type in _OCCLUSION else _KIND_OF.get(self.type)
        return () if kind is None else ((kind, self.index if kind in _INDEXED else 0),)

    def result(self) -> int | dict[str, int]:
        """The query's result; waits for the device."""
        if self.type is QueryType.TIMESTAMP:
            return self.after
        if self.type is QueryType.TIME_ELAPSED:
            return self.after - self.before
        found = [*self.by_host, *[segment.values() for segment in self.segments]]
        if self.type is QueryType.PIPELINE_STATISTICS:
            sums = [sum(column) for column in zip(*found, strict=True)] or [0] * 11
            return dict(zip(_STATISTICS, sums, strict=True))
        if self.type in _OVERFLOW:
            return int(any(needed > written for written, needed in found))
        total = sum(values[0] for values in found)
        counts = self.type is QueryType.OCCLUSION_COUNTER or self.type not in _OCCLUSION
        return total if counts else int(total > 0)

    def add(self, more: int | dict[str, int]) -> None:
        """Add what the host has counted."""
        if isinstance(more, int):
            self.by_host.append((0, more) if self.type in _OVERFLOW else (more,))
        else:
            self.by_host.append(tuple(more[name] for name in _STATISTICS))


class Queries:
    """The active queries of a context, and the running segments."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.active: list[VulkanQuery] = []
        self._pools: dict[str, list[_Pool]] = {}
        self._running: dict[tuple[str, int], Segment] = {}

    def _begin(self, query: VulkanQuery) -> None:
        query.segments.clear()
        query.by_host.clear()
        query.active = True
        if query.type is QueryType.TIME_ELAPSED:
            self._finish()
            query.before = time.perf_counter_ns()
        self.active.append(query)

    def _end(self, query: VulkanQuery) -> None:
        if query.type in (QueryType.TIME_ELAPSED, QueryType.TIMESTAMP):
            self._finish()
            query.after = time.perf_counter_ns()
        query.active = False
        if query in self.active:
            self.active.remove(query)

    def _finish(self) -> None:
        batch = self.stream.submit()
        if batch is not None:
            batch.finish()

    def is_ready(self, query: VulkanQuery) -> bool:
        """Whether the result can be read without waiting. Submits the batch that will write it."""
        if any(segment.batch is self.stream.current for segment in query.segments):
            self.stream.submit()
        return all(segment.batch.is_done() for segment in query.segments)

    def change(self, query: VulkanQuery, begins: bool, inside: bool) -> None:
        """Begin or end a query: `inside` a render pass, the others continue in new segments."""
        if inside:
            self.pause()
        (self._begin if begins else self._end)(query)
        if inside:
            self.resume()

    def resume(self) -> None:
        """Begin segments, because a render pass begins."""
        commands, vk = self.stream.batch.commands, self.stream.device.vk
        for query in self.active:
            for kind, index in query.kinds:
                segment = self._running.get((kind, index))
                if segment is None:
                    segment = self._running[kind, index] = self._segment(kind)
                    number, pool = segment.number, segment.pool.handle
                    precise = int(kind == "occlusion")
                    vk.vkCmdBeginQueryIndexedEXT(commands, pool, number, precise, index)
                query.segments.append(segment)

    def pause(self) -> None:
        """End segments, because the render pass ends."""
        commands, vk = self.stream.batch.commands, self.stream.device.vk
        for (_, index), segment in self._running.items():
            vk.vkCmdEndQueryIndexedEXT(commands, segment.pool.handle, segment.number, index)
        self._running.clear()

    def _segment(self, kind: str) -> Segment:
        pools = self._pools.setdefault(kind, [])
        pool = next((pool for pool in pools if pool.free), None)
        if pool is None:
            pool = _Pool(self.stream, kind)
            pools.append(pool)
        return Segment(pool, pool.free.pop())

    def destroy(self) -> None:
        """Destroy the pools."""
        device = self.stream.device
        for pools in self._pools.values():
            for pool in pools:
                handle, pool.handle = pool.handle, 0
                device.drop("QueryPool", handle)
        self._pools.clear()
