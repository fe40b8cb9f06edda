"""A texture that is written while draws wait that read it: the pages of texels they still need.

Applications put a part into a large texture, draw with it, put in the next part: glyphs, tiles of
a map, sprites. Copying the texture for each draw would cost more than drawing. So what a write
covers is kept page by page, as it was before: of version 0, which the first draws read, the pages
that were written after them, and so on; the last version is what is there now. Draws that became
one look at all versions at once (see `versions`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.memory.storage import level_bytes, level_offsets
from gallette.pipe.resource import Resource
from gallette.pipe.state import Box, SamplerState, SamplerView

from .versions import VersionedUnit

__all__ = ["LARGEST", "MOST", "Pages", "Versions"]

LARGEST = 1 << 21
"""Bytes of a texture of which versions are kept: what draws read last is copied, too."""

MOST = 1 << 25
"""Bytes of all that is kept of a texture."""

_MOST_TEXELS = 1 << 31
"""Of all versions together, as their indices have 31 bits."""

_PAGES = 10
"""About as many pages has a texture, as a power of two; they are no smaller than 256 texels."""

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]
Run = tuple[int, Bytes]
"""The number of a page, and the bytes of it and of the next ones."""


class Pages:
    """What a texture held before it was written, since the first of the draws that wait."""

    __slots__ = (
        "_bytes",
        "_count",
        "_has",
        "_kept",
        "_levels",
        "_made",
        "_shift",
        "_table",
        "_texel",
        "_texture",
        "_total",
        "_width",
        "ends",
    )

    def __init__(self, texture: HostResource) -> None:
        self.ends: list[int] = []  # of each version: the first draw that does not read it
        self._texture, desc = texture, texture.desc
        offsets = level_offsets(desc)
        self._texel = desc.format.block_bytes
        # Of each level: where it begins, and the bytes of its rows.
        self._levels = [(at, level_bytes(desc, n)[2]) for n, at in enumerate(offsets[:-1])]
        self._shift = max(8, (offsets[-1] // self._texel).bit_length() - _PAGES)  # texels of a page
        self._bytes = self._texel << self._shift
        self._count = -(-offsets[-1] // self._bytes)
        self._width = 1 << (self._count - 1).bit_length()  # pages of a version, with room behind
        self._kept: list[list[Run]] = []  # of each version: the pages that were written after it
        self._has = bytearray(self._count)  # is a page kept of the last of them?
        self._total = 0  # pages that are kept
        self._table: tuple[Bytes, Numbers] | None = None
        self._made: dict[int, HostResource] = {}

    def may_write(self, level: int, box: Box, end: int, read: bool) -> bool:
        """Keep what is there now for the draws before number `end`; false if it is too much.

        `read`: draws since the last write have read it.
        """
        if read:
            versions = len(self.ends) + 2
            if (
                self._total * self._bytes > MOST
                or versions * (self._width << self._shift) >= _MOST_TEXELS
            ):
                return False
            self.ends.append(end)
            self._kept.append([])
            self._has = bytearray(self._count)
        if self._kept and box.width and box.height:
            for first, last in self._runs(level, box):
                self._keep(first, last)
        return True

    def _runs(self, level: int, box: Box) -> Iterator[tuple[int, int]]:
        """The pages that a box of texels lies in, from one to another."""
        start, row = self._levels[level]
        start += box.y * row + box.x * self._texel
        last, size = start + box.width * self._texel - 1, self._bytes
        if row <= size:  # then no page lies between two rows
            yield start // size, (last + (box.height - 1) * row) // size
            return
        for down in range(0, box.height * row, row):
            yield (start + down) // size, (last + down) // size

    def _keep(self, first: int, last: int) -> None:
        """Copy pages, as far as they are not kept yet."""
        if 1 in self._has[first : last + 1]:
            for page in range(first, last + 1):
                if not self._has[page]:
                    self._keep(page, page)
            return
        data = self._texture.backing()[first * self._bytes : (last + 1) * self._bytes]
        self._kept[-1].append((first, data.copy()))
        self._has[first : last + 1] = b"\1" * (last + 1 - first)
        self._total += last + 1 - first

    def version_of(self, number: int) -> int:
        """What the draw of this number reads; as many as there are ends is what is there now."""
        return bisect_right(self.ends, number)

    def alone(self, version: int) -> HostResource:
        """A version as a texture of its own."""
        found = self._made.get(version)
        if found is None:
            desc = self._texture.desc
            data = np.frombuffer(bytearray(self._texture.backing()), np.uint8)
            for runs in reversed(self._kept[version:]):
                for first, old in runs:
                    data[first * self._bytes :][: old.size] = old
            storage = []
            for level, offset in enumerate(level_offsets(desc)[:-1]):
                shape = level_bytes(desc, level)
                storage.append(data[offset:][: shape[0] * shape[1] * shape[2]].reshape(shape))
            found = self._made[version] = HostResource(desc, _nothing, storage)
        return found

    def unit(
        self, view: SamplerView, sampler: SamplerState | None, which: Numbers
    ) -> VersionedUnit:
        """What samples all versions: for each draw, `which` one it sees."""
        if self._table is None:
            self._table = self._laid_out()
        return VersionedUnit(view, sampler, *self._table, which)

    def _laid_out(self) -> tuple[Bytes, Numbers]:
        """All pages there are, and in which of them each version begins to have its texels."""
        count, now, size = self._count, len(self._kept), self._bytes
        pages = np.zeros((count + self._total, size), np.uint8)
        run = pages.reshape(-1)
        data = self._texture.backing()[: count * size]
        run[: data.size] = data
        table = np.zeros((now + 1, self._width), np.int64)
        table[now, :count] = np.arange(count)
        at = count
        for version in range(now - 1, -1, -1):
            row = table[version]
            row[:] = table[version + 1]
            for first, old in self._kept[version]:
                number = -(-old.size // size)
                row[first : first + number] = np.arange(at, at + number)
                run[at * size :][: old.size] = old
                at += number
        table <<= self._shift
        return pages, table


@dataclass(frozen=True, slots=True)
class Versions:
    """A texture as many draws see it: for each, the version it was given."""

    pages: Pages
    which: Numbers


def _nothing(resource: Resource) -> None:
    """Copies belong to nobody."""
