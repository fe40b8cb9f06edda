"""Machine code clips triangles into the pieces that the shared parts make, bit for bit."""

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
from gallette.drivers.jit.clipping import cut_triangles
from gallette.pipe.state import RasterizerState, ViewportState

Array = npt.NDArray[Any]
SMOOTH, FLAT, LINEAR = VaryingSlot.VAR0, VaryingSlot.VAR0 + 1, VaryingSlot.VAR0 + 2
VIEWPORT = ViewportState((50.0, -37.5, 0.5), (51.0, 40.0, 0.5))
COUNT = 300


def vertex_set(seed: int, spread: float) -> VertexSet:
    rng = np.random.default_rng(seed)
    clip = rng.uniform(-spread, spread, (4, COUNT)).astype(np.float32)
    clip[3] = rng.uniform(-0.3, 1.5, COUNT)
    clip = np.where(rng.random((4, COUNT)) < 0.15, np.round(clip), clip)  # corners on planes
    clip = np.where(rng.random((4, COUNT)) < 0.01, np.float32(np.nan), clip)
    varyings = {
        SMOOTH: [rng.random(COUNT, np.float32), None, np.zeros((), np.float32), None],
        FLAT: [rng.integers(0, 1 << 31, COUNT).astype(np.uint32).view(np.float32)] + [None] * 3,
        LINEAR: [rng.random(COUNT, np.float32) for _ in range(4)],
        VaryingSlot.CLIP_DIST0: [
            rng.uniform(-1, 2, COUNT).astype(np.float32),
            np.full((), 0.5, np.float32),
            None,
            None,
        ],
    }
    return VertexSet(COUNT, clip.astype(np.float32), varyings, VIEWPORT)


def pieces(
    by_machine: bool, seed: int, spread: float, state: RasterizerState, distances: Any
) -> tuple[Array, list[Array]]:
    """Which triangle each piece comes from, and every value at its corners."""
    with np.errstate(all="ignore"):
        vertices = vertex_set(seed, spread)
        planes = ClipPlanes.of(state, distances)
        context = ClipContext(vertices, planes, frozenset({FLAT}), frozenset({LINEAR}))
        corners = np.random.default_rng(seed + 1).integers(0, COUNT, (500, 3))
        codes = clip_codes(vertices, planes)
        assert codes is not None
        some = np.bitwise_or.reduce(codes[corners], axis=1)
        provoking = corners[:, 0].copy()
        if by_machine:
            found = cut_triangles(context, corners, provoking, some, None)
            assert found is not None
        else:
            edges = np.full(len(corners), ALL_EDGES, np.uint8)
            found = clip_polygons(context, corners, provoking, some, edges)
    triangles, rows, _ = found
    values = [*vertices.clip, *vertices.window]
    for components in vertices.varyings.values():
        values += [v for v in components if v is not None and v.ndim]
    assert all(len(value) == vertices.count for value in values)
    return rows, [value.view(np.uint32)[triangles] for value in values]


@pytest.mark.parametrize("spread", [1.0, 3.0, 40.0])
@pytest.mark.parametrize(
    "state,distances",
    [
        (RasterizerState(), {}),
        (RasterizerState(clip_halfz=True), {6: (VaryingSlot.CLIP_DIST0, 0)}),
        (RasterizerState(depth_clamp=True), {9: (VaryingSlot.CLIP_DIST0, 1)}),
        (RasterizerState(depth_clip_far=False), {6: (VaryingSlot.CLIP_DIST0, 0)}),
    ],
)
def test_pieces_are_equal(spread: float, state: RasterizerState, distances: Any) -> None:
    made = 0
    for seed in range(3):
        rows, wanted = pieces(False, seed, spread, state, distances)
        own_rows, have = pieces(True, seed, spread, state, distances)
        assert np.array_equal(rows, own_rows)
        made += len(rows)
        for mine, theirs in zip(have, wanted, strict=True):
            nan = np.isnan(mine.view(np.float32)) & np.isnan(theirs.view(np.float32))
            assert np.array_equal(np.where(nan, 0, mine), np.where(nan, 0, theirs))
    assert made > 20


def test_a_distance_that_is_not_interpolated_like_places_is_left_to_the_shared_parts() -> None:
    with np.errstate(all="ignore"):
        vertices = vertex_set(0, 2.0)
    planes = ClipPlanes.of(RasterizerState(), {6: (LINEAR, 0)})
    context = ClipContext(vertices, planes, frozenset(), frozenset({LINEAR}))
    corners = np.zeros((1, 3), np.int64)
    assert cut_triangles(context, corners, corners[:, 0], np.ones(1, np.uint32), None) is None
