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
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import OutOfMemoryError
from gallette.drivers.vulkan.api.binding import byref, make
from gallette.drivers.vulkan.device.device import Device

__all__ = ["Allocator", "Part"]

BLOCK = 16 << 20
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


class _Block:
    """One allocation, of which parts are given out."""

    def __init__(self, device: Device, size: int, kind: int, mapped: bool) -> None:
        self.free = [(0, size)]  # offsets and sizes, in order
        self.returned: deque[tuple[int, int]] = deque()  # parts that nothing refers to any more
        self.memory = _Memory(device, size, kind)
        self.bytes: npt.NDArray[np.uint8] | None = None
        if mapped:
            where, handle = ctypes.c_void_p(), self.memory.handle
            device.vk.vkMapMemory(device.handle, handle, 0, size, 0, byref(where))
            raw: Any = (ctypes.c_uint8 * size).from_address(where.value or 0)
            raw.owner = self.memory  # views hold the array, and with it the memory
            self.bytes = np.frombuffer(raw, np.uint8)

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
    """Bytes of a block; `bytes` where it is mapped."""

    __slots__ = ("_block", "bytes", "offset", "size")

    def __init__(self, block: _Block, offset: int, size: int) -> None:
        self._block, self.offset, self.size = block, offset, size
        self.bytes = None if block.bytes is None else block.bytes[offset : offset + size]

    @property
    def memory(self) -> int:
        """The handle to bind."""
        return self._block.memory.handle

    def __del__(self) -> None:
        self._block.returned.append((self.offset, self.size))


class Allocator:
    """Gives out parts of blocks, of one kind each: mapped or not, for buffers or images."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._lock = threading.Lock()  # contexts of several threads allocate
        self._blocks: dict[tuple[int, bool, bool], list[_Block]] = {}

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

    def allocate(self, size: int, align: int, bits: int, mapped: bool, image: bool) -> Part:
        """So many bytes of a memory type among `bits`."""
        size = -(-size // 64) * 64
        kind = self._kind(bits, mapped)
        if size > BLOCK // 4:
            block = _Block(self.device, size, kind, mapped)
            block.take(size, align)
            return Part(block, 0, size)
        with self._lock:
            blocks = self._blocks.setdefault((kind, mapped, image), [])
            for block in blocks:
                at = block.take(size, align)
                if at is not None:
                    return Part(block, at, size)
            block = _Block(self.device, BLOCK, kind, mapped)
            blocks.append(block)
            block.take(size, align)
            return Part(block, 0, size)
