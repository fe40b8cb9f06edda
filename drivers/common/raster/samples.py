"""Sample positions of multisampled targets, and coverage per sample.

The positions are the usual ones (Direct3D's standard patterns, which Mesa's llvmpipe has for four
samples), counted from the pixel's corner. Under multisampling window coordinates are snapped
relative to that corner, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from .setup import Edges, Rect
from .spans import Ints, Spans, bound, rows_of

__all__ = [
    "MASK",
    "STANDARD",
    "Locations",
    "SamplePattern",
    "sample_mask",
    "sample_pattern",
    "sampled_spans",
]

Locations = tuple[tuple[float, float], ...]
Doubles = npt.NDArray[np.float64]

MASK = np.uint16
"""What holds a bit per sample."""


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
"""Where samples are, of every number of samples there is.

These are the usual places. Of sixteen, two usually lie on a pixel's edge, which makes shapes that
end there bleed into the next pixel: here they are half a step inside.
"""


@dataclass(frozen=True, eq=False)
class SamplePattern:
    """Where the samples of a pixel are: `positions[sample, axis]`, 0..1."""

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
        """From the centre to the centroid `[axis, mask]`, by mask of covered samples."""
        offsets = np.zeros((2, 1 << self.count))
        masks = np.arange(1, self.every)
        lowest = np.log2(masks & -masks).astype(np.int64)
        offsets[:, 1:-1] = self.positions[lowest].T - 0.5
        return offsets


@cache
def sample_pattern(samples: int, locations: Locations = ()) -> SamplePattern:
    """The pattern of so many samples: the standard one, or at given locations."""
    if not locations:
        locations = next((p for p in STANDARD if len(p) == samples), ((0.5, 0.5),) * samples)
    return SamplePattern(np.array(locations, np.float64))


def sampled_spans(edges: Edges, target: Rect, pattern: SamplePattern) -> Spans:
    """Runs of pixels any of whose samples may be covered, with the bounds of every sample.

    `edges` were made of corners relative to pixel corners, and its rows and columns are those of
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
    lows, highs = [], []
    for x_offset, y_offset in pattern.positions:
        low = wide.x0.astype(np.float64)[primitive]
        high = wide.x1.astype(np.float64)[primitive]
        for a, b, c in zip(wide.a, wide.b, wide.c, strict=True):
            shifted = c + a * x_offset + b * y_offset
            bound(a[primitive], b[primitive] * row + shifted[primitive], low, high)
        lows.append(low)
        highs.append(np.maximum(high, low))
    bounds = np.array((lows, highs)).astype(np.int64)
    empty = bounds[0] >= bounds[1]
    bounds[0][empty] = np.iinfo(np.int64).max
    bounds[1][empty] = -1
    first = bounds[0].min(axis=0)
    length = bounds[1].max(axis=0) - first
    kept = np.flatnonzero(~empty.all(axis=0))
    return Spans(primitive[kept], y[kept], first[kept], length[kept], bounds[:, :, kept])


def sample_mask(spans: Spans, number: Ints, x: npt.NDArray[np.float64]) -> npt.NDArray[MASK]:
    """The samples covered in each lane: `number` is the lane's span, x its column."""
    assert spans.bounds is not None
    mask = np.zeros(len(x), MASK)
    for sample in range(spans.bounds.shape[1]):
        low, high = spans.bounds[0, sample][number], spans.bounds[1, sample][number]
        mask |= ((x >= low) & (x < high)).astype(MASK) << MASK(sample)
    return mask
