"""Batches: commands that are submitted together, and the objects they use until they are
executed.

The stream of a context records into its current batch. A caller that needs the results calls
`finish` on the batch that wrote a buffer or image, which submits it if necessary. Command buffers,
fences, descriptor pools and uniform memory are reused by later batches.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import ResetError
from gallette.drivers.vulkan.api.binding import array, byref, make, struct
from gallette.drivers.vulkan.device.device import Device

from .memory.storage import ALIGN, Allocator, DeviceBuffer, DeviceImage, Used

if TYPE_CHECKING:
    from .pipeline.layouts import Layout

_RING = 1 << 18
_BLOCK = 1 << 16  # the range of a uniform block's descriptor, which must not leave the buffer
_SETS = 16
"""The number of descriptor sets of a layout that are allocated at first; it doubles."""


class _Kit:
    """The Vulkan objects of a batch, which later batches reuse."""

    def __init__(self, device: Device, allocator: Allocator) -> None:
        self.device, self.allocator = device, allocator
        self.pool = device.new("CommandPool", queueFamilyIndex=device.family)
        self.fence = device.new("Fence")
        info = make("VkCommandBufferAllocateInfo", commandPool=self.pool, commandBufferCount=1)
        handle = ctypes.c_void_p()
        device.vk.vkAllocateCommandBuffers(device.handle, byref(info), byref(handle))
        self.commands = handle.value or 0
        buffers = array([handle.value], ctypes.c_void_p)
        self.submit = make("VkSubmitInfo", commandBufferCount=1, pCommandBuffers=buffers)
        self.begin = make("VkCommandBufferBeginInfo", flags=1)
        self.pools: list[int] = []
        self.sets: dict[Layout, list[int]] = {}
        self.rings: list[DeviceBuffer] = []

    def reset(self) -> None:
        """Forget everything recorded."""
        device = self.device
        device.vk.vkResetCommandPool(device.handle, self.pool, 0)
        fence = ctypes.c_uint64(self.fence)
        device.vk.vkResetFences(device.handle, 1, byref(fence))

    def sets_of(self, layout: Layout, count: int) -> list[int]:
        """At least `count` descriptor sets of a layout, in pools of their own."""
        found, device = self.sets.setdefault(layout, []), self.device
        if len(found) < count:
            more = max(_SETS, len(found))
            sizes = [struct("VkDescriptorPoolSize")(type, n * more) for _, type, n in layout.shape]
            pool = device.new("DescriptorPool", maxSets=more, poolSizeCount=len(sizes),
                              pPoolSizes=sizes)  # fmt: skip
            self.pools.append(pool)
            made = (ctypes.c_uint64 * more)()
            layouts = array([layout.set_layout] * more, ctypes.c_uint64)
            info = make("VkDescriptorSetAllocateInfo", descriptorPool=pool, descriptorSetCount=more,
                        pSetLayouts=layouts)  # fmt: skip
            device.vk.vkAllocateDescriptorSets(device.handle, byref(info), byref(made))
            found += made
        return found

    def destroy(self) -> None:
        """Destroy the Vulkan objects that the batch owns."""
        for pool in self.pools:
            self.device.drop("DescriptorPool", pool)
        self.device.drop("Fence", self.fence)
        self.device.drop("CommandPool", self.pool)
        self.rings.clear()


class Batch:
    """Commands being recorded or executed."""

    def __init__(self, stream: Stream, kit: _Kit) -> None:
        self.stream, self.kit = stream, kit
        self.commands = kit.commands
        self.keeps: set[Any] = set()
        self.submitted = self.done = False
        self._ring = self._at = 0
        self._sets: Counter[Layout] = Counter()  # used

    def uses(self, what: Used, write: bool) -> None:
        """Keep a buffer or image until the batch is done."""
        self.keeps.add(what)
        if write:
            what.writer = self
        else:
            what.reader = self

    def upload(self, data: npt.NDArray[np.uint8] | bytes) -> tuple[int, int]:
        """Copy bytes into uniform memory; returns the buffer and the offset."""
        buffer, offset, where = self.room(len(data))
        where[:] = np.frombuffer(data, np.uint8)
        return buffer, offset

    def room(self, size: int) -> tuple[int, int, npt.NDArray[np.uint8]]:
        """Uniform memory to be written: the buffer, the offset and the bytes."""
        kit = self.kit
        if size > _RING:
            own = DeviceBuffer(kit.device, kit.allocator, size + _BLOCK)
            self.keeps.add(own)
            return own.handle, own.offset, own.bytes[:size]
        if self._at + size > _RING:
            self._ring, self._at = self._ring + 1, 0
        if self._ring >= len(kit.rings):
            kit.rings.append(DeviceBuffer(kit.device, kit.allocator, _RING + _BLOCK))
        ring, at = kit.rings[self._ring], self._at
        self._at += -(-size // ALIGN) * ALIGN
        return ring.handle, ring.offset + at, ring.bytes[at : at + size]

    def descriptor_set(self, layout: Layout) -> int:
        """A set of descriptors that lives as long as the batch."""
        used = self._sets[layout] = self._sets[layout] + 1
        return self.kit.sets_of(layout, used)[used - 1]

    def finish(self) -> None:
        """Return when all commands of the batch have been executed."""
        if self.done:
            return
        if not self.submitted:
            self.stream.submit()
        self.wait(2**64 - 1)

    def wait(self, timeout: int) -> bool:
        """Wait for the device; returns whether it has finished."""
        if not self.done and self.submitted:
            device, fence = self.kit.device, ctypes.c_uint64(self.kit.fence)
            device.vk.vkWaitForFences(device.handle, 1, byref(fence), 1, timeout)
        return self.is_done()

    def is_done(self) -> bool:
        """Whether the device has executed it."""
        device = self.kit.device
        if self.submitted and not self.done:
            if device.vk.vkGetFenceStatus(device.handle, self.kit.fence) == 0:
                self.done = True
                self.keeps.clear()
                self.stream.recycle(self)
        return self.done


class Stream:
    """Records the commands of one context: the current batch and the objects to reuse."""

    def __init__(self, device: Device, allocator: Allocator) -> None:
        self.device, self.allocator = device, allocator
        self.before_submit: Callable[[], None] = lambda: None
        self.after_submit: Callable[[], None] = lambda: None
        self._free: list[_Kit] = []
        self._running: list[Batch] = []
        self.current: Batch | None = None  # the batch that is being recorded
        self.written = True  # something was, since the last barrier
        barrier = make("VkMemoryBarrier2", srcStageMask=0x10000, srcAccessMask=0x10000,
                       dstStageMask=0x10000, dstAccessMask=0x18000)  # fmt: skip
        self.everything = make("VkDependencyInfo", memoryBarrierCount=1, pMemoryBarriers=barrier)

    @property
    def batch(self) -> Batch:
        """The batch that is being recorded, which begins with its first command."""
        if self.current is None:
            for running in list(self._running):
                running.is_done()
            kit = self._free.pop() if self._free else _Kit(self.device, self.allocator)
            self.device.vk.vkBeginCommandBuffer(kit.commands, byref(kit.begin))
            self.current = Batch(self, kit)
            self.written = True
        return self.current

    def submit(self) -> Batch | None:
        """Submit the current batch; the next command begins a new one."""
        batch = self.current
        if batch is None:
            return self._running[-1] if self._running else None
        self.before_submit()
        device = self.device
        # What the host reads next has to be visible to it.
        barrier = make("VkMemoryBarrier", srcAccessMask=0x10000, dstAccessMask=0x2000)
        device.vk.vkCmdPipelineBarrier(
            batch.commands, 0x10000, 0x4000, 0, 1, byref(barrier), 0, None, 0, None
        )
        device.vk.vkEndCommandBuffer(batch.commands)
        with device.lock:
            kit = batch.kit
            device.vk.vkQueueSubmit(device.queue, 1, byref(kit.submit), kit.fence)
        batch.submitted = True
        self.current = None
        self._running.append(batch)
        self.after_submit()
        return batch

    def recycle(self, batch: Batch) -> None:
        """Make the objects of a finished batch available to later batches."""
        self._running.remove(batch)
        batch.kit.reset()
        self._free.append(batch.kit)

    def barrier(self) -> None:
        """Make all earlier writes, of this batch or another, visible to later commands."""
        if self.written:
            self.written = False
            self.device.vk.vkCmdPipelineBarrier2(self.batch.commands, byref(self.everything))

    def prepare(self, image: DeviceImage, aspect: int) -> None:
        """Transition a new image to the layout that it keeps."""
        if image.prepared:
            return
        image.prepared = True
        whole = aspect, 0, 0xFFFFFFFF, 0, 0xFFFFFFFF
        barrier = make("VkImageMemoryBarrier", dstAccessMask=0x18000, newLayout=1,
                       image=image.handle, subresourceRange=whole)  # fmt: skip
        self.device.vk.vkCmdPipelineBarrier(
            self.batch.commands, 0x10000, 0x10000, 0, 0, None, 0, None, 1, byref(barrier)
        )

    def destroy(self) -> None:
        """Wait for all batches and destroy their objects."""
        try:
            self.submit()
            for batch in list(self._running):
                batch.finish()
        except ResetError:
            self._running.clear()
        for kit in self._free:
            kit.destroy()
        self._free.clear()
