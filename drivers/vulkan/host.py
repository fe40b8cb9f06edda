"""Draws that the host makes, because the device draws them otherwise than OpenGL.

Vulkan has no edge flags, so all sides of the triangles of a quad are outlined; devices draw no
points where the view cuts a polygon, and one polygon mode serves both faces. numpipe draws such
polygons, on the mirrors of textures and in mapped buffers.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.bound import Bound, ConstantBuffer, Cso, StageBindings
from gallette.drivers.common.draw.draw_states import DrawStates
from gallette.drivers.common.draw.pipeline import draw
from gallette.drivers.common.draw.resources import pinned_by, readable_by, sampled_by
from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.queries import Counters, Query
from gallette.drivers.common.variants.shader import ShaderObject
from gallette.drivers.common.work import Work
from gallette.pipe.enums import POINTS_AND_LINES, CullFace, PolygonMode, Primitive
from gallette.pipe.loader import create_screen
from gallette.pipe.state import DrawInfo, RasterizerState
from gallette.pipe.variant_log import VariantLog

from .variants import QUADS, rasterized

if TYPE_CHECKING:
    from .context import VulkanContext

__all__ = ["HostDraws", "is_for_host", "polygon_mode"]


def _fills(raster: RasterizerState) -> set[PolygonMode]:
    """The polygon modes of the faces that are not culled."""
    faces = (CullFace.FRONT, raster.fill_front), (CullFace.BACK, raster.fill_back)
    return {fill for face, fill in faces if not raster.cull_face & face}


def polygon_mode(raster: RasterizerState) -> PolygonMode:
    """The polygon mode of a draw by the device."""
    return max(_fills(raster), default=PolygonMode.FILL)


def is_for_host(bound: Bound, mode: Primitive) -> bool:
    """Whether the host draws these primitives."""
    raster = bound.rasterizer.state
    if raster.fill_front is raster.fill_back is PolygonMode.FILL or raster.rasterizer_discard:
        return False
    if rasterized(bound, mode) in POINTS_AND_LINES:
        return False
    fills, vertex = _fills(raster), bound.shaders[Stage.VERTEX].shader
    if fills == {PolygonMode.LINE}:
        return mode in QUADS or VaryingSlot.EDGE in vertex.info.outputs_written
    return bool(fills - {PolygonMode.FILL})


@lru_cache(16)
def _discarding(raster: RasterizerState) -> Cso[RasterizerState]:
    return Cso(replace(raster, rasterizer_discard=True))


class HostDraws:
    """Draws on the host, with the state that is bound in a device's context."""

    def __init__(self, context: VulkanContext) -> None:
        self.context = context
        self._log = VariantLog()
        self._screen: Any = None  # numpipe's, made for the first draw
        self._shaders: dict[Any, ShaderObject[Any, Any]] = {}

    def draw(self, info: DrawInfo) -> None:
        """Draw on the host; the device captures what the last stage writes."""
        context, bound = self.context, self.context.bound
        captures = context.draws.feedback.wanted
        if captures:
            kept = bound.rasterizer
            bound.rasterizer = _discarding(kept.state)
            try:
                context.draws.record(info)
            finally:
                bound.rasterizer = kept
        context.rendering.end()
        context.draws.made = None
        stages = [stage for stage, made in bound.shaders.items() if made is not None]
        for resource in pinned_by(bound, stages):
            context.on_host(resource, range(resource.desc.last_level + 1), write=True)
        for resource in (*readable_by(bound, stages), *sampled_by(bound, stages)):
            context.on_host(resource, range(resource.desc.last_level + 1))
        if info.index_buffer is not None:
            context.on_host(info.index_buffer)
        self._screen = screen = self._screen or create_screen("numpipe")
        queries, counters = context.queries.counted(captures), Counters()
        own = replace(
            bound,
            shaders={stage: self._shader(bound.shaders[stage]) for stage in stages},
            stages={stage: _current(found) for stage, found in bound.stages.items()},
            counting_samples=len(queries),
        )
        draw(DrawStates(own, counters, Work(screen.budget, screen.time_limit)), info)
        for query in queries:
            query.add(Query(query.type, query.index, end=counters.snapshot()).result())

    def _shader(self, made: Any) -> ShaderObject[Any, Any]:
        if made not in self._shaders:
            compiler = self._screen.compiler
            self._shaders[made] = ShaderObject(made.shader.ref(), compiler, self._log)
        return self._shaders[made]

    def forget_shader(self, made: Any) -> None:
        """Forget a deleted shader."""
        if made in self._shaders:
            self._shaders.pop(made).destroy()


def _current(bindings: StageBindings) -> StageBindings:
    """Bindings whose constant blocks are where their buffers are now."""
    blocks = list(bindings.constants)
    for at, block in enumerate(blocks):
        if block is not None and isinstance(block.buffer, HostResource):
            data = block.buffer.bytes_at(block.offset, block.data.size)
            blocks[at] = ConstantBuffer(None, data, block.buffer, block.offset)
    return replace(bindings, constants=blocks)
