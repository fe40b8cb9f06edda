"""Draws and dispatches: from bound state to recorded commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.ir import Stage
from gallette.drivers.common.vertex.stream import resolved
from gallette.pipe.enums import Primitive
from gallette.pipe.state import ComputeInfo, DrawInfo

from .descriptors import Descriptors
from .dynamic import DynamicState, Row, State, push_row, vertex_row
from .feedback import Feedback
from .host import HostDraws, is_for_host
from .indices import prepared
from .memory.resources import VulkanBuffer
from .pipeline.cache import Pipeline
from .pipeline.keys import TOPOLOGIES, pipeline_key
from .pipeline.vertices import vertex_inputs, vertex_layout
from .spirv.variables import PUSH_WORDS, PUSHED
from .variants import ComputeKey, Selection, lookups, select, texture_facts, with_control

if TYPE_CHECKING:
    from .context import VulkanContext

_MOST_KNOWN = 1024
"""Combinations of state whose pipelines are found without looking at the state."""


class Draws:
    """The draws of a context, and the bindings in its current batch."""

    def __init__(self, context: VulkanContext) -> None:
        self.context = context
        self.vk = context.device.vk
        self.descriptors = Descriptors(context)
        self.dynamic = DynamicState(context)
        self.feedback = Feedback(context)
        self.host = HostDraws(context)
        self._known: dict[Any, tuple[Pipeline, Selection]] = {}
        self.plans: dict[Any, tuple[Any, ...]] = {}
        self.made: Any = None  # the last draw, if it may be made again (see `series`)

    def forget(self) -> None:
        """Forget all bindings, because a new batch begins."""
        self.descriptors.forget()
        self.dynamic.forget()

    def forget_shader(self, shader: Any) -> None:
        """Forget a deleted shader and everything made from it."""
        self._known.clear()
        for variant in shader.variants.values():
            self.context.screen.pipelines.forget(variant.program)
        self.host.forget_shader(shader)

    # -- draws -----------------------------------------------------------------------------------

    def draw(self, info: DrawInfo) -> None:
        """Record a draw call."""
        context, bound = self.context, self.context.bound
        if bound.shaders.get(Stage.VERTEX) is None:
            return
        if info.mode is Primitive.PATCHES and bound.shaders.get(Stage.TESS_EVAL) is None:
            return
        if info.indirect is not None:
            context.on_host(info.indirect.buffer)
            if info.indirect.count_buffer is not None:
                context.on_host(info.indirect.count_buffer)
        if info.count_from_stream_output is not None:
            self.feedback.count(info.count_from_stream_output)
        for_host, self.made = is_for_host(bound, info.mode), None
        for single in resolved(info):
            if single.count > 0 and single.instance_count > 0:
                (self.host.draw if for_host else self.record)(single)

    def record(self, info: DrawInfo) -> None:
        """Record the commands of a single draw."""
        context = self.context
        width, height, _ = context.bound.viewports[0].scale
        if width <= 0 or not height:
            return  # nothing can be visible
        indexed = prepared(context, info)
        if indexed is not None and not indexed.count:
            return
        mode = info.mode if indexed is None else indexed.mode
        pipeline, selection = self._prepared(info, mode)
        self.descriptors.reside(pipeline.link)
        sources = vertex_inputs(context, pipeline.link)
        context.rendering.begin()
        batch = context.stream.batch
        for what, _ in sources:
            batch.uses(what.gpu, write=False)
        restarts = indexed is not None and indexed.restarts
        state: State = {"pipeline": ("vkCmdBindPipeline", (0, pipeline.handle))}
        state.update(self.dynamic.state(restarts, TOPOLOGIES[mode]))
        state["push"] = push_row(pipeline.link.layout.handle, self._pushed(info))
        draw: Row = "vkCmdDraw", (info.count, info.instance_count, info.start, info.start_instance)
        if sources:
            state["vertices"] = vertex_row(sources)
        if indexed is not None:
            state["index"] = "vkCmdBindIndexBuffer", indexed.place(batch)
            numbers = indexed.count, info.instance_count, indexed.first, indexed.bias
            draw = "vkCmdDrawIndexed", (*numbers, info.start_instance)
        batch.keeps.add(pipeline)
        self.dynamic.set(batch.commands, state)
        self.descriptors.bind(batch, pipeline.link, 0)
        self.feedback.begin(selection)
        getattr(self.vk, draw[0])(batch.commands, *draw[1])
        if not selection.writes_memory:
            self.made = info, pipeline, sources, indexed, state, draw
        if selection.writes_memory or self.feedback.running:
            self.descriptors.wrote(pipeline.link)
            context.rendering.end()

    def _prepared(self, info: DrawInfo, mode: Primitive) -> tuple[Pipeline, Selection]:
        """The pipeline for the bound state."""
        bound = self.context.bound
        patch = info.vertices_per_patch if mode is Primitive.PATCHES else 0
        whole = (
            mode, info.mode, patch, vertex_layout(bound), texture_facts(bound),
            self.feedback.wanted, bound.blend, bound.rasterizer, bound.depth_stencil_alpha,
            bound.elements, bound.framebuffer, bound.sample_mask, bound.min_samples,
            *bound.shaders.values(),
        )  # fmt: skip
        found = self._known.get(whole)
        if found is None:
            selection = select(bound, info.mode, self.feedback.wanted)
            programs, pipelines = selection.programs, self.context.screen.pipelines
            if patch and bound.shaders.get(Stage.TESS_CTRL) is None:
                programs = with_control(programs, patch)
            link = pipelines.link(programs)
            key = pipeline_key(self.context, selection, link, mode, patch)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            found = self._known[whole] = pipelines.pipeline(programs, key), selection
        return found

    def _pushed(self, info: DrawInfo) -> bytes:
        """The push constants: values for which Vulkan has no state or built-in."""
        bound = self.context.bound
        words = np.zeros(PUSH_WORDS, np.uint32)
        floats = words.view(np.float32)
        indexed = bool(info.index_size)
        words[PUSHED["base_vertex"]] = info.index_bias & 0xFFFFFFFF if indexed else 0
        words[PUSHED["first_vertex"]] = (info.index_bias if indexed else info.start) & 0xFFFFFFFF
        words[PUSHED["draw_id"]] = info.draw_id
        floats[PUSHED["point_size"]] = bound.rasterizer.state.point_size
        floats[PUSHED["alpha_ref"]] = bound.depth_stencil_alpha.state.alpha_ref_value
        words[PUSHED["num_samples"]] = max(1, bound.framebuffer.samples)
        place = PUSHED["sub_pixel"]
        floats[place : place + 2] = [1 / (256 * size) for size in bound.viewports[0].scale[:2]]
        levels = PUSHED["levels"]
        floats[levels : levels + 6] = info.patch_levels
        return words.tobytes()

    # -- compute ---------------------------------------------------------------------------------

    def compute(self, info: ComputeInfo) -> None:
        """Record a dispatch."""
        context = self.context
        shader = context.bound.shaders.get(Stage.COMPUTE)
        if shader is None:
            return
        grid = info.grid
        if info.indirect is not None:
            context.on_host(info.indirect.buffer)
            buffer = info.indirect.buffer
            assert isinstance(buffer, VulkanBuffer)
            words = buffer.bytes_at(info.indirect.offset, 12).view(np.uint32)
            grid = int(words[0]), int(words[1]), int(words[2])
        if 0 in grid:
            return
        if any(size > 65535 for size in grid):
            raise GalletteError(f"a grid of {grid} workgroups is too large for the device")
        context.rendering.end()
        block = info.block if shader.shader.info.workgroup_size_variable else None
        key = ComputeKey(block, lookups(context.bound, Stage.COMPUTE))
        program = shader.variant_for(key).program
        pipeline = context.screen.pipelines.pipeline([program])
        self.descriptors.reside(pipeline.link)
        context.stream.barrier()
        batch = context.stream.batch
        self.vk.vkCmdBindPipeline(batch.commands, 1, pipeline.handle)
        batch.keeps.add(pipeline)
        self.descriptors.bind(batch, pipeline.link, 1)
        self.vk.vkCmdDispatch(batch.commands, *grid)
        self.descriptors.wrote(pipeline.link)
        context.stream.written = True
