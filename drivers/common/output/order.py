"""Order and visibility: which fragments of a batch meet at a pixel, and who is in front.

Fragments arrive in drawing order. Where that order can be observed (blending, stencil), `layers`
deals them out so that every layer has at most one fragment per pixel and each pixel's fragments
come in order. Where it cannot, `visible` finds the one fragment per pixel whose colour stays.

Both use a scratch array with one entry per pixel that is never cleared: writing one's number to
one's pixel and reading it back tells who else is there (of several, the last writer stays).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.vertex.masks import begins_of, every, lengths_from, where
from gallette.pipe.enums import CompareFunc
from gallette.pipe.state import DepthStencilAlphaState

from .depth import DepthTarget, compare

__all__ = ["OPAQUE_FUNCS", "Scratch", "layers", "sorted_runs", "visible"]

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]
Who = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

OPAQUE_FUNCS = frozenset(CompareFunc) - {CompareFunc.NOTEQUAL}
"""Depth functions for which the surviving fragment is known without going through them in order."""

_SHORT = 4  # runs shorter than this are not worth being moved as one
_PEELS = 6  # layers found one by one before sorting pays


class Scratch:
    """The scratch array: grown as needed, never cleared."""

    __slots__ = ("_owner", "_who", "own")

    def __init__(self) -> None:
        self.own: dict[str, Any] = {}  # memory of a driver's own code
        self._who: Who = np.zeros(0, np.int32)
        self._owner: npt.NDArray[np.int32] = np.zeros(0, np.int32)

    def owners(self, pixels: int) -> npt.NDArray[np.int32]:
        """Zeroed primitive numbers, one per pixel; whoever takes them leaves them zeroed."""
        if len(self._owner) < pixels:
            self._owner = np.zeros(pixels, np.int32)
        return self._owner[:pixels]

    def at_least(self, pixels: int) -> Who:
        if len(self._who) < pixels:
            self._who = np.zeros(pixels, np.int32)
        return self._who


def sorted_runs(keys: Array) -> Ints:
    """What sorts keys, equal ones staying in order; quick where they come in runs of equal ones.

    As those of fragments do, which come primitive by primitive: then whole runs change places.
    """
    count = len(keys)
    first = begins_of(keys)
    if len(first) * _SHORT > count:
        return np.argsort(keys, kind="stable")
    lengths = lengths_from(first, count)
    by = np.argsort(keys.take(first), kind="stable")
    first, lengths = first.take(by), lengths.take(by)
    order: Ints = (first - (np.cumsum(lengths) - lengths)).repeat(lengths)
    order += np.arange(count)
    return order


def layers(pixel: Ints, who: Who, distinct: bool = False) -> Iterator[Ints | None]:
    """Fragment numbers layer by layer; a single None if all pixels are distinct.

    `distinct` promises that they are. (Here as elsewhere: NumPy picks with `compress` and `take`
    several times faster than with a mask, or with 32-bit numbers, in brackets.)
    """
    if distinct:
        yield None
        return
    remaining = np.arange(len(pixel), dtype=np.int32)
    who[pixel] = remaining
    if every(who.take(pixel) == remaining):
        yield None
        return
    at = pixel
    for _ in range(_PEELS):
        who[at[::-1]] = remaining[::-1]  # the first of each pixel stays
        first = who.take(at) == remaining
        yield remaining.compress(first).astype(np.int64)
        rest = where(~first)
        if not len(rest):
            return
        remaining, at = remaining.take(rest), at.take(rest)
    yield from _sorted_layers(remaining, at)


def _sorted_layers(remaining: Who, at: Ints) -> Iterator[Ints]:
    """The same by sorting: a fragment's layer is its rank among those of its pixel."""
    order = np.argsort((at & 0xFFFF).astype(np.uint16), kind="stable")
    high = at >> 16
    if int(high.max()) != int(high.min()):
        order = order[np.argsort(high[order].astype(np.uint16), kind="stable")]
    at = at[order]
    begins = np.flatnonzero(np.concatenate(([True], at[1:] != at[:-1])))
    sizes = np.diff(np.concatenate((begins, [len(at)])))
    rank = np.arange(len(at)) - np.repeat(begins, sizes)
    by_rank = np.argsort(rank, kind="stable")
    bounds = np.cumsum(np.bincount(rank))
    numbers = remaining.take(order.take(by_rank)).astype(np.int64)
    for start, stop in zip(np.concatenate(([0], bounds[:-1])), bounds, strict=True):
        yield numbers[start:stop]


