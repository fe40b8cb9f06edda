"""Copies between a texture's image and its mirror, recorded when the other side is used.

Depth with stencil is one word in the mirror and two planes on the device: those go through memory
of their own, and the host takes them apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gallette.drivers.common.memory.storage import level_bytes, level_offsets
from gallette.pipe.codecs import pack, unpack
from gallette.pipe.resource import level_extent

from .api.binding import array, byref, make, struct
from .batch import Stream
from .memory.formats import COLOR, DEPTH, STENCIL
from .memory.resources import VulkanTexture
from .memory.storage import DeviceBuffer

__all__ = ["download", "upload"]

GENERAL = 1


def _regions(regions: list[tuple[Any, ...]]) -> Any:
    return array([struct("VkBufferImageCopy")(*region) for region in regions])


def upload(stream: Stream, texture: VulkanTexture, levels: Iterable[int]) -> None:
    """Record that these levels of the image become what the mirror holds."""
    wanted = sorted(texture.newer_mirror.intersection(levels))
    if not wanted:
        return
    texture.newer_mirror.difference_update(wanted)
    image = texture.image
    if texture.samples > 1:
        _clear(stream, texture)
        return
    stream.barrier()
    if texture.stored is not None:
        _upload_decoded(stream, texture, wanted)
        stream.batch.uses(image, write=True)
        return
    offsets = level_offsets(texture.desc)
    if texture.format.aspect == DEPTH | STENCIL:
        for level in wanted:
            _upload_planes(stream, texture, level)
    else:
        aspect = texture.format.aspect
        regions = [texture.regions(level, aspect, offsets[level]) for level in wanted]
        batch = stream.batch
        stream.device.vk.vkCmdCopyBufferToImage(
            batch.commands, texture.gpu.handle, image.handle, GENERAL, len(regions),
            byref(_regions(regions)),
        )  # fmt: skip
        batch.uses(texture.gpu, write=False)
    stream.batch.uses(image, write=True)


def _clear(stream: Stream, texture: VulkanTexture) -> None:
    """A multisampled image begins as zeros."""
    batch, image, vk = stream.batch, texture.image, stream.device.vk
    whole = make("VkImageSubresourceRange", aspectMask=texture.format.aspect,
                 levelCount=0xFFFFFFFF, layerCount=0xFFFFFFFF)  # fmt: skip
    stream.barrier()
    if texture.format.aspect == COLOR:
        value, clear = make("VkClearColorValue"), vk.vkCmdClearColorImage
    else:
        value, clear = make("VkClearDepthStencilValue"), vk.vkCmdClearDepthStencilImage
    clear(batch.commands, image.handle, GENERAL, byref(value), 1, byref(whole))
    batch.uses(image, write=True)


def _planes(texture: VulkanTexture, level: int) -> tuple[int, Any]:
    """How many texels a level has, and its mirror as words: depth's, or depth and stencil."""
    planes, rows, size = level_bytes(texture.desc, level)
    words = texture.storage[level].reshape(-1).view(np.uint32)
    return planes * rows * size // texture.desc.format.block_bytes, words


def _staging(texture: VulkanTexture, count: int) -> tuple[DeviceBuffer, Any, Any, int]:
    """Memory for the planes of a level: depth as words, then stencil as bytes."""
    made = DeviceBuffer(texture.device, texture.allocator, 5 * count + 16)
    depth = made.bytes[: 4 * count].view(np.uint32)
    return made, depth, made.bytes[4 * count : 5 * count], 4 * count


def _upload_planes(stream: Stream, texture: VulkanTexture, level: int) -> None:
    count, words = _planes(texture, level)
    staging, depth, stencil, offset = _staging(texture, count)
    if texture.desc.format.block_bytes == 8:
        depth[:], stencil[:] = words[0::2], words[1::2].astype(np.uint8)
    else:
        depth[:], stencil[:] = words & 0xFFFFFF, (words >> 24).astype(np.uint8)
    regions = [texture.regions(level, DEPTH, 0), texture.regions(level, STENCIL, offset)]
    batch = stream.batch
    stream.device.vk.vkCmdCopyBufferToImage(
        batch.commands, staging.handle, texture.image.handle, GENERAL, 2,
        byref(_regions(regions)),
    )  # fmt: skip
    batch.uses(staging, write=False)


def _upload_decoded(stream: Stream, texture: VulkanTexture, levels: list[int]) -> None:
    """Blocks that the device does not know are decoded by the host."""
    source, stored = texture.desc.format, texture.stored
    assert stored is not None
    for level in levels:
        width, height, _ = level_extent(texture.desc, level)
        texels = unpack(source, texture.storage[level])[:, :height, :width]
        data = np.ascontiguousarray(pack(stored, texels)).reshape(-1).view(np.uint8)
        staging = DeviceBuffer(texture.device, texture.allocator, data.size)
        staging.bytes[: data.size] = data
        regions = _regions([texture.regions(level, COLOR, 0)])
        stream.device.vk.vkCmdCopyBufferToImage(
            stream.batch.commands, staging.handle, texture.image.handle, GENERAL, 1, byref(regions)
        )
        stream.batch.uses(staging, write=False)


def download(stream: Stream, texture: VulkanTexture, levels: Iterable[int]) -> None:
    """Bring these levels of the mirror up to date; returns when they are."""
    wanted = sorted(texture.newer_image.intersection(levels))
    if not wanted:
        return
    texture.newer_image.difference_update(wanted)
    offsets = level_offsets(texture.desc)
    stream.barrier()
    batch, vk = stream.batch, stream.device.vk
    both = texture.format.aspect == DEPTH | STENCIL
    staged = []
    for level in wanted:
        if both:
            count, words = _planes(texture, level)
            staging, depth, stencil, offset = _staging(texture, count)
            staged.append((words, depth, stencil))
            regions = [texture.regions(level, DEPTH, 0), texture.regions(level, STENCIL, offset)]
        else:
            staging = texture.gpu
            regions = [texture.regions(level, texture.format.aspect, offsets[level])]
        vk.vkCmdCopyImageToBuffer(
            batch.commands, texture.image.handle, GENERAL, staging.handle, len(regions),
            byref(_regions(regions)),
        )  # fmt: skip
        batch.uses(staging, write=True)
    batch.uses(texture.image, write=False)
    batch.finish()
    for words, depth, stencil in staged:
        if texture.desc.format.block_bytes == 8:
            words[0::2], words[1::2] = depth, stencil
        else:
            words[:] = (depth & 0xFFFFFF) | stencil.astype(np.uint32) << 24
