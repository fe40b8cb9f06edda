"""Which primitive is seen in each pixel of a rectangle, while fragments are resolved unshaded."""

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
    """The pixels around some spans, and whose they are so far: a primitive's number + 1, or 0."""

    def __init__(self, scratch: Scratch, spans: Spans, stride: int, origin: int) -> None:
        """Pixels are numbered in rows of so many, from that one on."""
        left, self._top = int(spans.x.min()) & ~1, int(spans.y.min()) & ~1
        right = int((spans.x + spans.length).max() + 1) & ~1
        if 2 * (right - left) >= stride:  # then the rectangle may have the same rows
            left, right = 0, (stride + 1) & ~1
        self._left, self._width = left, right - left
        self._first = self._top * stride - origin if self._width == stride else None
        self._height = (int(spans.y.max() + 2) & ~1) - self._top
        self._owner: npt.NDArray[Any] = scratch.owners(self._width * self._height)

    def places(self, lanes: Fragments) -> Ints:
        """Where lanes are in the rectangle."""
        if self._first is not None:
            return lanes.pixel - self._first if self._first else lanes.pixel
        place = (lanes.y - self._top) * self._width
        place += lanes.x
        place -= self._left
        return place.astype(np.int64)

    def free(self, places: Ints) -> Bools:
        """Nobody is seen there."""
        return np.asarray(self._owner.take(places) == 0)

    @property
    def complete(self) -> bool:
        """Somebody is seen everywhere."""
        return bool(self._owner.all())

    def ties(self, lanes: Fragments, places: Ints, func: CompareFunc) -> Bools:
        """Which lanes win over what has the same depth, as if all came in drawing order.

        An earlier primitive may come later here. What was there before the draw has no owner.
        """
        owner = self._owner.take(places)
        owner -= 1
        if func in (CompareFunc.LESS, CompareFunc.GREATER):
            return np.asarray(lanes.primitive < owner)
        return np.asarray(lanes.primitive > owner)

    def own(self, lanes: Fragments, places: Ints, winners: Bools | None) -> None:
        """Lanes (those that win, None: all) are seen now."""
        if winners is not None and not every(winners):
            some = where(winners)
            self._owner[places.take(some)] = lanes.take(some).primitive + 1
        else:
            self._owner[places] = lanes.primitive + 1

    def lanes(self, quads: bool, stride: int, limit: int) -> Iterator[Fragments]:
        """The lanes that are seen, about `limit` at a time; then nobody is any more."""
        make = owned_quads if quads else owned_pixels
        rows = max(2, limit // max(self._width, 1) & ~1)  # lanes take much more memory than owners
        for row in range(0, self._height, rows):
            some = self._owner[row * self._width : (row + rows) * self._width]
            some = some.reshape(-1, self._width)
            lanes = make(some, self._left, self._top + row, stride)
            some[:] = 0
            if lanes.count:
                yield lanes
