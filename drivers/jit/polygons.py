"""Filling the polygons that points and lines cover.

They become records of tile functions, like triangles. Machine code sets up lines that cover
parallelograms; the shared code sets up others and points, in arrays.
"""

from __future__ import annotations

import ctypes
import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.output.engine import FragmentEngine
from gallette.drivers.common.raster.batch import Batch, Polygons, RasterContext
from gallette.drivers.common.raster.lines import half_width
from gallette.drivers.common.raster.setup import SUBPIXELS, Rect
from gallette.drivers.common.threads import thread_count
from gallette.drivers.common.vertex.vertices import VertexSet
from gallette.drivers.common.work import FRAGMENT
from gallette.pipe.state import RasterizerState

from .blocks import WORTH_THREADS, area, begin_block, complete_block, grid, setup_functions
from .llvm.engine import Function, compile_module
from .shader.layout import Record, TileWords, Words
from .shader.setup import LARGEST, lines_text
from .shader.tile_keys import Kind
from .tile_functions import (
    TileFunction,
    has_code,
    shade,
    smooth_places,
    tile_function_for,
    touches_nothing,
)

if TYPE_CHECKING:
    from .program import BoundJit

Array = npt.NDArray[Any]


def fill_polygons(
    bound: BoundJit, engine: FragmentEngine, context: RasterContext, polygons: Polygons
) -> bool:
    """Fill polygons; returns false, having done nothing, if that needs the shared code."""
    edges, source, info, pattern = polygons
    if touches_nothing(engine):
        return has_code(bound, engine, context)
    longest = max(np.abs(edges.a).max(initial=0), np.abs(edges.b).max(initial=0))
    if source.depth is not None or longest > SUBPIXELS * LARGEST:
        return False
    falling = info.points is not None and info.sprite_upper_left
    smooth = None if pattern is context.multisampled else pattern
    kind = Kind(len(source.corners), smooth_places(smooth), falling, info.round)
    function = tile_function_for(bound, engine, context, source.vertices, kind)
    if function is None:
        return False
    if context.target.empty:
        return True
    records = np.empty((edges.count, Record.SIZE), np.int32)
    count = _write_records(records, polygons, context.target, bool(function.key.places))
    if count:
        made = _Polygons(bound, engine, context, source.vertices, function, records)
        made.block[TileWords.TRIANGLES] = count
        setup_functions(engine, context, bound.program.cache).count_tiles(made.block.ctypes.data)
        made.shade()
    return True


def fill_lines(
    bound: BoundJit,
    engine: FragmentEngine,
    context: RasterContext,
    vertices: VertexSet,
    batch: Batch,
) -> bool:
    """Fill lines that are not smooth; returns false, having done nothing, if that needs the shared
    code.
    """
    state, count = context.state, len(batch.corners)
    if touches_nothing(engine) or batch.depth is not None:
        return False
    function = function_of_lines(bound, engine, context, vertices)
    if function is None:
        return False
    if context.target.empty or not count:
        return True
    made = _Polygons(
        bound, engine, context, vertices, function, np.empty((count, Record.SIZE), np.int32)
    )
    for word, array, dtype in (
        (TileWords.CORNERS, batch.corners, np.int64),
        (TileWords.PROVOKING, batch.provoking, np.int64),
        (TileWords.IDENTITY, batch.identity, np.int32),
        (TileWords.FRONT, batch.facing(), np.bool_),
    ):
        made.keep.append(np.ascontiguousarray(array, dtype))
        made.block[word] = made.keep[-1].ctypes.data
    made.block[TileWords.HALF_WIDTH], made.block[TileWords.TRIANGLES] = half_width(state), count
    made.block[Words.STATUS] = 0
    lines_function(state, bound.program.cache)(made.block.ctypes.data)
    if made.block[Words.STATUS]:  # a coordinate is too large
        return False
    made.shade()
    return True


def function_of_lines(
    bound: BoundJit, engine: FragmentEngine, context: RasterContext, vertices: VertexSet
) -> TileFunction | None:
    """The tile function of lines that machine code sets up; None if they need the shared code."""
    if context.multisampled or context.state.conservative:
        return None
    function = tile_function_for(bound, engine, context, vertices, Kind(2))
    return None if function is None or function.key.places else function


