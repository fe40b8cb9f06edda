"""Resources: buffers in mapped memory, and textures as a device image with a mirror on the host.

The mirror of a texture is laid out as `drivers/common/memory` lays out textures, so that the host
parts of the drivers read and write it directly. A texture records which side is newer for each
level; `copies` copies between the two when the other side is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import GalletteError, OutOfMemoryError
from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.memory.storage import (
    MAX_RESOURCE_BYTES,
    TAIL,
    allocate,
    level_offsets,
)
from gallette.drivers.vulkan.api.binding import VulkanError
from gallette.drivers.vulkan.device.device import Device
from gallette.pipe.enums import Target
from gallette.pipe.formats import Format
from gallette.pipe.resource import Resource, ResourceDesc, ResourceLedger, level_extent
from gallette.pipe.state import Box

from .formats import COLOR, VulkanFormat, decoded_format, vulkan_format
from .storage import Allocator, DeviceBuffer, DeviceImage

_IMAGE_TYPES = {Target.TEXTURE_1D: 0, Target.TEXTURE_1D_ARRAY: 0, Target.TEXTURE_3D: 2}


class VulkanBuffer(HostResource):
    """A buffer, in mapped memory of the device."""

    __slots__ = ("allocator", "gpu")

    def __init__(
        self, desc: ResourceDesc, destroy: Callable[[Resource], None], device: Device,
        allocator: Allocator,
    ) -> None:  # fmt: skip
        self.allocator = allocator
        super().__init__(desc, destroy, [self._given(device, desc.width)])

    def _given(self, device: Device, size: int) -> npt.NDArray[np.uint8]:
        """New memory, which is zero."""
        self.gpu = DeviceBuffer(device, self.allocator, size + TAIL)
        own = np.frombuffer(self.gpu.bytes.data, np.uint8)  # an array whose slices know it
        own[:] = 0
        return own[:size].reshape(1, 1, -1)

    def replace(self) -> None:
        """Move the contents to other memory; batches continue to read the old memory."""
        old = self.storage[0]
        self.storage = [self._given(self.gpu.device, self.desc.width)]
        self.storage[0][:] = old
        self._memory = None
        self._views.clear()
        self.derived.clear()
        self.units.clear()


class VulkanTexture(HostResource):
    """A texture: an image, made when the device first uses it, and a mirror in host memory."""

    __slots__ = ("_image", "allocator", "device", "format", "newer_image", "newer_mirror",
                 "stored")  # fmt: skip

    def __init__(
        self, desc: ResourceDesc, destroy: Callable[[Resource], None], device: Device,
        allocator: Allocator,
    ) -> None:  # fmt: skip
        self.device, self.allocator = device, allocator
        super().__init__(desc, destroy, allocate(desc))
        self.stored = stored_format(device, desc.format)  # None: as in the mirror
        found = vulkan_format(self.stored or desc.format)
        self.format: VulkanFormat = found or VulkanFormat(0)
        self._image: DeviceImage | None = None
        self.newer_mirror: dict[int, Box | None] = dict.fromkeys(range(desc.last_level + 1))
        """Levels of which a box, or everything (None), is newer in the mirror."""
        self.newer_image: set[int] = set()

    @property
    def image(self) -> DeviceImage:
        """The device's image."""
        if self._image is None:
            desc = self.desc
            if self.stored is not None:
                desc = replace(desc, format=self.stored)
            members = image_members(self.device, desc)
            if members is None:
                raise GalletteError(f"{self.device.physical.name} has no {self.desc.format.name}")
            self._image = DeviceImage(self.device, self.allocator, **members)
        return self._image

    def host_wrote(self, levels: Iterable[int], box: Box | None = None) -> None:
        """The mirror of these levels, or of a box of them, is newer than the image."""
        for level in levels:
            old = self.newer_mirror.get(level, box)
            self.newer_mirror[level] = None if box is None or old is None else _around(old, box)

    def device_wrote(self, levels: Iterable[int]) -> None:
        """The image of these levels is newer than the mirror."""
        self.newer_image.update(levels)
        self.writes += 1

    def region(self, level: int, aspect: int, offset: int, box: Box | None) -> tuple[Any, ...]:
        """A VkBufferImageCopy of a level, or of a box of it, as its members."""
        x, y, z = (0, 0, 0) if box is None else (box.x, box.y, box.z)
        width, height, depth = level_extent(self.desc, level)
        if box is not None:
            width, height, depth = min(box.width, width - x), min(box.height, height - y), box.depth
        first, layers = 0, 1
        if self.desc.target is not Target.TEXTURE_3D:
            first, layers, z, depth = z, depth, 0, 1
        return offset, 0, 0, (aspect, level, first, layers), (x, y, z), (width, height, depth)


