"""Primitive assembly against a plain loop over the specification's tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gallette.drivers.common.vertex.assembly import Runs, assemble, cut_runs
from gallette.pipe.enums import Primitive

P = Primitive


def spelt_out(mode: Primitive, n: int) -> list[tuple[int, ...]]:
    """The polygons, lines and points of n vertices, corners in GL's order."""
    if mode is P.POINTS:
        return [(i,) for i in range(n)]
    if mode is P.LINES:
        return [(i, i + 1) for i in range(0, n - 1, 2)]
    if mode is P.LINE_STRIP:
        return [(i, i + 1) for i in range(n - 1)]
    if mode is P.LINE_LOOP:
        return [(i, (i + 1) % n) for i in range(n)] if n > 1 else []
    if mode is P.TRIANGLES:
        return [(i, i + 1, i + 2) for i in range(0, n - 2, 3)]
    if mode is P.TRIANGLE_STRIP:
        return [(i, i + 1, i + 2) if i % 2 == 0 else (i + 1, i, i + 2) for i in range(n - 2)]
    if mode is P.TRIANGLE_FAN:
        return [(0, i + 1, i + 2) for i in range(n - 2)]
    if mode is P.QUADS:
        return [(i, i + 1, i + 2, i + 3) for i in range(0, n - 3, 4)]
    if mode is P.QUAD_STRIP:
        return [(i, i + 1, i + 3, i + 2) for i in range(0, n - 3, 2)]
    if mode is P.POLYGON:
        return [tuple(range(n))] if n > 2 else []
    if mode is P.LINES_ADJACENCY:
        return [(i + 1, i + 2) for i in range(0, n - 3, 4)]
    if mode is P.LINE_STRIP_ADJACENCY:
        return [(i + 1, i + 2) for i in range(n - 3)]
    if mode is P.TRIANGLES_ADJACENCY:
        return [(i, i + 2, i + 4) for i in range(0, n - 5, 6)]
    strip = range(0, n - 5, 2)
    return [(i, i + 2, i + 4) if i // 2 % 2 == 0 else (i + 2, i, i + 4) for i in strip]


def provoking(mode: Primitive, polygon: tuple[int, ...], index: int, first: bool) -> int:
    """The provoking vertex by the specification's table."""
    if mode is P.POLYGON:
        return polygon[0]
    if mode is P.TRIANGLE_FAN:
        return polygon[1] if first else polygon[2]
    if mode in (P.TRIANGLE_STRIP, P.TRIANGLE_STRIP_ADJACENCY):
        return min(polygon) if first else max(polygon)
    if mode is P.QUAD_STRIP:  # quads need not follow the convention (section 13.4)
        return polygon[2]
    if mode is P.QUADS:
        return polygon[3]
    return polygon[0] if first else polygon[-1]


def rotations(corners: tuple[int, ...]) -> set[tuple[int, ...]]:
    return {corners[i:] + corners[:i] for i in range(len(corners))}


@given(
    mode=st.sampled_from([m for m in Primitive if m is not P.PATCHES]),
    lengths=st.lists(st.integers(0, 11), min_size=1, max_size=4),
    first=st.booleans(),
    plain=st.booleans(),
)
def test_every_mode_matches_the_specification(
    mode: Primitive, lengths: list[int], first: bool, plain: bool
) -> None:
    starts = np.cumsum([0, *lengths[:-1]])
    made = assemble(mode, Runs(starts, np.array(lengths)), first, plain)
    at = 0
    for start, length in zip(starts.tolist(), lengths, strict=True):
        for index, polygon in enumerate(spelt_out(mode, length)):
            wanted = tuple(c + start for c in polygon)
            pieces = max(1, len(polygon) - 2)
            rows = [tuple(int(c) for c in r) for r in made.corners[at : at + pieces]]
            who = provoking(mode, polygon, index, first) + start
            assert {int(p) for p in made.provoking[at : at + pieces]} == {who}
            if len(polygon) <= 2:
                assert rows == [wanted]
            elif len(polygon) == 3:
                assert rows[0] in rotations(wanted)
            else:
                outline = check_outline(made.edges[at : at + pieces], rows)  # type: ignore[index]
                assert outline == set(zip(wanted, wanted[1:] + wanted[:1], strict=True))
            at += pieces
    assert at == len(made.corners)


def check_outline(masks: np.ndarray, rows: list[tuple[int, ...]]) -> set[tuple[int, int]]:
    """The real edges of a polygon's triangles; every triangle keeps the winding."""
    found: set[tuple[int, int]] = set()
    for mask, (a, b, c) in zip(masks, rows, strict=True):
        edges = ((a, b), (b, c), (c, a))
        found |= {edge for bit, edge in enumerate(edges) if mask >> bit & 1}
    return found


@pytest.mark.parametrize(
    ("indices", "kept", "starts", "lengths"),
    [
        ([1, 2, 3], [0, 1, 2], [0], [3]),
        ([9, 1, 2], [1, 2], [0, 0], [0, 2]),
        ([1, 9, 9, 2], [0, 3], [0, 1, 1], [1, 0, 1]),
        ([1, 2, 9], [0, 1], [0, 2], [2, 0]),
    ],
)
def test_restart_cuts_the_stream(
    indices: list[int], kept: list[int], starts: list[int], lengths: list[int]
) -> None:
    positions, runs = cut_runs(np.array(indices, np.uint32), 9)
    assert positions.tolist() == kept
    assert runs.start.tolist() == starts
    assert runs.length.tolist() == lengths
