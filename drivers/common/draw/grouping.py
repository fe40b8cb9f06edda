"""The vertices and primitives of pending draws that are instances of one draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.raster.interpolate import PlaneSource
from gallette.drivers.common.raster.lanes import PrimitiveInfo
from gallette.drivers.common.raster.scissors import FragmentSink
from gallette.drivers.common.raster.spans import Spans
from gallette.pipe.enums import Primitive

from .splitting import Primitives
from .state import DrawState

__all__ = ["CoverageSink", "Covered", "Group", "rows_covered"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Covered:
    """The pixels that some primitives cover, as the rasterizer reports them."""

    spans: Spans
    source: PlaneSource
    info: PrimitiveInfo


class CoverageSink(FragmentSink):
    """A sink that keeps covered pixels."""

    def __init__(self) -> None:
        self.found: list[Covered] = []

    def draw(self, spans: Spans, source: PlaneSource, info: PrimitiveInfo) -> None:
        """Keep the covered pixels."""
        self.found.append(Covered(spans, source, info))


@dataclass(slots=True)
class Group:
    """Merged draws: their numbers in the batch, and their primitives."""

    draw: DrawState
    mode: Primitive
    entries: Sequence[int]
    primitives: Primitives | None  # their `identity` is the number of the draw in the group
    starts: Ints | None = None  # the first vertex of each draw, where not all have as many


def rows_covered(group: Group) -> float:
    """An upper bound on the rows that the primitives of a group cover, summed; it may be NaN."""
    if group.primitives is None:
        return 0.0
    y = group.primitives.vertices.window[1]
    uneven = group.starts is not None
    y = y.take(group.primitives.corners) if uneven else y.reshape(len(group.entries), -1)
    with np.errstate(all="ignore"):  # infinite less infinite is not a number
        rows = np.minimum(np.ptp(y, axis=1) + 2, group.draw.fixed.raster.target.y1)
    return float(rows.sum() * (1 if uneven else y.shape[1]))
