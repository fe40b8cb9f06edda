"""Draws that the host makes, because the device draws them otherwise than OpenGL.

Vulkan has no edge flags, so all sides of the triangles of a quad are outlined; devices draw no
points where the view cuts a polygon, and one polygon mode serves both faces. Nor has it polygon
stipple, smooth points, or a number of a primitive that is several triangles. The shared pipeline
draws all this with numpipe's code for shaders, on the mirrors of textures and in mapped buffers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.slots import SystemValue, VaryingSlot
from gallette.drivers.common.bound import Bound, ConstantBuffer, StageBindings, pinned_by, read_by
from gallette.drivers.common.draw.draw_states import DrawStates
from gallette.drivers.common.draw.pipeline import draw
from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.queries import Counters, Query
from gallette.drivers.common.variants.shader import ShaderObject
from gallette.drivers.common.work import Work
from gallette.pipe.enums import POINTS_AND_LINES, CullFace, PolygonMode, Primitive
from gallette.pipe.loader import create_screen
from gallette.pipe.state import DrawInfo
from gallette.pipe.variant_log import VariantLog

from .indices import CONVERTED
from .variants import rasterized

if TYPE_CHECKING:
    from .context import VulkanContext


def is_for_host(bound: Bound, mode: Primitive) -> bool:
    """Whether the host draws these primitives."""
    raster, shader = bound.rasterizer.state, bound.shaders.get(Stage.FRAGMENT)
    if raster.rasterizer_discard or shader is None:
        return False
    if mode in CONVERTED and SystemValue["PRIMITIVE_ID"] in shader.shader.info.system_values_read:
        return True
    filled = raster.fill_front is raster.fill_back is PolygonMode.FILL
    if filled and not (raster.point_smooth or raster.poly_stipple_enable):
        return False
    out = rasterized(bound, mode)
    if out in POINTS_AND_LINES:
        several = raster.multisample and bound.framebuffer.samples > 1
        return raster.point_smooth and out is Primitive.POINTS and not several
    faces = (CullFace.FRONT, raster.fill_front), (CullFace.BACK, raster.fill_back)
    fills = {fill for face, fill in faces if not raster.cull_face & face}
    if fills == {PolygonMode.LINE}:
        return mode in CONVERTED or (mode is Primitive.TRIANGLES and _hides_edges(bound))
    return raster.poly_stipple_enable or bool(fills - {PolygonMode.FILL})


def _hides_edges(bound: Bound) -> bool:
    """Whether the edge flags, which the state tracker adds as the last attribute, may be false."""
    if VaryingSlot.EDGE not in bound.shaders[Stage.VERTEX].shader.info.outputs_written:
        return False
    flag = bound.elements.state[-1]
    given: Any = bound.vertex_buffers[flag.buffer_index]
    one = given.buffer.bytes_at(given.offset + flag.src_offset, 4).view(np.float32)
    return bool(given.stride or one[0] == 0)


class HostDraws:
    """Draws on the host, with the state that is bound in a device's context."""

    def __init__(self, context: VulkanContext) -> None:
        self.context = context
        self._log = VariantLog()
        self._screen: Any = None  # numpipe's, made for the first draw
        self._shaders: dict[Any, ShaderObject[Any, Any]] = {}

    def draw(self, info: DrawInfo) -> None:
        """Draw on the host."""
        context, bound = self.context, self.context.bound
        targets = [target for target in bound.stream_targets if target is not None]
        context.rendering.end()
        stages = [stage for stage, made in bound.shaders.items() if made is not None]
        for resource in pinned_by(bound, stages):
            context.on_host(resource, range(resource.desc.last_level + 1), write=True)
        for resource in read_by(bound, stages):
            context.on_host(resource, range(resource.desc.last_level + 1))
        if info.index_buffer is not None:
            context.on_host(info.index_buffer)
        for target in targets:
            context.on_host(target.buffer, write=True)
            context.draws.feedback.count(target)
        self._screen = screen = self._screen or cast(Any, create_screen("numpipe"))
        queries, counters = [each for each in context.queries.active if each.kinds], Counters()
        own = replace(
            bound,
            shaders={stage: self._shader(bound.shaders[stage]) for stage in stages},
            stages={stage: self._current(found) for stage, found in bound.stages.items()},
            counting_samples=len(queries),
        )
        draw(DrawStates(own, counters, Work(screen.budget, screen.time_limit)), info)
        for target in targets:
            context.draws.feedback.go_on(target)
        for query in queries:
            query.add(Query(query.type, query.index, end=counters.snapshot()).result())

    def _shader(self, made: Any) -> ShaderObject[Any, Any]:
        if made not in self._shaders:
            given = made.shader.ref(), self._screen.compiler, self._log, made.stream_output
            self._shaders[made] = ShaderObject(*given)
        return self._shaders[made]

    def forget_shader(self, made: Any) -> None:
        """Forget a deleted shader."""
        if made in self._shaders:
            self._shaders.pop(made).destroy()

    def _current(self, bindings: StageBindings) -> StageBindings:
        """Bindings whose constant blocks are where their buffers are now."""
        blocks = list(bindings.constants)
        for at, block in enumerate(blocks):
            if block is not None and isinstance(block.buffer, HostResource):
                self.context.on_host(block.buffer)
                data = block.buffer.bytes_at(block.offset, block.data.size)
                blocks[at] = ConstantBuffer(None, data, block.buffer, block.offset)
        return replace(bindings, constants=blocks)
