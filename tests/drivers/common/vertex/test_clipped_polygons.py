"""Clipped triangles: what is left covers what is inside, and outlines go along its edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.vertex.assembly import ALL_EDGES
from gallette.drivers.common.vertex.clip import (
    ClipContext,
    ClipPlanes,
    clip_codes,
    clip_polygons,
)
from gallette.drivers.common.vertex.vertices import VertexSet
from gallette.pipe.state import ViewportState

Array = npt.NDArray[Any]
VIEWPORT = ViewportState((1.0, 1.0, 1.0), (0.0, 0.0, 0.0))
SLOT = VaryingSlot.CLIP_DIST0
LOW, HIGH = -1.0, 1.0


def triangles(seed: int, count: int) -> VertexSet:
    """Around the square from -1 to 1, half of whose right part is cut off by a clip distance."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(-2, 2, (2, 3 * count))
    clip = np.stack((*places, np.zeros(3 * count), np.ones(3 * count))).astype(np.float32)
    return VertexSet(3 * count, clip, {SLOT: [0.5 - clip[0], None, None, None]}, VIEWPORT)


def inside(start: Array, end: Array, right: float) -> float:
    """How much of a line is left, by halving it again and again."""
    at = start + np.linspace(0, 1, 20001)[:, None] * (end - start)
    x, y = at.T
    seen = (x >= LOW) & (x <= right) & (y >= LOW) & (y <= HIGH)
    return float(seen.mean() * np.hypot(*(end - start)))


@pytest.mark.parametrize("cut", [False, True])
def test_edges(cut: bool) -> None:
    """Original edges are drawn as far as they are inside, and so are those of clip distances."""
    count, right = 60, 0.5 if cut else HIGH
    vertices = triangles(3, count)
    planes = ClipPlanes(False, True, True, {6: (SLOT, 0)} if cut else {})
    codes = clip_codes(vertices, planes)
    assert codes is not None
    corners = np.arange(3 * count).reshape(-1, 3)
    some = np.bitwise_or.reduce(codes[corners], axis=1)
    marks = np.where(np.arange(count) % 3, ALL_EDGES, 0b101).astype(np.uint8)
    context = ClipContext(vertices, planes, frozenset(), frozenset())
    pieces, rows, edges = clip_polygons(context, corners, corners[:, 0], some, marks)
    assert edges is not None
    unmarked = clip_polygons(context, corners, corners[:, 0], some, None)
    assert unmarked[2] is None and unmarked[1].tolist() == rows.tolist()
    place = vertices.clip[:2].T.astype(np.float64)
    drawn = np.zeros(count)
    along = np.zeros(count)
    for piece, row, mask in zip(pieces, rows.tolist(), edges.tolist(), strict=True):
        for k in range(3):
            if mask >> k & 1:
                start, end = place[piece[k]], place[piece[(k + 1) % 3]]
                on_cut = cut and abs(start[0] - right) < 1e-6 > abs(end[0] - right)
                (along if on_cut else drawn)[row] += np.hypot(*(end - start))
    for row in range(count):
        first = place[3 * row : 3 * row + 3]
        kept = [k for k in range(3) if marks[row] >> k & 1]
        wanted = sum(inside(first[k], first[(k + 1) % 3], right) for k in kept)
        assert drawn[row] == pytest.approx(wanted, abs=2e-3), row
    assert (along.max() > 0.3) == cut


@pytest.mark.parametrize("seed", range(5))
def test_area(seed: int) -> None:
    """The pieces of a triangle cover it inside of the planes, each turned as it was."""
    count = 40
    vertices = triangles(seed, count)
    planes = ClipPlanes(False, True, True, {6: (SLOT, 0)})
    codes = clip_codes(vertices, planes)
    assert codes is not None
    corners = np.arange(3 * count).reshape(-1, 3)
    some = np.bitwise_or.reduce(codes[corners], axis=1)
    context = ClipContext(vertices, planes, frozenset(), frozenset())
    pieces, rows, _ = clip_polygons(context, corners, corners[:, 0], some, None)
    assert (np.diff(rows) >= 0).all()
    x, y = vertices.clip[:2].astype(np.float64)

    def areas(of: Array) -> Array:
        a, b, c = of.T
        return ((x[b] - x[a]) * (y[c] - y[a]) - (x[c] - x[a]) * (y[b] - y[a])) / 2

    found = np.bincount(rows, areas(pieces), count)
    step = (np.arange(600) + 0.5) / 300 - 1
    px, py = (axis.reshape(-1) for axis in np.meshgrid(step, step))
    whole = areas(corners)
    for row in range(count):
        a, b, c = corners[row]
        sides = [
            (x[q] - x[p]) * (py - y[p]) - (y[q] - y[p]) * (px - x[p])
            for p, q in ((a, b), (b, c), (c, a))
        ]
        seen = np.all([side * np.sign(whole[row]) >= 0 for side in sides], axis=0) & (px <= 0.5)
        assert abs(found[row]) == pytest.approx(seen.mean() * 4, abs=0.01)
        assert found[row] * whole[row] >= 0
    assert (areas(pieces) * whole[rows] >= -1e-6).all()


@pytest.mark.parametrize("halfz", [False, True])
@pytest.mark.parametrize("distance", [False, True])
@pytest.mark.parametrize("ends", [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize("sides", [False, True])
def test_codes(sides: bool, ends: tuple[bool, bool], distance: bool, halfz: bool) -> None:
    rng = np.random.default_rng(7)
    clip = rng.uniform(-2, 2, (4, 400)).astype(np.float32)
    clip[3, ::7] = clip[1, ::7]  # on planes
    clip[0, ::31] = np.nan
    values = rng.uniform(-1, 1, 400).astype(np.float32)
    vertices = VertexSet(400, clip, {SLOT: [values, None, None, None]}, VIEWPORT)
    planes = ClipPlanes(halfz, *ends, {8: (SLOT, 0)} if distance else {})
    x, y, z, w = clip
    along = [w - x, w + x, w - y, w + y, z if halfz else w + z, w - z]
    wanted = np.zeros(400, np.uint32)
    for plane, far in enumerate(along):
        if (plane < 4 and sides) or (plane >= 4 and ends[plane - 4]):
            wanted |= (~(far >= 0)).astype(np.uint32) << np.uint32(plane)
    if distance:
        wanted |= (values < 0).astype(np.uint32) << np.uint32(8)
    found = clip_codes(vertices, planes, sides)
    if not wanted.any():
        assert found is None
    else:
        assert found is not None and found.tolist() == wanted.tolist()
