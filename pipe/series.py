"""Draws that are made again one after the other, and what happens in between (`draw_series`).

Programs draw the same few things in every frame, so a series says for each of its entries of what
kind it is, as a number among few kinds. What goes with an entry, such as a draw's uniforms, are
bytes that lie somewhere already, where machine code may read them.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Pieces", "Series"]

Ints = npt.NDArray[np.int64]


class Pieces:
    """For each entry some bytes of one of a few memories."""

    def __init__(
        self, memories: Sequence[bytes], which: Ints, offsets: Ints, sizes: Ints, bases: Ints
    ) -> None:
        """`bases`: where the memories lie."""
        self.memories, self.which, self.offsets = memories, which, offsets
        self.sizes, self.bases = sizes, bases

    @classmethod
    def of(cls, memories: Sequence[bytes], which: Ints, offsets: Ints, sizes: Ints) -> Pieces:
        """Those pieces of these memories."""
        bases = [np.frombuffer(each, np.uint8).ctypes.data if each else 0 for each in memories]
        return cls(memories, which, offsets, sizes, np.array(bases, np.int64))

    def part(self, first: int, end: int) -> Pieces:
        """Those of some entries."""
        some = slice(first, end)
        return Pieces(
            self.memories, self.which[some], self.offsets[some], self.sizes[some], self.bases
        )

    def addresses(self, first: int, end: int) -> Ints:
        """Where they are; they stay there as long as these pieces exist."""
        return self.bases[self.which[first:end]] + self.offsets[first:end]

    @functools.cached_property
    def _lists(self) -> tuple[list[int], list[int], list[int]]:
        """Which memories, and from where to where: quicker to look up one by one."""
        ends = self.offsets + self.sizes
        return self.which.tolist(), self.offsets.tolist(), ends.tolist()

    def __getitem__(self, number: int) -> bytes:
        """One of them, for whoever does not want all."""
        which, offsets, ends = self._lists
        return self.memories[which[number]][offsets[number] : ends[number]]

    def all(self) -> list[bytes]:
        """The bytes themselves."""
        which, offsets, ends = self._lists
        if which.count(0) == len(which):
            memory = self.memories[0]
            return [memory[offset:end] for offset, end in zip(offsets, ends, strict=True)]
        triples = zip(which, offsets, ends, strict=True)
        return [self.memories[which][offset:end] for which, offset, end in triples]


class Series:
    """For each entry of what kind it is, the bytes that go with it, and where it starts: a draw's
    first vertex, or where in a buffer is written.

    Kinds are answers of the driver's `prepared_draw`, `BufferWrite`, `TextureWrite`, `QueryChange`,
    `ClearCall`.
    """

    def __init__(self, kinds: Sequence[Any], which: Ints, pieces: Pieces, starts: Ints) -> None:
        self.kinds, self.which, self.pieces, self.starts = kinds, which, pieces, starts

    def __len__(self) -> int:
        return len(self.which)

    @functools.cached_property
    def entries(self) -> list[Any]:
        """The kind of each."""
        return list(map(self.kinds.__getitem__, self.which.tolist()))

    @functools.cached_property
    def data(self) -> list[bytes]:
        """The bytes that go with each."""
        return self.pieces.all()

    @functools.cached_property
    def firsts(self) -> list[int]:
        """Where each starts."""
        found: list[int] = self.starts.tolist()
        return found
