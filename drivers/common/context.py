"""The command stream: binds state, and hands each piece of work to the room that does it.

Work is executed when it is called, so queries, transfers and fences have nothing to wait for. The
context holds a reference to every resource that is bound, and none after `destroy`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir.modes import Stage
from gallette.drivers.common.bound import Bound, ConstantBuffer, Cso, StageBindings, hold, store
from gallette.drivers.common.draw.compute import launch
from gallette.drivers.common.draw.queue import DrawQueue
from gallette.drivers.common.memory import clear as clears
from gallette.drivers.common.memory.resource import HostResource, transfer_map, transfer_unmap
from gallette.drivers.common.output.order import Scratch
from gallette.drivers.common.queries import Counters, Query, RenderCondition
from gallette.pipe.enums import ClearFlags, MapFlags, QueryType
from gallette.pipe.formats import Format
from gallette.pipe.interface import Color, Context, Fence, Handle
from gallette.pipe.resource import LeakError, Resource, Transfer
from gallette.pipe.state import (
    BlendState,
    BlitInfo,
    Box,
    ComputeInfo,
    DepthStencilAlphaState,
    DrawInfo,
    FramebufferState,
    ImageView,
    RasterizerState,
    SamplerState,
    SamplerView,
    ScissorState,
    ShaderBuffer,
    StreamOutputInfo,
    StreamOutputTarget,
    Surface,
    VertexBuffer,
    VertexElement,
    ViewportState,
)
from gallette.pipe.variant_log import VariantLog

if TYPE_CHECKING:
    from gallette.compiler.nir.ir import Shader
    from gallette.drivers.common.screen import HostScreen

__all__ = ["HostContext"]

_MERGED_STAGES = (Stage.VERTEX, Stage.FRAGMENT)


class _Signalled(Fence):
    """The fence of work that is already done."""

    def wait(self, timeout_ns: int) -> bool:
        return True


class HostContext(Context):
    """A command stream that executes on the host."""

    def __init__(self, screen: HostScreen) -> None:
        self.screen: HostScreen = screen
        self.variant_log = VariantLog()
        self.counters = Counters()
        self.active_occlusion = 0
        self.shaders: set[Any] = set()
        self.scratch = Scratch()
        self.selections: dict[Any, Any] = {}
        self.derived: dict[bool, Any] = {}
        self._condition: RenderCondition | None = None
        self._defaults = (
            Cso(BlendState()),
            Cso(RasterizerState()),
            Cso(DepthStencilAlphaState()),
            Cso[tuple[VertexElement, ...]](()),
        )
        self.bound = Bound(*self._defaults)
        self.bound.stages = {stage: StageBindings() for stage in Stage}
        self._queue = DrawQueue([self.bound.stages[stage] for stage in _MERGED_STAGES])

    def _set(self, name: str, value: Any) -> None:
        """Bind something that draws derive state from; a change makes them derive it anew."""
        if getattr(self.bound, name) != value:
            self._finish()
            self.derived.clear()
        setattr(self.bound, name, value)

    def _finish(self) -> None:
        """Execute the draws that wait: something is about to change, or to be looked at."""
        self._queue.flush(self)

    # -- state objects -------------------------------------------------------------------------

    def create_blend_state(self, state: BlendState) -> Handle:
        return Cso(state)

    def bind_blend_state(self, handle: Handle) -> None:
        self._set("blend", handle or self._defaults[0])

    def delete_blend_state(self, handle: Handle) -> None:
        """Nothing is held outside the object."""

    def create_rasterizer_state(self, state: RasterizerState) -> Handle:
        return Cso(state)

    def bind_rasterizer_state(self, handle: Handle) -> None:
        self._set("rasterizer", handle or self._defaults[1])

    def delete_rasterizer_state(self, handle: Handle) -> None:
        """Nothing is held outside the object."""

    def create_depth_stencil_alpha_state(self, state: DepthStencilAlphaState) -> Handle:
        return Cso(state)

    def bind_depth_stencil_alpha_state(self, handle: Handle) -> None:
        new = (handle or self._defaults[2]).state
        if new.alpha_ref_value != self.bound.depth_stencil_alpha.state.alpha_ref_value:
            self.bound.stages[Stage.FRAGMENT].changed()
        old = self.bound.depth_stencil_alpha
        self._set("depth_stencil_alpha", handle or self._defaults[2])
        if self.bound.depth_stencil_alpha is not old:
            self.bound.stages[Stage.FRAGMENT].changed()  # it holds the alpha test's reference

    def delete_depth_stencil_alpha_state(self, handle: Handle) -> None:
        """Nothing is held outside the object."""

    def create_sampler_state(self, state: SamplerState) -> Handle:
        return Cso(state)

    def bind_sampler_states(self, stage: Stage, start: int, handles: Sequence[Handle]) -> None:
        bindings = self.bound.stages[stage]
        if bindings.samplers[start : start + len(handles)] == list(handles):
            return
        self._finish()
        store(bindings.samplers, start, handles)
        bindings.changed()
        self.derived.clear()

    def delete_sampler_state(self, handle: Handle) -> None:
        """Nothing is held outside the object."""

    def create_vertex_elements_state(self, elements: tuple[VertexElement, ...]) -> Handle:
        return Cso(tuple(elements))

    def bind_vertex_elements_state(self, handle: Handle) -> None:
        self._set("elements", handle or self._defaults[3])

    def delete_vertex_elements_state(self, handle: Handle) -> None:
        """Nothing is held outside the object."""

    def create_shader_state(
        self, stage: Stage, shader: Shader, stream_output: StreamOutputInfo | None = None
    ) -> Handle:
        from gallette.drivers.common.draw.programs import create_shader

        handle = create_shader(self, stage, shader, stream_output)
        self.shaders.add(handle)
        return handle

    def bind_shader_state(self, stage: Stage, handle: Handle) -> None:
        if self.bound.shaders.get(stage) is not handle:
            self._finish()
            self.bound.shaders[stage] = handle
            self.derived.clear()

    def delete_shader_state(self, handle: Handle) -> None:
        self._finish()
        self.shaders.discard(handle)
        self.selections.clear()
        self.derived.clear()
        for stage, bound in self.bound.shaders.items():
            if bound is handle:
                self.bound.shaders[stage] = None
        handle.destroy()

    # -- parameters ----------------------------------------------------------------------------

    def set_framebuffer_state(self, state: FramebufferState) -> None:
        old = self.bound.framebuffer
        if state == old:
            return
        self._finish()
        for surface in (*state.cbufs, state.zsbuf):
            if surface is not None:
                surface.resource.ref()
        self._drop_framebuffer()
        self._set("framebuffer", state)

    def _drop_framebuffer(self) -> None:
        old = self.bound.framebuffer
        for surface in (*old.cbufs, old.zsbuf):
            if surface is not None:
                surface.resource.unref()

    def set_viewport_states(self, start: int, states: Sequence[ViewportState]) -> None:
        if start == 0 and states:
            self._set("viewport", states[0])

    def set_scissor_states(self, start: int, states: Sequence[ScissorState]) -> None:
        if start == 0 and states:
            self._set("scissor", states[0])

    def set_blend_color(self, color: tuple[float, float, float, float]) -> None:
        self._set("blend_color", color)

    def set_stencil_ref(self, front: int, back: int) -> None:
        self._set("stencil_ref", (front & 0xFF, back & 0xFF))

    def set_sample_mask(self, mask: int) -> None:
        self._set("sample_mask", mask)

    def set_min_samples(self, samples: int) -> None:
        self._set("min_samples", samples)

    def set_clip_planes(self, planes: Sequence[tuple[float, float, float, float]]) -> None:
        if tuple(planes) == self.bound.clip_planes:
            return
        self._finish()
        self.bound.clip_planes = tuple(planes)
        for bindings in self.bound.stages.values():
            bindings.changed()

    def set_polygon_stipple(self, pattern: tuple[int, ...]) -> None:
        self._set("polygon_stipple", pattern)

    def set_constant_buffer(
        self,
        stage: Stage,
        index: int,
        data: bytes | bytearray | memoryview | npt.NDArray[np.uint8] | None = None,
        buffer: Resource | None = None,
        offset: int = 0,
        size: int = 0,
    ) -> None:
        if index or buffer is not None or stage not in _MERGED_STAGES:
            self._finish()  # draws that wait have their own block 0, but no other
        new: ConstantBuffer | None = None
        if buffer is not None:
            assert isinstance(buffer, HostResource)
            new = ConstantBuffer(buffer.bytes_at(offset, size), buffer)
        elif data is not None:
            new = ConstantBuffer(np.frombuffer(bytes(data), np.uint8))
        bindings = self.bound.stages[stage]
        if new is not None and index == 0 and bindings.constants:
            last = bindings.constants[0]
            if buffer is None and last is not None and last.buffer is None:
                bindings.constants[0] = new
                bindings.resources = bindings.joined = None
                return
        old = bindings.constants[index] if index < len(bindings.constants) else None
        hold(new.buffer if new else None, old.buffer if old else None)
        store(bindings.constants, index, [new])
        bindings.changed()

    def _rebind(self, slots: list[Any], start: int, values: Sequence[Any], name: str) -> None:
        """Store views or ranges; references follow the resource each names."""
        old = slots[start : start + len(values)]
        for value in values:
            if value is not None:
                getattr(value, name).ref()
        for value in old:
            if value is not None:
                getattr(value, name).unref()
        store(slots, start, values)

    def set_sampler_views(
        self, stage: Stage, start: int, views: Sequence[SamplerView | None]
    ) -> None:
        bindings = self.bound.stages[stage]
        if bindings.views[start : start + len(views)] == list(views):
            return
        self._finish()
        self._rebind(bindings.views, start, views, "resource")
        bindings.changed()

    def set_shader_images(
        self, stage: Stage, start: int, images: Sequence[ImageView | None]
    ) -> None:
        self._finish()
        bindings = self.bound.stages[stage]
        self._rebind(bindings.images, start, images, "resource")
        bindings.changed()

    def set_shader_buffers(
        self, stage: Stage, start: int, buffers: Sequence[ShaderBuffer | None]
    ) -> None:
        self._finish()
        bindings = self.bound.stages[stage]
        self._rebind(bindings.buffers, start, buffers, "buffer")
        bindings.changed()

    def set_vertex_buffers(self, buffers: Sequence[VertexBuffer | None]) -> None:
        if tuple(buffers) == self.bound.vertex_buffers:
            return
        self._finish()
        for new in buffers:
            if new is not None:
                new.buffer.ref()
        for old in self.bound.vertex_buffers:
            if old is not None:
                old.buffer.unref()
        self.bound.vertex_buffers = tuple(buffers)

    def set_stream_output_targets(
        self, targets: Sequence[StreamOutputTarget | None], append: bool = False
    ) -> None:
        self._finish()
        for new in targets:
            if new is not None:
                new.buffer.ref()
                if not append:
                    new.written = 0
        for old in self.bound.stream_targets:
            if old is not None:
                old.buffer.unref()
        self.bound.stream_targets = tuple(targets)

    # -- work ----------------------------------------------------------------------------------

    @property
    def skipped(self) -> bool:
        """The render condition says that nothing is to be drawn."""
        return self._condition is not None and not self._condition.passes()

    def draw_vbo(self, info: DrawInfo) -> None:
        if not self.skipped:
            self._queue.submit(self, info)

    def launch_grid(self, info: ComputeInfo) -> None:
        self._finish()
        launch(self, info)

    def clear(
        self,
        flags: ClearFlags,
        color: Color,
        depth: float,
        stencil: int,
        scissor: ScissorState | None = None,
    ) -> None:
        self._finish()
        if not self.skipped:
            clears.clear(self.bound.framebuffer, flags, color, depth, stencil, scissor)

    def clear_render_target(self, surface: Surface, color: Color, rect: ScissorState) -> None:
        self._finish()
        clears.clear_color(surface, color, rect)

    def clear_depth_stencil(
        self,
        surface: Surface,
        flags: ClearFlags,
        depth: float,
        stencil: int,
        rect: ScissorState,
        stencil_writemask: int = 0xFF,
    ) -> None:
        self._finish()
        clears.clear_depth_stencil(surface, flags, depth, stencil, rect, stencil_writemask)

    def blit(self, info: BlitInfo) -> None:
        self._finish()
        from gallette.drivers.common.memory.blit import blit

        if not self.skipped:
            blit(info)

    def resource_copy_region(
        self,
        dst: Resource,
        dst_level: int,
        dst_x: int,
        dst_y: int,
        dst_z: int,
        src: Resource,
        src_level: int,
        src_box: Box,
    ) -> None:
        self._finish()
        from gallette.drivers.common.memory.copy import copy_region

        copy_region(dst, dst_level, dst_x, dst_y, dst_z, src, src_level, src_box)

    def generate_mipmap(
        self,
        resource: Resource,
        format: Format,
        base_level: int,
        last_level: int,
        first_layer: int,
        last_layer: int,
    ) -> None:
        self._finish()
        from gallette.drivers.common.memory.mipmap import generate_mipmap

        generate_mipmap(resource, format, base_level, last_level, first_layer, last_layer)

    # -- transfers -----------------------------------------------------------------------------

    def transfer_map(self, resource: Resource, level: int, flags: MapFlags, box: Box) -> Transfer:
        self._finish()
        assert isinstance(resource, HostResource)
        return transfer_map(resource, level, flags, box)

    def transfer_unmap(self, transfer: Transfer) -> None:
        transfer_unmap(transfer)

    # -- queries and synchronisation -------------------------------------------------------------

    def create_query(self, type: QueryType, index: int = 0) -> Handle:
        return Query(type, index)

    def begin_query(self, query: Handle) -> None:
        self._finish()
        query.active = True
        self.derived.clear()
        self.active_occlusion += query.counts_samples
        query.begin, query.end = self.counters.snapshot(), None

    def end_query(self, query: Handle) -> None:
        self._finish()
        if query.active:
            self.active_occlusion -= query.counts_samples
        query.active = False
        self.derived.clear()
        query.end = self.counters.snapshot()

    def get_query_result(self, query: Handle, wait: bool) -> int | dict[str, int] | None:
        self._finish()
        result: int | dict[str, int] = query.result()
        return result

    def destroy_query(self, query: Handle) -> None:
        if query.active:
            self.end_query(query)

    def render_condition(self, query: Handle | None, inverted: bool, wait: bool) -> None:
        self._finish()
        self._condition = None if query is None else RenderCondition(query, inverted)

    def flush(self) -> Fence:
        self._finish()
        return _Signalled()

    def memory_barrier(self) -> None:
        """Work is done in order already."""
        self._finish()

    def explain(self, handle: Handle) -> dict[str, Any]:
        explained: dict[str, Any] = handle.explain()
        return explained

    def destroy(self) -> None:
        self._finish()
        self._drop_framebuffer()
        self.bound.framebuffer = FramebufferState()
        self.derived.clear()
        self.set_vertex_buffers(())
        self.set_stream_output_targets(())
        for stage, bindings in self.bound.stages.items():
            for index in range(len(bindings.constants)):
                self.set_constant_buffer(stage, index)
            self.set_sampler_views(stage, 0, [None] * len(bindings.views))
            self.set_shader_images(stage, 0, [None] * len(bindings.images))
            self.set_shader_buffers(stage, 0, [None] * len(bindings.buffers))
        self.bound.shaders.clear()
        if self.shaders:
            names = ", ".join(sorted(str(shader.name) for shader in self.shaders))
            raise LeakError(f"a context was destroyed with live shaders: {names}")
