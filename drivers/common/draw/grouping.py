"""Draws of several states that wait together, executed state by state.

Where two draws cannot touch the same pixel nobody can tell which of them came first. So the
vertices of all draws are found first, which gives every draw a rectangle. A draw has to wait for
those before it whose rectangles it meets, and for no others; of the draws that need not wait any
more, all of one state are executed at once, those of the state that has the most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.output.engine import FragmentEngine, FragmentRun
from gallette.drivers.common.output.fragment_state import FragmentShader
from gallette.drivers.common.raster.interpolate import PlaneSource
from gallette.drivers.common.raster.lanes import PrimitiveInfo
from gallette.drivers.common.raster.primitives import RasterContext
from gallette.drivers.common.raster.spans import Spans
from gallette.drivers.common.vertex.vertices import VertexSet
from gallette.pipe.enums import PolygonMode, Primitive

from .parts import Primitives
from .pipeline import rasterize_part, run_part
from .state import DrawState

__all__ = ["Covered", "Group", "Kept", "Portion", "batches", "rectangles", "rows_covered"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_TILES = 8
"""Draws are said to meet where they touch a square; most draws are about so many squares wide."""

_MANY_TILES = 1 << 22

_MOST_ROWS = 1 << 20
"""Rows of primitives whose spans are kept."""

_SNAPPED = 1 / 128  # more than positions move when they are snapped

_FILLED = frozenset(
    {Primitive.TRIANGLES, Primitive.TRIANGLE_STRIP, Primitive.TRIANGLE_FAN, Primitive.QUADS}
)


@dataclass(frozen=True, slots=True)
class Covered:
    """Pixels some primitives cover, as they come from the rasterizer."""

    spans: Spans
    source: PlaneSource
    info: PrimitiveInfo


class Kept:
    """A place for what is covered."""

    def __init__(self) -> None:
        self.found: list[Covered] = []

    def draw(self, spans: Spans, source: PlaneSource, info: PrimitiveInfo) -> None:
        """Keep it."""
        self.found.append(Covered(spans, source, info))


@dataclass(frozen=True, slots=True)
class Portion:
    """What becomes of the fragments of some of a group's draws."""

    engine: FragmentEngine
    shader: FragmentShader


@dataclass(slots=True)
class Group:
    """Draws of one state: which of those that wait they are, and their primitives."""

    draw: DrawState
    mode: Primitive
    entries: Sequence[int]
    primitives: Primitives | None  # their `identity` is the number of the draw in the group
    starts: Ints | None = None  # the first vertex of each draw, where not all have as many
    covered: list[Covered] | None = None  # what they cover, once that is known
    keeping: bool | None = None
    # Of draws in several states that have their primitives in common (see `sharing`): those, and
    # which of them each draw is in.
    portions: Sequence[Portion] = ()
    portion: npt.NDArray[np.uint8] | None = None

    @property
    def engines(self) -> list[FragmentEngine]:
        """The engines that its fragments go through."""
        return [each.engine for each in self.portions] or [self.draw.fixed.engine]

    def part(self, rows: Sequence[int]) -> Primitives | None:
        """The primitives of some of the draws, in order."""
        whole = self.primitives
        if whole is None or len(rows) == len(self.entries):
            return whole
        kept = np.flatnonzero(self._wanted(rows)[whole.identity])
        return Primitives(
            whole.vertices,
            whole.corners[kept],
            whole.provoking[kept],
            whole.identity[kept],
            None if whole.edges is None else whole.edges[kept],
        )

    def _wanted(self, rows: Sequence[int]) -> Bools:
        wanted = np.zeros(len(self.entries), np.bool_)
        wanted[list(rows)] = True
        return wanted

    def execute(self, rows: Sequence[int]) -> None:
        """Draw some of the draws. If they are not all, the rest will find out what it covers."""
        if self.primitives is None:
            return
        if self.keeping is None:
            self.keeping = len(rows) < len(self.entries) and self._keeps()
        if not self.keeping:
            part = self.part(rows)
            if part is not None:
                run_part(self.draw, self.mode, part)
            return
        if self.covered is None:
            kept = Kept()
            rasterize_part(self.draw, self.mode, self.primitives, kept)
            self.covered = kept.found
        run = FragmentRun(self.draw.fixed.engine, self.draw.fragment)
        wanted = self._wanted(rows)
        for each in self.covered:
            chosen = np.flatnonzero(wanted[each.info.identity].take(each.spans.primitive))
            if len(chosen):
                run.draw(each.spans.take(chosen), each.source, each.info)
        self.draw.fixed.engine.finish()

    def _keeps(self) -> bool:
        """Is what all draws cover little enough to be kept, and nobody else's business?"""
        if hasattr(self.draw.fragment.program, "fill") or self.draw.witness is not None:
            return False
        return rows_covered(self) <= _MOST_ROWS


def rows_covered(group: Group) -> float:
    """At most how many rows the primitives of a group cover, all added up; perhaps not a number."""
    if group.primitives is None:
        return 0.0
    y = group.primitives.vertices.window[1]
    uneven = group.starts is not None
    y = y.take(group.primitives.corners) if uneven else y.reshape(len(group.entries), -1)
    with np.errstate(all="ignore"):  # infinite less infinite is not a number
        rows = np.minimum(np.ptp(y, axis=1) + 2, group.draw.fixed.raster.target.y1)
    return float(rows.sum() * (1 if uneven else y.shape[1]))


