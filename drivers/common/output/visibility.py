"""The visible primitive of each pixel of a rectangle, while fragments are resolved before shading,
and the samples that no fragment has covered yet, while a batch is processed from its end.

Without blending and tests the last fragment of a sample is visible. Processed from the last to the
first, a fragment needs shading only if one of its samples is still free, and the batch is done when
none is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.raster.fragments import Fragments, owned_pixels, owned_quads
from gallette.drivers.common.raster.samples import MASK
from gallette.drivers.common.raster.spans import Spans
from gallette.drivers.common.vertex.masks import every, where
from gallette.pipe.enums import CompareFunc

from .order import Scratch

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class VisiblePrimitives:
    """The pixels around some spans and the visible primitive of each: its number + 1, or 0."""

    def __init__(self, scratch: Scratch, spans: Spans, stride: int, origin: int) -> None:
        """Pixels are numbered in rows of `stride`, beginning with `origin`."""
        left, self._top = int(spans.x.min()) & ~1, int(spans.y.min()) & ~1
        right = int((spans.x + spans.length).max() + 1) & ~1
        if 2 * (right - left) >= stride:  # then the rectangle may use the target's rows
            left, right = 0, (stride + 1) & ~1
        self._left, self._width = left, right - left
        self._first = self._top * stride - origin if self._width == stride else None
        self._height = (int(spans.y.max() + 2) & ~1) - self._top
        self._owner: npt.NDArray[Any] = scratch.owners(self._width * self._height)

    def places(self, lanes: Fragments) -> Ints:
        """The indices of lanes in the rectangle."""
        if self._first is not None:
            return lanes.pixel - self._first if self._first else lanes.pixel
        place = (lanes.y - self._top) * self._width
        place += lanes.x
        place -= self._left
        return place.astype(np.int64)

    def free(self, places: Ints) -> Bools:
        """Which pixels have no visible primitive yet."""
        return np.asarray(self._owner.take(places) == 0)

    @property
    def complete(self) -> bool:
        """Whether every pixel has a visible primitive."""
        return bool(self._owner.all())

    def ties(self, lanes: Fragments, places: Ints, func: CompareFunc) -> Bools:
        """Which lanes win against an equal depth, as if all fragments came in drawing order.

        Here an earlier primitive may come after a later one. Depths from before the draw have no
        owner.
        """
        owner = self._owner.take(places)
        owner -= 1
        if func in (CompareFunc.LESS, CompareFunc.GREATER):
            return np.asarray(lanes.primitive < owner)
        return np.asarray(lanes.primitive > owner)

    def set_visible(self, lanes: Fragments, places: Ints, winners: Bools | None) -> None:
        """Make lanes (those in `winners`, None: all) the visible ones."""
        if winners is not None and not every(winners):
            some = where(winners)
            self._owner[places.take(some)] = lanes.take(some).primitive + 1
        else:
            self._owner[places] = lanes.primitive + 1

    def lanes(self, quads: bool, stride: int, limit: int) -> Iterator[Fragments]:
        """The visible lanes, about `limit` at a time; afterwards no pixel has a visible
        primitive.
        """
        make = owned_quads if quads else owned_pixels
        rows = max(2, limit // max(self._width, 1) & ~1)  # lanes take much more memory than owners
        for row in range(0, self._height, rows):
            some = self._owner[row * self._width : (row + rows) * self._width]
            some = some.reshape(-1, self._width)
            lanes = make(some, self._left, self._top + row, stride)
            some[:] = 0
            if lanes.count:
                yield lanes


class UnwrittenSamples:
    """The free samples of the rectangle of pixels that some spans lie in."""

    def __init__(self, spans: Spans, every: int) -> None:
        self.left, self.top = int(spans.x.min()), int(spans.y.min())
        self.width = int((spans.x + spans.length).max()) - self.left
        pixels = self.width * (int(spans.y.max()) + 1 - self.top)
        self.every = MASK(every)
        self.free = np.full(pixels, self.every, MASK)
        self._last = np.full(pixels, -1, np.int32)  # by pixel: the last lane covering all samples

    def taken_by(self, lanes: Fragments) -> Fragments:
        """The visible lanes with their free samples, which are taken from now on."""
        assert lanes.samples is not None
        x, y = lanes.x.astype(np.int64), lanes.y.astype(np.int64)
        place = (y - self.top) * self.width + (x - self.left)
        number = np.arange(lanes.count, dtype=np.int32)
        whole = lanes.samples == self.every
        self._last[place[whole]] = number[whole]  # the last one of several is stored
        samples = lanes.samples & self.free.take(place)
        seen = np.flatnonzero((samples != 0) & (number >= self._last.take(place)))
        self._last[place] = -1
        lanes.samples = samples
        self.free[place[whole]] = 0
        part = np.flatnonzero(~whole)
        np.bitwise_and.at(self.free, place[part], ~lanes.samples[part])
        return lanes if len(seen) == lanes.count else lanes.take(seen)

    @property
    def nothing(self) -> bool:
        """Whether no sample is free."""
        return not self.free.any()
