"""Device memory, and the buffers and images in it, which live while something refers to them.

Memory is allocated in blocks, which are divided into parts; mapped blocks are arrays. When the last
reference to a part is released, which may happen in any thread and during an allocation, the part
joins the free parts of its size. A block is freed by Python's reference counting, too: a NumPy view
of mapped memory keeps its block, and so the device, alive.

Buffers and images remember the batches that used them last, so that host code knows which to wait
for. A batch holds references to the objects it uses until it has been executed.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import OutOfMemoryError
from gallette.drivers.vulkan.api.binding import byref, make
from gallette.drivers.vulkan.device.device import Device

if TYPE_CHECKING:
    from gallette.drivers.vulkan.batch import Batch

GENERAL = 1
"""The VkImageLayout of all images."""
BLOCK = 16 << 20
ALIGN = 256
"""Where parts of buffers begin: what every device's offset alignment divides."""
_BUFFERS = -1
_DEVICE_LOCAL, _VISIBLE, _COHERENT, _CACHED = 1, 2, 4, 8


class _Memory:
    """Device memory, freed with the last reference to it or to an array of its bytes."""

    def __init__(self, device: Device, size: int, kind: int) -> None:
        self.device = device
        info = make("VkMemoryAllocateInfo", allocationSize=size, memoryTypeIndex=kind)
        handle = ctypes.c_uint64()
        device.vk.vkAllocateMemory(device.handle, byref(info), None, byref(handle))
        self.handle = handle.value
        device.live["Memory", self.handle] = None

    def __del__(self) -> None:
        if not sys.is_finalizing():
            self.device.drop("Memory", self.handle)


_BUFFER_USAGE = 0x1FF | 0x1800
"""Transfers, texel buffers, uniform, storage, index and vertex buffers, indirect parameters, and
transform feedback.
"""


