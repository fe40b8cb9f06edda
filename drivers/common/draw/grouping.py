"""Draws of several states that wait together, executed state by state.

Where two draws cannot touch the same pixel nobody can tell which of them came first. So the
vertices of all draws are found first, which gives every draw a rectangle; then each draw gets a
*level*, one more than that of any draw of another state it may cover, and no less than those of its
own state. Going through the levels, and within one through the states, keeps the order of any two
draws that meet, and there are as many batches as the picture needs and no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.raster.primitives import RasterContext
from gallette.drivers.common.vertex.vertices import VertexSet
from gallette.pipe.enums import PolygonMode, Primitive

from .parts import Primitives
from .state import DrawState

__all__ = ["Group", "batches", "rectangles"]

Ints = npt.NDArray[np.int64]

_TILE = 8
"""Pixels per side of the squares in which draws are said to meet."""

_FILLED = frozenset(
    {Primitive.TRIANGLES, Primitive.TRIANGLE_STRIP, Primitive.TRIANGLE_FAN, Primitive.QUADS}
)


@dataclass(slots=True)
class Group:
    """Draws of one state: which of those that wait they are, and their primitives."""

    draw: DrawState
    mode: Primitive
    entries: Sequence[int]
    primitives: Primitives | None  # their `identity` is the number of the draw in the group

    def part(self, rows: Sequence[int]) -> Primitives | None:
        """The primitives of some of the draws, in order."""
        whole = self.primitives
        if whole is None or len(rows) == len(self.entries):
            return whole
        wanted = np.zeros(len(self.entries), np.bool_)
        wanted[list(rows)] = True
        kept = np.flatnonzero(wanted[whole.identity])
        return Primitives(
            whole.vertices,
            whole.corners[kept],
            whole.provoking[kept],
            whole.identity[kept],
            None if whole.edges is None else whole.edges[kept],
        )


def rectangles(group: Group) -> Ints:
    """The tiles each draw of a group may touch, `[draw, (x0, y0, x1, y1)]`, the last inclusive."""
    context = group.draw.fixed.raster
    count = len(group.entries)
    last_x, last_y = (context.target.x1 - 1) // _TILE, (context.target.y1 - 1) // _TILE
    found = np.empty((count, 4), np.int64)
    found[:] = (0, 0, max(last_x, 0), max(last_y, 0))
    if group.primitives is None or not _stays_inside(group, context):
        return found
    vertices = group.primitives.vertices
    known = _finite(vertices, count)
    window = vertices.window[:2, : vertices.count // count * count].reshape(2, count, -1)
    low = (np.floor(window.min(axis=2)) - 1) // _TILE
    high = (np.ceil(window.max(axis=2)) + 1) // _TILE
    last = np.array([[max(last_x, 0)], [max(last_y, 0)]])
    low, high = np.clip(low, 0, last), np.clip(high, 0, last)
    found[known, :2] = low.T[known]
    found[known, 2:] = high.T[known]
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


def _finite(vertices: VertexSet, count: int) -> npt.NDArray[np.bool_]:
    """Draws all of whose vertices are somewhere in front of the eye."""
    good = (vertices.clip[3] > 1e-6) & (np.abs(vertices.window[:2]) < 1e6).all(axis=0)
    known: npt.NDArray[np.bool_] = good.reshape(count, -1).all(axis=1)
    return known


def batches(groups: Sequence[Group]) -> list[tuple[Group, list[int]]]:
    """What to draw in which order: a group, and which of its draws (by their number in it)."""
    order = sorted(
        (entry, number, row)
        for number, group in enumerate(groups)
        for row, entry in enumerate(group.entries)
    )
    places = [rectangles(group).tolist() for group in groups]
    extent = max((max(place[2], place[3]) for each in places for place in each), default=0) + 1
    levels = np.zeros((extent, extent), np.int64)
    owners = np.full((extent, extent), -1, np.int64)
    found: dict[tuple[int, int], list[int]] = {}
    for _, number, row in order:
        x0, y0, x1, y1 = places[number][row]
        place = (slice(y0, y1 + 1), slice(x0, x1 + 1))
        below = levels[place]
        level = int((below + (owners[place] != number)).max())
        levels[place] = level
        owners[place] = number
        found.setdefault((level, number), []).append(row)
    return [(groups[number], rows) for (_, number), rows in sorted(found.items())]