def lines_function(state: RasterizerState, cache: Any) -> Function:
    """The function that sets up lines."""
    return _lines(state.half_pixel_center, state.bottom_edge_rule, cache)


@functools.lru_cache(maxsize=4)
def _lines(center: bool, bottom: bool, cache: Any) -> Function:
    text = lines_text(0.5 if center else 0.0, bottom)
    return compile_module(text, ("lines",), cache).function("lines", ctypes.c_void_p)


class _Polygons:
    """Polygons that become records, and the block that tile functions are called with."""

    def __init__(
        self,
        bound: BoundJit,
        engine: FragmentEngine,
        context: RasterContext,
        vertices: VertexSet,
        function: TileFunction,
        records: Array,
    ) -> None:
        self._bound, self._engine, self._context = bound, engine, context
        self._function, self._records = function, records
        self.keep: list[Any] = []
        block = self.block = begin_block(bound, function, context, vertices, self.keep)
        complete_block(bound, function, block, engine, context, vertices, self.keep)
        across, down = grid(context.target)
        self._starts, self._counters = np.zeros(across * down + 1, np.int32), np.zeros(4, np.int64)
        block[TileWords.RECORDS] = records.ctypes.data
        block[TileWords.STARTS] = self._starts.ctypes.data
        block[TileWords.ACROSS], block[TileWords.TILES] = across, across * down
        block[TileWords.RESULTS] = self._counters.ctypes.data
        block[TileWords.NEXT] = self._counters.ctypes.data + 16

    def shade(self) -> None:
        """Write the tiles' lists, from the counts that are in place, and shade the tiles."""
        bound, engine, block, starts = self._bound, self._engine, self.block, self._starts
        key, count = self._function.key, int(block[TileWords.TRIANGLES])
        np.cumsum(starts, out=starts)
        items = np.empty(max(1, int(starts[-1])), np.int32)
        block[TileWords.ITEMS] = items.ctypes.data
        functions = setup_functions(engine, self._context, bound.program.cache)
        functions.fill_lists(block.ctypes.data)
        worth = len(starts) > 2 and not key.effects
        worth = worth and area(self._records[:count]) >= WORTH_THREADS
        shade(bound, self._function, block, thread_count() if worth else 1)
        if key.effects:
            bound.touch_images()
        engine.counters.samples_passed += int(self._counters[0])
        engine.counters.fs_invocations += int(self._counters[1])
        bound.resources.work.spend(FRAGMENT * int(self._counters[1]))


def _write_records(records: Array, polygons: Polygons, target: Rect, sampled: bool) -> int:
    """Write a record of each polygon that is not outside the target; returns how many."""
    edges, source, info, _ = polygons
    box = [edges.x0, edges.y0, edges.x1, edges.y1]
    if sampled:  # any place in a pixel counts
        box = [
            np.maximum(edges.x0 - 1, target.x0),
            np.maximum(edges.y0 - 1, target.y0),
            np.minimum(edges.x1 + 1, target.x1),
            np.minimum(edges.y1 + 1, target.y1),
        ]
    seen = np.flatnonzero((box[0] < box[2]) & (box[1] < box[3]))
    out = records[: len(seen)]
    count = len(source.corners)
    out[:, Record.VERTEX : Record.VERTEX + count] = source.corners[:, seen].T
    if info.points is not None:
        out[:, Record.WIDTH] = info.points[2][seen].view(np.int32)
    if info.lines is not None:
        out[:, Record.WIDTH] = info.lines[-1][seen].view(np.int32)
    out[:, Record.PROVOKING] = source.provoking[seen]
    out[:, Record.FRONT] = info.front[seen]
    out[:, Record.IDENTITY] = info.identity[seen]
    for number, bound in enumerate(box):
        out[:, Record.BOUNDS + number] = bound[seen]
    sides = len(edges.a)
    out[:, Record.DX : Record.DX + sides] = (edges.b[:, seen] * (1 / SUBPIXELS)).T
    out[:, Record.DY : Record.DY + sides] = (edges.a[:, seen] * (-1 / SUBPIXELS)).T
    least = edges.c[:, seen].astype(np.int64) - 1
    words = np.ascontiguousarray((least if sampled else least >> 8).T).view(np.int32)
    out[:, Record.C : Record.C + 2 * sides] = words
    return len(seen)