class _Block:
    """One allocation that is divided into parts; for buffers, one buffer covers all of it."""

    def __init__(self, device: Device, size: int, kind: int, buffer: int = 0) -> None:
        self.device, self.buffer, self.size, self.given = device, buffer, size, 0
        self.memory = _Memory(device, size, kind)
        self.bytes: npt.NDArray[np.uint8] | None = None
        if buffer:
            where, handle = ctypes.c_void_p(), self.memory.handle
            device.vk.vkBindBufferMemory(device.handle, buffer, handle, 0)
            device.vk.vkMapMemory(device.handle, handle, 0, size, 0, byref(where))
            raw: Any = (ctypes.c_uint8 * size).from_address(where.value or 0)
            raw.owner = self.memory  # views hold the array, and with it the memory
            self.bytes = np.frombuffer(raw, np.uint8)

    def __del__(self) -> None:
        if self.buffer and not sys.is_finalizing():
            self.device.drop("Buffer", self.buffer)

    def take(self, size: int, align: int) -> int | None:
        """Allocate after all earlier parts: the offset, or None if the block is full."""
        at = -(-self.given // align) * align
        if at + size > self.size:
            return None
        self.given = at + size
        return at


_Free = deque[tuple[_Block, int]]
"""Parts of one size that nothing refers to: pushed and popped by any thread."""


class Part:
    """Bytes of a block: of memory, for an image, or of a mapped buffer."""

    __slots__ = ("_free", "block", "offset", "size")

    def __init__(self, block: _Block, offset: int, size: int, free: _Free | None) -> None:
        self.block, self.offset, self.size, self._free = block, offset, size, free

    def __del__(self) -> None:
        if self._free is not None:
            self._free.append((self.block, self.offset))


class Allocator:
    """Allocates parts of blocks; each block is of one kind."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._lock = threading.Lock()  # contexts of several threads allocate
        self._free: dict[tuple[int, int, int], _Free] = {}
        self._blocks: dict[int, _Block] = {}  # the one that parts are taken of

    def _kind(self, bits: int, mapped: bool) -> int:
        """The memory type that suits best."""
        told = self.device.memory
        best, found = -1, -1
        for index in range(told.memoryTypeCount):
            flags = told.memoryTypes[index].propertyFlags
            if not bits >> index & 1:
                continue
            if mapped and flags & (_VISIBLE | _COHERENT) != _VISIBLE | _COHERENT:
                continue
            score = 2 * bool(flags & _CACHED) if mapped else 2 * bool(flags & _DEVICE_LOCAL)
            if score > best:
                best, found = score, index
        if found < 0:
            raise OutOfMemoryError("the device has no memory of the kind that is needed")
        return found

    def _buffers(self, size: int) -> _Block:
        """A block that is one buffer usable for every purpose."""
        device, needs = self.device, make("VkMemoryRequirements")
        buffer = device.new("Buffer", size=size, usage=_BUFFER_USAGE)
        device.vk.vkGetBufferMemoryRequirements(device.handle, buffer, byref(needs))
        kind = self._kind(needs.memoryTypeBits, mapped=True)
        return _Block(device, max(size, needs.size), kind, buffer)

    def buffer(self, size: int) -> Part:
        """A part of a buffer with this size."""
        return self._part(_BUFFERS, size, ALIGN, self._buffers)

    def image(self, needs: Any) -> Part:
        """Memory for an image's VkMemoryRequirements."""
        kind = self._kind(needs.memoryTypeBits, mapped=False)
        align = max(needs.alignment, 64)
        return self._part(kind, needs.size, align, lambda size: _Block(self.device, size, kind))

    def _part(self, kind: int, size: int, align: int, make: Callable[[int], _Block]) -> Part:
        if size > BLOCK // 4:
            return Part(make(size), 0, size, None)
        step = max(ALIGN, 1 << (size.bit_length() - 3))  # sizes that serve again
        size = -(-size // step) * step
        free = self._free.setdefault((kind, size, align), deque())
        try:
            return Part(*free.pop(), size, free)
        except IndexError:
            pass
        with self._lock:
            block = self._blocks.get(kind)
            at = None if block is None else block.take(size, align)
            if block is None or at is None:
                block = self._blocks[kind] = make(BLOCK)
                at = block.take(size, align)
                assert at is not None
        return Part(block, at, size, free)


class Used:
    """An object that batches use, with the last batch that read it and the last that wrote it."""

    reader: Batch | None = None
    writer: Batch | None = None

    def wait(self, write: bool) -> None:
        """Wait until the device has written it; before the host writes, also until the device has
        read it.
        """
        if self.writer is not None:
            self.writer.finish()
            self.writer = None
        if write and self.reader is not None:
            self.reader.finish()
            self.reader = None

    @property
    def busy(self) -> bool:
        """Whether a batch may still use it."""
        batches = self.reader, self.writer
        return any(batch is not None and not batch.is_done() for batch in batches)


class DeviceBuffer(Used):
    """A buffer usable for every purpose, mapped: from `offset` on in the buffer `handle`."""

    def __init__(self, device: Device, allocator: Allocator, size: int) -> None:
        self.device, self.size = device, max(size, 4)
        self.views: dict[tuple[int, int, int], int] = {}
        self.part = part = allocator.buffer(self.size)
        self.handle, self.offset = part.block.buffer, part.offset
        assert part.block.bytes is not None
        self.bytes = part.block.bytes[part.offset : part.offset + part.size]

    @property
    def gpu(self) -> DeviceBuffer:
        """Itself: an application's buffer may move from one to another."""
        return self

    def view(self, format: int, offset: int, size: int) -> int:
        """A view of texels."""
        key = (format, offset, size)
        if key not in self.views:
            self.views[key] = self.device.new("BufferView", buffer=self.handle, format=format,
                                              offset=self.offset + offset, range=size)  # fmt: skip
        return self.views[key]

    def __del__(self) -> None:
        if not sys.is_finalizing():
            for view in self.views.values():
                self.device.drop("BufferView", view)


class DeviceImage(Used):
    """An image with its views. Its layout is GENERAL from its first use on."""

    def __init__(self, device: Device, allocator: Allocator, **members: Any) -> None:
        self.device, self.handle = device, 0
        self.views: dict[Any, int] = {}
        self.prepared = False  # in its layout
        self.format: int = members["format"]
        self.levels: int = members["mipLevels"]
        self.handle = device.new("Image", **members)
        needs = make("VkMemoryRequirements")
        device.vk.vkGetImageMemoryRequirements(device.handle, self.handle, byref(needs))
        self.part = part = allocator.image(needs)
        memory = part.block.memory.handle
        device.vk.vkBindImageMemory(device.handle, self.handle, memory, part.offset)

    def view(
        self, kind: int, format: int, aspect: int, levels: tuple[int, int],
        layers: tuple[int, int], swizzle: tuple[int, ...] = (0, 0, 0, 0), usage: int = 0,
    ) -> int:  # fmt: skip
        """A view of some levels and layers (first and count of each)."""
        key = (kind, format, aspect, levels, layers, swizzle, usage)
        found = self.views.get(key)
        if found is None:
            more = make("VkImageViewUsageCreateInfo", usage=usage) if usage else None
            found = self.views[key] = self.device.new(
                "ImageView", pNext=more, image=self.handle, viewType=kind, format=format,
                components=swizzle, subresourceRange=(aspect, *levels, *layers),
            )  # fmt: skip
        return found

    def __del__(self) -> None:
        if self.handle and not sys.is_finalizing():
            for view in self.views.values():
                self.device.drop("ImageView", view)
            self.device.drop("Image", self.handle)
