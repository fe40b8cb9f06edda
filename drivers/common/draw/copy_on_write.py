"""Copy-on-write: each pending draw reads what its buffers held when it was made.

The application may write a buffer that pending draws read. Before it does, the buffer is copied:
the draws so far are executed with the copy, later ones read what is written now. So the application
can update a vertex buffer or a uniform buffer before every draw, and the draws still stay in one
batch.

Some resources cannot have a copy take their place: render targets, textures, storage buffers, and
memory that the application keeps mapped. Others are too large to be copied. Before these are
written, the batch is flushed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gallette.drivers.common.memory.resource import HostResource
from gallette.pipe.enums import Primitive
from gallette.pipe.resource import Resource
from gallette.pipe.state import DrawInfo

from .merging import PendingDraw
from .snapshot import Snapshot
from .snapshot_copies import SnapshotWithCopies
from .streaming import Stream, buffer_of, stream_of

__all__ = ["CopyOnWrite"]

LARGEST = 1 << 20
"""Bytes of a buffer that is copied: that takes less time than to flush a batch."""

MOST = 1 << 25
"""Bytes of all copies in a batch."""


class _Copies:
    """The copies of one buffer, in order; draws before number `ends[i]` read copy `i`."""

    __slots__ = ("_contents", "_looked_at", "_made", "ends", "resource")

    def __init__(self, resource: HostResource) -> None:
        self.resource = resource
        self.ends: list[int] = []
        self._contents: list[bytes] = []
        self._made: dict[int, HostResource] = {}
        self._looked_at = 0  # draws that are known not to read the resource since the last copy

    def is_read(self, draws: Sequence[PendingDraw]) -> bool:
        """Whether a draw since the last copy reads the resource."""
        key, resource = id(self.resource), self.resource
        for snapshot, info, _ in draws[self._looked_at :]:
            if key in snapshot.readable or info.index_buffer is resource:
                return True
        self._looked_at = len(draws)
        return False

    def copy(self, end: int) -> None:
        """Copy the contents for the draws before number `end`."""
        self.ends.append(end)
        self._contents.append(self.resource.memory.tobytes())
        self._looked_at = end

    def read_by(self, number: int) -> HostResource | None:
        """The copy that a draw reads; None for the resource itself."""
        at = bisect_right(self.ends, number)
        if at == len(self.ends):
            return None
        if at not in self._made:
            self._made[at] = buffer_of(self._contents[at], self.resource.desc)
        return self._made[at]

    def versions(self) -> list[bytes]:
        """All that the buffer held, and what it holds now."""
        return [*self._contents, self.resource.memory.tobytes()]


class CopyOnWrite:
    """The copies that the draws of one batch read."""

    __slots__ = ("_bytes", "_copies", "_pinned", "_readable", "_sampled")

    def __init__(self) -> None:
        self._bytes = 0
        self._copies: dict[int, _Copies] = {}  # by the identity of the resource
        # By identity; the snapshots of pending draws hold references to all of them.
        self._readable: set[int] = set()
        self._pinned: set[int] = set()
        self._sampled: set[int] = set()

    def __bool__(self) -> bool:
        return bool(self._copies)

    def note(self, snapshot: Snapshot) -> None:
        """Record that a draw with this snapshot is pending."""
        self._readable |= snapshot.readable
        self._pinned |= snapshot.pinned
        self._sampled |= snapshot.sampled

    def note_indices(self, buffer: Resource) -> None:
        """Record that a pending draw reads its indices from this resource."""
        self._readable.add(id(buffer))

    def note_block(self, buffer: Resource) -> None:
        """Record that a pending draw reads block 0 from this resource, for which no copy can be
        substituted.
        """
        self._pinned.add(id(buffer))

    def may_read(self, resource: Resource) -> bool:
        """Whether the resource can be read without flushing the batch."""
        return id(resource) not in self._pinned

    def may_write(self, resource: HostResource, draws: Sequence[PendingDraw]) -> bool:
        """Whether the resource can be written without flushing the batch; makes a copy of it if
        necessary.
        """
        key = id(resource)
        if key in self._pinned or key in self._sampled:
            return False
        if key not in self._readable:
            return True
        copies = self._copies.get(key) or _Copies(resource)
        if not copies.is_read(draws):
            return True
        size = resource.desc.width
        if resource.live or size > LARGEST or self._bytes + size > MOST:
            return False
        self._bytes += size
        self._copies[key] = copies
        copies.copy(len(draws))
        return True

    def applied(self, draws: Sequence[PendingDraw]) -> Iterator[PendingDraw]:
        """The draws of the batch, each with the copies that it reads."""
        snapshots: dict[tuple[int, ...], Snapshot] = {}
        infos: dict[tuple[int, int], DrawInfo] = {}
        read_by: dict[int, list[_Copies]] = {}
        streams: dict[tuple[int, Primitive], Stream | None] = {}
        last: tuple[Snapshot, DrawInfo] | None = None  # the draw before, if it is part of a stream
        streamed, calls, ends = draws[0][0], list[DrawInfo](), list[int]()  # and of which
        for number, (snapshot, info, row) in enumerate(draws):
            if last is not None and snapshot is last[0] and info is last[1]:
                yield streamed, calls[bisect_right(ends, number)], row
                continue
            last = None
            read = read_by.get(id(snapshot))
            if read is None:
                read = [each for key, each in self._copies.items() if key in snapshot.readable]
                read_by[id(snapshot)] = read
            if len(read) == 1 and not info.index_size and info.instance_count:
                stream = self._stream(snapshot, info.mode, read[0], streams)
                calls = [] if stream is None else stream.calls(info)
                if stream is not None and calls:
                    streamed, ends, last = stream.snapshot, read[0].ends, (snapshot, info)
                    yield streamed, calls[bisect_right(ends, number)], row
                    continue
            found = [(each.resource, each.read_by(number)) for each in read]
            copies = {id(resource): copy for resource, copy in found if copy is not None}
            if copies:
                key = id(snapshot), *map(id, copies.values())
                if key not in snapshots:
                    snapshots[key] = SnapshotWithCopies(snapshot, copies)
                snapshot = snapshots[key]
            indices = self._copies.get(id(info.index_buffer))
            copy = None if indices is None else indices.read_by(number)
            if copy is not None:
                call = id(info), id(copy)
                if call not in infos:
                    infos[call] = replace(info, index_buffer=copy)
                info = infos[call]
            yield snapshot, info, row

    @staticmethod
    def _stream(
        snapshot: Snapshot,
        mode: Primitive,
        copies: _Copies,
        known: dict[tuple[int, Primitive], Stream | None],
    ) -> Stream | None:
        """All draws with this snapshot as draws from one buffer, if they differ only in
        vertices.
        """
        key = id(snapshot), mode
        if key not in known:
            known[key] = stream_of(snapshot, mode, copies.resource, copies.versions())
        return known[key]

    def clear(self) -> None:
        """Forget all copies, because the batch has been flushed."""
        self._bytes = 0
        self._copies.clear()
        self._readable.clear()
        self._pinned.clear()
        self._sampled.clear()
