"""Triangles of small batches from corners to spans: all edges of them in one array.

What a handful of triangles takes is mostly what it takes to call NumPy. So here one call does for
all three edges what `setup` and `spans` do edge by edge, which for many triangles is quicker: what
they work on stays in the cache. Operands are arrays (even numbers) and are of one shape, for which
NumPy has a short way. Numbers are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.vertex.masks import ends_of, every, where
from gallette.drivers.common.vertex.vertices import Ints, VertexSet
from gallette.pipe.enums import CullFace, PolygonMode
from gallette.pipe.state import RasterizerState

from .interpolate import PlaneSource
from .lanes import PrimitiveInfo
from .setup import FAR, SUBPIXELS, Edges, Rect
from .spans import Spans, spans_of

__all__ = ["FEW", "FewTriangles"]

FEW = 256
"""Up to so many triangles are few."""

_MANY_ROWS = 1 << 13
"""More rows are no few: one edge after the other, then."""

Doubles = npt.NDArray[np.float64]


def _number(value: float, kind: type[np.floating[Any]] = np.float64) -> npt.NDArray[Any]:
    """As an operand: NumPy asks what to do with Python's numbers each time."""
    return np.array(value, kind)


_ZERO, _ONE, _MINUS = _number(0.0), _number(1.0), _number(-1.0)
_STEPS, _BACK, _PIXELS = _number(SUBPIXELS), _number(-SUBPIXELS), _number(1.0 / SUBPIXELS)
_FAR, _INFINITE = _number(FAR), _number(np.inf)
_HALF, _NO_HALF, _SNAPPED = (_number(v, np.float32) for v in (0.5, 0.0, SUBPIXELS))
_DOUBLE, _INT = np.dtype(np.float64), np.dtype(np.int64)

_COUNTING = np.arange(_MANY_ROWS, dtype=np.float64)
_NUMBERS = np.arange(FEW)
_FOLLOWING = np.array([1, 2, 0])
_A, _B, _C = slice(0, 3), slice(3, 6), slice(6, 9)
_LEFT, _RIGHT, _ROW = 9, 10, 11
_RUN = slice(_LEFT, _ROW + 1)


@dataclass(frozen=True, slots=True, eq=False)
class FewTriangles:
    """How few triangles are filled in a state of the rasterizer, as far as it says."""

    pixel_center: bool
    front_ccw: bool
    culls_front: bool
    culls_back: bool
    bottom_edge_rule: bool
    swapped: Ints  # the corners of one that is turned round

    @classmethod
    @lru_cache(maxsize=256)
    def of(cls, state: RasterizerState) -> FewTriangles | None:
        """None where triangles may be anything but filled and as they are."""
        if not (state.fill_front is state.fill_back is PolygonMode.FILL):
            return None
        if state.conservative or state.offset_tri:
            return None
        return cls(
            state.half_pixel_center,
            state.front_ccw,
            bool(state.cull_face & CullFace.FRONT),
            bool(state.cull_face & CullFace.BACK),
            state.bottom_edge_rule,
            np.array((0, 2, 1) if state.flatshade_first else (1, 0, 2)),
        )

    def rasterize(
        self,
        vertices: VertexSet,
        corners: Ints,
        provoking: Ints,
        identity: npt.NDArray[np.int32],
        target: Rect,
    ) -> tuple[Spans, PlaneSource, PrimitiveInfo] | None:
        """The spans of triangles, and where their fragments get values; None: there are none.

        Culled are those without area, or that face the wrong way, or where no pixel's centre lies
        between their corners; the rest are turned clockwise. Corner 0 or 2 provokes and stays.
        """
        columns = corners.T
        snapped = vertices.window[:2] - (_HALF if self.pixel_center else _NO_HALF)
        np.multiply(snapped, _SNAPPED, snapped)
        places = np.rint(snapped, snapped).astype(_DOUBLE)
        x, y = places[0].take(columns), places[1].take(columns)
        dx, dy = x - x.take(_FOLLOWING, axis=0), y - y.take(_FOLLOWING, axis=0)
        area = dx[0] * dy[2]
        area -= dx[2] * dy[0]
        clockwise = area > _ZERO
        box = _box(x, y)
        size = box[2:] - box[:2]
        keep = np.minimum(size[0], size[1]) >= _ZERO
        keep &= np.isfinite(area)
        if np.count_nonzero(area) < len(area):
            keep &= area != _ZERO
        front = ~clockwise if self.front_ccw else clockwise
        if self.culls_front:
            keep &= ~front
        if self.culls_back:
            keep &= front
        kept = np.count_nonzero(keep)
        if kept < len(keep):
            if not kept:
                return None
            rows = where(keep)
            columns, box = columns.take(rows, axis=1), box.take(rows, axis=1)
            x, y, dx, dy = (each.take(rows, axis=1) for each in (x, y, dx, dy))
            front, clockwise = front.take(rows), clockwise.take(rows)
            provoking, identity = provoking.take(rows), identity.take(rows)
        right = np.count_nonzero(clockwise)
        if right < kept:
            turned = columns.take(self.swapped, axis=0)
            if right:
                columns = np.where(clockwise, columns, turned)
                way = np.where(clockwise, _ONE, _MINUS)
                dx *= way
                dy *= way
            else:
                columns = turned
                np.negative(dx, dx)
                np.negative(dy, dy)
        spans = _spans(self._edges(x, y, dx, dy), box, target)
        if spans is None:
            return None
        source = PlaneSource(vertices, columns, provoking, self.pixel_center)
        return spans, source, PrimitiveInfo(front, identity)

    def _edges(self, x: Doubles, y: Doubles, dx: Doubles, dy: Doubles) -> Doubles:
        """`a`, `b` and `c` of all three edges (see `setup`), and room for what rows need."""
        edges = np.empty((12, x.shape[1]))
        c = np.multiply(dy, x, edges[_C])
        c -= dx * y
        far = dy * _FAR
        c += dx > far if self.bottom_edge_rule else dx < np.negative(far, far)
        np.multiply(dy, _BACK, edges[_A])
        np.multiply(dx, _STEPS, edges[_B])
        return edges


