"""A pipe context that records bound state: state objects, parameters, buffers, views.

`BindingContext` holds a reference to every bound resource, and none after `destroy`. A driver reads
`self.bound` when it draws. A driver that needs to know about changes overrides a hook:

* `execute_deferred`: execute deferred work now, because bound state or contents are about to
  change or be read;
* `rebound`: another state object or parameter was bound;
* `stage_rebound`: constants, textures or buffers of a shader stage have changed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import Stage
from gallette.pipe.interface import Context, Handle, Screen
from gallette.pipe.resource import LeakError, Resource
from gallette.pipe.state import (
    BlendState,
    DepthStencilAlphaState,
    FramebufferState,
    ImageView,
    RasterizerState,
    SamplerState,
    SamplerView,
    ScissorState,
    ShaderBuffer,
    StreamOutputTarget,
    VertexBuffer,
    VertexElement,
    ViewportState,
)
from gallette.pipe.variant_log import VariantLog

from .bound import Bound, ConstantBuffer, Cso, StageBindings, hold, store
from .memory.resource import HostResource

State = TypeVar("State")


def _replaced(old: tuple[State, ...], start: int, states: Sequence[State]) -> tuple[State, ...]:
    """Return `old` with `states` stored from slot `start` on; gaps are filled with `old`'s first
    entry.
    """
    padding = old[:1] * (start - len(old))
    return (*old[:start], *padding, *states, *old[start + len(states) :])


class BindingContext(Context):
    """The part of a pipe context that records bindings."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.variant_log = VariantLog()
        self.shaders: set[Any] = set()
        self._defaults = (
            Cso(BlendState()),
            Cso(RasterizerState()),
            Cso(DepthStencilAlphaState()),
            Cso[tuple[VertexElement, ...]](()),
        )
        self.bound = Bound(*self._defaults)
        self.bound.stages = {stage: StageBindings() for stage in Stage}
        self._on_failure: Callable[[Exception], None] | None = None
        self._failure: Exception | None = None
        self._block = ConstantBuffer(b"")  # the last buffer bound as block 0

    def execute_deferred(self) -> None:
        """Execute deferred work, because bound state or contents are about to change or be read.

        Errors of deferred work are recorded (see `deferred_failure`), not raised here.
        """

    def changing(self) -> None:
        """Called before a binding changes and nothing else does: a driver whose pending draws hold
        snapshots of their bindings need not execute them.
        """
        self.execute_deferred()

    def retargeting(self) -> None:
        """Another framebuffer is about to be bound (by default, `execute_deferred`)."""
        self.execute_deferred()

    def set_failure_callback(self, callback: Callable[[Exception], None] | None) -> None:
        self._on_failure = callback

    def deferred_failure(self, error: Exception) -> None:
        """Called when deferred work has failed: raise the error now, or record it for the next call
        that requests work.
        """
        if self._on_failure is not None:
            self._on_failure(error)
        elif self._failure is None:
            self._failure = error

    def raise_failure(self) -> None:
        """Raise a recorded error of deferred work, before new work is done or results are read."""
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def rebound(self) -> None:
        """Discard data derived from bound state."""

    def stage_rebound(self, stage: Stage) -> None:
        """Discard data derived from a stage's bindings."""

    def _set(self, name: str, value: Any) -> None:
        """Store a parameter of the bound state."""
        if getattr(self.bound, name) != value:
            self.changing()
            self.bound.set(name, value)
            self.rebound()

    def _bind(self, name: str, handle: Handle) -> None:
        """Store a state object in the bound state."""
        if getattr(self.bound, name) is not handle:
            self.changing()
            setattr(self.bound, name, handle)
            self.rebound()

    # -- state objects -------------------------------------------------------------------------

    def create_blend_state(self, state: BlendState) -> Handle:
        return Cso(state)

    def bind_blend_state(self, handle: Handle) -> None:
        self._bind("blend", handle or self._defaults[0])

    def delete_blend_state(self, handle: Handle) -> None:
        """The handle owns the state, so there is nothing to release."""

    def create_rasterizer_state(self, state: RasterizerState) -> Handle:
        return Cso(state)

    def bind_rasterizer_state(self, handle: Handle) -> None:
        self._bind("rasterizer", handle or self._defaults[1])

    def delete_rasterizer_state(self, handle: Handle) -> None:
        """The handle owns the state, so there is nothing to release."""

    def create_depth_stencil_alpha_state(self, state: DepthStencilAlphaState) -> Handle:
        return Cso(state)

    def bind_depth_stencil_alpha_state(self, handle: Handle) -> None:
        old = self.bound.depth_stencil_alpha
        self._bind("depth_stencil_alpha", handle or self._defaults[2])
        if self.bound.depth_stencil_alpha is not old:
            self.stage_rebound(Stage.FRAGMENT)  # it holds the alpha test's reference value

    def delete_depth_stencil_alpha_state(self, handle: Handle) -> None:
        """The handle owns the state, so there is nothing to release."""

    def create_sampler_state(self, state: SamplerState) -> Handle:
        return Cso(state)

    def bind_sampler_states(self, stage: Stage, start: int, handles: Sequence[Handle]) -> None:
        bindings = self.bound.stages[stage]
        if bindings.samplers[start : start + len(handles)] == list(handles):
            return
        self.changing()
        store(bindings.samplers, start, handles)
        bindings.revision += 1
        self.stage_rebound(stage)
        self.rebound()

    def delete_sampler_state(self, handle: Handle) -> None:
        """The handle owns the state, so there is nothing to release."""

    def create_vertex_elements_state(self, elements: tuple[VertexElement, ...]) -> Handle:
        return Cso(tuple(elements))

    def bind_vertex_elements_state(self, handle: Handle) -> None:
        self._bind("elements", handle or self._defaults[3])

    def delete_vertex_elements_state(self, handle: Handle) -> None:
        """The handle owns the state, so there is nothing to release."""

    def bind_shader_state(self, stage: Stage, handle: Handle) -> None:
        if self.bound.shaders.get(stage) is not handle:
            self.changing()
            self.bound.shaders[stage] = handle
            self.bound.revision += 1
            self.rebound()

    def delete_shader_state(self, handle: Handle) -> None:
        self.execute_deferred()
        self.shaders.discard(handle)
        for stage, bound in self.bound.shaders.items():
            if bound is handle:
                self.bound.shaders[stage] = None
        self.bound.revision += 1
        self.bound.epoch += 1
        self.rebound()
        handle.destroy()

    # -- parameters ----------------------------------------------------------------------------

    def set_framebuffer_state(self, state: FramebufferState) -> None:
        old = self.bound.framebuffer
        if state == old:
            return
        self.retargeting()
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
        self._set("viewports", _replaced(self.bound.viewports, start, states))

    def set_scissor_states(self, start: int, states: Sequence[ScissorState]) -> None:
        self._set("scissors", _replaced(self.bound.scissors, start, states))

    def set_blend_color(self, color: tuple[float, float, float, float]) -> None:
        self._set("blend_color", color)

    def set_stencil_ref(self, front: int, back: int) -> None:
        self._set("stencil_ref", (front & 0xFF, back & 0xFF))

    def set_sample_mask(self, mask: int) -> None:
        self._set("sample_mask", mask)

    def set_min_samples(self, samples: int) -> None:
        self._set("min_samples", samples)

    def set_sample_locations(self, locations: Sequence[tuple[float, float]]) -> None:
        self._set("sample_locations", tuple(locations))

    def set_clip_planes(self, planes: Sequence[tuple[float, float, float, float]]) -> None:
        if tuple(planes) == self.bound.clip_planes:
            return
        self.changing()
        self.bound.set("clip_planes", tuple(planes))
        for stage in self.bound.stages:
            self.stage_rebound(stage)

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
        self.constants_changing(stage, index, buffer)
        new: ConstantBuffer | None = None
        if buffer is not None:
            assert isinstance(buffer, HostResource)
            new = ConstantBuffer(None, buffer.bytes_at(offset, size), buffer, offset)
        elif data is not None:
            new = self._block
            if new.raw is not data:  # the state tracker binds the same bytes to several stages
                new = self._block = ConstantBuffer(bytes(data))
        bindings = self.bound.stages[stage]
        constants = bindings.constants
        if buffer is None and index == 0 and constants:
            last = constants[0]
            if last is not None and last.buffer is None:  # most draws change constants
                constants[0] = new
                self.stage_rebound(stage)
                return
        bindings.revision += 1
        if buffer is not None and not index:
            self.bound.epoch += 1  # a repeated draw has its own block 0
        old = constants[index] if index < len(constants) else None
        hold(new.buffer if new else None, old.buffer if old else None)
        store(constants, index, [new])
        self.stage_rebound(stage)

    def constants_changing(self, stage: Stage, index: int, buffer: Resource | None) -> None:
        """Called before a constant block changes; drivers whose pending draws own a copy override
        this.
        """
        self.changing()

    def _rebind(self, slots: list[Any], start: int, values: Sequence[Any], name: str) -> None:
        """Store views or ranges in slots and update the references to their resources."""
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
        old = bindings.views[start : start + len(views)]
        if len(old) == len(views) and all(map(operator.is_, old, views)):
            return
        self.changing()
        for view in views:
            if view is not None:
                view.resource.ref()
        for view in old:
            if view is not None:
                view.resource.unref()
        store(bindings.views, start, views)
        bindings.revision += 1
        self.stage_rebound(stage)

    def set_shader_images(
        self, stage: Stage, start: int, images: Sequence[ImageView | None]
    ) -> None:
        self.execute_deferred()
        bindings = self.bound.stages[stage]
        self._rebind(bindings.images, start, images, "resource")
        bindings.revision += 1
        self.bound.epoch += 1
        self.stage_rebound(stage)

    def set_shader_buffers(
        self, stage: Stage, start: int, buffers: Sequence[ShaderBuffer | None]
    ) -> None:
        self.execute_deferred()
        bindings = self.bound.stages[stage]
        self._rebind(bindings.buffers, start, buffers, "buffer")
        bindings.revision += 1
        self.bound.epoch += 1
        self.stage_rebound(stage)

    def set_vertex_buffers(self, buffers: Sequence[VertexBuffer | None]) -> None:
        if tuple(buffers) == self.bound.vertex_buffers:
            return
        self.changing()
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
        self.execute_deferred()
        for new in targets:
            if new is not None:
                new.buffer.ref()
                if not append:
                    new.written = 0
        for old in self.bound.stream_targets:
            if old is not None:
                old.buffer.unref()
        self.bound.stream_targets = tuple(targets)
        self.bound.revision += 1
        self.bound.epoch += 1

    def destroy(self) -> None:
        self.execute_deferred()
        self._drop_framebuffer()
        self.bound.framebuffer = FramebufferState()
        self.rebound()
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
