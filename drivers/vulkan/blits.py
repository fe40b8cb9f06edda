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


def _inside(texture: VulkanTexture, level: int, box: Box) -> bool:
    width, height, depth = level_extent(texture.desc, level)
    return (
        0 <= box.x < box.x + box.width <= width
        and 0 <= box.y < box.y + box.height <= height
        and 0 <= box.z < box.z + box.depth <= depth
    )


def _layers(texture: VulkanTexture, level: int, box: Box) -> tuple[Any, Any, int]:
    """VkImageSubresourceLayers and VkOffset3D of a box, and its depth."""
    aspect = texture.format.aspect
    if texture.desc.target is Target.TEXTURE_3D:
        return (aspect, level, 0, 1), (box.x, box.y, box.z), box.depth
    return (aspect, level, box.z, box.depth), (box.x, box.y, 0), 1


def _between_passes(
    context: VulkanContext, src: VulkanTexture, src_level: int, dst: VulkanTexture, dst_level: int
) -> None:
    context.rendering.end()
    context.on_device(src, (src_level,))
    context.on_device(dst, (dst_level,), write=True)
    context.stream.barrier()
    context.stream.written = True


def _record(
    context: VulkanContext, kind: str, src: VulkanTexture, src_level: int, box: Box,
    dst: VulkanTexture, dst_level: int, to: Box,
) -> None:  # fmt: skip
    """Record a "Copy" or a "Resolve"."""
    _between_passes(context, src, src_level, dst, dst_level)
    layers, at, depth = _layers(src, src_level, box)
    to_layers, to_at, _ = _layers(dst, dst_level, to)
    size = box.width, box.height, depth
    region = struct(f"VkImage{kind}")(layers, at, to_layers, to_at, size)
    getattr(context.device.vk, f"vkCmd{kind}Image")(
        context.stream.batch.commands, src.image.handle, GENERAL, dst.image.handle, GENERAL,
        1, byref(region),
    )  # fmt: skip


def copy_on_device(
    context: VulkanContext, dst: Resource, dst_level: int, origin: tuple[int, int, int],
    src: Resource, src_level: int, box: Box,
) -> bool:  # fmt: skip
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
    _record(context, "Copy", src, src_level, box, dst, dst_level, to)
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
    depth = src.format.aspect != COLOR
    moved = depth and (d.x, d.y) != (s.x, s.y)
    if dst.samples > 1 or moved or src.desc.format.is_pure_integer:
        return False
    inside = _inside(src, info.src_level, s) and _inside(dst, info.dst_level, d)
    if not inside or dst.desc.target is Target.TEXTURE_3D:
        return False
    if depth:
        _resolve_depth(context, src, info.src_level, s, dst, info.dst_level, d)
    else:
        _record(context, "Resolve", src, info.src_level, s, dst, info.dst_level, d)
    return True


def _resolve_depth(
    context: VulkanContext, src: VulkanTexture, src_level: int, s: Box, dst: VulkanTexture,
    dst_level: int, d: Box,
) -> None:  # fmt: skip
    """Resolve depth and stencil to the first samples, with a render pass that draws nothing."""
    _between_passes(context, src, src_level, dst, dst_level)
    places, last = ((src, src_level, s.z), (dst, dst_level, d.z)), s.depth - 1
    views = [
        surface_view(t, Surface(t, t.desc.format, level, z, z + last)) for t, level, z in places
    ]
    attachment = make(
        "VkRenderingAttachmentInfo", imageView=views[0], imageLayout=GENERAL, resolveMode=1,
        resolveImageView=views[1], resolveImageLayout=GENERAL,
    )  # fmt: skip
    rendering = make(
        "VkRenderingInfo", renderArea=((s.x, s.y), (s.width, s.height)), layerCount=s.depth,
        pDepthAttachment=attachment if src.format.aspect & DEPTH else None,
        pStencilAttachment=attachment if src.format.aspect & STENCIL else None,
    )  # fmt: skip
    commands, vk = context.stream.batch.commands, context.device.vk
    vk.vkCmdBeginRendering(commands, byref(rendering))
    vk.vkCmdEndRendering(commands)


def _cut(d: Box, s: Box, scissor: ScissorState) -> tuple[Box, Box]:
    """The parts of an unscaled blit's boxes that are inside the scissor."""
    x, y = max(d.x, scissor.minx), max(d.y, scissor.miny)
    width, height = min(d.x + d.width, scissor.maxx) - x, min(d.y + d.height, scissor.maxy) - y
    source = Box(s.x + x - d.x, s.y + y - d.y, s.z, width, height, s.depth)
    return Box(x, y, d.z, width, height, d.depth), source