def _around(a: Box, b: Box) -> Box:
    """The smallest box around two."""
    x, y, z = min(a.x, b.x), min(a.y, b.y), min(a.z, b.z)
    return Box(
        x, y, z,
        max(a.x + a.width, b.x + b.width) - x,
        max(a.y + a.height, b.y + b.height) - y,
        max(a.z + a.depth, b.z + b.depth) - z,
    )  # fmt: skip


def stored_format(device: Device, format: Format) -> Format | None:
    """The format stored in place of one that the device does not sample, or None."""
    found = vulkan_format(format)
    if found is not None and device.physical.format_features(found.number)[1] & 1:
        return None
    return decoded_format(format)


def image_members(device: Device, desc: ResourceDesc) -> dict[str, Any] | None:
    """The members of an image's create info; None if the device has no such image."""
    format = vulkan_format(desc.format)
    if format is None:
        return None
    _, features, _ = device.physical.format_features(format.number)
    if not features & 1:  # sampled
        return None
    usage = 0x1 | 0x2 | 0x4  # transfers, sampled
    flags = 0
    if format.aspect == COLOR:
        flags |= 0x8  # views of other formats
        usage |= 0x10 if features & 0x80 else 0
        usage |= 0x8 if features & 0x2 and desc.samples <= 1 else 0
    else:
        usage |= 0x20 if features & 0x200 else 0
    kind = _IMAGE_TYPES.get(desc.target, 1)
    if desc.format.is_compressed:
        flags &= ~0x8
    if kind == 1 and desc.width == desc.height and desc.array_size >= 6 and desc.samples <= 1:
        flags |= 0x10  # cube views
    if kind == 2 and usage & 0x10:
        flags |= 0x20  # views of its slices
    extent = desc.width, desc.height if kind else 1, desc.depth if kind == 2 else 1
    layers = 1 if kind == 2 else desc.array_size
    return {
        "flags": flags, "imageType": kind, "format": format.number, "extent": extent,
        "mipLevels": desc.last_level + 1, "arrayLayers": layers,
        "samples": max(1, desc.samples), "usage": usage,
    }  # fmt: skip


def create_resource(
    desc: ResourceDesc, ledger: ResourceLedger, device: Device, allocator: Allocator
) -> HostResource:
    """A zeroed resource with one reference, entered in the screen's ledger."""
    if level_offsets(desc)[-1] > MAX_RESOURCE_BYTES // 2:
        raise OutOfMemoryError(f"out of memory: {level_offsets(desc)[-1]} bytes of {desc.format}")

    def destroy(resource: Resource) -> None:
        ledger.remove(resource)
        assert isinstance(resource, HostResource)
        resource.storage, resource._memory = [], None
        resource.derived.clear()
        resource.units.clear()
        resource._views.clear()
        if isinstance(resource, VulkanTexture):
            resource._image = None
        else:
            del resource.gpu  # type: ignore[attr-defined]

    kind = VulkanBuffer if desc.target is Target.BUFFER else VulkanTexture
    try:
        made = kind(desc, destroy, device, allocator)
    except VulkanError as error:
        raise OutOfMemoryError(f"out of memory: {error}") from error
    ledger.add(made)
    return made
