"""Fragments: covered pixels of a piece of a batch, alone or in 2x2 quads with helpers.

A `Fragments` is a record of parallel arrays, in primitive order. `pixel` indexes the flattened
render target; x and y are kept in float64, as interpolation needs them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.vertex.masks import (
    begins_of,
    counted,
    ends_of,
    every,
    lengths_from,
    where,
)
from gallette.drivers.common.vertex.vertices import Ints

from .samples import MASK, sample_mask
from .spans import Spans, numbered

Doubles = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class Rows(NamedTuple):
    """The spans that lanes fill, of each: its primitive, its column less the number of its first
    lane, its row and its length.
    """

    primitive: Ints
    column: Ints
    row: Ints
    length: Ints

    def part(self, start: int, stop: int) -> Rows:
        """The spans of some of the lanes, of which the first and the last may be cut."""
        ends = ends_of(self.length)
        first, last = ends.searchsorted(start, "right"), ends.searchsorted(stop, "left")
        primitive, column, row, length = (values[first : last + 1] for values in self)
        length = length.copy()
        length[-1] -= ends[last] - stop
        length[0] -= start - (ends[first] - self.length[first])
        return Rows(primitive, column + start, row, length)


_BY_LANE = ("_pixel", "_x", "_y", "covered", "primitive", "samples", "seen")
"""The attributes of `Fragments` that have an element for every lane (or are None)."""


class Fragments:
    """Lanes with their positions, their primitives and (in quads) which of them are helpers."""

    __slots__ = (
        "_pixel",
        "_width",
        "_x",
        "_y",
        "covered",
        "primitive",
        "rows",
        "samples",
        "seen",
        "spans",
    )

    def __init__(
        self,
        pixel: Ints,
        x: Doubles,
        y: Doubles,
        primitive: Ints,
        covered: Bools | None = None,
        samples: npt.NDArray[MASK] | None = None,
        seen: npt.NDArray[MASK] | None = None,
    ) -> None:
        self._pixel = pixel
        self._x: Doubles | None = x
        self._y: Doubles | None = y
        self.rows: Rows | None = None
        self._width = 0
        self.spans: Spans | None = None  # which have all lanes, and perhaps more
        self.primitive = primitive
        self.covered = covered  # None: every lane; otherwise lanes come in quads
        self.samples = samples  # multisampled: a mask of covered samples
        self.seen = seen  # the samples shaders see in gl_SampleMaskIn, if tests left fewer

    @classmethod
    def in_rows(
        cls, pixel: Ints, primitive: Ints, rows: Rows, spans: Spans, width: int
    ) -> Fragments:
        """Lanes that fill spans.

        Their x and y are computed when first read, because painting with a constant colour does not
        need them.
        """
        lanes = cls.__new__(cls)
        lanes._pixel, lanes.primitive, lanes.rows, lanes._width = pixel, primitive, rows, width
        lanes.spans = spans
        lanes._x = lanes._y = lanes.covered = lanes.samples = lanes.seen = None
        return lanes

    @property
    def x(self) -> Doubles:
        if self._x is None:
            if self.rows is None:
                self._x, self._y = _columns_and_rows(self._pixel, self._width)
                return self._x
            self._x = self.rows.column.astype(_DOUBLE).repeat(self.rows.length)
            self._x += counted(len(self._x), _DOUBLE)
        return self._x

    @property
    def y(self) -> Doubles:
        if self._y is None:
            if self.rows is None:
                self._x, self._y = _columns_and_rows(self._pixel, self._width)
                return self._y
            self._y = self.rows.row.astype(_DOUBLE).repeat(self.rows.length)
        return self._y

    @property
    def pixel(self) -> Ints:
        return self._pixel

    def renumber(self, pixel: Ints) -> None:
        """Renumber the pixels; positions stay."""
        self._x, self._y = self.x, self.y
        self._pixel = pixel

    @property
    def count(self) -> int:
        return len(self.pixel)

    @property
    def of_one(self) -> bool:
        """Whether all lanes belong to one primitive."""
        return self.primitive.strides[0] == 0 or len(self.pixel) == 1

    @property
    def distinct(self) -> bool:
        """Whether the spans show cheaply that no two lanes, other than helpers, are at one
        pixel.
        """
        return self.spans is not None and self.spans.apart

    def primitives(self) -> tuple[Ints, Ints]:
        """The primitives of runs of lanes, and the length of each run."""
        if self.of_one:
            return self.primitive[:1], np.array([self.count])
        return runs_of(self.primitive, self.rows, self.covered is not None)

    def take(self, which: Any) -> Fragments:
        """Select lanes, in the order given; of quads, whole quads only."""
        some = self._same()
        if not isinstance(which, slice):
            some.become(np.asarray(which))
            return some
        if self.rows is not None:
            start, stop, _ = which.indices(self.count)
            some.rows = self.rows.part(start, stop)
        for name in _BY_LANE:
            values = getattr(self, name)
            if values is not None:
                setattr(some, name, values[which])
        return some

    def keep(self, passing: Bools) -> Fragments:
        """Select the lanes that pass; of quads, those in which any lane does (the others are
        helpers).
        """
        some = self._same()
        some.narrow(passing)
        return some

    def _same(self) -> Fragments:
        """A new record with the same lanes, to be modified."""
        same = Fragments.__new__(Fragments)
        for name in Fragments.__slots__:
            setattr(same, name, getattr(self, name))
        return same

    def narrow(self, passing: Bools) -> None:
        """Keep only the lanes that `keep` would select, in place, so that every holder
        sees fewer.
        """
        if self.covered is None:
            if not every(passing):
                self.become(where(passing))
            return
        passing = passing & self.covered
        quads = passing.view(np.uint32) != 0  # four lanes at a time
        if not every(quads):
            lanes = lanes_of_quads(where(quads))
            self.become(lanes)
            passing = passing.take(lanes)
        self.covered = passing

    def become(self, which: Ints) -> None:
        """Reorder the lanes in place as `take` would select them.

        Arrays are replaced one after the other, so that only one of them exists twice at a time.
        """
        if self.of_one:  # (here as elsewhere: `take` gathers faster than indexing)
            self.primitive = np.broadcast_to(self.primitive[0], len(which))
        else:
            self.primitive = self.primitive.take(which)
        self._pixel = self._pixel.take(which)
        self.rows = None
        self._x = None if self._x is None else self._x.take(which)
        self._y = None if self._y is None else self._y.take(which)
        self.covered = None if self.covered is None else self.covered.take(which)
        self.samples = None if self.samples is None else self.samples.take(which)
        self.seen = None if self.seen is None else self.seen.take(which)


def _columns_and_rows(pixel: Ints, width: int) -> tuple[Doubles, Doubles]:
    """x and y of pixels by their numbers, in rows of `width`.

    These are whole numbers far below 2**53, so the rounded quotient is below the next one.
    """
    x = pixel.astype(_DOUBLE)
    y = np.add(x, 0.5)
    y *= 1.0 / width
    np.floor(y, out=y)
    x -= y * float(width)
    return x, y


def lanes_of_quads(quads: Ints) -> Ints:
    """The numbers of the lanes of some quads."""
    lanes = np.empty((len(quads), 4), np.int64)
    first = quads * 4
    for lane in range(4):  # NumPy takes several times as long for columns of four
        np.add(first, lane, out=lanes[:, lane])
    return lanes.reshape(-1)


def pieces(spans: Spans, limit: int) -> Iterator[Spans]:
    """Split spans, in order, into pieces of about `limit` fragments (a longer span stays whole)."""
    ends, total = spans.ends, spans.fragments
    if not total:
        return
    if total <= limit + limit // 2:
        yield spans
        return
    cuts = (np.searchsorted(ends, np.arange(limit, total, limit)) + 1).tolist()
    start = 0
    for stop in [*cuts, spans.count]:
        if stop > start:
            yield spans.take(slice(start, stop))
            start = stop


def expand_pixels(spans: Spans, stride: int) -> Fragments:
    """One lane per covered pixel; `stride` is the render target's width."""
    ends, length, row = spans.ends, spans.length, spans.y
    total = int(ends[-1])
    column = spans.x - ends
    column += length
    pixel = row * np.array(stride)
    pixel += column
    pixel = pixel.repeat(length)
    pixel += counted(total)
    first = spans.primitive[0]
    if first == spans.primitive[-1]:
        primitive = np.broadcast_to(first, total)
    else:
        primitive = spans.primitive.repeat(length)
    rows = Rows(spans.primitive, column, row, length)
    return Fragments.in_rows(pixel, primitive, rows, spans, stride)


