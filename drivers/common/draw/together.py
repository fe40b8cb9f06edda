"""Draws of several states given to the programs' own code in one go.

A driver whose programs fill triangles themselves (`fill`, see `FragmentSink`) may do so for
triangles of several states, keeping every pixel's order: its programs have `fill_together`. Then
draws that wait are clipped state by state, and handed over all at once. What such code has no way
for (points, lines, a state it was not written for) makes it say no before anything is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.output.engine import FragmentEngine
from gallette.drivers.common.output.fragment_state import FragmentShader
from gallette.drivers.common.raster.interpolate import PlaneSource
from gallette.drivers.common.raster.lanes import PrimitiveInfo
from gallette.drivers.common.raster.primitives import Batch, Cutter, RasterContext
from gallette.drivers.common.raster.spans import Spans
from gallette.drivers.common.vertex.vertices import VertexSet

from .grouping import Group
from .pipeline import rasterize_part

__all__ = ["Offered", "fill_together"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Offered:
    """Triangles of draws in one state, ready to be set up."""

    engine: FragmentEngine
    shader: FragmentShader
    context: RasterContext
    vertices: VertexSet
    batch: Batch
    draws: Ints  # by the identity of a primitive: the number of its draw, which tells the order


class _Collector:
    """A `FragmentSink` that keeps the triangles it is offered."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._draws = np.asarray(group.entries, np.int64)
        self.found: list[Offered] = []
        self.refused = False

    def draw(self, spans: Spans, source: PlaneSource, info: PrimitiveInfo) -> None:
        """Points and lines: they are nobody's own."""
        self.refused = True

    def fill(self, context: RasterContext, vertices: VertexSet, batch: Batch) -> bool:
        """Triangles, clipped."""
        draw = self._group.draw
        self.found.append(
            Offered(draw.fixed.engine, draw.fragment, context, vertices, batch, self._draws)
        )
        return True

    @property
    def cut(self) -> Cutter | None:
        return getattr(self._group.draw.fragment.program, "cut", None)

    def collect(self) -> None:
        """Take the group's primitives as far as that."""
        group = self._group
        assert group.primitives is not None
        group.draw.work.begin(merged=True)
        part = replace(group.primitives, vertices=group.primitives.vertices.copy())
        with np.errstate(all="ignore"):
            rasterize_part(group.draw, group.mode, part, self)


def fill_together(groups: Sequence[Group], attempt: Callable[..., None]) -> bool:
    """Draw the draws of all groups; false, and nothing is done, where it is not the way to go.

    `attempt` is called with what to do and its arguments: what fails is its business.
    """
    shown = [group for group in groups if group.primitives is not None]
    if not shown or (len(shown) == 1 and shown[0].draw.fragment.several is None):
        return False
    ways = [_own_way(group) for group in shown]
    way = ways[0]
    if way is None or None in ways:
        return False
    counters = shown[0].draw.counters
    before = counters.snapshot()
    collectors = [_Collector(group) for group in shown]
    for collector in collectors:
        attempt(collector.collect)
    answers: list[bool] = []
    if not any(collector.refused for collector in collectors):
        offered = [each for collector in collectors for each in collector.found]
        attempt(lambda: answers.append(way(offered)))
    else:
        answers.append(False)
    if answers == [False]:
        counters.restore(before)
        return False
    for group in shown:
        group.draw.fixed.engine.finish()
    return True


def _own_way(group: Group) -> Callable[[Sequence[Offered]], bool] | None:
    way: Any = getattr(group.draw.fragment.program, "fill_together", None)
    return None if group.draw.witness is not None else way
