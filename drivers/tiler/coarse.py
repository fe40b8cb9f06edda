"""Hierarchical depth: of every block of 8x8 pixels of a tile, how far its farthest pixel is.

A row of a primitive whose nearest corner is farther than everything in the blocks it crosses is
dropped before a fragment of it exists. The table follows the depth buffer: it is made again from
tile memory after each batch that wrote depths.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.output.depth import DepthTarget
from gallette.drivers.common.output.engine import FragmentEngine, FragmentRun
from gallette.drivers.common.raster.interpolate import PlaneSource
from gallette.drivers.common.raster.lanes import PrimitiveInfo
from gallette.drivers.common.raster.setup import Rect
from gallette.drivers.common.raster.spans import Spans, numbered
from gallette.pipe.enums import CompareFunc

__all__ = ["BLOCK", "CoarseDepth", "CoarseSink", "can_cull"]

BLOCK = 8
_MARGIN = np.float32(1e-5)
"""Interpolated depths may be this much nearer than the nearest corner: planes are rounded."""

_LESS = (CompareFunc.LESS, CompareFunc.LEQUAL)
_GREATER = (CompareFunc.GREATER, CompareFunc.GEQUAL)


def can_cull(engine: FragmentEngine) -> bool:
    """Does a fragment that fails the depth test leave no trace, and is failing monotone?"""
    state = engine.state
    return (
        engine.tests.depth
        and engine.tests_first
        and not engine.tests.stencil
        and not state.tests.depth_bounds_test
        and state.depth_clamp is None
        and type(engine) is FragmentEngine
        and state.tests.depth_func in (*_LESS, *_GREATER)
    )


class CoarseDepth:
    """The table of one tile."""

    def __init__(self, width: int, height: int) -> None:
        self._shape = height // BLOCK, BLOCK, width // BLOCK, BLOCK
        self._pixels = np.arange(width * height)
        self._made: dict[bool, npt.NDArray[np.uint32]] = {}
        self.hidden = 0  # fragments that never were

    def changed(self) -> None:
        """Depths were written."""
        self._made.clear()

    def extreme(self, depth: DepthTarget, farthest: bool) -> npt.NDArray[np.uint32]:
        """By block, the largest code there is, or the smallest."""
        found = self._made.get(farthest)
        if found is None:
            codes = depth.load(self._pixels).reshape(self._shape)
            found = codes.max(axis=(1, 3)) if farthest else codes.min(axis=(1, 3))
            self._made[farthest] = found
        return found


@dataclass(frozen=True, slots=True)
class CoarseSink:
    """Where a tile's primitives go: past the table, then to the fragment engine."""

    run: FragmentRun
    coarse: CoarseDepth
    rect: Rect

    def draw(self, spans: Spans, source: PlaneSource, info: PrimitiveInfo) -> None:
        engine = self.run.engine
        if spans.count and spans.bounds is None and can_cull(engine):
            spans = self._seen(engine, spans, source)
        if spans.count:
            self.run.draw(spans, source, info)
        if engine.tests.depth and engine.state.tests.depth_writemask:
            self.coarse.changed()

    def _seen(self, engine: FragmentEngine, spans: Spans, source: PlaneSource) -> Spans:
        """The spans that some block lets through."""
        depth = engine.state.depth
        assert depth is not None
        func = engine.state.tests.depth_func
        nearer = func in _LESS
        z = source.depth
        if z is None:
            z = source.vertices.window[2].take(source.corners)
        least = z.min(axis=0) - _MARGIN if nearer else z.max(axis=0) + _MARGIN
        codes = depth.codes(least.astype(np.float32)).take(spans.primitive)
        table = self.coarse.extreme(depth, nearer)
        first = (spans.x - self.rect.x0) // BLOCK
        last = (spans.x + spans.length - 1 - self.rect.x0) // BLOCK
        row = (spans.y - self.rect.y0) // BLOCK
        counts = last - first + 1
        owner, ends = numbered(counts)
        column = np.arange(len(owner)) - (ends - counts - first).take(owner)
        held = table[row.take(owner), column]
        mine = codes.take(owner)
        if nearer:
            some = mine <= held if func is CompareFunc.LEQUAL else mine < held
        else:
            some = mine >= held if func is CompareFunc.GEQUAL else mine > held
        some |= ~np.isfinite(least).take(spans.primitive).take(owner)
        kept = np.logical_or.reduceat(some, ends - counts)
        if kept.all():
            return spans
        self.coarse.hidden += int(spans.length[~kept].sum())
        return spans.take(np.flatnonzero(kept))
