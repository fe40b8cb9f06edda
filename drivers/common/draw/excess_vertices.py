"""Vertices past the end of all arrays: they are equal, so their triangles have no area.

A draw may name far more vertices than its buffers hold; the specification requires that to be
harmless, so it must not take minutes either.
"""

from __future__ import annotations

from dataclasses import replace

from gallette.compiler.nir.ir import Stage
from gallette.pipe.enums import PolygonMode, Primitive
from gallette.pipe.state import DrawInfo

from .state import DrawState

__all__ = ["without_excess"]

_WORTHWHILE = 1 << 14
_TRIANGLES = {
    Primitive.TRIANGLES: 3,
    Primitive.TRIANGLE_STRIP: 1,
    Primitive.TRIANGLE_FAN: 1,
}
"""Vertices per triangle, apart from the first two of a strip or a fan."""


def without_excess(draw: DrawState, info: DrawInfo) -> DrawInfo:
    """The draw without triangles whose vertices are all past the end; they are only counted."""
    step = _TRIANGLES.get(info.mode)
    if step is None or info.count < _WORTHWHILE or not _depends_on_area_alone(draw, info):
        return info
    held = max(0, _vertices_held(draw) - info.start)
    count = -(-(held + 2) // step) * step
    excess = info.count - count
    if excess < _WORTHWHILE:
        return info
    triangles, counters = excess // step * info.instance_count, draw.counters
    counters.ia_vertices += excess * info.instance_count
    counters.vs_invocations += excess * info.instance_count
    counters.ia_primitives += triangles
    counters.clipper_in += triangles
    counters.streams[0].generated += triangles
    return replace(info, count=count)


def _depends_on_area_alone(draw: DrawState, info: DrawInfo) -> bool:
    """Whether the draw's result is independent of triangles without area and of vertex numbers."""
    stages, raster = draw.fixed.selection.stages, draw.fixed.raster.state
    facts = stages[Stage.VERTEX].facts
    return (
        len(stages) == 1
        and not info.index_size
        and draw.gathered is None
        and not any(target is not None for target in draw.targets)
        and raster.fill_front is raster.fill_back is PolygonMode.FILL
        and not raster.conservative
        and not facts.has_side_effects
        and not any(name.startswith("vertex_id") for name in facts.system_values)
    )


def _vertices_held(draw: DrawState) -> int:
    """One past the last vertex that lies in some array."""
    most = 0
    for element in draw.elements:
        slot = element.buffer_index
        buffer = draw.buffers[slot] if slot < len(draw.buffers) else None
        if buffer is None or element.instance_divisor or not buffer.stride:
            continue  # every vertex reads the same value
        first = buffer.offset + element.src_offset
        most = max(most, -(-(buffer.buffer.desc.width - first) // buffer.stride))
    return most
