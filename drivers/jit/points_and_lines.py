"""Points and lines by machine code: boxes and parallelograms, shaded tile by tile.

A point is a box of pixels; a line is bounded by a box at its ends and by two edges at its sides. So
both are records like those of triangles, with fewer edges. They are made here for a whole batch at
once, from the shapes that `drivers.common.raster` computes; `shader.tile` interpolates their
values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.output.engine import FragmentEngine
from gallette.drivers.common.raster.lines import parallelograms, rectangles
from gallette.drivers.common.raster.points import point_extent, point_sizes, rasterized_size
from gallette.drivers.common.raster.primitives import Batch, RasterContext
from gallette.drivers.common.raster.setup import SUBPIXELS
from gallette.drivers.common.vertex.vertices import VertexSet
from gallette.pipe.state import RasterizerState

from .blocks import begin_block, grid, setup_functions
from .fill import finish, tile_function_for, touches_nothing
from .shader.layout import Record, TileWords
from .shader.setup import LARGEST
from .shader.tile_keys import Shape

if TYPE_CHECKING:
    from .program import BoundJit

__all__ = ["outline"]

Array = npt.NDArray[Any]


def outline(
    bound: BoundJit,
    engine: FragmentEngine,
    context: RasterContext,
    vertices: VertexSet,
    batch: Batch,
    front: Array | None,
) -> bool:
    """Draw the points or lines of a batch; returns false if that needs the shared code."""
    points = batch.corners.shape[1] == 1
    if touches_nothing(engine) or context.target.empty:
        return False
    shape: Shape = "point" if points else "line"
    if not points and context.pattern(context.state.line_smooth):
        shape = "rectangle"
    function = tile_function_for(bound, engine, context, vertices, shape)
    if function is None:
        return False
    records = _MAKERS[shape](context, vertices, batch, front)
    if records is None:
        return False
    if not len(records):
        return True
    keep: list[Any] = [records]
    block = begin_block(bound, function, context, vertices, keep)
    across, down = grid([context.target])
    starts = np.zeros(across * down + 1, np.int32)
    block[TileWords.RECORDS] = records.ctypes.data
    block[TileWords.STARTS] = starts.ctypes.data
    block[TileWords.ACROSS] = across
    block[TileWords.TRIANGLES] = len(records)
    _, _, tally = setup_functions(engine, context, bound.program.cache)
    tally(block.ctypes.data)
    finish(bound, function, engine, context, vertices, block, records, starts, keep)
    return True


def _records(batch: Batch, front: Array | None, rows: Array, bounds: list[Array]) -> Array:
    """The part that points and lines have in common of the records of these primitives."""
    records = np.zeros((len(rows), Record.SIZE), np.int32)
    corners = batch.corners[rows]
    records[:, Record.VERTEX] = corners[:, 0]
    records[:, Record.VERTEX + 1] = records[:, Record.VERTEX + 2] = corners[:, -1]
    records[:, Record.PROVOKING] = batch.provoking[rows]
    records[:, Record.FRONT] = True if front is None else front[rows]
    records[:, Record.IDENTITY] = batch.identity[rows]
    for k, bound in enumerate(bounds):
        records[:, Record.BOUNDS + k] = bound
    return records


def _inside(context: RasterContext, bounds: list[Array]) -> tuple[list[Array], Array]:
    """The bounds inside the target, and which primitives have any pixels there."""
    target = context.target
    x0, y0 = np.maximum(bounds[0], target.x0), np.maximum(bounds[1], target.y0)
    x1, y1 = np.minimum(bounds[2], target.x1), np.minimum(bounds[3], target.y1)
    seen = np.flatnonzero((x0 < x1) & (y0 < y1))
    return [bound[seen] for bound in (x0, y0, x1, y1)], seen


def _points(
    context: RasterContext, vertices: VertexSet, batch: Batch, front: Array | None
) -> Array | None:
    which, state = batch.corners[:, 0], context.state
    window = vertices.window[:2, which]
    rows = np.flatnonzero(np.isfinite(window).all(axis=0))
    size = rasterized_size(point_sizes(vertices, which, state))
    if len(rows) < len(which):
        window, size = window[:, rows], size[rows]
    if len(rows) and np.abs(window).max() * SUBPIXELS >= LARGEST:
        return None
    x0, x1 = point_extent(window[0], size, state)
    y0, y1 = point_extent(window[1], size, state)
    bounds, seen = _inside(context, [x0, y0, x1, y1])
    records = _records(batch, front, rows[seen], bounds)
    records[:, Record.POINT_SIZE] = size[seen].view(np.int32)
    return records


def _lines(
    context: RasterContext, vertices: VertexSet, batch: Batch, front: Array | None
) -> Array | None:
    state = context.state
    rows, x, y, dx, dy = _drawn(vertices, batch)
    if not len(rows):
        return np.zeros((0, Record.SIZE), np.int32)
    at_x, at_y = parallelograms(x, y, dx, dy, state, state.half_pixel_center)
    if max(np.abs(at_x).max(), np.abs(at_y).max()) >= LARGEST:
        return None
    at_x, at_y = at_x.astype(np.int64), at_y.astype(np.int64)
    wide = np.abs(dx) >= np.abs(dy)
    low_x, high_x = at_x.min(axis=0), at_x.max(axis=0)
    low_y, high_y = at_y.min(axis=0), at_y.max(axis=0)
    # At its ends a line is level or upright: there the fill rule is one of whole pixels. Its box is
    # exactly that long, and otherwise as wide as it may ever be.
    step = 255 if state.bottom_edge_rule else 256
    bounds = [
        low_x + 255 >> 8,
        np.where(wide, low_y + 255, low_y + step) >> 8,
        np.where(wide, high_x + 255, high_x + 256) >> 8,
        np.where(wide, high_y + 256, high_y + step) >> 8,
    ]
    bounds, seen = _inside(context, bounds)
    records = _records(batch, front, rows[seen], bounds)
    at_x, at_y = at_x[:, seen], at_y[:, seen]
    for k in range(2):
        edge = np.where(wide[seen], 1, 0) + 2 * k
        _put_edge(records, k, at_x, at_y, edge, state, 8)
    return records


def _rectangles(
    context: RasterContext, vertices: VertexSet, batch: Batch, front: Array | None
) -> Array | None:
    """Draw lines as rectangles, for targets with several samples and for smooth lines."""
    rows, x, y, dx, dy = _drawn(vertices, batch)
    if not len(rows):
        return np.zeros((0, Record.SIZE), np.int32)
    at_x, at_y = rectangles(x, y, dx, dy, context.state)
    if not max(np.abs(at_x).max(), np.abs(at_y).max()) < LARGEST:
        return None
    at_x, at_y = at_x.astype(np.int64), at_y.astype(np.int64)
    bounds = [
        at_x.min(axis=0) >> 8,
        at_y.min(axis=0) >> 8,
        (at_x.max(axis=0) >> 8) + 1,
        (at_y.max(axis=0) >> 8) + 1,
    ]
    bounds, seen = _inside(context, bounds)
    records = _records(batch, front, rows[seen], bounds)
    at_x, at_y = at_x[:, seen], at_y[:, seen]
    for k in range(4):
        _put_edge(records, k, at_x, at_y, np.full(len(seen), k), context.state, 0)
    return records


def _drawn(vertices: VertexSet, batch: Batch) -> tuple[Array, Array, Array, Array, Array]:
    """The lines that have a length: their numbers, their ends, and the vectors between the ends."""
    columns = batch.corners.T
    x, y = vertices.window[0, columns], vertices.window[1, columns]
    dx, dy = x[0] - x[1], y[0] - y[1]
    length = dx * dx + dy * dy
    rows = np.flatnonzero(np.isfinite(length) & (length > 0))
    if len(rows) < len(length):
        x, y, dx, dy = x[:, rows], y[:, rows], dx[rows], dy[rows]
    return rows, x, y, dx, dy


def _put_edge(
    records: Array, k: int, x: Array, y: Array, edge: Array, state: RasterizerState, shift: int
) -> None:
    """Store edge `edge` of each polygon (from that corner to the next) as edge `k` of its
    record.
    """
    following, lanes = (edge + 1) % 4, np.arange(len(edge))
    x0, y0 = x[edge, lanes], y[edge, lanes]
    dx, dy = x0 - x[following, lanes], y0 - y[following, lanes]
    level = (dx > 0) if state.bottom_edge_rule else (dx < 0)
    c = dy * x0 - dx * y0 + ((dy < 0) | ((dy == 0) & level))
    records[:, Record.DX + k], records[:, Record.DY + k] = dx, dy
    at = Record.C + 2 * k
    records[:, at : at + 2] = ((c - 1) >> shift).reshape(-1, 1).view(np.int32)


_MAKERS: dict[Shape, Callable[..., Array | None]] = {
    "point": _points,
    "line": _lines,
    "rectangle": _rectangles,
}
