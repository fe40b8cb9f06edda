"""Setup of small batches of triangles: all edges in one array.

For a handful of triangles most of the time goes into NumPy calls. So one call here processes all
three edges, whereas `setup` and `spans` go edge by edge, which is faster for many triangles because
operands stay in the cache. Operands are arrays (even constants) and have one shape, for which NumPy
has a fast path. The results are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.vertex.masks import every, where
from gallette.drivers.common.vertex.vertices import Ints, VertexSet
from gallette.pipe.enums import CullFace, PolygonMode
from gallette.pipe.state import RasterizerState

from .interpolate import PlaneSource
from .lanes import PrimitiveInfo
from .setup import FAR, SUBPIXELS, Edges, Rect
from .spans import Spans, spans_of

__all__ = ["FEW", "FewTriangles"]

FEW = 512
"""The largest number of triangles in a small batch."""

_MANY_ROWS = 1536
"""With more rows, edges are processed one by one: temporaries up to this size come from the C
library's heap, larger ones are mapped page by page.
"""

Doubles = npt.NDArray[np.float64]


def _number(value: float, kind: type[np.floating[Any]] = np.float64) -> npt.NDArray[Any]:
    """A constant as an array, since NumPy converts Python's numbers at each call."""
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
_LOW, _LENGTH, _ROW = 7, 8, 9
_RUN = slice(_LOW, _ROW + 1)


@dataclass(frozen=True, slots=True, eq=False)
class FewTriangles:
    """Setup of small batches for one rasterizer state, as far as it is independent of vertices."""

    pixel_center: bool
    front_ccw: bool
    culls_front: bool
    culls_back: bool
    bottom_edge_rule: bool
    swapped: Ints  # the corner order of a reversed triangle

    @classmethod
    @lru_cache(maxsize=256)
    def of(cls, state: RasterizerState) -> FewTriangles | None:
        """The setup for a state; None if the state does more than fill triangles."""
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
        """The spans of triangles and the planes of their inputs; None if nothing is left.

        Triangles without area or facing the culled way are dropped; the others are turned
        clockwise. The provoking corner, 0 or 2, stays in place.
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
        keep = np.isfinite(area)
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
            columns = columns.take(rows, axis=1)
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
        spans = _spans(self._edges(x, y, dx, dy), y, target)
        if spans is None:
            return None
        source = PlaneSource(vertices, columns, provoking, self.pixel_center)
        return spans, source, PrimitiveInfo(front, identity)

    def _edges(self, x: Doubles, y: Doubles, dx: Doubles, dy: Doubles) -> Doubles:
        """`a`, `b` and `c` of all three edges (see `setup`), in an array with room for rows."""
        edges = np.empty((10, x.shape[1]))
        c = np.multiply(dy, x, edges[_C])
        c -= dx * y
        far = dy * _FAR
        inside = dx > far if self.bottom_edge_rule else dx < np.negative(far, far)
        c += inside.astype(_DOUBLE)
        np.multiply(dy, _BACK, edges[_A])
        np.multiply(dx, _STEPS, edges[_B])
        return edges


@lru_cache(maxsize=256)
def _sides(x0: int, y0: int, x1: int, y1: int) -> tuple[Doubles, ...]:
    """The first column and row of a rectangle, and those past its last."""
    return _number(x0), _number(y0), _number(x1), _number(y1)


def _spans(edges: Doubles, y: Doubles, target: Rect) -> Spans | None:
    """The covered runs of pixels of all triangles, rows ascending (see `spans.spans_of`).

    Rows are those with a pixel centre between the corners; edges bound the columns.
    """
    x0, y0, x1, y1 = _sides(target.x0, target.y0, target.x1, target.y1)
    top, bottom = np.minimum(y[0], y[1]), np.maximum(y[0], y[1])
    np.minimum(top, y[2], out=top)
    np.maximum(bottom, y[2], out=bottom)
    np.ceil(np.multiply(top, _PIXELS, top), top)
    np.floor(np.multiply(bottom, _PIXELS, bottom), bottom)
    np.add(bottom, _ONE, bottom)
    np.maximum(top, y0, out=top)
    np.minimum(bottom, y1, out=bottom)
    size = bottom - top
    heights = np.maximum(size, _ZERO, out=size).astype(_INT)
    ends = np.add.accumulate(size)
    count = int(ends[-1])
    if not count:
        return None
    if count > _MANY_ROWS:
        first = top.astype(_INT)
        left, right = np.full((2, len(first)), ((target.x0,), (target.x1,)))
        return spans_of(Edges(edges[_A], edges[_B], edges[_C], left, right, first, first + heights))
    before = np.subtract(ends, size, ends)
    np.subtract(top, before, edges[_ROW])
    primitive = _NUMBERS[: len(ends)].repeat(heights)
    each = edges.take(primitive, axis=1)
    row, slope, value, crossing = each[_ROW], each[_A], each[_B], each[_C]
    np.add(row, _COUNTING[:count], row)
    for edge in range(3):
        np.multiply(value[edge], row, value[edge])
    np.add(value, crossing, value)
    # The bounds of x are computed as in `spans.bound`.
    np.divide(value, slope, crossing)
    np.negative(crossing, crossing)
    side = np.copysign(_INFINITE, slope)
    lows = np.floor(crossing)
    np.add(lows, _ONE, lows)
    np.minimum(lows, side, out=lows)
    np.ceil(crossing, crossing)
    np.maximum(crossing, side, out=crossing)
    low, high = lows[0], crossing[0]
    np.minimum(high, crossing[1], out=high)
    np.minimum(high, crossing[2], out=high)
    np.minimum(high, x1, out=high)
    np.maximum(low, lows[1], out=low)
    np.maximum(low, lows[2], out=low)
    length = np.subtract(high, np.maximum(low, x0, out=each[_LOW]), each[_LENGTH])
    covered = length > _ZERO
    run = each[_RUN]
    if not every(covered):
        kept = where(covered)
        if not len(kept):
            return None
        primitive, run = primitive.take(kept), run.take(kept, axis=1)
    whole = run.astype(_INT)
    return Spans(primitive, whole[2], whole[0], whole[1])
