"""A texture that is written while draws wait that read it: the pages of texels they still need.

Applications put a part into a large texture, draw with it, put in the next part: glyphs, tiles of
a map, sprites. Copying the texture for each draw would cost more than drawing. So what a write
covers is kept page by page, as it was before: of version 0, which the first draws read, the pages
that were written after them, and so on; the last version is what is there now. Draws that became
one look at all versions at once (see `versions`).
"""

from __future__ import annotations

from bisect import bisect_right
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


class Pages:
    """What a texture held before it was written, since the first of the draws that wait."""

    __slots__ = (
        "_bytes",
        "_count",
        "_kept",
        "_made",
        "_shift",
        "_table",
        "_texture",
        "ends",
    )

    def __init__(self, texture: HostResource) -> None:
        self.ends: list[int] = []  # of each version: the first draw that does not read it
        self._texture = texture
        size, texel = level_offsets(texture.desc)[-1], texture.desc.format.block_bytes
        self._shift = max(8, (size // texel).bit_length() - _PAGES)  # texels of a page
        self._bytes = texel << self._shift
        self._count = -(-size // self._bytes)
        self._kept: list[dict[int, Bytes]] = []  # of each version: the pages written after it
        self._table: tuple[Bytes, Numbers] | None = None
        self._made: dict[int, HostResource] = {}

    def may_write(self, level: int, box: Box, end: int, read: bool) -> bool:
        """Keep what is there now for the draws before number `end`; false if it is too much.

        `read`: draws since the last write have read it.
        """
        if read:
            width = 1 << max(0, self._count - 1).bit_length()
            kept = sum(map(len, self._kept))
            versions = len(self.ends) + 2
            if kept * self._bytes > MOST or versions * (width << self._shift) >= _MOST_TEXELS:
                return False
            self.ends.append(end)
            self._kept.append({})
        if self._kept:
            self._keep(level, box)
        return True

    def _keep(self, level: int, box: Box) -> None:
        """Copy the pages that a box of texels lies in."""
        desc = self._texture.desc
        row = level_bytes(desc, level)[2]
        texel = desc.format.block_bytes
        first = level_offsets(desc)[level] + box.y * row + box.x * texel
        last = first + box.width * texel - 1
        kept, data = self._kept[-1], self._texture.backing()
        for start in range(first, first + box.height * row, row):
            for page in range(start // self._bytes, (last + start - first) // self._bytes + 1):
                if page not in kept:
                    kept[page] = data[page * self._bytes : (page + 1) * self._bytes].copy()

    def version_of(self, number: int) -> int:
        """What the draw of this number reads; as many as there are ends is what is there now."""
        return bisect_right(self.ends, number)

    def alone(self, version: int) -> HostResource:
        """A version as a texture of its own."""
        found = self._made.get(version)
        if found is None:
            desc = self._texture.desc
            data = np.frombuffer(bytearray(self._texture.backing()), np.uint8)
            for pages in reversed(self._kept[version:]):
                for page, old in pages.items():
                    data[page * self._bytes :][: old.size] = old
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
        count, now = self._count, len(self._kept)
        pages = np.zeros((count + sum(map(len, self._kept)), self._bytes), np.uint8)
        data = self._texture.backing()[: count * self._bytes]
        pages.reshape(-1)[: data.size] = data
        width = 1 << max(0, count - 1).bit_length()
        table = np.zeros((now + 1, width), np.int64)
        table[now, :count] = np.arange(count)
        at = count
        for version in range(now - 1, -1, -1):
            kept = self._kept[version]
            table[version] = table[version + 1]
            table[version, list(kept)] = np.arange(at, at + len(kept))
            for old in kept.values():
                pages[at, : old.size] = old
                at += 1
        table <<= self._shift
        return pages, table


@dataclass(frozen=True, slots=True)
class Versions:
    """A texture as many draws see it: for each, the version it was given."""

    pages: Pages
    which: Numbers


def _nothing(resource: Resource) -> None:
    """Copies belong to nobody."""