def rectangles(group: Group) -> Ints:
    """The pixels each draw of a group may touch, `[draw, (x0, y0, x1, y1)]`, the last inclusive."""
    context = group.draw.fixed.raster
    count = len(group.entries)
    last_x, last_y = context.target.x1 - 1, context.target.y1 - 1
    found = np.empty((count, 4), np.int64)
    found[:] = (0, 0, max(last_x, 0), max(last_y, 0))
    if group.primitives is None or not _stays_inside(group, context):
        return found
    vertices = group.primitives.vertices
    if group.starts is not None:
        return _uneven(vertices, group.starts, found)
    known = _finite(vertices, count)
    window = vertices.window[:2, : vertices.count // count * count].reshape(2, count, -1)
    window = window[:, known]
    low = np.floor(window.min(axis=2) - _SNAPPED)
    high = np.floor(window.max(axis=2) + _SNAPPED)
    last = np.array([[max(last_x, 0)], [max(last_y, 0)]])
    found[known, :2] = np.clip(low, 0, last).T
    found[known, 2:] = np.clip(high, 0, last).T
    return found


def _uneven(vertices: VertexSet, starts: Ints, found: Ints) -> Ints:
    """The same where draws begin at these vertices; `found` are the widest they can be."""
    good = (vertices.clip[3] > 1e-6) & (np.abs(vertices.window[:2]) < 1e6).all(axis=0)
    known = np.logical_and.reduceat(good, starts)
    window = np.where(good, vertices.window[:2], 0)
    low = np.floor(np.minimum.reduceat(window, starts, axis=1) - _SNAPPED)[:, known]
    high = np.floor(np.maximum.reduceat(window, starts, axis=1) + _SNAPPED)[:, known]
    last = found[:1, 2:].T
    found[known, :2] = np.clip(low, 0, last).T
    found[known, 2:] = np.clip(high, 0, last).T
    return found


def _stays_inside(group: Group, context: RasterContext) -> bool:
    """Primitives cover nothing outside the rectangle of their vertices."""
    state = context.state
    assert group.primitives is not None
    return (
        group.mode in _FILLED
        and state.fill_front is state.fill_back is PolygonMode.FILL
        and VaryingSlot.VIEWPORT not in group.primitives.vertices.varyings
    )


def _finite(vertices: VertexSet, count: int) -> Bools:
    """Draws all of whose vertices are somewhere in front of the eye."""
    good = (vertices.clip[3] > 1e-6) & (np.abs(vertices.window[:2]) < 1e6).all(axis=0)
    known: Bools = good.reshape(count, -1).all(axis=1)
    return known


def batches(groups: Sequence[Group]) -> list[tuple[Group, list[int]]]:
    """What to draw in which order: a group, and which of its draws (by their number in it)."""
    order = sorted(
        (entry, number, row)
        for number, group in enumerate(groups)
        for row, entry in enumerate(group.entries)
    )
    owner = [number for _, number, _ in order]
    before, after = _meetings(_tiles(groups), order)
    ready: list[list[int]] = [[] for _ in groups]
    for draw, count in enumerate(before):
        if not count:
            ready[owner[draw]].append(draw)
    found: list[tuple[Group, list[int]]] = []
    while True:
        number = max(range(len(groups)), key=lambda n: len(ready[n]))
        waiting = ready[number]
        if not waiting:
            return found
        ready[number] = []
        batch: list[int] = []
        while waiting:
            draw = waiting.pop()
            batch.append(draw)
            for later in after[draw]:
                before[later] -= 1
                if not before[later]:
                    (waiting if owner[later] == number else ready[owner[later]]).append(later)
        batch.sort()
        found.append((groups[number], [order[draw][2] for draw in batch]))


def _tiles(groups: Sequence[Group]) -> list[list[list[int]]]:
    """Each draw's rectangle in tiles, a few to a side of most."""
    touched = [rectangles(group) for group in groups]
    sides = np.concatenate([each[:, 2:] - each[:, :2] + 1 for each in touched])
    tile = max(1, int(np.median(sides)) // _TILES)
    if int((sides // tile + 1).prod(axis=1).sum()) > _MANY_TILES:
        tile *= 8
    return [(each // tile).tolist() for each in touched]


def _meetings(
    places: list[list[list[int]]], order: list[tuple[int, int, int]]
) -> tuple[list[int], list[list[int]]]:
    """How many draws must come before each, and which may come only after it.

    Of the draws a tile has seen only the last one counts: it came after the others.
    """
    extent = max((max(place[2], place[3]) for each in places for place in each), default=0) + 1
    last = np.full((extent, extent), -1, np.int32)
    before: list[int] = []
    after: list[list[int]] = []
    for draw, (_, number, row) in enumerate(order):
        x0, y0, x1, y1 = places[number][row]
        there = last[y0 : y1 + 1, x0 : x1 + 1]
        earlier = set(there.ravel().tolist())
        earlier.discard(-1)
        for other in earlier:
            after[other].append(draw)
        before.append(len(earlier))
        after.append([])
        there[:] = draw
    return before, after
