"""Filters of decoded texels in machine code (`drivers.common.texture.sampling.DecodedFilter`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gallette.drivers.common.fixed.addressing import seamless_corner
from gallette.drivers.common.texture.sampling import DecodedFilter, Place

from ..llvm.values import V
from .texels import decoded, gather_pair, gather_words
from .texture_keys import Description

if TYPE_CHECKING:
    from .sampling import Sampler


class Floats(DecodedFilter[V]):
    """Filters decoded texels, with any wrap mode and comparison."""

    def __init__(self, sampler: Sampler) -> None:
        super().__init__(sampler)
        self.s = sampler
        self.swizzle = sampler.key.image.swizzle

    def texels(
        self, place: Place[V], columns: Sequence[V], others: Sequence[V], z: V | None
    ) -> list[list[V]]:
        s, b, image, depths = self.s, self.s.b, self.s.key.image, place.compare is not None
        at = s.word(Description.TEXELS)
        indices = [b.spread(s.index(x, others, z, place.level, False), s.w) for x in columns]
        size = image.format.block_bytes
        if len(indices) == 2 and size in (1, 2, 4):
            pair = gather_pair(b, at, indices[0], indices[1], size)
            return [decoded(b, image, {0: word}, depths) for word in pair]
        words = [gather_words(b, image, at, index, depths) for index in indices]
        return [decoded(b, image, some, depths) for some in words]

    def bordered(self, place: Place[V], texel: list[V], outside: V) -> list[V]:
        s = self.s
        word = Description.BORDER if place.compare is None else Description.BORDER_DEPTH
        return [
            s.b.select(outside, s.number(word, i, "float" if p.is_float else "i32"), p)
            for i, p in enumerate(texel)
        ]

    def is_constant(self, a: V, b: V) -> bool:
        return a.literal and a.n == b.n

    def spread(self, value: V, like: V) -> V:
        return self.s.b.spread(value, self.s.w)

    def beyond_edges(self, z: V, i: V, j: V, n: V) -> list[tuple[V, V, V, V | None]]:
        found: list[tuple[V, V, V, V | None]] = []
        for dj in (0, 1):
            for di in (0, 1):
                z_, i_, j_, alone = self.s.run(seamless_corner(), [z, i + di, j + dj, n])
                found.append((z_, i_, j_, alone))
        return found