_DOUBLE = np.dtype(np.float64)

_LANE_X = np.array([0, 1, 0, 1], np.int64)
_LANE_Y = np.array([0, 0, 1, 1], np.int64)


def expand_samples(spans: Spans, stride: int) -> Fragments:
    """One lane per pixel with a covered sample; x and y are those of the pixel's centre."""
    lanes = expand_pixels(spans, stride)
    number, _ = numbered(spans.length)
    samples, primitive = sample_mask(spans, number, lanes.x), np.array(lanes.primitive)
    lanes = Fragments(lanes.pixel, lanes.x + 0.5, lanes.y + 0.5, primitive, samples=samples)
    some = samples != 0
    return lanes if some.all() else lanes.take(np.flatnonzero(some))


def sample_quads(lanes: Fragments, stride: int, center: float = 0.5) -> Fragments:
    """Lanes in quads of their primitives, with helpers where no sample is covered; `center` is
    where in a pixel the places of lanes are, 0 without multisampling.
    """
    assert lanes.samples is not None
    x, y = np.floor(lanes.x).astype(np.int64), np.floor(lanes.y).astype(np.int64)
    key = (lanes.primitive << np.int64(32)) | ((y >> 1) * np.int64(stride) + (x >> 1))
    unique, inverse = np.unique(key, return_inverse=True)
    quad_y, quad_x = np.divmod(unique & np.int64(0xFFFFFFFF), stride)
    lane_x = (quad_x[:, None] * 2 + _LANE_X).reshape(-1)
    lane_y = (quad_y[:, None] * 2 + _LANE_Y).reshape(-1)
    where = inverse * 4 + (y & 1) * 2 + (x & 1)
    samples = _placed(lanes.samples, where, len(lane_x))
    return Fragments(
        lane_y * stride + lane_x,
        lane_x + center,
        lane_y + center,
        np.repeat(unique >> np.int64(32), 4),
        samples != 0,
        samples,
        None if lanes.seen is None else _placed(lanes.seen, where, len(lane_x)),
    )


