"""Transform feedback: buffers, and the counters at which capturing resumes."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gallette.pipe.state import StreamOutputTarget

from .api.binding import byref
from .memory.resources import VulkanBuffer
from .memory.storage import DeviceBuffer

if TYPE_CHECKING:
    from .context import VulkanContext
    from .variants import Selection


class Feedback:
    """The captured buffers. For each target the device counts the bytes written in four bytes of
    memory.
    """

    def __init__(self, context: VulkanContext) -> None:
        self.context = context
        self.wanted = self.running = False
        self._targets: list[StreamOutputTarget | None] = []
        self._counters: dict[int, tuple[StreamOutputTarget, DeviceBuffer]] = {}

    def bind(self, targets: Sequence[StreamOutputTarget | None], append: bool) -> None:
        """Bind targets; unless `append`, capturing starts at their beginnings."""
        self._targets = list(targets)
        self.wanted = any(target is not None for target in targets)
        for target in targets:
            if target is not None:
                counter = self._counter(target)
                if not append:
                    counter.wait(write=True)
                    counter.bytes[:4] = 0

    def _counter(self, target: StreamOutputTarget) -> DeviceBuffer:
        found = self._counters.get(id(target))
        if found is None:
            if len(self._counters) > 64:
                live = {id(each) for each in self._targets}
                self._counters = {k: v for k, v in self._counters.items() if k in live}
            screen = self.context.screen
            made = DeviceBuffer(screen.device, screen.allocator, 16)
            made.bytes[:] = 0
            made.bytes[:4].view(np.uint32)[0] = target.written
            found = self._counters[id(target)] = (target, made)
        return found[1]

    def count(self, target: StreamOutputTarget) -> None:
        """Update the number of bytes written to a target."""
        found = self._counters.get(id(target))
        if found is not None:
            self.context.rendering.end()
            found[1].wait(write=False)
            target.written = int(found[1].bytes[:4].view(np.uint32)[0])

    def go_on(self, target: StreamOutputTarget) -> None:
        """Continue after what the host has written to a target."""
        self._counter(target).bytes[:4].view(np.uint32)[0] = target.written

    def update_sizes(self) -> None:
        """Update the number of bytes written to each target, after waiting for the device."""
        for target, counter in self._counters.values():
            if not counter.busy:
                target.written = int(counter.bytes[:4].view(np.uint32)[0])

    def begin(self, selection: Selection) -> None:
        """Begin capturing, in a render pass."""
        info = selection.last.stream_output
        if not self.wanted or info is None or not info.outputs or self.running:
            return
        context = self.context
        batch, vk = context.stream.batch, context.device.vk
        rows = []  # of each: buffer, offset, size, the counter's buffer and offset
        for index, target in enumerate(self._targets):
            if target is None:
                zeros = context.screen.samplers.zeros()
                rows.append((zeros.handle, zeros.offset, 4, 0, 0))
                continue
            resource, counter = target.buffer, self._counter(target)
            assert isinstance(resource, VulkanBuffer)
            if index < len(info.strides):
                target.stride = info.strides[index]
            resource.touch()
            for used in (resource.gpu, counter):
                batch.uses(used, write=True)
            size = max(4, min(target.size, resource.desc.width - target.offset))
            start = resource.gpu.offset + target.offset
            rows.append((resource.gpu.handle, start, size, counter.handle, counter.offset))
        count, words = len(rows), ctypes.c_uint64 * len(rows)
        columns = [byref(words(*each)) for each in zip(*rows, strict=True)]
        vk.vkCmdBindTransformFeedbackBuffersEXT(batch.commands, 0, count, *columns[:3])
        self._begun = 0, count, *columns[3:]
        vk.vkCmdBeginTransformFeedbackEXT(batch.commands, *self._begun)
        self.running = True

    def end(self) -> None:
        """End capturing, before the render pass ends."""
        if self.running:
            self.running = False
            self.context.device.vk.vkCmdEndTransformFeedbackEXT(
                self.context.stream.batch.commands, *self._begun
            )
