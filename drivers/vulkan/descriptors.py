"""Descriptors of a draw: the stages' bindings as one record and one set.

Block 0 of each stage is copied into uniform memory, so a set remains valid when only that block's
offset has changed. A new set is made when the record differs from that of the previous draw.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import Stage
from gallette.drivers.common.bound import ConstantBuffer, StageBindings
from gallette.pipe.resource import Resource
from gallette.pipe.state import ImageView, SamplerState, SamplerView

from .api.binding import byref
from .batch import Batch
from .lowering import PARAMETERS
from .memory.formats import COLOR, vulkan_format
from .memory.resources import VulkanBuffer, VulkanTexture
from .memory.storage import GENERAL
from .pipeline.layouts import DYNAMIC_UNIFORM, Layout, Link, Slot
from .pipeline.textures import image_view, texture_view
from .spirv.resources import COUNTERS

if TYPE_CHECKING:
    from .context import VulkanContext

_BLOCK = 65536
_TEXELS, _IMAGE_TEXELS = 4, 5
Row = tuple[int, int, int]


class Descriptors:
    """The descriptors bound in the current batch."""

    def __init__(self, context: VulkanContext) -> None:
        self.context = context
        self._sampled: dict[Any, tuple[Any, Any, Row]] = {}  # what was bound last, and its row
        self.forget()

    def forget(self) -> None:
        """Forget all bindings, because a new batch begins."""
        self._blocks: dict[Stage, tuple[ConstantBuffer | None, int, int]] = {}
        self._record = b""
        self.record: npt.NDArray[np.uint64] = np.zeros((0, 3), np.uint64)  # of the last draw
        self._layout: Layout | None = None
        self._set = 0
        self._offsets: tuple[int, ...] = ()
        self._point = -1
        self._parameters: tuple[Any, Row] | None = None

    # -- before the render pass begins -------------------------------------------------------------

    def reside(self, link: Link) -> None:
        """Move the resources that a draw reads and writes to the device."""
        for slot in link.slots:
            used: Any = None
            if slot.what[0] == "tex":
                used = self._view(slot)
            elif slot.what[0] == "img":
                used = self._image_of(slot)
            if used is not None and isinstance(used.resource, VulkanTexture):
                image = slot.what[0] == "img"
                levels = (used.level,) if image else range(used.first_level, used.last_level + 1)
                self.context.on_device(used.resource, levels)

    def _view(self, slot: Slot) -> SamplerView | None:
        return self.context.bound.stages[slot.stage].view(slot.what[1] % 1000)

    def _image_of(self, slot: Slot) -> ImageView | None:
        images, number = self.context.bound.stages[slot.stage].images, slot.what[1] % 1000
        return images[number] if number < len(images) else None

    def wrote(self, link: Link) -> None:
        """Mark bound resources as written, after a draw or dispatch that may write them."""
        batch = self.context.stream.batch
        for slot in link.slots:
            if slot.what[0] == "img":
                image = self._image_of(slot)
                if image is None or not image.writable:
                    continue
                resource = image.resource
                if isinstance(resource, VulkanTexture):
                    batch.uses(resource.image, write=True)
                    resource.device_wrote((image.level,))
                elif isinstance(resource, VulkanBuffer):
                    batch.uses(resource.gpu, write=True)
                    resource.touch()
            elif slot.what[0] in ("ssbo", "ssbos"):
                for bound in self.context.bound.stages[slot.stage].buffers:
                    if bound is not None and isinstance(bound.buffer, VulkanBuffer):
                        batch.uses(bound.buffer.gpu, write=True)
                        bound.buffer.touch()

    # -- the record --------------------------------------------------------------------------------

    def bind(self, batch: Batch, link: Link, point: int) -> None:
        """Bind a set with the stages' bindings, for draws (0) or dispatches (1)."""
        layout = link.layout
        self.record = record = np.zeros((layout.rows, 3), np.uint64)
        for slot in link.slots:
            rows = self._rows(batch, slot)
            for at, row in enumerate(rows, slot.row):
                record[at] = row
        if not layout.rows:
            return
        offsets = tuple([self._blocks[stage][2] for stage in link.dynamic])
        data = record.tobytes()
        device = self.context.device
        same = data == self._record and layout is self._layout and point == self._point
        if same and offsets == self._offsets:
            return
        if not same:
            self._set = batch.descriptor_set(layout)
            device.vk.vkUpdateDescriptorSetWithTemplate(
                device.handle, self._set, layout.template, int(record.ctypes.data)
            )
            self._record, self._layout, self._point = data, layout, point
        self._offsets = offsets
        handle = ctypes.c_uint64(self._set)
        numbers = (ctypes.c_uint32 * max(1, len(offsets)))(*offsets)
        device.vk.vkCmdBindDescriptorSets(
            batch.commands, point, layout.handle, 0, 1, byref(handle), len(offsets),
            byref(numbers),
        )  # fmt: skip

    def _rows(self, batch: Batch, slot: Slot) -> list[Row]:
        kind, number = slot.what
        bindings = self.context.bound.stages[slot.stage]
        if slot.binding.type == DYNAMIC_UNIFORM:
            return [self._block_zero(batch, slot.stage, bindings)]
        if slot.what == ("ssbo", PARAMETERS):
            return [self._parameter_block(batch)]
        numbers: Iterable[int] = (number,)
        if kind in ("ubos", "ssbos"):
            numbers = range(slot.binding.count)
        elif kind == "ssbo" and number >= COUNTERS:
            numbers = (number + self.context.screen.caps.max_shader_buffers - COUNTERS,)
        if kind.startswith("ubo"):
            return [self._uniform(batch, bindings, i) for i in numbers]
        if kind.startswith("ssbo"):
            return [self._storage(batch, bindings, i) for i in numbers]
        return [self._texture(batch, slot) if kind == "tex" else self._image(batch, slot)]

    def _block_zero(self, batch: Batch, stage: Stage, bindings: StageBindings) -> Row:
        block = bindings.constants[0] if bindings.constants else None
        known = self._blocks.get(stage)
        buffer = None if block is None else block.buffer
        if known is None or known[0] is not block or buffer is not None:
            data: Any = b"" if block is None else block.raw
            if block is not None and buffer is not None:
                self.context.on_host(buffer)
                data = buffer.bytes_at(block.offset, _BLOCK)  # type: ignore[attr-defined]
            known = self._blocks[stage] = (block, *batch.upload(data or b"\0" * 16))
        return known[1], 0, _BLOCK

    def _zeros(self) -> Row:
        zeros = self.context.screen.samplers.zeros()
        return zeros.handle, zeros.offset, zeros.size

    def _uniform(self, batch: Batch, bindings: StageBindings, number: int) -> Row:
        block = bindings.constants[number] if number < len(bindings.constants) else None
        if block is None:
            return self._zeros()
        if block.buffer is None:
            buffer, offset = batch.upload(block.raw or b"\0" * 16)
            return buffer, offset, max(16, len(block.raw or b""))
        return self._range(batch, block.buffer, block.offset, min(len(block.data), _BLOCK))

    def _storage(self, batch: Batch, bindings: StageBindings, number: int) -> Row:
        bound = bindings.buffers[number] if number < len(bindings.buffers) else None
        if bound is None:
            return self._zeros()
        size = bound.size or bound.buffer.desc.width
        return self._range(batch, bound.buffer, bound.offset, size)

    def _range(self, batch: Batch, buffer: Resource, offset: int, size: int) -> Row:
        assert isinstance(buffer, VulkanBuffer)
        size = min(size, buffer.desc.width - offset)
        if size <= 0:
            return self._zeros()
        batch.uses(buffer.gpu, write=False)
        return buffer.gpu.handle, buffer.gpu.offset + offset, size

    def _parameter_block(self, batch: Batch) -> Row:
        planes = self.context.bound.clip_planes
        if self._parameters is None or self._parameters[0] != planes:
            words = np.zeros(32, np.float32)
            words[: 4 * len(planes)] = np.array(planes, np.float32).reshape(-1)
            self._parameters = planes, (*batch.upload(words.view(np.uint8)), words.nbytes)
        return self._parameters[1]

    # -- textures and images ---------------------------------------------------------------------

    def _texture(self, batch: Batch, slot: Slot) -> Row:
        view = self._view(slot)
        if slot.binding.type == _TEXELS:
            return self._texels(batch, view, 37)
        if view is None or not isinstance(view.resource, VulkanTexture):
            return self._dummy(batch, slot, storage=False)
        state = self.context.bound.stages[slot.stage].sampler(slot.what[1] % 1000)
        key = slot.stage, slot.what, slot.binding.shape
        last = self._sampled.get(key)
        if last is None or last[0] is not view or last[1] is not state:
            row = self._sampler_and_view(slot, view, view.resource, state)
            last = self._sampled[key] = view, state, row
        return last[2]

    def _sampler_and_view(
        self, slot: Slot, view: SamplerView, texture: VulkanTexture, state: SamplerState | None
    ) -> Row:
        if state is not None and state.compare_enabled and not slot.binding.shape[3]:
            state = replace(state, compare_enabled=False)  # looked up without a reference
        samplers = self.context.screen.samplers
        sampler = samplers.sampler(state, view.format, view.target.is_cube)
        return sampler, texture_view(texture, view), GENERAL

    def _texels(self, batch: Batch, view: SamplerView | ImageView | None, number: int) -> Row:
        """A buffer of texels; `number` is the format of an empty binding."""
        resource, zeros = None if view is None else view.resource, self.context.screen.samplers
        if view is None or not isinstance(resource, VulkanBuffer):
            return zeros.zeros().view(number, 0, 64), 0, 0
        found, texel = vulkan_format(view.format), view.format.block_bytes
        assert found is not None
        rest = resource.desc.width - view.buffer_offset
        size = min(view.buffer_size or rest, rest) // texel * texel
        if size <= 0:
            return zeros.zeros().view(found.number, 0, texel), 0, 0
        batch.uses(resource.gpu, write=False)
        return resource.gpu.view(found.number, view.buffer_offset, size), 0, 0

    def _dummy(self, batch: Batch, slot: Slot, storage: bool) -> Row:
        samplers = self.context.screen.samplers
        image, view = samplers.dummy(slot.binding.shape, storage)
        aspect = 2 if slot.binding.shape[3] else COLOR
        if not image.prepared:
            self.context.rendering.end()
        self.context.stream.prepare(image, aspect)
        batch.uses(image, write=False)
        return samplers.sampler(None, None, False), view, GENERAL

    def _image(self, batch: Batch, slot: Slot) -> Row:
        image = self._image_of(slot)
        if slot.binding.type == _IMAGE_TEXELS:
            return self._texels(batch, image, 98)
        if image is None or not isinstance(image.resource, VulkanTexture):
            return self._dummy(batch, slot, storage=True)
        layers = (image.first_layer, image.last_layer - image.first_layer + 1)
        view = image_view(image.resource, image.format, image.level, layers, slot.binding.shape)
        return 0, view, GENERAL