def _placed(masks: npt.NDArray[MASK], where: Ints, count: int) -> npt.NDArray[MASK]:
    placed = np.zeros(count, MASK)
    placed[where] = masks
    return placed


def expand_quads(spans: Spans, stride: int) -> Fragments:
    """Four lanes per 2x2 quad that a primitive touches, order (0,0) (1,0) (0,1) (1,1)."""
    row = spans.y >> 1
    primitive = spans.primitive
    begins = np.ones(spans.count, np.bool_)
    begins[1:] = (row[1:] != row[:-1]) | (primitive[1:] != primitive[:-1])
    first = where(begins)
    pair = np.cumsum(begins) - 1
    left = np.full((2, len(first)), np.iinfo(np.int64).max, np.int64)
    right = np.full((2, len(first)), -1, np.int64)
    odd = spans.y & 1
    left[odd, pair] = spans.x
    right[odd, pair] = spans.x + spans.length
    quad_left = left.min(axis=0) >> 1
    quads = ((right.max(axis=0) - 1) >> 1) - quad_left + 1
    ends = ends_of(quads)
    quad_x = (quad_left - (ends - quads)).repeat(quads)
    total = len(quad_x)
    quad_x += counted(total)
    quad_x *= 2
    quad_y = (row[first] * 2).repeat(quads)
    quad_pixel = quad_y * stride
    quad_pixel += quad_x
    pixel = np.empty((total, 4), np.int64)
    x, y = np.empty((total, 4)), np.empty((total, 4))
    covered = np.empty((total, 4), np.bool_)
    for odd_y in (0, 1):
        begin, end = left[odd_y].repeat(quads), right[odd_y].repeat(quads)
        for odd_x in (0, 1):
            lane = 2 * odd_y + odd_x
            column = quad_x + odd_x if odd_x else quad_x
            np.add(quad_pixel, odd_y * stride + odd_x, out=pixel[:, lane])
            x[:, lane] = column
            np.add(quad_y, odd_y, out=y[:, lane])
            np.logical_and(column >= begin, column < end, out=covered[:, lane])
    if primitive[0] == primitive[-1]:
        owner = np.broadcast_to(primitive[0], 4 * total)
    else:
        owner = primitive[first].repeat(4 * quads)
    lanes = Fragments(pixel.reshape(-1), x.reshape(-1), y.reshape(-1), owner, covered.reshape(-1))
    lanes.spans = spans
    return lanes


