"""Filling the polygons that points and lines cover.

The shared code sets them up, in arrays; they become records of tile functions, like triangles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.output.engine import FragmentEngine
from gallette.drivers.common.raster.batch import Polygons, RasterContext
from gallette.drivers.common.raster.setup import SUBPIXELS, Rect
from gallette.drivers.common.threads import thread_count
from gallette.drivers.common.work import FRAGMENT

from .blocks import WORTH_THREADS, area, begin_block, complete_block, grid, setup_functions
from .shader.layout import Record, TileWords
from .shader.setup import LARGEST
from .shader.tile_keys import Kind
from .tile_functions import has_code, shade, smooth_places, tile_function_for, touches_nothing

if TYPE_CHECKING:
    from .program import BoundJit

__all__ = ["fill_polygons"]

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
    key, vertices = function.key, source.vertices
    records = np.empty((edges.count, Record.SIZE), np.int32)
    count = _write_records(records, polygons, context.target, bool(key.places))
    if not count:
        return True
    keep: list[Any] = []
    block = begin_block(bound, function, context, vertices, keep)
    complete_block(bound, function, block, engine, context, vertices, keep)
    across, down = grid(context.target)
    tiles = across * down
    starts, counters = np.zeros(tiles + 1, np.int32), np.zeros(4, np.int64)
    block[TileWords.RECORDS] = records.ctypes.data
    block[TileWords.STARTS] = starts.ctypes.data
    block[TileWords.ACROSS], block[TileWords.TILES] = across, tiles
    block[TileWords.TRIANGLES] = count
    functions = setup_functions(engine, context, bound.program.cache)
    functions.count_tiles(block.ctypes.data)
    np.cumsum(starts, out=starts)
    items = np.empty(max(1, int(starts[-1])), np.int32)
    block[TileWords.ITEMS] = items.ctypes.data
    functions.fill_lists(block.ctypes.data)
    block[TileWords.RESULTS] = counters.ctypes.data
    block[TileWords.NEXT] = counters.ctypes.data + 16
    worth = tiles > 1 and not key.effects and area(records[:count]) >= WORTH_THREADS
    shade(bound, function, block, thread_count() if worth else 1)
    if key.effects:
        bound.touch_images()
    engine.counters.samples_passed += int(counters[0])
    engine.counters.fs_invocations += int(counters[1])
    bound.resources.work.spend(FRAGMENT * int(counters[1]))
    return True


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
