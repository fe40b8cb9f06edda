"""Lines are cut where exact arithmetic says that they leave what is seen."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.vertex.clip import ClipContext, ClipPlanes, clip_codes, clip_lines
from gallette.drivers.common.vertex.vertices import VertexSet
from gallette.pipe.state import ViewportState

VIEWPORT = ViewportState((8.0, 8.0, 0.5), (8.0, 8.0, 0.5))
DISTANCE = {6: (int(VaryingSlot.CLIP_DIST0), 0), 7: (int(VaryingSlot.CLIP_DIST0), 1)}
COUNT = 600
Place = tuple[int, ...]  # x, y, z, w and two distances

KINDS = {
    "plain": ClipPlanes(False, True, True),
    "depths from 0": ClipPlanes(True, True, True),
    "any depth": ClipPlanes(False, False, False),
    "distances": ClipPlanes(False, True, True, DISTANCE),
}


def distances(planes: ClipPlanes, at: Place) -> list[int]:
    """How far inside of each plane a place is."""
    x, y, z, w, first, second = at
    found = [w - x, w + x, w - y, w + y]
    if planes.near:
        found += [z if planes.halfz else w + z, w - z]
    if planes.distances:
        found += [first, second]
    return found


def seen_part(planes: ClipPlanes, start: Place, end: Place) -> tuple[Fraction, Fraction] | None:
    """From where to where a line that crosses a plane is seen; None: nowhere."""
    first, last = Fraction(0), Fraction(1)
    for a, b in zip(distances(planes, start), distances(planes, end), strict=True):
        if a < 0 and b < 0:
            return None
        if a < 0:
            first = max(first, Fraction(a, a - b))
        elif b < 0:
            last = min(last, Fraction(a, a - b))
    return (first, last) if first < last else None


@pytest.mark.parametrize("batch", [1, 3, COUNT])
@pytest.mark.parametrize("kind", KINDS)
def test_lines_are_cut_where_they_leave(kind: str, batch: int) -> None:
    planes = KINDS[kind]
    rng = np.random.default_rng(3)
    places = rng.integers(-4, 5, (2 * COUNT, 6))
    places[:, 3] = rng.integers(1, 4, 2 * COUNT)
    ends = np.arange(2 * COUNT).reshape(COUNT, 2)
    columns = [*np.ascontiguousarray(places[:, 4:].T, np.float32), None, None]
    smooth = (places[:, 0] * 3 - places[:, 1]).astype(np.float32)
    flat = np.arange(2 * COUNT, dtype=np.float32)
    vertices = VertexSet(
        2 * COUNT,
        np.ascontiguousarray(places[:, :4].T, np.float32),
        {
            VaryingSlot.CLIP_DIST0: columns,
            VaryingSlot.VAR0: [smooth, None, None, None],
            VaryingSlot.VAR1: [flat, None, None, None],
        },
        VIEWPORT,
    )
    codes = clip_codes(vertices, planes)
    assert codes is not None
    # who is wholly beside one plane does not come here, nor who is wholly inside
    crossing = np.flatnonzero(
        (codes[ends[:, 0]] & codes[ends[:, 1]] == 0) & (codes[ends].any(axis=1))
    )
    context = ClipContext(vertices, planes, frozenset({VaryingSlot.VAR1}), frozenset())
    given = ends[crossing]
    touched = codes[given[:, 0]] | codes[given[:, 1]]
    parts = []
    with np.errstate(all="ignore"):
        for at in range(0, len(given), batch):
            some = slice(at, at + batch)
            parts.append(clip_lines(context, given[some], given[some, 1], touched[some]))
    new, alive = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    cut = gone = 0
    for (start, end), (first, last), left in zip(given, new, alive, strict=True):
        wanted = seen_part(planes, tuple(map(int, places[start])), tuple(map(int, places[end])))
        assert bool(left) is (wanted is not None), (places[start], places[end])
        if wanted is None:
            gone += 1
            continue
        for number, own, t in ((first, start, wanted[0]), (last, end, wanted[1])):
            if t in (0, 1):
                assert number == own  # an end that is seen stays the vertex it is
                continue
            cut += 1
            assert number >= 2 * COUNT
            place = places[start, :4] + float(t) * (places[end, :4] - places[start, :4])
            assert np.allclose(vertices.clip[:, number], place, atol=1e-5)
            value = smooth[start] + float(t) * (smooth[end] - smooth[start])
            assert np.isclose(vertices.component(VaryingSlot.VAR0, 0)[number], value, atol=1e-4)
            assert vertices.component(VaryingSlot.VAR1, 0)[number] == flat[end]
    assert cut > 100 and gone > 30


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_a_line_to_nowhere_is_not_seen(number: float) -> None:
    clip = np.array([[0, 0, 0, 1], [number, 0, 0, 1], [0.5, 0, 0, 1], [2, 0, 0, 1]], np.float32).T
    vertices = VertexSet(4, clip.copy(), {}, VIEWPORT)
    planes = KINDS["plain"]
    codes = clip_codes(vertices, planes)
    assert codes is not None
    ends = np.array([[0, 1], [1, 0], [2, 3]])
    touched = codes[ends[:, 0]] | codes[ends[:, 1]]
    context = ClipContext(vertices, planes, frozenset(), frozenset())
    with np.errstate(all="ignore"):
        _, alive = clip_lines(context, ends, ends[:, 0], touched)
    assert alive.tolist() == [False, False, True]
