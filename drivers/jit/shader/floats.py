"""Filters of decoded texels: any wrap mode, comparison, cube maps across their edges, gathers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gallette.drivers.common.fixed import addressing
from gallette.drivers.common.fixed.addressing import Taps
from gallette.drivers.common.fixed.filtering import compared, mix
from gallette.drivers.common.fixed.routine import Routine

from ..llvm.values import V
from .maths import some_int
from .routines import inlined
from .texels import Words, decoded, gather_pair, gather_words
from .texture_keys import Description

if TYPE_CHECKING:
    from .sampling import Sampler

__all__ = ["Floats", "along"]


class Floats:
    """Filters decoded texels, with any wrap mode and comparison."""

    def __init__(self, sampler: Sampler, compare: V | None) -> None:
        self.s = sampler
        self.reference: V | None = None
        if compare is not None and sampler.key.compare is not None:
            self.reference = compare

    def _index(self, at: list[V], z: V | None, level: V | None) -> V:
        s = self.s
        y = at[1] if len(at) > 1 else None
        return s.b.spread(s.index(at[0], y, at[2] if len(at) > 2 else z, level, False), s.w)

    def _texel(self, at: list[V], out: list[V | None], z: V | None, level: V | None) -> list[V]:
        s = self.s
        words = gather_words(
            s.b,
            s.key.image,
            s.word(Description.TEXELS),
            self._index(at, z, level),
            self.reference is not None,
        )
        return self._made(words, out)

    def _two(
        self, tap: Taps[V], at: list[V], out: list[V | None], z: V | None, level: V | None
    ) -> tuple[list[V], list[V]]:
        """Two texels of a row."""
        s = self.s
        first, second = [tap.i0, *at], [tap.i1, *at]
        size = s.key.image.format.block_bytes
        if size not in (1, 2, 4):
            return (
                self._texel(first, [tap.out0, *out], z, level),
                self._texel(second, [tap.out1, *out], z, level),
            )
        indices = self._index(first, z, level), self._index(second, z, level)
        low, high = gather_pair(s.b, s.word(Description.TEXELS), *indices, size)
        return self._made({0: low}, [tap.out0, *out]), self._made({0: high}, [tap.out1, *out])

    def _made(self, words: Words, out: list[V | None]) -> list[V]:
        """The components of texels, or the border colour in the lanes of `out`."""
        b, key = self.s.b, self.s.key
        comparing = self.reference is not None
        planes = decoded(b, key.image, words, comparing)
        outside: V | None = None
        for mask in out:
            if mask is not None:
                outside = mask if outside is None else outside | mask
        if outside is not None:
            word = Description.BORDER_DEPTH if comparing else Description.BORDER
            planes = [
                b.select(outside, self.s.number(word, i, "float" if p.is_float else "i32"), p)
                for i, p in enumerate(planes)
            ]
        return self._compared(planes) if comparing else planes

    def _compared(self, planes: list[V]) -> list[V]:
        s, b, key = self.s, self.s.b, self.s.key
        reference, depth = self.reference, planes[0]
        assert reference is not None
        routine = compared(key.compare, key.clamp_reference)
        passed = b.spread(inlined(b, routine, [reference, depth])[0], s.w)
        made: dict[str | int, V] = {
            "0": b.spread(b.const("float", 0.0), s.w),
            "1": b.spread(b.const("float", 1.0), s.w),
            3: b.spread(b.const("float", 1.0), s.w),
        }
        return [made.get(source, passed) for source in key.image.swizzle]

    def nearest(self, coords: list[V], z: V | None, offset: list[V], level: V | None) -> list[V]:
        s = self.s
        at, out = [], []
        for found in along(s, addressing.nearest_tap, coords, level, offset):
            at.append(found[0])
            out.append(found[1] if len(found) > 1 else None)
        return self._texel(at, out, z, level)

    def linear(self, coords: list[V], z: V | None, offset: list[V], level: V | None) -> list[V]:
        s = self.s
        if s.key.image.stencil or s.key.image.format.is_pure_integer:
            return self.nearest(coords, z, offset, level)
        if s.key.seamless:
            corners, wx, wy = self._seamless(coords, z, level)
            low, high = (self.mix(corners[k], corners[k + 1], wx) for k in (0, 2))
            return self.mix(low, high, wy)
        taps = [Taps(*t) for t in along(s, addressing.linear_taps, coords, level, offset)]

        def mixed(fixed_at: list[V], fixed_out: list[V | None], axis: int) -> list[V]:
            tap = taps[axis]
            if not axis:
                low, high = self._two(tap, fixed_at, fixed_out, z, level)
                return self.mix(low, high, tap.weight)
            low = mixed([tap.i0, *fixed_at], [tap.out0, *fixed_out], axis - 1)
            high = mixed([tap.i1, *fixed_at], [tap.out1, *fixed_out], axis - 1)
            return self.mix(low, high, tap.weight)

        return mixed([], [], len(taps) - 1)

    def gathered(self, coords: list[V], z: V | None, offset: list[V], component: int) -> list[V]:
        """One component of the four texels of textureGather, counter-clockwise."""
        s = self.s
        if s.key.seamless:
            corners, _, _ = self._seamless(coords, z, None)
        else:
            x, y = (Taps(*t) for t in along(s, addressing.gather_taps, coords, None, offset))
            corners = [
                self._texel([i, j], [i_out, j_out], z, None)
                for j, j_out in ((y.i0, y.out0), (y.i1, y.out1))
                for i, i_out in ((x.i0, x.out0), (x.i1, x.out1))
            ]
        return [corners[k][component] for k in (2, 3, 1, 0)]

    def _seamless(
        self, coords: list[V], z: V | None, level: V | None
    ) -> tuple[list[list[V]], V, V]:
        """Four texels around a point of a cube's face, from neighbouring faces at its edges."""
        s, b = self.s, self.s.b
        assert z is not None
        n = b.spread(s.extent(0, level), s.w)
        wholes, weights = [], []
        for at in coords:
            limited = b.select(at < 0.0, b.const("float", 0.0), at)
            limited = b.select(limited > 1.0, b.const("float", 1.0), limited)
            u = limited * n.to_float() - 0.5
            whole = b.math("floor", u)
            wholes.append(some_int(b, whole))
            weights.append(u - whole)
        face = b.binary("srem", z, 6)
        corners, lone = [], []
        for dj in (0, 1):
            for di in (0, 1):
                i, j = wholes[0] + di, wholes[1] + dj
                out_i, out_j = (i < 0) | (i >= n), (j < 0) | (j >= n)
                lone.append(out_i & out_j)
                over = out_i ^ out_j
                beyond = inlined(b, addressing.across_the_seam(), [face, i, j, n])
                own_z = b.select(over, z - face + beyond[0], z)
                i, j = (
                    b.math("smin", b.math("smax", b.select(over, new, old), 0), n - 1)
                    for new, old in ((beyond[1], i), (beyond[2], j))
                )
                corners.append(self._texel([i, j], [], own_z, level))
        return self._averaged(corners, lone), weights[0], weights[1]

    def _averaged(self, corners: list[list[V]], lone: list[V]) -> list[list[V]]:
        """The mean of three texels, which replaces the fourth at a corner of the cube, where three
        faces meet.
        """
        b = self.s.b
        found = []
        for k, mask in enumerate(lone):
            one, two, three = (corners[m] for m in range(4) if m != k)
            planes = []
            for own, x, y, z in zip(corners[k], one, two, three, strict=True):
                if own.is_float:
                    own = b.select(mask, (x + y + z) / 3.0, own)
                planes.append(own)
            found.append(planes)
        return found

    def mix(self, low: list[V], high: list[V], fraction: V) -> list[V]:
        """Interpolate between two levels; components that are the same constant in both stay
        constants.
        """
        return [
            a if a.literal and a.n == c.n else inlined(self.s.b, mix(), [a, c, fraction])[0]
            for a, c in zip(low, high, strict=True)
        ]

    @staticmethod
    def planes(planes: list[V]) -> list[V]:
        return planes


def along(
    s: Sampler,
    make: Callable[..., Routine],
    coords: list[V],
    level: V | None,
    offset: Sequence[V],
) -> list[list[V]]:
    """The results of a routine (`drivers.common.fixed.addressing`) along each axis."""
    found = []
    for i, axis in enumerate(s.key.axes):
        moved = offset[i : i + 1]
        given = [coords[i], s.extent(i, level), *moved]
        found.append(inlined(s.b, make(axis, bool(moved)), given))
    return found
