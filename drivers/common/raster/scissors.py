"""Scissors of merged draws: one rectangle per draw, applied to its spans."""

from __future__ import annotations

import numpy as np

from .interpolate import PlaneSource
from .lanes import PrimitiveInfo
from .spans import Ints, Spans
from .viewports import SpanSink

__all__ = ["CutByDraw"]


class CutByDraw:
    """A sink that clips spans to the scissor of their draw, whose number is the primitive's
    identity.
    """

    def __init__(self, sink: SpanSink, rectangles: Ints) -> None:
        """`rectangles` are `[draw, (x0, y0, x1, y1)]`, the last exclusive."""
        self._sink = sink
        self._rectangles = np.ascontiguousarray(rectangles.T)

    def draw(self, spans: Spans, source: PlaneSource, info: PrimitiveInfo) -> None:
        """Draw the parts of primitives that are inside the scissors, in drawing order."""
        left, top, right, bottom = self._rectangles.take(info.identity, axis=1).take(
            spans.primitive, axis=1
        )
        first = np.maximum(spans.x, left)
        length = np.minimum(spans.x + spans.length, right) - first
        kept = np.flatnonzero((length > 0) & (spans.y >= top) & (spans.y < bottom))
        if not len(kept):
            return
        bounds = spans.bounds
        if bounds is not None:
            bounds = np.clip(bounds, first, first + length)[:, :, kept]
        cut = Spans(
            spans.primitive.take(kept),
            spans.y.take(kept),
            first.take(kept),
            length.take(kept),
            bounds,
        )
        self._sink.draw(cut, source, info)