def visible(
    pixel: Ints,
    codes: npt.NDArray[np.uint32] | None,
    depth: DepthTarget | None,
    state: DepthStencilAlphaState,
    who: Who,
    distinct: bool = False,
    ties: Bools | None = None,
) -> Bools | None:
    """Fragments whose colour survives, with the depth buffer updated as if all had been drawn.

    None means all of them. `distinct` promises that no pixel comes twice. `ties` says which of them
    would win over what has their depth (None: what the test says), where depth is written.
    """
    if distinct:
        return _visible_distinct(pixel, codes, depth, state, ties)
    order = np.arange(len(pixel), dtype=np.int32)
    if depth is None or codes is None or not state.depth_enabled:
        who[pixel] = order
        return np.asarray(who.take(pixel) == order)
    func = state.depth_func
    writes = state.depth_writemask
    if func is CompareFunc.ALWAYS:
        who[pixel] = order
        last = np.asarray(who.take(pixel) == order)
        if writes:
            depth.store(pixel.compress(last), codes.compress(last))
        return last
    passing = _passing(codes, depth.load(pixel), func, ties)
    everyone = every(passing)
    chosen = order if everyone else order.compress(passing)
    if not everyone:
        pixel, codes = pixel.take(chosen), codes.take(chosen)
    who[pixel] = chosen
    last = np.asarray(who.take(pixel) == chosen)
    if every(last):
        if writes:
            depth.store(pixel, codes)
        return passing
    if not writes or func is CompareFunc.EQUAL:
        passing[chosen.compress(~last)] = False
        return passing
    depth.store_extreme(pixel, codes, func in (CompareFunc.LESS, CompareFunc.LEQUAL))
    best = where(codes == depth.load(pixel))
    chosen, pixel = chosen.take(best), pixel.take(best)
    if func in (CompareFunc.LESS, CompareFunc.GREATER):
        who[pixel[::-1]] = chosen[::-1]
    else:
        who[pixel] = chosen
    passing[:] = False
    passing[chosen.compress(who.take(pixel) == chosen)] = True
    return passing


def _visible_distinct(
    pixel: Ints,
    codes: npt.NDArray[np.uint32] | None,
    depth: DepthTarget | None,
    state: DepthStencilAlphaState,
    ties: Bools | None,
) -> Bools | None:
    """The same where every pixel comes once: a plain depth test."""
    if depth is None or codes is None or not state.depth_enabled:
        return None
    passing: Bools | None = None
    if state.depth_func is not CompareFunc.ALWAYS:
        passing = _passing(codes, depth.load(pixel), state.depth_func, ties)
        if every(passing):
            passing = None
    if state.depth_writemask:
        if passing is None:
            depth.store(pixel, codes)
        else:
            chosen = where(passing)
            depth.store(pixel.take(chosen), codes.take(chosen))
    return passing


def _passing(codes: Array, held: Array, func: CompareFunc, ties: Bools | None) -> Bools:
    """Who passes the depth test."""
    if ties is None:
        return np.asarray(compare(func, codes, held))
    passing = np.asarray(compare(_STRICT[func], codes, held))
    passing |= (codes == held) & ties
    return passing


_STRICT = {
    CompareFunc.LESS: CompareFunc.LESS,
    CompareFunc.LEQUAL: CompareFunc.LESS,
    CompareFunc.GREATER: CompareFunc.GREATER,
    CompareFunc.GEQUAL: CompareFunc.GREATER,
}
