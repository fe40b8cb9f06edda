"""Sinks of fragments; scissors that differ between primitives (merged draws, viewports)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .interpolate import PlaneSource
from .lanes import PrimitiveInfo
from .samples import SamplePattern
from .setup import Edges
from .spans import Ints, Spans

if TYPE_CHECKING:
    from gallette.drivers.common.vertex.vertices import VertexSet

    from .primitives import Batch, RasterContext

__all__ = ["FragmentSink", "ScissorSink"]

Rectangles = Callable[[PlaneSource, PrimitiveInfo], Ints]
"""Returns the rectangle of each primitive: first column and row, past the last ones, `[4, n]`."""


class FragmentSink:
    """Receives covered pixels: the part of a driver that shades, tests and writes them."""

    __slots__ = ()

    def draw(self, spans: Spans, source: PlaneSource, info: PrimitiveInfo) -> None:
        """Fragments of some primitives, in drawing order; may be called for many batches."""
        raise NotImplementedError

    def fill(self, context: RasterContext, vertices: VertexSet, batch: Batch) -> int:
        """Clip and fill whole triangles; returns how many of the first ones are done. For others,
        `draw` is to be called.
        """
        return 0

    def fill_polygons(
        self,
        context: RasterContext,
        edges: Edges,
        source: PlaneSource,
        info: PrimitiveInfo,
        pattern: SamplePattern | None,
    ) -> bool:
        """Fill the polygons that points or lines cover, at the samples of the pattern; false, and
        nothing is drawn, if `draw` is to be called.
        """
        return False


class ScissorSink(FragmentSink):
    """Clips spans to the rectangle of their primitive."""

    __slots__ = ("_rectangles", "_sink")

    def __init__(self, sink: FragmentSink, rectangles: Rectangles) -> None:
        self._sink, self._rectangles = sink, rectangles

    def draw(self, spans: Spans, source: PlaneSource, info: PrimitiveInfo) -> None:
        of_primitives = self._rectangles(source, info)
        left, top, right, bottom = of_primitives.take(spans.primitive, axis=1)
        first = np.maximum(spans.x, left)
        length = np.minimum(spans.x + spans.length, right) - first
        kept = np.flatnonzero((length > 0) & (spans.y >= top) & (spans.y < bottom))
        if not len(kept):
            return
        bounds = spans.bounds
        if bounds is not None:
            bounds = np.clip(bounds, first, first + length)[:, :, kept]
        primitive, y = spans.primitive.take(kept), spans.y.take(kept)
        cut = Spans(primitive, y, first.take(kept), length.take(kept), bounds)
        self._sink.draw(cut, source, info)
