"""What draws of several states cover, joined into one sheet where one program shades all of it.

Draws often differ only in what the rasterizer is told, a scissor, a viewport or culling: their
fragments still run the same code, with constants of their own, and the same becomes of them. Then
all of them are put in drawing order, span by span, and go through one engine.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.output.engine import FragmentEngine
from gallette.drivers.common.output.order import sorted_runs
from gallette.drivers.common.raster.interpolate import PlaneSource
from gallette.drivers.common.raster.lanes import PrimitiveInfo
from gallette.drivers.common.raster.spans import Spans
from gallette.drivers.common.vertex.vertices import VertexSet

from .grouping import Covered, Group

__all__ = ["joined_coverage", "joined_engine"]

Numbers = npt.NDArray[np.uint16]
Array = npt.NDArray[Any]


def joined_engine(groups: Sequence[Group]) -> FragmentEngine | None:
    """The engine that fragments of all groups can go through; None if there is none.

    Groups wait together, but what they draw into need not be the same.
    """
    first = groups[0].draw
    if first.bound is None:
        return None
    engines = [engine for group in groups for engine in group.engines]
    for group in groups[1:]:
        bound = group.draw.bound
        if bound is None or bound.framebuffer != first.bound.framebuffer:
            return None
    alike = all(each.likeness == engines[0].likeness for each in engines[1:])
    return engines[0] if alike else None


def joined_coverage(
    parts: Sequence[Covered], draws: Sequence[Numbers], orders: Sequence[Numbers]
) -> Covered | None:
    """All of it, by draws; None where it is of different kinds.

    `draws` are the numbers of the draws of primitives, `orders` those of spans.
    """
    first = parts[0]
    if not all(_joins(first, each) for each in parts):
        return None
    sources = [each.source for each in parts]
    order = sorted_runs(np.concatenate(orders))
    sizes = [source.corners.shape[1] for source in sources]
    before = np.cumsum([0, *sizes[:-1]])
    primitive = [p.spans.primitive + skip for p, skip in zip(parts, before.tolist(), strict=True)]
    spans = Spans(
        np.concatenate(primitive).take(order),
        np.concatenate([each.spans.y for each in parts]).take(order),
        np.concatenate([each.spans.x for each in parts]).take(order),
        np.concatenate([each.spans.length for each in parts]).take(order),
    )
    info = PrimitiveInfo(
        np.concatenate([each.info.front for each in parts]),
        np.concatenate(draws).astype(np.int32),
    )
    return Covered(spans, _joined_source(sources), info)


def _joins(one: Covered, other: Covered) -> bool:
    """Triangles of one kind, nothing hidden by a pattern."""
    a, b = one.source, other.source
    return (
        b.corners.shape[0] == 3
        and a.pixel_center == b.pixel_center
        and b.depth_range is None
        and (a.depth is None) == (b.depth is None)
        and other.spans.bounds is None
        and other.info.points is None
        and other.info.screen is None
    )


def _joined_source(sources: Sequence[PlaneSource]) -> PlaneSource:
    """The primitives of all, one source after the other."""
    sets: list[VertexSet] = []
    skips: dict[int, int] = {}
    count = 0
    for source in sources:
        if id(source.vertices) not in skips:
            skips[id(source.vertices)] = count
            sets.append(source.vertices)
            count += source.vertices.count
    moved = [skips[id(source.vertices)] for source in sources]
    pairs = list(zip(sources, moved, strict=True))
    depths = [source.depth for source in sources if source.depth is not None]
    return PlaneSource(
        _joined_vertices(sets),
        np.concatenate([source.corners + skip for source, skip in pairs], axis=1),
        np.concatenate([source.provoking + skip for source, skip in pairs]),
        sources[0].pixel_center,
        depth=np.concatenate(depths, axis=1) if depths else None,
    )


def _joined_vertices(sets: Sequence[VertexSet]) -> VertexSet:
    if len(sets) == 1:
        return sets[0]
    made = copy.copy(sets[0])
    made.count = sum(each.count for each in sets)
    made.clip = np.concatenate([each.clip for each in sets], axis=1)
    made.window = np.concatenate([each.window for each in sets], axis=1)
    slots = {slot for each in sets for slot in each.varyings} - {VaryingSlot.POS}
    made.varyings = {slot: [_joined_values(sets, slot, i) for i in range(4)] for slot in slots}
    return made


def _joined_values(sets: Sequence[VertexSet], slot: int, component: int) -> Array:
    """One component of a varying of all vertices, as raw bits."""
    values = []
    for each in sets:
        bits = np.atleast_1d(each.component(slot, component)).view(np.float32)
        values.append(np.broadcast_to(bits, each.count))
    return np.concatenate(values)
