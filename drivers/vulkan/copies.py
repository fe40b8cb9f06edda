"""Copies between a texture's image and its mirror, recorded when the other side is used.

They go through memory of the batch, so the host may write the mirror again at once. Depth with
stencil is one word in the mirror and two planes on the device: the host takes them apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.memory.storage import box_window
from gallette.pipe.codecs import pack, unpack
from gallette.pipe.resource import level_extent
from gallette.pipe.state import Box

from .api.binding import byref, make, struct
from .batch import Stream
from .memory.formats import COLOR, DEPTH, STENCIL
from .memory.resources import VulkanTexture
from .memory.storage import GENERAL, DeviceBuffer

Bytes = npt.NDArray[np.uint8]


def upload(stream: Stream, texture: VulkanTexture, levels: Iterable[int]) -> None:
    """Record copies of newer contents from the mirror to these levels of the image."""
    image, batch = texture.image, stream.batch
    wanted = [level for level in levels if level in texture.newer_mirror]
    if not wanted:
        return
    stream.barrier()
    for level in wanted:
        box = texture.newer_mirror.pop(level)
        if texture.samples > 1:
            _clear(stream, texture)
            continue
        if texture.stored is not None or texture.format.aspect == DEPTH | STENCIL:
            box = None  # converted as a whole
        block = texture.desc.format.block_bytes
        for aspect, data in _planes(texture, level, box):
            handle, offset, where = batch.room(data.size + block)
            skip = -offset % block  # where texels may begin
            where[skip : skip + data.size].reshape(data.shape)[...] = data
            region = struct("VkBufferImageCopy")(*texture.region(level, aspect, offset + skip, box))
            stream.device.vk.vkCmdCopyBufferToImage(
                batch.commands, handle, image.handle, GENERAL, 1, byref(region)
            )
    batch.uses(image, write=True)
    stream.written = True


def _clear(stream: Stream, texture: VulkanTexture) -> None:
    """Clear a multisampled image, which begins as zeros."""
    vk = stream.device.vk
    whole = make("VkImageSubresourceRange", aspectMask=texture.format.aspect,
                 levelCount=0xFFFFFFFF, layerCount=0xFFFFFFFF)  # fmt: skip
    if texture.format.aspect == COLOR:
        value, clear = make("VkClearColorValue"), vk.vkCmdClearColorImage
    else:
        value, clear = make("VkClearDepthStencilValue"), vk.vkCmdClearDepthStencilImage
    clear(stream.batch.commands, texture.image.handle, GENERAL, byref(value), 1, byref(whole))


def _planes(texture: VulkanTexture, level: int, box: Box | None) -> list[tuple[int, Bytes]]:
    """The data uploaded to a level: the texels of each aspect."""
    desc, storage = texture.desc, texture.storage[level]
    if texture.stored is not None:  # blocks that the device does not know
        width, height, _ = level_extent(desc, level)
        texels = unpack(desc.format, storage)[:, :height, :width]
        data = np.ascontiguousarray(pack(texture.stored, texels)).reshape(-1).view(np.uint8)
        return [(COLOR, data)]
    if texture.format.aspect == DEPTH | STENCIL:
        words = storage.reshape(-1).view(np.uint32)
        if desc.format.block_bytes == 8:
            depth, stencil = np.ascontiguousarray(words[0::2]), words[1::2].astype(np.uint8)
        else:
            depth, stencil = words & np.uint32(0xFFFFFF), (words >> 24).astype(np.uint8)
        return [(DEPTH, depth.view(np.uint8)), (STENCIL, stencil)]
    return [
        (texture.format.aspect, storage if box is None else storage[box_window(desc, level, box)])
    ]


def download(stream: Stream, texture: VulkanTexture, levels: Iterable[int]) -> None:
    """Update these levels of the mirror; returns when the copies are complete."""
    wanted = [level for level in levels if level in texture.newer_image]
    upload(stream, texture, wanted)  # boxes that the host has written since
    texture.newer_image.difference_update(wanted)
    stream.barrier()
    batch, staged = stream.batch, []
    for level in wanted:
        size, both = texture.storage[level].size, texture.format.aspect == DEPTH | STENCIL
        planes = [(texture.format.aspect, size)]
        if both:  # depth takes four bytes a texel, stencil one
            texels = size // texture.desc.format.block_bytes
            planes = [(DEPTH, 4 * texels), (STENCIL, texels)]
        for aspect, count in planes:
            staging = DeviceBuffer(texture.device, texture.allocator, count + 16)
            block = 4 if both else texture.desc.format.block_bytes
            skip = -staging.offset % block
            copy = texture.region(level, aspect, staging.offset + skip, None)
            region = struct("VkBufferImageCopy")(*copy)
            stream.device.vk.vkCmdCopyImageToBuffer(
                batch.commands, texture.image.handle, GENERAL, staging.handle, 1, byref(region)
            )
            batch.uses(staging, write=True)
            staged.append((level, aspect, staging, staging.bytes[skip : skip + count]))
    batch.uses(texture.image, write=False)
    batch.finish()
    for level, aspect, _, data in staged:
        _store(texture, level, aspect, data)


def _store(texture: VulkanTexture, level: int, aspect: int, data: Any) -> None:
    """Store downloaded texels in the mirror."""
    storage = texture.storage[level]
    if texture.format.aspect != DEPTH | STENCIL:
        storage.reshape(-1)[:] = data
        return
    words = storage.reshape(-1).view(np.uint32)
    if texture.desc.format.block_bytes == 8:
        words[aspect == STENCIL :: 2] = data if aspect == STENCIL else data.view(np.uint32)
    elif aspect == DEPTH:
        words[:] = words & 0xFF000000 | data.view(np.uint32) & 0xFFFFFF
    else:
        words[:] = words & 0xFFFFFF | data.astype(np.uint32) << 24
