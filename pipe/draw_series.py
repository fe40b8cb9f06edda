"""Repeated draws, and the writes, clears and queries between them (`draw_series`).

Programs repeat the same few draws in every frame, so each entry of a series has a kind, given by
its number in a short list. The data of an entry, such as a draw's uniforms, are bytes that are in
memory already, where machine code can read them.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


class Pieces:
    """Some bytes for each entry, each in one of a few arrays."""

    def __init__(
        self, memories: Sequence[bytes], which: Ints, offsets: Ints, sizes: Ints, bases: Ints
    ) -> None:
        """`bases`: the addresses of the arrays."""
        self.memories, self.which, self.offsets = memories, which, offsets
        self.sizes, self.bases = sizes, bases

    @classmethod
    def of(cls, memories: Sequence[bytes], which: Ints, offsets: Ints, sizes: Ints) -> Pieces:
        """The pieces of these arrays at these places."""
        bases = [np.frombuffer(each, np.uint8).ctypes.data if each else 0 for each in memories]
        return cls(memories, which, offsets, sizes, np.array(bases, np.int64))

    def part(self, first: int, end: int) -> Pieces:
        """The pieces of some entries."""
        some = slice(first, end)
        return Pieces(
            self.memories, self.which[some], self.offsets[some], self.sizes[some], self.bases
        )

    def addresses(self, first: int, end: int) -> Ints:
        """The addresses of the pieces, valid as long as this object exists."""
        return self.bases[self.which[first:end]] + self.offsets[first:end]

    @functools.cached_property
    def _lists(self) -> tuple[list[int], list[int], list[int]]:
        """The array, start and end of each piece as lists, which are faster to index."""
        ends = self.offsets + self.sizes
        return self.which.tolist(), self.offsets.tolist(), ends.tolist()

    def __getitem__(self, number: int) -> bytes:
        """One piece, for callers that do not need all."""
        which, offsets, ends = self._lists
        return self.memories[which[number]][offsets[number] : ends[number]]

    def only(self, number: int) -> bytes:
        """One piece, for callers that need no other."""
        memory, offset = self.memories[int(self.which[number])], int(self.offsets[number])
        return memory[offset : offset + int(self.sizes[number])]

    def all(self) -> list[bytes]:
        """The bytes of all pieces."""
        which, offsets, ends = self._lists
        if which.count(0) == len(which):
            memory = self.memories[0]
            return [memory[offset:end] for offset, end in zip(offsets, ends, strict=True)]
        triples = zip(which, offsets, ends, strict=True)
        return [self.memories[which][offset:end] for which, offset, end in triples]


class Series:
    """A series: for each entry its kind, its data, and its start (a draw's first vertex, or the
    offset of a write to a buffer); and for each its first instance, if not its kind says that.

    Kinds are tokens of the driver's `prepared_draw`, `BufferWrite`, `TextureWrite`, `QueryChange`,
    `ClearCall`.
    """

    def __init__(
        self,
        kinds: Sequence[Any],
        which: Ints,
        pieces: Pieces,
        starts: Ints,
        instances: Ints | None = None,
    ) -> None:
        self.kinds, self.which, self.pieces, self.starts = kinds, which, pieces, starts
        self.instances = instances

    def __len__(self) -> int:
        return len(self.which)

    @functools.cached_property
    def entries(self) -> list[Any]:
        """The kind of each entry."""
        return list(map(self.kinds.__getitem__, self.which.tolist()))

    @functools.cached_property
    def data(self) -> list[bytes]:
        """The data of each entry."""
        return self.pieces.all()

    @functools.cached_property
    def firsts(self) -> list[int]:
        """The start of each entry."""
        found: list[int] = self.starts.tolist()
        return found

    @functools.cached_property
    def first_instances(self) -> list[int] | None:
        """The first instance of each entry."""
        return None if self.instances is None else self.instances.tolist()
