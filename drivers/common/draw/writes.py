"""Buffers and textures that are written while draws wait: those read what was there before.

Applications that make up their vertices or uniform blocks as they go write a buffer, draw, write it
again. The draws need not be executed for that. Before bytes are written that a waiting draw may
read, the buffer's contents are copied, and the draws that wait so far are going to read the copy:
when they are executed, each was given (see `waiting`) what its buffers held at the time. What is
written past the end of all that was read, as applications do that stream through a large buffer,
needs no copy.

Of textures, which are larger and of which only parts are written, the pages are kept that were
(see `texture.pages`).

Buffers that draws read through textures, images or storage blocks have no such versions, nor have
very large ones, or those of draws that are quickly made by themselves: whoever writes them has the
draws executed first.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.texture.pages import LARGEST as LARGEST_TEXTURE
from gallette.drivers.common.texture.pages import Pages
from gallette.pipe.enums import Primitive
from gallette.pipe.resource import Resource
from gallette.pipe.state import Box, DrawInfo

from .earlier import Earlier
from .families import Waiting
from .streaming import Stream, stream_of
from .waiting import Given

__all__ = ["Writes"]

LARGEST = 1 << 18
"""Bytes of a buffer that is copied."""

MOST = 1 << 25
"""Bytes of all copies."""


class Writes:
    """What was written since the first of the draws that wait."""

    __slots__ = (
        "_bytes",
        "_histories",
        "_indices",
        "_named",
        "_pages",
        "_pinned",
        "_textures",
        "written",
    )

    def __init__(self) -> None:
        self.written = False  # there are draws that read copies
        self._bytes = 0
        self._histories: dict[int, _History] = {}  # by the identity of the buffer
        self._indices: set[int] = set()
        # What draws that wait name, by identity, is kept alive by what they were given.
        self._named: set[int] = set()
        self._textures: set[int] = set()
        self._pinned: set[int] = set()
        self._pages: dict[int, _TextureHistory] = {}

    def note(self, given: Given) -> None:
        """Draws that were given this wait."""
        self._named.update(given.named)
        self._textures.update(given.textures)
        self._pinned.update(given.pinned)

    def note_indices(self, buffer: Resource) -> None:
        """A draw waits that reads its indices here."""
        self._indices.add(id(buffer))

    def note_block(self, buffer: Resource) -> None:
        """A draw waits whose block 0 is in a buffer, which no copy can stand for."""
        self._pinned.add(id(buffer))

    def may_read(self, resource: HostResource) -> bool:
        """May somebody else look at it without the draws being executed first?"""
        return id(resource) not in self._pinned

    def may_write(self, buffer: HostResource, low: int, high: int, draws: list[Waiting]) -> bool:
        """The same for bytes that are about to be written; copies are made if that will do."""
        key = id(buffer)
        if key in self._pinned:
            return False
        if key not in self._named and key not in self._indices:
            return True
        history = self._histories.get(key)
        if history is None:
            history = self._histories[key] = _History(buffer)
        if not history.is_read(low, high, draws):
            return True
        given, info, _ = draws[-1]
        if given.plan(info.mode) is not None:
            return False  # drawing them is the quicker way
        size = buffer.desc.width
        if size > LARGEST or self._bytes + size > MOST:
            return False
        self._bytes += size
        history.keep(len(draws))
        self.written = True
        return True

    def keep_each(
        self, buffer: HostResource, low: int, data: Sequence[bytes], draws: list[Waiting]
    ) -> int:
        """Write bytes again and again, before one more draw like the last each time: how often that
        has been done, if at all, with a copy made each time."""
        key, width, high = id(buffer), buffer.desc.width, low + len(data[0])
        if key in self._pinned or key not in self._named or len({*map(len, data)}) != 1:
            return 0
        if width > LARGEST or not self.may_write(buffer, low, high, draws):
            return 0
        history, (given, info, _) = self._histories[key], draws[-1]
        if not history.kept_all(len(draws)) or not history.is_read_by(given, info, low, high):
            return 0
        data = data[: 1 + (MOST - self._bytes) // width]
        self._bytes += (len(data) - 1) * width
        history.keep_each(low, data)
        return len(data)

    def may_write_texels(
        self, texture: HostResource, level: int, box: Box, draws: list[Waiting]
    ) -> bool:
        """The same for a box of texels."""
        key = id(texture)
        if key in self._pinned:
            return False
        if key not in self._textures:
            return True
        history = self._pages.get(key)
        if history is None:
            if texture.backing().size > LARGEST_TEXTURE:
                return False
            history = self._pages[key] = _TextureHistory(texture)
        read = history.is_read(draws)
        given, info, _ = draws[-1]
        if given.plan(info.mode) is not None:
            return False  # drawing them is the quicker way
        if not history.pages.may_write(level, box, len(draws), read):
            return False
        self.written |= bool(history.pages.ends)
        return True

    def seen(self, draws: Sequence[Waiting]) -> list[Waiting]:
        """The draws with what their buffers held when they were made."""
        made: list[Waiting] = []
        givens: dict[Any, Given] = {}
        infos: dict[Any, DrawInfo] = {}
        kept = {key: each for key, each in self._histories.items() if each.ends}
        pages = {key: each.pages for key, each in self._pages.items() if each.pages.ends}
        of_given: dict[int, list[tuple[int, _History | Pages]]] = {}
        streams: dict[Any, Stream | None] = {}
        last: tuple[Given, DrawInfo] | None = None  # the draw before, if it is of a stream
        streamed, calls, ends = draws[0][0], list[DrawInfo](), list[int]()  # and that
        for number, (given, info, row) in enumerate(draws):
            if last is not None and given is last[0] and info is last[1]:
                made.append((streamed, calls[bisect_right(ends, number)], row))
                continue
            last = None
            read = of_given.get(id(given))
            if read is None:
                read = [(key, each) for key, each in kept.items() if key in given.named]
                read += [(key, each) for key, each in pages.items() if key in given.textures]
                of_given[id(given)] = read
            if len(read) == 1 and not info.index_size and info.instance_count:
                key, history = read[0]
                kind = id(given), info.mode
                if kind in streams:
                    stream = streams[kind]
                else:
                    stream = streams[kind] = self._stream(given, info.mode, history)
                calls = [] if stream is None else stream.calls(info)
                if stream is not None and calls:
                    streamed, ends, last = stream.given, history.ends, (given, info)
                    made.append((streamed, calls[bisect_right(ends, number)], row))
                    continue
            old = []
            for key, history in read:
                version = bisect_right(history.ends, number)
                if version < len(history.ends):
                    old.append((key, version))
            if old:
                name = id(given), *old
                found = givens.get(name)
                if found is None:
                    copies = {key: (kept[key], at) for key, at in old if key in kept}
                    versions = {key: (pages[key], at) for key, at in old if key in pages}
                    found = givens[name] = Earlier(given, copies, versions)
                given = found
            if id(info.index_buffer) in kept:
                info = self._info(info, kept[id(info.index_buffer)], number, infos)
            made.append((given, info, row))
        return made

    @staticmethod
    def _stream(given: Given, mode: Primitive, history: _History | Pages) -> Stream | None:
        """All draws of that mode from one buffer, if what was written is of vertices only."""
        if isinstance(history, Pages):
            return None
        return stream_of(given, mode, history.buffer, history.versions())

    @staticmethod
    def _info(info: DrawInfo, history: _History, number: int, infos: dict[Any, Any]) -> DrawInfo:
        """The call with indices as they were."""
        version = bisect_right(history.ends, number)
        if version == len(history.ends):
            return info
        found: DrawInfo | None = infos.get((id(info), version))
        if found is None:
            found = infos[id(info), version] = replace(info, index_buffer=history.version(version))
        return found

    def clear(self) -> None:
        """Nothing waits any more."""
        self.written = False
        self._bytes = 0
        for found in (self._named, self._pinned, self._textures, self._indices):
            found.clear()
        self._pages.clear()
        self._histories.clear()


class _TextureHistory:
    """A texture that was written: which draws read it, and what it held before."""

    __slots__ = ("_key", "_looked", "pages")

    def __init__(self, texture: HostResource) -> None:
        self._key = id(texture)
        self._looked = 0  # how many draws are known
        self.pages = Pages(texture)

    def is_read(self, draws: Sequence[Waiting]) -> bool:
        """Do any of the draws that are not known yet read it?"""
        givens = {id(given): given for given, _, _ in draws[self._looked :]}
        self._looked = len(draws)
        return any(self._key in given.textures for given in givens.values())


class _History:
    """A buffer that was written: what it held before."""

    __slots__ = ("_contents", "_high", "_looked", "_low", "_made", "_read", "buffer", "ends")

    def __init__(self, buffer: HostResource) -> None:
        self.buffer = buffer
        self.ends: list[int] = []  # of each copy: the first draw that does not read it
        self._contents: list[bytes] = []
        self._made: dict[int, HostResource] = {}
        self._read: dict[tuple[int, int], tuple[int, int]] = {}  # bytes, by what draws were given
        self._looked = 0  # how many draws are known
        self._low, self._high = buffer.desc.width, 0  # what those since the last copy read

    def is_read(self, low: int, high: int, draws: Sequence[Waiting]) -> bool:
        """May draws since the last copy read these bytes?"""
        for number in range(self._looked, len(draws)):
            given, info, _ = draws[number]
            found = self._read.get((id(given), id(info)))
            if found is None:
                found = self._read[id(given), id(info)] = self._bytes_read(given, info)
            if found[0] < self._low:
                self._low = found[0]
            if found[1] > self._high:
                self._high = found[1]
        self._looked = len(draws)
        return low < self._high and high > self._low

    def _bytes_read(self, given: Given, info: DrawInfo) -> tuple[int, int]:
        """From which byte to which a draw may read; draws that wait keep what they were given."""
        found = []
        for first, last, stride in given.reach(self.buffer):
            if not stride:
                found.append((first, last))
            elif info.index_size:
                found.append((0, self.buffer.desc.width))
            else:
                end = last + (info.start + info.count - 1) * stride
                found.append((first + info.start * stride, end))
        if info.index_buffer is self.buffer:
            first = info.index_offset + info.start * info.index_size
            found.append((first, first + info.count * info.index_size))
        if not found:
            return self.buffer.desc.width, 0
        return min(low for low, _ in found), max(high for _, high in found)

    def keep(self, end: int) -> None:
        """Copy what the buffer holds for the draws so far."""
        self.ends.append(end)
        self._contents.append(self.buffer.memory.tobytes())
        self._low, self._high = self.buffer.desc.width, 0

    def kept_all(self, draws: int) -> bool:
        """Was a copy made for so many draws?"""
        return bool(self.ends) and self.ends[-1] == draws

    def is_read_by(self, given: Given, info: DrawInfo, low: int, high: int) -> bool:
        """May such a draw, which was met before, read these bytes?"""
        first, end = self._read[id(given), id(info)]
        return low < end and high > first

    def keep_each(self, low: int, data: Sequence[bytes]) -> None:
        """Write bytes, of all but the last time with a copy for one more draw. (There is one for
        those so far.)"""
        memory, first, high = self.buffer.memory, self.ends[-1], low + len(data[0])
        before, after = memory[:low].tobytes(), memory[high:].tobytes()
        self._contents += [b"".join((before, each, after)) for each in data[:-1]]
        self.ends += range(first + 1, first + len(data))
        self._looked = self.ends[-1]
        memory[low:high] = data[-1]
        self.buffer.touch()

    def versions(self) -> list[bytes]:
        """All that the buffer held, and what it holds now."""
        return [*self._contents, self.buffer.memory.tobytes()]

    def contents(self, number: int) -> npt.NDArray[np.uint8]:
        """The bytes of a copy."""
        return np.frombuffer(self._contents[number], np.uint8)

    def version(self, number: int) -> HostResource:
        """A copy, as a buffer."""
        found = self._made.get(number)
        if found is None:
            desc = self.buffer.desc
            storage = [self.contents(number).reshape(1, 1, desc.width)]
            found = self._made[number] = HostResource(desc, _nothing, storage)
        return found


def _nothing(resource: Resource) -> None:
    """Copies belong to nobody."""
