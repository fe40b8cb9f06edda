"""Copy-on-write: each pending draw reads what its buffers held when it was made.

The application may write a buffer that pending draws read. Before it does, the buffer is copied:
the draws so far are executed with the copy, later ones read what is written now. So the application
can update a vertex buffer or a uniform buffer before every draw, and the draws still stay in one
batch.

The application may also write parts of a texture that pending draws sample, such as the glyphs of
an atlas. A texture is not copied. What a box of it held is kept, and while the batch is executed,
the executor exchanges boxes, so that the texture holds what each draw was made with.

Render targets, storage buffers, textures that vertex shaders sample, and memory that the
application keeps mapped can have neither; other resources are too large. Before these are written,
the batch is flushed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.memory.storage import box_window
from gallette.pipe.enums import Primitive
from gallette.pipe.resource import Resource
from gallette.pipe.state import Box, DrawInfo

from .merging import PendingDraw
from .snapshot import Begun, Snapshot
from .snapshot_copies import SnapshotWithCopies, Stream, buffer_of, stream_of

LARGEST = 1 << 20
"""Bytes of a buffer that is copied: that takes less time than to flush a batch."""

MOST = 1 << 25
"""Bytes of all copies in a batch."""


MOST_TEXELS = 1 << 22
"""Bytes of all boxes of a texture in a batch: the executor may exchange them several times."""

Bytes = npt.NDArray[np.uint8]


class _Versions:
    """The versions of a resource, in order; draws before number `ends[i]` read version `i`."""

    __slots__ = ("_looked_at", "ends", "resource")

    def __init__(self, resource: HostResource) -> None:
        self.resource = resource
        self.ends: list[int] = []
        self._looked_at = 0  # draws that are known not to read the last version

    def is_read(self, draws: Sequence[PendingDraw]) -> bool:
        """Whether a draw reads the last version."""
        resource = self.resource
        key, number = id(resource), len(draws)
        for at in range(self._looked_at, number):
            snapshot, info, _ = draws[at]
            if key in snapshot.readable or key in snapshot.sampled or info.index_buffer is resource:
                return True
        self._looked_at = number
        return False

    def end(self, end: int) -> None:
        """The last version ends before the draw with this number."""
        self.ends.append(end)
        self._looked_at = end

    def of(self, number: int) -> int:
        """The version that a draw reads."""
        return bisect_right(self.ends, number)


class TextureVersions(_Versions):
    """The versions of a texture, which holds one of them at a time.

    Neighbours differ in boxes that were written; `seek` exchanges their contents.
    """

    __slots__ = ("_boxes", "_now", "size")

    def __init__(self, resource: HostResource) -> None:
        super().__init__(resource)
        self.size = 0  # bytes of all boxes
        # Of each version but the last: the boxes that were written after it, with their contents
        # in the neighbouring version that the texture does not hold.
        self._boxes: list[list[tuple[Bytes, Bytes]]] = []
        self._now = 0

    def keep(self, box: Bytes, end: int | None) -> None:
        """Keep a box that will be written. `end`: of the last version, if a draw reads it."""
        if end is not None:
            self.end(end)
            self._boxes.append([])
            self._now += 1
        self._boxes[-1].append((box, box.copy()))
        self.size += box.size

    def seek(self, version: int) -> None:
        """Let the texture hold a version."""
        if version == self._now:
            return
        while self._now > version:
            self._now -= 1
            self._exchange(reversed(self._boxes[self._now]))
        while self._now < version:
            self._exchange(self._boxes[self._now])
            self._now += 1
        self.resource.touch()

    @staticmethod
    def _exchange(boxes: Iterable[tuple[Bytes, Bytes]]) -> None:
        for box, other in boxes:
            held = box.copy()
            box[...], other[...] = other, held

    def seek_last(self) -> None:
        """Let the texture hold what was written last."""
        self.seek(len(self.ends))


class _Copies(_Versions):
    """The copies of a buffer: of each version but the last, which the buffer holds."""

    __slots__ = ("_contents", "_made")

    def __init__(self, resource: HostResource) -> None:
        super().__init__(resource)
        self._contents: list[bytes] = []
        self._made: dict[int, HostResource] = {}

    def copy(self, end: int) -> None:
        """Copy the contents for the draws before number `end`."""
        self.end(end)
        self._contents.append(self.resource.memory.tobytes())

    def read_by(self, number: int) -> HostResource | None:
        """The copy that a draw reads; None for the resource itself."""
        at = self.of(number)
        if at == len(self.ends):
            return None
        if at not in self._made:
            self._made[at] = buffer_of(self._contents[at], self.resource.desc)
        return self._made[at]

    def versions(self) -> list[bytes]:
        """All that the buffer held, and what it holds now."""
        return [*self._contents, self.resource.memory.tobytes()]


class CopyOnWrite:
    """The copies and versions that the draws of one batch read."""

    __slots__ = (
        "_begun",
        "_bytes",
        "_copies",
        "_pinned",
        "_readable",
        "_sampled",
        "_sampled_by_vertices",
        "_textures",
    )

    def __init__(self) -> None:
        self._begun = Begun()
        self._bytes = 0
        self._copies: dict[int, _Copies] = {}  # by the identity of the resource
        self._textures: dict[int, TextureVersions] = {}
        # By identity; the snapshots of pending draws hold references to all of them.
        self._readable: set[int] = set()
        self._pinned: set[int] = set()
        self._sampled: set[int] = set()
        self._sampled_by_vertices: set[int] = set()

    def __bool__(self) -> bool:
        return bool(self._copies or self._textures)

    def note(self, snapshot: Snapshot) -> None:
        """Record that a draw with this snapshot is pending."""
        self._readable |= snapshot.readable
        self._pinned |= snapshot.pinned
        self._sampled |= snapshot.sampled
        self._sampled_by_vertices |= snapshot.sampled_by_vertices

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

    def may_write_box(
        self, texture: HostResource, level: int, box: Box, draws: Sequence[PendingDraw]
    ) -> bool:
        """Whether a box of texels can be written without flushing the batch; keeps what it holds
        if necessary.
        """
        key = id(texture)
        if key not in self._sampled or key in self._pinned or texture.live:
            return self.may_write(texture, draws)
        versions = self._textures.get(key) or TextureVersions(texture)
        read = versions.is_read(draws)
        if not read and not versions.ends:
            return True
        texels = texture.storage[level][box_window(texture.desc, level, box)]
        if versions.size + texels.size > MOST_TEXELS:
            return False
        if read and key in self._sampled_by_vertices:
            return False
        versions.keep(texels, len(draws) if read else None)
        self._textures[key] = versions
        return True

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
        """The draws of the batch, each with the copies and versions that it reads."""
        snapshots: dict[tuple[int, ...], Snapshot] = {}
        infos: dict[tuple[int, int], DrawInfo] = {}
        read_by: dict[int, tuple[list[_Copies], list[TextureVersions]]] = {}
        streams: dict[tuple[int, Primitive], Stream | None] = {}
        last: tuple[Snapshot, DrawInfo] | None = None  # the draw before, if it is part of a stream
        streamed, calls, ends = draws[0][0], list[DrawInfo](), list[int]()  # and of which
        for number, (snapshot, info, row) in enumerate(draws):
            if last is not None and snapshot is last[0] and info is last[1]:
                yield streamed, calls[bisect_right(ends, number)], row
                continue
            last = None
            if id(snapshot) not in read_by:
                read_by[id(snapshot)] = (
                    [each for key, each in self._copies.items() if key in snapshot.readable],
                    [each for key, each in self._textures.items() if key in snapshot.sampled],
                )
            read, sampled = read_by[id(snapshot)]
            if len(read) == 1 and not (info.index_size or sampled) and info.instance_count:
                stream = self._stream(snapshot, info.mode, read[0], streams)
                calls = [] if stream is None else stream.calls(info)
                if stream is not None and calls:
                    streamed, ends, last = stream.snapshot, read[0].ends, (snapshot, info)
                    yield streamed, calls[bisect_right(ends, number)], row
                    continue
            found = [(each.resource, each.read_by(number)) for each in read]
            copies = {id(resource): copy for resource, copy in found if copy is not None}
            versions = tuple([(each, each.of(number)) for each in sampled])
            if copies or versions:
                key = id(snapshot), *map(id, copies.values()), *[at for _, at in versions]
                if key not in snapshots:
                    snapshots[key] = SnapshotWithCopies(snapshot, copies, versions)
                snapshot = snapshots[key]
            indices = self._copies.get(id(info.index_buffer))
            copy = None if indices is None else indices.read_by(number)
            if copy is not None:
                call = id(info), id(copy)
                if call not in infos:
                    infos[call] = replace(info, index_buffer=copy)
                info = infos[call]
            yield snapshot, info, row

    def _stream(
        self,
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
            known[key] = stream_of(snapshot, mode, copies.resource, copies.versions(), self._begun)
        return known[key]

    def clear(self) -> list[TextureVersions]:
        """Forget everything, because the batch is flushed; returns the textures with versions."""
        self._bytes = 0
        self._copies.clear()
        textures = list(self._textures.values())
        self._textures.clear()
        self._readable.clear()
        self._pinned.clear()
        self._sampled.clear()
        self._sampled_by_vertices.clear()
        return textures
