"""Sample positions of multisampled targets, and coverage per sample.

The positions are Direct3D's standard patterns, which llvmpipe has for four samples, relative to the
pixel's corner. With multisampling window coordinates are snapped relative to that corner, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from .setup import Edges, Rect
from .spans import Ints, Spans, bound, columns, rows_of

Locations = tuple[tuple[float, float], ...]
Doubles = npt.NDArray[np.float64]

MASK = np.uint16
"""The type of sample masks."""

COUNTS: npt.NDArray[np.int64] = np.zeros(1, np.int64)
for _ in range(16):
    COUNTS = np.concatenate((COUNTS, COUNTS + 1))
"""How many samples a mask has."""


def _sixteenths(*pairs: tuple[float, float]) -> Locations:
    """Positions given from the pixel's centre, in sixteenths."""
    return tuple((0.5 + x / 16, 0.5 + y / 16) for x, y in pairs)


STANDARD: tuple[Locations, ...] = (
    _sixteenths((4, 4), (-4, -4)),
    _sixteenths((-2, -6), (6, -2), (-6, 2), (2, 6)),
    _sixteenths((1, -3), (-1, 3), (5, 1), (-3, -5), (-5, 5), (-7, -1), (3, 7), (7, -7)),
    _sixteenths(
        *((1, 1), (-1, -3), (-3, 2), (4, -1), (-5, -2), (2, 5), (5, 3), (3, -5)),
        *((-2, 6), (0, -7), (-4, -6), (-6, 4), (-7.5, 0), (7, -4), (6, 7), (-7, -7.5)),
    ),
)
"""The positions of samples, for each supported number of samples.

These are the standard positions, except that the standard pattern of sixteen has two on a pixel's
edge, so that shapes ending there would bleed into the next pixel; here they are half a step inside.
"""


@dataclass(frozen=True, eq=False)
class SamplePattern:
    """The positions of a pixel's samples: `positions[sample, axis]`, 0..1."""

    positions: Doubles

    @property
    def count(self) -> int:
        return len(self.positions)

    @property
    def every(self) -> int:
        """The mask of all samples."""
        return (1 << self.count) - 1

    @cached_property
    def centroids(self) -> Doubles:
        """The offset from the centre to the centroid `[axis, mask]`, by mask of covered samples."""
        offsets = np.zeros((2, 1 << self.count))
        masks = np.arange(1, self.every)
        lowest = np.log2(masks & -masks).astype(np.int64)
        offsets[:, 1:-1] = self.positions[lowest].T - 0.5
        return offsets


@cache
def sample_pattern(samples: int, locations: Locations = ()) -> SamplePattern:
    """The pattern for a number of samples: the standard one, or with programmable locations."""
    if not locations:
        locations = next((p for p in STANDARD if len(p) == samples), ((0.5, 0.5),) * samples)
    return SamplePattern(np.array(locations, np.float64))


_NOWHERE = 2.0**53  # a column to the right of all columns


def sampled_spans(edges: Edges, target: Rect, pattern: SamplePattern) -> Spans:
    """Runs of pixels any of whose samples may be covered, with the bounds of every sample.

    `edges` were made from corners relative to pixel corners, and its rows and columns are those of
    samples at integer coordinates; they are widened by a pixel here.
    """
    wide = Edges(
        edges.a,
        edges.b,
        edges.c,
        np.maximum(edges.x0 - 1, target.x0),
        np.minimum(edges.x1 + 1, target.x1),
        np.maximum(edges.y0 - 1, target.y0),
        np.minimum(edges.y1 + 1, target.y1),
    )
    primitive, y = rows_of(wide)
    row = y.astype(np.float64)
    left = (wide.x0 - 1).astype(np.float64).take(primitive)
    right = wide.x1.astype(np.float64).take(primitive)
    sides = [(a.take(primitive), b.take(primitive)) for a, b in zip(wide.a, -wide.b, strict=True)]
    rows = [b * row for _, b in sides]
    bounds = np.empty((2, pattern.count, len(y)))
    for sample, (x_offset, y_offset) in enumerate(pattern.positions):
        low, high = bounds[:, sample]
        low[:], high[:] = left, right
        for (a, _), at, *edge in zip(sides, rows, wide.a, wide.b, wide.c, strict=True):
            shifted = edge[2] + edge[0] * x_offset + edge[1] * y_offset
            bound(a, at - shifted.take(primitive), low, high)
        columns(low, high)
        empty = ~(low < high)
        low[:], high[:] = np.where(empty, _NOWHERE, low), np.where(empty, -1.0, high)
    first, last = bounds[0].min(axis=0), bounds[1].max(axis=0)
    kept = np.flatnonzero(first < last)
    start = first.take(kept).astype(np.int64)
    length = last.take(kept).astype(np.int64) - start
    found = bounds.take(kept, axis=2).astype(np.int64)
    return Spans(primitive.take(kept), y.take(kept), start, length, found)


def sample_mask(spans: Spans, number: Ints, x: npt.NDArray[np.float64]) -> npt.NDArray[MASK]:
    """The samples covered in each lane: `number` is the lane's span, x its column."""
    assert spans.bounds is not None
    mask = np.zeros(len(x), MASK)
    column = x.astype(np.int64)
    for sample, (low, high) in enumerate(spans.bounds.swapaxes(0, 1)):
        inside = column >= low.take(number)
        inside &= column < high.take(number)
        mask |= inside.astype(MASK) << MASK(sample)
    return mask
