"""The visible primitive of each pixel of a rectangle, while fragments are resolved before
shading.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.raster.fragments import Fragments, owned_pixels, owned_quads
from gallette.drivers.common.raster.spans import Spans
from gallette.drivers.common.vertex.masks import every, where
from gallette.pipe.enums import CompareFunc

from .order import Scratch

__all__ = ["VisiblePrimitives"]

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