def owned_pixels(owner: npt.NDArray[np.int32], x0: int, y0: int, stride: int) -> Fragments:
    """Lanes for the pixels of a rectangle that have an owner: a primitive's number + 1, or 0."""
    width, flat = owner.shape[1], owner.reshape(-1)
    found = where(flat)
    primitive = flat.take(found).astype(np.int64)
    primitive -= 1
    x, y = _columns_and_rows(found, width)
    y += y0
    if width == stride:
        pixel = found + y0 * stride
    else:
        x += x0
        pixel = (y * float(stride) + x).astype(np.int64)
    return Fragments(pixel, x, y, primitive)


def owned_quads(owner: npt.NDArray[np.int32], x0: int, y0: int, stride: int) -> Fragments:
    """One quad of lanes for every primitive that owns pixels of it.

    The rectangle begins at even x0 and y0 and has even sides.
    """
    height, width = owner.shape
    tiles = owner.reshape(height // 2, 2, width // 2, 2).transpose(0, 2, 1, 3).reshape(-1, 4)
    tiles = np.ascontiguousarray(tiles)
    quads, owners = [], []
    for lane in range(4):
        fresh = tiles[:, lane] > 0
        for earlier in range(lane):
            fresh &= tiles[:, lane] != tiles[:, earlier]
        which = np.flatnonzero(fresh)
        quads.append(which)
        owners.append(tiles[which, lane])
    quad, owning = np.concatenate(quads), np.concatenate(owners)
    quad_y, quad_x = np.divmod(quad, width // 2)
    lane_x = (quad_x[:, None] * 2 + (_LANE_X + x0)).reshape(-1)
    lane_y = (quad_y[:, None] * 2 + (_LANE_Y + y0)).reshape(-1)
    return Fragments(
        lane_y * stride + lane_x,
        lane_x.astype(np.float64),
        lane_y.astype(np.float64),
        np.repeat(owning.astype(np.int64) - 1, 4),
        (tiles[quad] == owning[:, None]).reshape(-1),
    )


def runs_of(primitive: Ints, rows: Rows | None, quads: bool) -> tuple[Ints, Ints]:
    """The primitives of runs of lanes and their lengths. `rows`: the spans that the lanes fill, if
    they do.
    """
    if rows is not None:
        first = begins_of(rows.primitive)
        return rows.primitive.take(first), np.add.reduceat(rows.length, first)
    step = 4 if quads else 1  # a quad belongs to one primitive
    primitive = primitive[::step]
    first = begins_of(primitive)
    return primitive.take(first), lengths_from(first, len(primitive)) * step
