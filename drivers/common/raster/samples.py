"""Sample positions of multisampled targets, and coverage per sample.

Positions are those Mesa's llvmpipe uses for four samples, in 1/256 pixel from the pixel's corner.
Under multisampling window coordinates are snapped relative to that corner, too.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .setup import Edges, Rect
from .spans import Ints, Spans, bound, rows_of

__all__ = ["SAMPLES", "SAMPLE_POSITIONS", "sample_mask", "sampled_spans"]

SAMPLE_POSITIONS: npt.NDArray[np.float64] = np.array(
    [[0.375, 0.125], [0.875, 0.375], [0.125, 0.625], [0.625, 0.875]]
)
SAMPLES = len(SAMPLE_POSITIONS)


def sampled_spans(edges: Edges, target: Rect) -> Spans:
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
    for x_offset, y_offset in SAMPLE_POSITIONS:
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


def sample_mask(spans: Spans, number: Ints, x: npt.NDArray[np.float64]) -> npt.NDArray[np.uint8]:
    """The samples covered in each lane: `number` is the lane's span, x its column."""
    assert spans.bounds is not None
    mask = np.zeros(len(x), np.uint8)
    for sample in range(SAMPLES):
        low, high = spans.bounds[0, sample][number], spans.bounds[1, sample][number]
        mask |= ((x >= low) & (x < high)).astype(np.uint8) << np.uint8(sample)
    return mask
