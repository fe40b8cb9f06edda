"""Fragments: covered pixels of a piece of a batch, alone or in 2x2 quads with helpers.

A `Fragments` is a record of parallel arrays, in primitive order. `pixel` indexes the flattened
render target; x and y are kept in float64, which is what interpolation wants.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from drivers.numpipe.draw.vertices import Ints

from .spans import Spans

__all__ = ["Fragments", "expand_pixels", "expand_quads", "pieces", "quads_of_pixels"]

Doubles = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(slots=True)
class Fragments:
    """Lanes: where they are, whose they are, and (for quads) which are only helpers."""

    pixel: Ints
    x: Doubles
    y: Doubles
    primitive: Ints
    covered: Bools | None = None  # None: every lane; otherwise lanes come in quads

    @property
    def count(self) -> int:
        return len(self.pixel)

    def take(self, which: Any) -> Fragments:
        """Some lanes, in the order given; of quads, whole quads only."""
        return Fragments(
            self.pixel[which],
            self.x[which],
            self.y[which],
            self.primitive[which],
            None if self.covered is None else self.covered[which],
        )

    def keep(self, passing: Bools) -> Fragments:
        """The lanes that pass; of quads, the quads in which any lane does (the rest help)."""
        if self.covered is None:
            if passing.all():
                return self
            return self.take(np.flatnonzero(passing))
        passing = passing & self.covered
        quads = passing.reshape(-1, 4).any(axis=1)
        if not quads.all():
            lanes = (np.flatnonzero(quads)[:, None] * 4 + np.arange(4)).reshape(-1)
            kept = self.take(lanes)
            kept.covered = passing[lanes]
            return kept
        return Fragments(self.pixel, self.x, self.y, self.primitive, passing)


def pieces(spans: Spans, limit: int) -> Iterator[Spans]:
    """Cut spans, in order, into pieces of about `limit` fragments (a longer span stays whole)."""
    ends = np.cumsum(spans.length, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    if total <= limit + limit // 2:
        if total:
            yield spans
        return
    cuts = np.searchsorted(ends, np.arange(limit, total, limit), side="left") + 1
    start = 0
    for stop in [*cuts.tolist(), spans.count]:
        if stop > start:
            yield spans.take(slice(start, stop))
            start = stop


def expand_pixels(spans: Spans, stride: int) -> Fragments:
    """One lane per covered pixel; `stride` is the render target's width."""
    length = spans.length
    ends = np.cumsum(length, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    column = spans.x - (ends - length)
    running = np.arange(total, dtype=np.int64)
    pixel = np.repeat(spans.y * np.int64(stride) + column, length)
    pixel += running
    x = np.repeat(column.astype(np.float64), length)
    x += running
    y = np.repeat(spans.y.astype(np.float64), length)
    primitive = np.repeat(spans.primitive.astype(np.int64), length)
    return Fragments(pixel, x, y, primitive)


_LANE_X = np.array([0, 1, 0, 1], np.int64)
_LANE_Y = np.array([0, 0, 1, 1], np.int64)


def expand_quads(spans: Spans, stride: int) -> Fragments:
    """Four lanes per 2x2 quad that a primitive touches, order (0,0) (1,0) (0,1) (1,1)."""
    row = spans.y >> 1
    primitive = spans.primitive
    begins = np.ones(spans.count, np.bool_)
    begins[1:] = (row[1:] != row[:-1]) | (primitive[1:] != primitive[:-1])
    first = np.flatnonzero(begins)
    pair = np.cumsum(begins) - 1
    left = np.full((2, len(first)), np.iinfo(np.int32).max, np.int64)
    right = np.full((2, len(first)), -1, np.int64)
    odd = spans.y & 1
    left[odd, pair] = spans.x
    right[odd, pair] = spans.x + spans.length
    quad_left = left.min(axis=0) >> 1
    quads = ((right.max(axis=0) - 1) >> 1) - quad_left + 1
    ends = np.cumsum(quads)
    owner = np.repeat(np.arange(len(first)), quads)
    quad_x = np.arange(len(owner)) + (quad_left - (ends - quads))[owner]
    x = (quad_x[:, None] * 2 + _LANE_X).reshape(-1)
    lane_owner = np.repeat(owner, 4)
    lane_odd = np.tile(_LANE_Y, len(owner))
    y = row[first].astype(np.int64)[lane_owner] * 2 + lane_odd
    covered = (x >= left[lane_odd, lane_owner]) & (x < right[lane_odd, lane_owner])
    return Fragments(
        y * stride + x,
        x.astype(np.float64),
        y.astype(np.float64),
        primitive[first].astype(np.int64)[lane_owner],
        covered,
    )


def quads_of_pixels(x: Ints, y: Ints, primitive: Ints, stride: int) -> Fragments:
    """Quads for pixels that each belong to one primitive: one quad per (quad, primitive)."""
    key = (primitive.astype(np.int64) << np.int64(32)) | ((y >> 1) * np.int64(stride) + (x >> 1))
    unique, inverse = np.unique(key, return_inverse=True)
    at = unique & np.int64(0xFFFFFFFF)
    quad_y, quad_x = np.divmod(at, stride)
    lane_x = (quad_x[:, None] * 2 + _LANE_X).reshape(-1)
    lane_y = (quad_y[:, None] * 2 + _LANE_Y).reshape(-1)
    covered = np.zeros(len(lane_x), np.bool_)
    covered[inverse * 4 + (y & 1) * 2 + (x & 1)] = True
    return Fragments(
        lane_y * stride + lane_x,
        lane_x.astype(np.float64),
        lane_y.astype(np.float64),
        np.repeat(unique >> np.int64(32), 4),
        covered,
    )
