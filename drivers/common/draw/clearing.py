"""Clears of small parts that wait between small draws, to be executed with them.

Applications clear the place of each small picture before they draw it. Such a clear is dealt out
like a draw (see `dealing`): the texels of its rectangle are fragments that no test keeps from being
written, and nobody can tell how they came there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.memory.clear import (
    ClearValues,
    Texel,
    cleared_rect,
    cleared_texels,
    flat_texels,
)
from gallette.drivers.common.output.fragment_state import FragmentState
from gallette.drivers.common.raster.fragments import Fragments, expand_pixels, expand_quads
from gallette.drivers.common.raster.spans import Spans
from gallette.pipe.enums import ClearFlags
from gallette.pipe.resource import level_extent
from gallette.pipe.state import FramebufferState, ScissorState

__all__ = ["Clear", "ClearSheet", "clear_sheet", "may_wait", "orders"]

LARGEST = 1 << 12
"""Pixels of a clear that waits."""

Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class Clear:
    """A clear of a rectangle; `after`: so many of the draws that wait come before it."""

    after: int
    framebuffer: FramebufferState
    rect: ScissorState
    texels: Sequence[Texel]

    @classmethod
    def of(
        cls,
        after: int,
        framebuffer: FramebufferState,
        flags: ClearFlags,
        values: ClearValues,
        scissor: ScissorState | None,
    ) -> Clear:
        rect = cleared_rect(framebuffer, scissor)
        return cls(after, framebuffer, rect, tuple(cleared_texels(framebuffer, flags, values)))

    @property
    def pixels(self) -> int:
        return max(0, self.rect.maxx - self.rect.minx) * max(0, self.rect.maxy - self.rect.miny)

    def now(self) -> None:
        """Do it."""
        for texel in self.texels:
            texel.fill(self.rect)


def may_wait(framebuffer: FramebufferState) -> bool:
    """Can clears of its attachments be dealt out? All are of one layer, one sample and one size."""
    size = framebuffer.width, framebuffer.height
    for surface in (*framebuffer.cbufs, framebuffer.zsbuf):
        if surface is not None:
            desc = surface.resource.desc
            if desc.samples > 1 or surface.first_layer != surface.last_layer:
                return False
            if level_extent(desc, surface.level)[:2] != size:
                return False
    return True


def orders(draws: int, clears: Sequence[Clear]) -> tuple[Numbers, Numbers]:
    """The places of draws and of clears in the order of both."""
    after = np.array([clear.after for clear in clears], np.int64)
    numbers = np.arange(draws)
    of_draws = numbers + np.searchsorted(after, numbers, side="right")
    return of_draws.astype(np.uint16), (after + np.arange(len(clears))).astype(np.uint16)


@dataclass(slots=True)
class ClearSheet:
    """Pixels that clears cover: dealt out like a `dealing.Sheet`."""

    clears: Sequence[Clear]
    state: FragmentState
    spans: Spans  # their primitives are clears, by number
    draws: Numbers  # the order of each clear among all draws
    order: Numbers  # the same for each span

    quads: ClassVar[bool] = False
    """They need not come in quads."""

    def in_quads(self) -> ClearSheet:
        return self

    def part(self, first: int, end: int) -> ClearSheet | None:
        """What those from `first` to before `end` cover."""
        chosen = np.flatnonzero((self.order >= first) & (self.order < end))
        if not len(chosen):
            return None
        spans, order = self.spans.take(chosen), self.order.take(chosen)
        return ClearSheet(self.clears, self.state, spans, self.draws, order)

    def lanes(self, quads: bool) -> Fragments:
        """Its pixels."""
        expand = expand_quads if quads else expand_pixels
        return expand(self.spans, self.state.width)

    def draw(self) -> None:
        """All of it at once."""
        for number in np.unique(self.spans.primitive).tolist():
            self.clears[number].now()

    def run(self, lanes: Fragments) -> None:
        """Some of its pixels."""
        pixel, which = lanes.pixel, np.broadcast_to(lanes.primitive, lanes.count)
        if lanes.covered is not None:
            pixel, which = pixel.compress(lanes.covered), which.compress(lanes.covered)
        ends = np.flatnonzero(which[1:] != which[:-1]) + 1
        starts = [0, *ends.tolist()]
        for start, end in zip(starts, [*starts[1:], len(which)], strict=True):
            if start < end:
                for texel in self.clears[int(which[start])].texels:
                    _store(texel, pixel[start:end])


def _store(texel: Texel, pixel: Ints) -> None:
    """Clear some pixels."""
    flat, _, _ = flat_texels(texel.surface, 0)
    value = texel.value
    if texel.kept is not None:
        value = (flat[pixel] & texel.kept) | (value & ~texel.kept)
    flat[pixel] = value
    texel.surface.resource.touch()  # type: ignore[attr-defined]


def clear_sheet(clears: Sequence[Clear], order: Numbers, state: FragmentState) -> ClearSheet:
    """What all of them cover."""
    rects = [clear.rect for clear in clears]
    heights = np.array([rect.maxy - rect.miny for rect in rects], np.int64)
    which = np.arange(len(clears)).repeat(heights)
    ends = np.cumsum(heights)
    y = np.arange(len(which)) - (ends - heights).take(which)
    y += np.array([rect.miny for rect in rects], np.int64).take(which)
    x = np.array([rect.minx for rect in rects], np.int64).take(which)
    length = np.array([rect.maxx - rect.minx for rect in rects], np.int64).take(which)
    return ClearSheet(clears, state, Spans(which, y, x, length), order, order.take(which))
