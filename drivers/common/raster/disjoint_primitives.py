"""Runs primitives that share no pixel together, even where the order of fragments can be observed.

Blending and stencil process the fragments of a pixel in order, so fragments of one pixel must be
found. Comparing fragments takes about as long as blending them. Primitives are much fewer, and most
do not overlap: `disjoint_levels` assigns them to levels so that primitives of one level share no
pixel and overlapping ones keep their order.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.vertex.masks import begins_of, lengths_from, where

from .spans import Ints, Spans

__all__ = ["are_large", "disjoint_levels", "windows"]

Bools = npt.NDArray[np.bool_]

_SMALL = np.int32  # wide enough for columns and rows, and faster to compare
MOST = 512
"""The number of primitives that are compared with each other."""

_LONG_ENOUGH = 8
_LARGE_ENOUGH = 1 << 7
_MANY_ENOUGH = 1 << 13
"""The average numbers of fragments per span, per primitive and per level from which comparing
primitives pays.
"""


def are_large(spans: Spans) -> bool:
    """Whether the spans have several primitives, large enough and with rows long enough for
    comparing.
    """
    if spans.fragments < _LONG_ENOUGH * max(1, spans.count):
        return False
    count = np.count_nonzero(spans.primitive[1:] != spans.primitive[:-1]) + 1
    return bool(count > 1 and spans.fragments >= _LARGE_ENOUGH * count)


def windows(spans: Spans, limit: int) -> Iterator[Spans]:
    """Spans in order, in groups that are compared together: at most `MOST` primitives and about
    `limit` fragments each.
    """
    first = begins_of(spans.primitive)
    before = (spans.ends - spans.length).take(first)
    start = 0
    while start < len(first):
        stop = int(np.searchsorted(before, before[start] + limit, side="right"))
        stop = min(max(stop, start + 1), start + MOST)
        end = first[stop] if stop < len(first) else spans.count
        yield spans.take(slice(first[start], end))
        start = stop


def disjoint_levels(spans: Spans) -> list[Spans] | None:
    """The spans by level (primitives of one level share no pixel); None if finding levels does not
    pay.
    """
    first = begins_of(spans.primitive)
    if len(first) < 2:
        return None
    rows = lengths_from(first, spans.count)
    last = first + rows
    last -= 1
    right = spans.x + spans.length
    boxes = np.stack(
        (
            np.minimum.reduceat(spans.x, first),
            -np.maximum.reduceat(right, first),
            spans.y.take(first),
            ~spans.y.take(last),
        )
    )
    second = _second_halves(spans, first, rows, boxes)
    units = where(~second)
    level = _levels(np.minimum.reduceat(boxes, units, axis=1).astype(_SMALL))
    deepest = int(level.max())
    if spans.fragments < _MANY_ENOUGH * (deepest + 1):
        return None
    if not deepest:
        return [spans]
    of_primitives = level.repeat(lengths_from(units, len(first)))
    of_spans = of_primitives.repeat(rows)
    order = of_spans.argsort(kind="stable")
    counts = np.bincount(of_spans).tolist()
    found, start = [], 0
    for count in counts:
        found.append(spans.take(order[start : start + count]))
        start += count
    return found


def _second_halves(spans: Spans, first: Ints, rows: Ints, boxes: Ints) -> Bools:
    """Marks the second triangles of rectangles. They share no pixel with the previous primitive
    although their boxes overlap, and are treated as one with it.
    """
    low, end = boxes[2], ~boxes[3] + 1
    whole = rows == end - low  # every row has a pixel
    beside = np.zeros(len(first), np.bool_)
    beside[1:] = _overlap(boxes[:, 1:], boxes[:, :-1]) & whole[1:] & whole[:-1]
    owner = np.arange(len(first)).repeat(rows)
    same = spans.y - low.take(owner - 1)
    common = beside.take(owner) & (same >= 0) & (same < rows.take(owner - 1))
    here = where(common)
    there = (first.take(owner.take(here) - 1)) + same.take(here)
    x, length = spans.x, spans.length
    apart = x.take(here) - x.take(there)
    meeting = (apart < length.take(there)) & (-apart < length.take(here))
    beside[owner.take(here.compress(meeting))] = False
    number = np.arange(len(first))
    begins = np.maximum.accumulate(np.where(beside, 0, number))
    second: Bools = (number - begins) & 1 == 1
    return second


def _overlap(some: Ints, others: Ints) -> Bools:
    """Whether boxes overlap; left and top are stored ascending, right and bottom descending."""
    left, right, top, bottom = some
    meets: Bools = left < -others[1]
    meets &= others[0] < -right
    meets &= top <= ~others[3]
    meets &= others[2] <= ~bottom
    return meets


@functools.lru_cache(maxsize=4)
def _later_primitives(count: int) -> Bools:
    """For each primitive, a mask of those that come after it."""
    return ~np.tri(count, dtype=np.bool_)


def _levels(boxes: Ints) -> Ints:
    """The level of each box: one above the highest of earlier boxes it overlaps."""
    count = boxes.shape[1]
    meets = _overlap(boxes[:, :, None], boxes[:, None, :])
    meets &= _later_primitives(MOST)[:count, :count]
    after = meets.view(np.uint8)
    waits = np.add.reduce(after, axis=0, dtype=np.int16)
    level = np.zeros(count, np.int64)
    ready = where(waits == 0)
    now = 0
    while True:
        level[ready] = now
        waits[ready] = -1
        if len(ready) == count:
            return level
        waits -= np.add.reduce(after.take(ready, axis=0), axis=0, dtype=np.int16)
        ready = where(waits == 0)
        if not len(ready):
            return level
        now += 1
