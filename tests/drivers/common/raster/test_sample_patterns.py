"""Where samples are, which of them a primitive covers, and the centroids of what is covered."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gallette.drivers.common.raster.samples import (
    MASK,
    STANDARD,
    sample_mask,
    sample_pattern,
    sampled_spans,
)
from gallette.drivers.common.raster.setup import Edges, Rect

# In sixteenths of a pixel from its centre: the tables of Direct3D 11's standard patterns.
FROM_CENTRE = {
    2: [(4, 4), (-4, -4)],
    4: [(-2, -6), (6, -2), (-6, 2), (2, 6)],
    8: [(1, -3), (-1, 3), (5, 1), (-3, -5), (-5, 5), (-7, -1), (3, 7), (7, -7)],
    16: [(1, 1), (-1, -3), (-3, 2), (4, -1), (-5, -2), (2, 5), (5, 3), (3, -5), (-2, 6), (0, -7),
         (-4, -6), (-6, 4), (-8, 0), (7, -4), (6, 7), (-7, -8)],
}  # fmt: skip


@pytest.mark.parametrize("count", FROM_CENTRE)
def test_positions_are_the_standard_ones(count: int) -> None:
    pattern = sample_pattern(count)
    assert pattern.count == count and pattern.every == 2**count - 1
    wanted = [(0.5 + x / 16, 0.5 + y / 16) for x, y in FROM_CENTRE[count]]
    for found, place in zip(pattern.positions.tolist(), wanted, strict=True):
        for a, b in zip(found, place, strict=True):  # what lies on an edge is half a step inside
            assert a == (b if b > 0 else 1 / 32)
    assert (pattern.positions > 0).all() and (pattern.positions < 1).all()
    assert len({tuple(p) for p in pattern.positions.tolist()}) == count
    assert sample_pattern(count) is pattern


def test_other_numbers_of_samples_and_other_places() -> None:
    assert [len(p) for p in STANDARD] == [2, 4, 8, 16]
    for count in (1, 3, 5):
        assert sample_pattern(count).positions.tolist() == [[0.5, 0.5]] * count
    places = ((0.25, 0.75), (0.0625, 0.5))
    assert sample_pattern(2, places).positions.tolist() == [list(p) for p in places]


@pytest.mark.parametrize("count", [2, 4, 8])
def test_the_centroid_is_the_first_sample_that_is_covered(count: int) -> None:
    """The pixel's centre if all are, or none."""
    pattern = sample_pattern(count)
    assert pattern.centroids.shape == (2, 2**count)
    for mask in range(2**count):
        wanted = [0.0, 0.0]
        if 0 < mask < 2**count - 1:
            first = next(k for k in range(count) if mask >> k & 1)
            wanted = (pattern.positions[first] - 0.5).tolist()
        assert pattern.centroids[:, mask].tolist() == wanted


def random_edges(rng: np.random.Generator, count: int) -> Edges:
    """Triangles by whole numbers, as `a x + b y + c > 0` in 256ths of a pixel."""
    lines = np.empty((3, 3, count))
    boxes = np.empty((4, count), np.int64)
    for number in range(count):
        corners = rng.integers(-2 * 256, 14 * 256, (3, 2))
        (ax, ay), (bx, by), (cx, cy) = corners.tolist()
        if (bx - ax) * (cy - ay) - (by - ay) * (cx - ax) < 0:
            corners = corners[::-1]
        for k in range(3):
            (x, y), (to_x, to_y) = corners[k].tolist(), corners[(k + 1) % 3].tolist()
            a, b = y - to_y, to_x - x
            lines[:, k, number] = 256 * a or 1e-9, 256 * b, -(a * x + b * y)
        low, high = corners.min(axis=0) // 256, corners.max(axis=0) // 256 + 1
        boxes[:, number] = low[0], high[0], low[1], high[1]
    target = 12
    x0, x1, y0, y1 = boxes
    x1, y1 = np.minimum(x1, target), np.minimum(y1, target)
    return Edges(lines[0], lines[1], lines[2], np.maximum(x0, 0), x1, np.maximum(y0, 0), y1)


@pytest.mark.parametrize("count", [2, 4, 8, 16])
def test_samples_are_covered_inside_of_all_edges(count: int) -> None:
    pattern, target = sample_pattern(count), Rect(1, 2, 11, 12)
    edges = random_edges(np.random.default_rng(count), 40)
    spans = sampled_spans(edges, target, pattern)
    assert spans.bounds is not None and (spans.length > 0).all()
    found = {}
    for number in range(spans.count):
        columns = np.arange(spans.x[number], spans.x[number] + spans.length[number])
        lanes = np.full(len(columns), number)
        masks = sample_mask(spans, lanes, columns.astype(np.float64))
        assert masks.dtype == MASK
        for x, mask in zip(columns.tolist(), masks.tolist(), strict=True):
            found[int(spans.primitive[number]), x, int(spans.y[number])] = mask
        assert masks[0] and masks[-1]  # no wider than it has to be
    wanted = {}
    for primitive, x, y in itertools.product(range(40), range(1, 11), range(2, 12)):
        box = (edges.x0, edges.x1, edges.y0, edges.y1)
        x0, x1, y0, y1 = (int(b[primitive]) for b in box)
        if not (x0 - 1 <= x < x1 + 1 and y0 - 1 <= y < y1 + 1 and x0 < x1 and y0 < y1):
            continue
        mask = 0
        for sample, (dx, dy) in enumerate(pattern.positions.tolist()):
            values = edges.a[:, primitive] * (x + dx) + edges.b[:, primitive] * (y + dy)
            mask |= int((values + edges.c[:, primitive] > 0).all()) << sample
        if mask:
            wanted[primitive, x, y] = mask
    assert {key: mask for key, mask in found.items() if mask} == wanted
    assert len(wanted) > 500 and len(set(wanted.values())) > count
