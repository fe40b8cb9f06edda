"""`DeviceBuffer` and `DeviceImage`: Vulkan objects with their memory, alive while referenced.

Each remembers the batches that used it last, so that host code knows which to wait for. A batch
holds references to the objects it uses until it has been executed.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.vulkan.api.binding import byref, make
from gallette.drivers.vulkan.device.device import Device

from .allocator import Allocator

if TYPE_CHECKING:
    from gallette.drivers.vulkan.batch import Batch

__all__ = ["GENERAL", "DeviceBuffer", "DeviceImage", "Used"]

GENERAL = 1
"""The VkImageLayout of all images."""


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
        return any(
            batch is not None and not batch.is_done() for batch in (self.reader, self.writer)
        )


class DeviceBuffer(Used):
    """A buffer usable for every purpose, mapped: from `offset` on in the buffer `handle`."""

    def __init__(self, device: Device, allocator: Allocator, size: int) -> None:
        self.device, self.size = device, max(size, 4)
        self.views: dict[tuple[int, int, int], int] = {}
        self.part = allocator.buffer(self.size)
        self.handle, self.offset = self.part.buffer, self.part.offset
        self.bytes: npt.NDArray[np.uint8] = self.part.bytes

    @property
    def gpu(self) -> DeviceBuffer:
        """Itself: an application's buffer may move from one to another."""
        return self

    def view(self, format: int, offset: int, size: int) -> int:
        """A view of texels."""
        key = (format, offset, size)
        if key not in self.views:
            self.views[key] = self.device.new(
                "BufferView",
                buffer=self.handle,
                format=format,
                offset=self.offset + offset,
                range=size,
            )
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
        device.vk.vkBindImageMemory(device.handle, self.handle, part.memory, part.offset)

    def view(
        self,
        kind: int,
        format: int,
        aspect: int,
        levels: tuple[int, int],
        layers: tuple[int, int],
        swizzle: tuple[int, int, int, int] = (0, 0, 0, 0),
        usage: int = 0,
    ) -> int:
        """A view of some levels and layers (first and count of each)."""
        key = (kind, format, aspect, levels, layers, swizzle, usage)
        found = self.views.get(key)
        if found is None:
            more = make("VkImageViewUsageCreateInfo", usage=usage) if usage else None
            found = self.views[key] = self.device.new(
                "ImageView",
                pNext=more,
                image=self.handle,
                viewType=kind,
                format=format,
                components=swizzle,
                subresourceRange=(aspect, *levels, *layers),
            )
        return found

    def __del__(self) -> None:
        if self.handle and not sys.is_finalizing():
            for view in self.views.values():
                self.device.drop("ImageView", view)
            self.device.drop("Image", self.handle)
