"""Coverage of whole batches: primitives to rows, rows to fragments.

Per primitive and row, every edge gives a bound on x by one exact division; the columns between the
bounds are a *span*. Expanding spans into fragments is `repeat` and a running count. The work is
proportional to rows plus fragments, never to bounding boxes.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir import minmax
from gallette.drivers.common.vertex.masks import counted, ends_of, every, where

from .setup import Edges

Ints = npt.NDArray[np.int64]

_LONG = 8
"""Pixels of a span from which comparing spans is cheaper than comparing pixels."""

_ROWS = 1 << 15
"""Rows whose bounds are computed at a time, so that temporaries fit a cache."""


@lazy_dataclass()
class Spans:
    """Runs of covered pixels: `primitive`, row `y`, first column `x`, `length` (never 0)."""

    primitive: Ints
    y: Ints
    x: Ints
    length: Ints
    bounds: Ints | None = None  # multisampled: [first or past-the-last, sample, run]
    _ends: Ints | None = field(default=None, init=False, repr=False, compare=False)
    _apart: bool | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def count(self) -> int:
        return len(self.y)

    @property
    def ends(self) -> Ints:
        """The end of each span if they are concatenated."""
        if self._ends is None:
            self._ends = ends_of(self.length)
        return self._ends

    @property
    def fragments(self) -> int:
        return int(self.ends[-1]) if len(self.length) else 0

    @property
    def apart(self) -> bool:
        """Whether they are long, so that it is cheap to see, and have no pixel in common."""
        if self._apart is None:
            self._apart = self.count * _LONG <= self.fragments and self._are_apart()
        return self._apart

    def _are_apart(self) -> bool:
        first = self.y << 32
        first += self.x
        order = first.argsort()
        first, length = first.take(order), self.length.take(order)
        return every(first[1:] >= first[:-1] + length[:-1])

    def take(self, which: Any) -> Spans:
        return Spans(
            self.primitive[which],
            self.y[which],
            self.x[which],
            self.length[which],
            None if self.bounds is None else self.bounds[:, :, which],
        )


def slices(ends: npt.NDArray[Any], most: int) -> list[slice]:
    """Slices of items with about `most` units each; `ends` is the running sum of the
    items' units.
    """
    count = len(ends)
    if not count or ends[-1] <= most:
        return [slice(0, count)]
    cuts = np.searchsorted(ends, np.arange(most, ends[-1], most)) + 1
    bounds = [0, *np.unique(cuts[cuts < count]).tolist(), count]
    return [slice(a, b) for a, b in pairwise(bounds)]


def numbered(lengths: npt.NDArray[np.int64]) -> tuple[Ints, Ints]:
    """For concatenated runs of these lengths: each item's run, and where the runs end."""
    ends = ends_of(lengths)
    return counted(len(lengths)).repeat(lengths), ends


def _heights(edges: Edges) -> Ints:
    """The number of rows each primitive may touch."""
    heights: Ints = minmax.maximum(edges.y1 - edges.y0, 0)
    heights[edges.x1 <= edges.x0] = 0
    return heights


def rows_of(edges: Edges, heights: Ints | None = None) -> tuple[Ints, Ints]:
    """Every (primitive, row) pair in the primitives' row ranges."""
    heights = _heights(edges) if heights is None else heights
    primitive, ends = numbered(heights)
    y = (edges.y0 - (ends - heights)).take(primitive)
    y += counted(len(y))
    return primitive, y


def spans_of(edges: Edges) -> Spans:
    """The covered runs of all primitives, in primitive order, rows ascending."""
    heights = _heights(edges)
    ends = ends_of(heights)
    total = int(ends[-1]) if len(ends) else 0
    if total <= _ROWS + _ROWS // 2:
        return _spans_of(edges, heights)
    columns: list[list[Ints]] = [[], [], [], []]
    for part in slices(ends, _ROWS):
        some = _spans_of(edges.take(part), heights[part])
        some.primitive += part.start
        for column, values in zip(
            columns, (some.primitive, some.y, some.x, some.length), strict=True
        ):
            column.append(values)
    # One part at a time, so that its temporaries are freed before the next.
    return Spans(*(np.concatenate(columns.pop(0)) for _ in range(4)))


def _spans_of(edges: Edges, heights: Ints) -> Spans:
    """The covered runs of primitives with few rows."""
    primitive, y = rows_of(edges, heights)
    row = y.astype(np.float64)
    low = (edges.x0 - 1).astype(np.float64).take(primitive)
    high = edges.x1.astype(np.float64).take(primitive)
    for a, b, c in zip(edges.a, -edges.b, -edges.c, strict=True):
        value = b.take(primitive)
        value *= row
        value += c.take(primitive)
        bound(a.take(primitive), value, low, high)
    low, high = columns(low, high)
    length = high
    length -= low
    covered = length > 0
    if every(covered):
        return Spans(primitive, y, low.astype(np.int64), length.astype(np.int64))
    kept = where(covered)
    return Spans(
        primitive.take(kept),
        y.take(kept),
        low.take(kept).astype(np.int64),
        length.take(kept).astype(np.int64),
    )


def bound(
    slope: npt.NDArray[np.float64],
    value: npt.NDArray[np.float64],
    low: npt.NDArray[np.float64],
    high: npt.NDArray[np.float64],
) -> None:
    """Narrow `low < x < high` to `slope x > value`, which is overwritten.

    A rising edge must not bound the end, nor a falling one the beginning: `side` moves such a bound
    out of range, which NumPy does several times faster than it applies a mask. A horizontal edge
    crosses at plus or minus infinity, so that the whole row is inside or none of it; if the edge
    lies on the row, the result is NaN, and nothing is inside either.
    """
    crossing = np.divide(value, slope, out=value)
    side = np.copysign(np.inf, slope)
    np.maximum(low, np.minimum(crossing, side), out=low)
    np.minimum(high, np.maximum(crossing, side, out=side), out=high)


def columns(
    low: npt.NDArray[np.float64], high: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The first column between bounds (`bound`) and the one after the last, in place of these.

    They are exact: the quotient of two whole numbers below 2**53 rounds to a whole number only if
    it is one.
    """
    np.floor(low, out=low)
    low += 1.0
    return low, np.ceil(high, out=high)
