"""Order and visibility: which fragments of a batch share a pixel, and which one is visible.

Fragments come in drawing order. Where that order can be observed (blending, stencil), `layers`
assigns them to layers with at most one fragment per pixel, each pixel's fragments in order. Where
it cannot, `visible` finds the one fragment per pixel whose colour remains.

Both use a scratch array with one entry per pixel that is never cleared: a fragment writes its
number to its pixel and reads the entry back, which then holds the number of the pixel's last
fragment.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.vertex.masks import every, where
from gallette.pipe.enums import CompareFunc
from gallette.pipe.state import DepthStencilAlphaState

from .depth import DepthTarget, compare

__all__ = ["OPAQUE_FUNCS", "Scratch", "layers", "visible"]

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]
Who = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

OPAQUE_FUNCS = frozenset(CompareFunc) - {CompareFunc.NOTEQUAL}
"""Depth functions for which the surviving fragment can be found without testing one by one."""

_PEELS = 6  # layers found one by one before sorting pays


class Scratch:
    """Scratch arrays, grown as needed and never cleared."""

    __slots__ = ("_owner", "_who", "own")

    def __init__(self) -> None:
        self.own: dict[str, Any] = {}  # memory of a driver's compiled code
        self._who: Who = np.zeros(0, np.int32)
        self._owner: npt.NDArray[np.int32] = np.zeros(0, np.int32)

    def owners(self, pixels: int) -> npt.NDArray[np.int32]:
        """An array of zeros, a primitive number per pixel; the caller zeroes it again after use."""
        if len(self._owner) < pixels:
            self._owner = np.zeros(pixels, np.int32)
        return self._owner[:pixels]

    def at_least(self, pixels: int) -> Who:
        if len(self._who) < pixels:
            self._who = np.zeros(pixels, np.int32)
        return self._who


def layers(pixel: Ints, who: Who) -> Iterator[Ints | None]:
    """Fragment numbers layer by layer; a single None if all pixels are distinct.

    (NumPy selects several times faster with `compress` and `take` than by indexing with a mask or
    with 32-bit numbers.)
    """
    remaining = np.arange(len(pixel), dtype=np.int32)
    who[pixel] = remaining
    if every(who.take(pixel) == remaining):
        yield None
        return
    at = pixel
    for _ in range(_PEELS):
        who[at[::-1]] = remaining[::-1]  # the first fragment of each pixel remains
        first = who.take(at) == remaining
        yield remaining.compress(first).astype(np.int64)
        rest = where(~first)
        if not len(rest):
            return
        remaining, at = remaining.take(rest), at.take(rest)
    yield from _sorted_layers(remaining, at)


def _sorted_layers(remaining: Who, at: Ints) -> Iterator[Ints]:
    """Layers by sorting: a fragment's layer is its rank among the fragments of its pixel."""
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
    ties: Bools | None = None,
) -> Bools | None:
    """Which fragments' colours survive, updating the depth buffer as if all had been drawn; None
    for all.

    `ties` says, where depth is written, which of them win against an equal depth (None: as the test
    says).
    """
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


def _passing(codes: Array, held: Array, func: CompareFunc, ties: Bools | None) -> Bools:
    """Which lanes pass the depth test."""
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
