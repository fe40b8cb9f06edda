"""Copies, blits and resolves: on the device where Vulkan's rules agree with OpenGL's, else on the
host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gallette.drivers.common.memory.blit import writes_everything
from gallette.pipe.enums import Target
from gallette.pipe.resource import Resource, level_extent
from gallette.pipe.state import BlitInfo, Box, ScissorState, Surface

from .api.binding import byref, make, struct
from .memory.formats import COLOR, DEPTH, STENCIL
from .memory.resources import VulkanBuffer, VulkanTexture
from .memory.storage import GENERAL
from .pipeline.textures import surface_view

if TYPE_CHECKING:
    from .context import VulkanContext

__all__ = ["blit_on_device", "copy_on_device"]


def _inside(texture: VulkanTexture, level: int, box: Box) -> bool:
    width, height, depth = level_extent(texture.desc, level)
    return (
        0 <= box.x < box.x + box.width <= width
        and 0 <= box.y < box.y + box.height <= height
        and 0 <= box.z < box.z + box.depth <= depth
    )


def _layers(texture: VulkanTexture, level: int, box: Box, aspect: int) -> tuple[Any, Any, int]:
    """VkImageSubresourceLayers and VkOffset3D of a box, and its depth."""
    if texture.desc.target is Target.TEXTURE_3D:
        return (aspect, level, 0, 1), (box.x, box.y, box.z), box.depth
    return (aspect, level, box.z, box.depth), (box.x, box.y, 0), 1


def copy_on_device(
    context: VulkanContext,
    dst: Resource,
    dst_level: int,
    origin: tuple[int, int, int],
    src: Resource,
    src_level: int,
    box: Box,
) -> bool:
    """Copy between images of one format if the newer copies are the device's; returns whether it
    did.
    """
    if isinstance(dst, VulkanBuffer) or isinstance(src, VulkanBuffer):
        return False
    assert isinstance(dst, VulkanTexture) and isinstance(src, VulkanTexture)
    if dst is src and dst_level == src_level:
        return False
    if dst.format.number != src.format.number or not src.format.number:
        return False
    if src_level not in src.newer_image and src.samples == 1:
        return False  # the host has it at hand
    x, y, z = origin
    to = Box(x, y, z, box.width, box.height, box.depth)
    one = Target.TEXTURE_3D in (dst.desc.target, src.desc.target) and box.depth > 1
    mixed = dst.desc.target is not src.desc.target and one
    lines = {Target.TEXTURE_1D, Target.TEXTURE_1D_ARRAY}
    if (dst.desc.target in lines) is not (src.desc.target in lines):
        return False
    if mixed or not _inside(src, src_level, box) or not _inside(dst, dst_level, to):
        return False
    context.rendering.end()
    context.on_device(src, (src_level,))
    context.on_device(dst, (dst_level,), write=True)
    context.stream.barrier()
    aspect = src.format.aspect
    layers, at, depth = _layers(src, src_level, box, aspect)
    to_layers, to_at, _ = _layers(dst, dst_level, to, aspect)
    region = struct("VkImageCopy")(layers, at, to_layers, to_at, (box.width, box.height, depth))
    context.device.vk.vkCmdCopyImage(
        context.stream.batch.commands, src.image.handle, GENERAL, dst.image.handle, GENERAL,
        1, byref(region),
    )  # fmt: skip
    context.stream.written = True
    return True


def blit_on_device(context: VulkanContext, info: BlitInfo) -> bool:
    """Blit or resolve without scaling; returns whether it did."""
    dst, src = info.dst, info.src
    assert isinstance(dst, VulkanTexture) and isinstance(src, VulkanTexture)
    d, s = info.dst_box, info.src_box
    same = (d.width, d.height, d.depth) == (s.width, s.height, s.depth) and d.width > 0 < d.height
    formats = (src.desc.format, info.src_format, dst.desc.format, info.dst_format)
    if not same or len(set(formats)) > 1 or dst is src:
        return False
    if info.scissor is not None:
        d, s = _cut(d, s, info.scissor)
        if d.width <= 0 or d.height <= 0:
            return True
    if not writes_everything(info):
        return False
    if src.samples == dst.samples:
        origin = (d.x, d.y, d.z)
        return copy_on_device(context, dst, info.dst_level, origin, src, info.src_level, s)
    integer = src.desc.format.is_pure_integer
    if dst.samples > 1 or integer or not _inside(src, info.src_level, s):
        return False
    if not _inside(dst, info.dst_level, d) or dst.desc.target is Target.TEXTURE_3D:
        return False
    if src.format.aspect != COLOR and (d.x, d.y) != (s.x, s.y):
        return False
    context.rendering.end()
    context.on_device(src, (info.src_level,))
    context.on_device(dst, (info.dst_level,), write=True)
    context.stream.barrier()
    if src.format.aspect != COLOR:
        _resolve_depth(context, info, d, s)
        return True
    layers, at, _ = _layers(src, info.src_level, s, COLOR)
    to_layers, to_at, _ = _layers(dst, info.dst_level, d, COLOR)
    region = struct("VkImageResolve")(layers, at, to_layers, to_at, (s.width, s.height, 1))
    context.device.vk.vkCmdResolveImage(
        context.stream.batch.commands, src.image.handle, GENERAL, dst.image.handle, GENERAL,
        1, byref(region),
    )  # fmt: skip
    context.stream.written = True
    return True


def _cut(d: Box, s: Box, scissor: ScissorState) -> tuple[Box, Box]:
    """The parts of an unscaled blit's boxes that are inside the scissor."""
    x, y = max(d.x, scissor.minx), max(d.y, scissor.miny)
    width, height = min(d.x + d.width, scissor.maxx) - x, min(d.y + d.height, scissor.maxy) - y
    source = Box(s.x + x - d.x, s.y + y - d.y, s.z, width, height, s.depth)
    return Box(x, y, d.z, width, height, d.depth), source


def _resolve_depth(context: VulkanContext, info: BlitInfo, d: Box, s: Box) -> None:
    """Resolve depth and stencil to the first samples, with a render pass that draws nothing."""
    dst, src = info.dst, info.src
    assert isinstance(dst, VulkanTexture) and isinstance(src, VulkanTexture)
    views = [
        surface_view(texture, Surface(texture, texture.desc.format, level, z, z + s.depth - 1))
        for texture, level, z in ((src, info.src_level, s.z), (dst, info.dst_level, d.z))
    ]
    attachment = make(
        "VkRenderingAttachmentInfo", imageView=views[0], imageLayout=GENERAL, resolveMode=1,
        resolveImageView=views[1], resolveImageLayout=GENERAL, loadOp=0, storeOp=0,
    )  # fmt: skip
    rendering = make(
        "VkRenderingInfo",
        renderArea=((s.x, s.y), (s.width, s.height)),
        layerCount=s.depth,
        pDepthAttachment=attachment if src.format.aspect & DEPTH else None,
        pStencilAttachment=attachment if src.format.aspect & STENCIL else None,
    )
    commands, vk = context.stream.batch.commands, context.device.vk
    vk.vkCmdBeginRendering(commands, byref(rendering))
    vk.vkCmdEndRendering(commands)
    context.stream.written = True
