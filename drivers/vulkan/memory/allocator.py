"""Device memory in blocks: parts of a block are given out first-fit, and mapped blocks are arrays.

A part gives its bytes back when the last reference to it goes. That may be in any thread, and in
the midst of an allocation: the part only queues them, and the next allocation takes them in. A
block is freed by Python's own counting, too: a NumPy view of mapped memory keeps its block, and so
the device.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import OutOfMemoryError
from gallette.drivers.vulkan.api.binding import byref, make
from gallette.drivers.vulkan.device.device import Device

__all__ = ["ALIGN", "Allocator", "Part"]

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


_BUFFER_USAGE = 0x1 | 0x2 | 0x4 | 0x8 | 0x10 | 0x20 | 0x40 | 0x80 | 0x100
"""Transfers, texel buffers, uniform, storage, index and vertex buffers, indirect parameters."""
_STREAM_OUTPUT = 0x800 | 0x1000


class _Block:
    """One allocation, of which parts are given out; for buffers, one buffer that is all of it."""

    def __init__(self, device: Device, size: int, kind: int, buffer: int = 0) -> None:
        self.free = [(0, size)]  # offsets and sizes, in order
        self.returned: deque[tuple[int, int]] = deque()  # parts that nothing refers to any more
        self.device, self.buffer = device, buffer
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
        """The offset of a free part, or None."""
        while self.returned:
            self._join(*self.returned.popleft())
        for index, (start, length) in enumerate(self.free):
            at = -(-start // align) * align
            left = start + length - (at + size)
            if left >= 0:
                kept = [(start, at - start)] if at > start else []
                kept += [(at + size, left)] if left else []
                self.free[index : index + 1] = kept
                return at
        return None

    def _join(self, offset: int, size: int) -> None:
        """Join a part with its free neighbours."""
        free = sorted([*self.free, (offset, size)])
        joined = [free[0]]
        for start, length in free[1:]:
            last, before = joined[-1]
            if last + before == start:
                joined[-1] = (last, before + length)
            else:
                joined.append((start, length))
        self.free = joined


class Part:
    """Bytes of a block: of memory, for an image, or of a mapped buffer."""

    __slots__ = ("_block", "offset", "size")

    def __init__(self, block: _Block, offset: int, size: int) -> None:
        self._block, self.offset, self.size = block, offset, size

    @property
    def memory(self) -> int:
        """The memory to bind."""
        return self._block.memory.handle

    @property
    def buffer(self) -> int:
        """The buffer it is a part of."""
        return self._block.buffer

    @property
    def bytes(self) -> npt.NDArray[np.uint8]:
        """The bytes, mapped."""
        assert self._block.bytes is not None
        return self._block.bytes[self.offset : self.offset + self.size]

    def __del__(self) -> None:
        self._block.returned.append((self.offset, self.size))


class Allocator:
    """Gives out parts of blocks, of one kind each."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._lock = threading.Lock()  # contexts of several threads allocate
        self._blocks: dict[int, list[_Block]] = {}
        self._usage = _BUFFER_USAGE | _STREAM_OUTPUT * device.feature("transformFeedback")

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
        """A block that is one buffer for every purpose."""
        device, needs = self.device, make("VkMemoryRequirements")
        buffer = device.new("Buffer", size=size, usage=self._usage)
        device.vk.vkGetBufferMemoryRequirements(device.handle, buffer, byref(needs))
        kind = self._kind(needs.memoryTypeBits, mapped=True)
        return _Block(device, max(size, needs.size), kind, buffer)

    def buffer(self, size: int) -> Part:
        """So many bytes of a buffer."""
        return self._part(_BUFFERS, size, ALIGN, self._buffers)

    def image(self, needs: Any) -> Part:
        """Memory for an image's VkMemoryRequirements."""
        kind = self._kind(needs.memoryTypeBits, mapped=False)
        align = max(needs.alignment, 64)
        return self._part(kind, needs.size, align, lambda size: _Block(self.device, size, kind))

    def _part(self, kind: int, size: int, align: int, make: Callable[[int], _Block]) -> Part:
        size = -(-size // 64) * 64
        if size > BLOCK // 4:
            block = make(size)
            block.take(size, align)
            return Part(block, 0, size)
        with self._lock:
            blocks = self._blocks.setdefault(kind, [])
            for block in blocks:
                at = block.take(size, align)
                if at is not None:
                    return Part(block, at, size)
            block = make(BLOCK)
            blocks.append(block)
            block.take(size, align)
            return Part(block, 0, size)
