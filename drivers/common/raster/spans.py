"""Coverage of whole batches: primitives to rows, rows to fragments.

Per primitive and row, every edge gives a bound on x by one exact division; what is left between the
bounds is a *span*. Expanding spans into fragments is `repeat` and a running count. The work is
proportional to rows plus fragments, never to bounding boxes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import limits
from gallette.drivers.common.vertex.masks import ends_of

from .setup import Edges

__all__ = ["Ints", "Spans", "bound", "numbered", "rows_of", "spans_of"]

Ints = npt.NDArray[np.int64]


@dataclass(slots=True)
class Spans:
    """Runs of covered pixels: `primitive`, row `y`, first column `x`, `length` (never 0)."""

    primitive: Ints
    y: Ints
    x: Ints
    length: Ints
    bounds: Ints | None = None  # multisampled: [first or past-the-last, sample, run]
    _ends: Ints | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def count(self) -> int:
        return len(self.y)

    @property
    def ends(self) -> Ints:
        """Where each ends, if they are laid end to end."""
        if self._ends is None:
            self._ends = ends_of(self.length)
        return self._ends

    @property
    def fragments(self) -> int:
        return int(self.ends[-1]) if len(self.length) else 0

    def take(self, which: Any) -> Spans:
        return Spans(
            self.primitive[which],
            self.y[which],
            self.x[which],
            self.length[which],
            None if self.bounds is None else self.bounds[:, :, which],
        )


def numbered(lengths: npt.NDArray[np.int64]) -> tuple[Ints, Ints]:
    """For runs of these lengths laid end to end: each item's run, and where the runs end."""
    ends = ends_of(lengths)
    return np.arange(len(lengths)).repeat(lengths), ends


def rows_of(edges: Edges) -> tuple[Ints, Ints]:
    """Every (primitive, row) pair of the primitives' row ranges."""
    heights = limits.maximum(edges.y1 - edges.y0, 0)
    heights[edges.x1 <= edges.x0] = 0
    primitive, ends = numbered(heights)
    y = (edges.y0 - (ends - heights)).take(primitive)
    y += np.arange(len(y))
    return primitive, y


def spans_of(edges: Edges) -> Spans:
    """The covered runs of all primitives, in primitive order, rows ascending."""
    primitive, y = rows_of(edges)
    row = y.astype(np.float64)
    low = edges.x0.astype(np.float64).take(primitive)
    high = edges.x1.astype(np.float64).take(primitive)
    for a, b, c in zip(edges.a, edges.b, edges.c, strict=True):
        value = b.take(primitive)
        value *= row
        value += c.take(primitive)
        bound(a.take(primitive), value, low, high)
    length = high
    length -= low
    covered = length > 0
    if covered.all():
        return Spans(primitive, y, low.astype(np.int64), length.astype(np.int64))
    kept = np.flatnonzero(covered)
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
    """Narrow `low <= x < high` to `slope x + value > 0`; all numbers are whole, so exactly.

    For a rising edge the first x is floor(-value / slope) + 1, for a falling one the last is
    ceil(value / -slope) - 1. The quotient of two whole numbers below 2**53 rounds to a whole number
    only if it is one, so floor and ceil of the rounded quotient are exact.

    An edge of the other kind must not count: `side` moves its bound out of the way (which NumPy
    does several times faster than it leaves out what a mask says).
    """
    crossing = value / slope
    np.negative(crossing, out=crossing)
    side = np.copysign(np.inf, slope)
    first = np.floor(crossing)
    first += 1.0
    np.maximum(low, np.minimum(first, side, out=first), out=low)
    np.ceil(crossing, out=crossing)
    np.minimum(high, np.maximum(crossing, side, out=crossing), out=high)
    level = slope == 0
    if level.any():
        outside = np.flatnonzero(level & (value <= 0))
        low[outside], high[outside] = 0.0, -1.0