def _box(x: Doubles, y: Doubles) -> Doubles:
    """The first column and row whose centres are between the corners, and the last ones."""
    box = np.empty((4, x.shape[1]))
    for row, find, corners in (
        (box[0], np.minimum, x),
        (box[1], np.minimum, y),
        (box[2], np.maximum, x),
        (box[3], np.maximum, y),
    ):
        find(corners[0], corners[1], out=row)
        find(row, corners[2], out=row)
    np.multiply(box, _PIXELS, box)
    np.ceil(box[:2], box[:2])
    np.floor(box[2:], box[2:])
    return box


@lru_cache(maxsize=256)
def _sides(x0: int, y0: int, x1: int, y1: int) -> tuple[Doubles, ...]:
    """The first column and row of a rectangle, and those past its last."""
    return _number(x0), _number(y0), _number(x1), _number(y1)


def _spans(edges: Doubles, box: Doubles, target: Rect) -> Spans | None:
    """The covered runs of pixels of all triangles, rows ascending (see `spans.spans_of`)."""
    x0, y0, x1, y1 = _sides(target.x0, target.y0, target.x1, target.y1)
    left, top, right, bottom = box[0], box[1], box[2], box[3]
    np.add(box[2:], _ONE, box[2:])
    np.maximum(left, x0, out=left)
    np.maximum(top, y0, out=top)
    np.minimum(right, x1, out=right)
    np.minimum(bottom, y1, out=bottom)
    size = box[2:] - box[:2]
    np.maximum(size, _ZERO, out=size)
    heights = size[1].astype(_INT)
    if np.count_nonzero(size[0]) < len(heights):
        heights[size[0] == _ZERO] = 0
    ends = ends_of(heights)
    count = int(ends[-1])
    if not count:
        return None
    if count > _MANY_ROWS:
        sides = box.astype(_INT)
        whole = Edges(edges[_A], edges[_B], edges[_C], sides[0], sides[2], sides[1], sides[3])
        return spans_of(whole)
    edges[_LEFT], edges[_RIGHT] = left, right
    ends -= heights
    np.subtract(top, ends, edges[_ROW])
    primitive = _NUMBERS[: len(ends)].repeat(heights)
    each = edges.take(primitive, axis=1)
    row, slope, value, crossing = each[_ROW], each[_A], each[_B], each[_C]
    np.add(row, _COUNTING[:count], row)
    for edge in range(3):
        np.multiply(value[edge], row, value[edge])
    np.add(value, crossing, value)
    # What bounds x is found as in `spans.bound`.
    np.divide(value, slope, crossing)
    np.negative(crossing, crossing)
    side = np.copysign(_INFINITE, slope)
    lows = np.floor(crossing)
    np.add(lows, _ONE, lows)
    np.minimum(lows, side, out=lows)
    np.ceil(crossing, crossing)
    np.maximum(crossing, side, out=crossing)
    low, length = each[_LEFT], each[_RIGHT]
    for edge in range(3):
        np.maximum(low, lows[edge], out=low)
        np.minimum(length, crossing[edge], out=length)
    np.subtract(length, low, length)
    if np.count_nonzero(edges[_A]) < edges[_A].size:
        level = slope == _ZERO
        level &= value <= _ZERO
        length[level.any(axis=0)] = 0.0  # outside a level edge: there may be no numbers either
    covered = length > _ZERO
    run = each[_RUN]
    if not every(covered):
        kept = where(covered)
        if not len(kept):
            return None
        primitive, run = primitive.take(kept), run.take(kept, axis=1)
    whole_run = run.astype(_INT)
    return Spans(primitive, whole_run[2], whole_run[0], whole_run[1])
