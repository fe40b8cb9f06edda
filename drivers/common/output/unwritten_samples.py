"""The samples that no fragment has covered yet, while a batch is processed from its end.

Without blending and tests the last fragment of a sample is visible. Processed from the last to the
first, a fragment needs shading only if one of its samples is still free, and the batch is done when
none is.
"""

from __future__ import annotations

import numpy as np

from gallette.drivers.common.raster.fragments import Fragments
from gallette.drivers.common.raster.samples import MASK
from gallette.drivers.common.raster.spans import Spans

__all__ = ["UnwrittenSamples"]


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
