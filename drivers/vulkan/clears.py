"""Clears on the device, inside a render pass of the framebuffer or of one surface."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from gallette.drivers.common.memory.clear import cleared_rect
from gallette.pipe.enums import ClearFlags
from gallette.pipe.formats import Format
from gallette.pipe.interface import Color
from gallette.pipe.state import FramebufferState, ScissorState, Surface

from .api.binding import array, byref, make
from .memory.formats import COLOR, DEPTH, STENCIL, vulkan_format
from .rendering import layers_of

if TYPE_CHECKING:
    from .context import VulkanContext

__all__ = ["clear_on_device", "clear_rect_on_device"]


def _drawable(surface: Surface) -> bool:
    """Whether the device can clear a surface: alpha is stored as red, which only draws know."""
    found = vulkan_format(surface.format)
    return found is not None and surface.format.channels[0].name != "A"


def clear_on_device(
    context: VulkanContext,
    flags: ClearFlags,
    color: Color,
    depth: float,
    stencil: int,
    scissor: ScissorState | None,
    framebuffer: FramebufferState | None = None,
) -> bool:
    """Clear attachments of a framebuffer; whether it was done."""
    target = context.bound.framebuffer if framebuffer is None else framebuffer
    surfaces = [s for s in (*target.cbufs, target.zsbuf) if s is not None]
    if not all(_drawable(surface) for surface in surfaces):
        return False
    rect = cleared_rect(target, scissor)
    if rect.maxx <= rect.minx or rect.maxy <= rect.miny:
        return True
    attachments = []
    for index, surface in enumerate(target.cbufs):
        if surface is not None and flags & ClearFlags.COLOR0 << index:
            value = make("VkClearValue", color=_color(color, surface.format))
            attachments.append(
                make("VkClearAttachment", aspectMask=COLOR, colorAttachment=index, clearValue=value)
            )
    zsbuf = target.zsbuf
    if zsbuf is not None:
        found = vulkan_format(zsbuf.format)
        assert found is not None
        wanted = DEPTH * bool(flags & ClearFlags.DEPTH) | STENCIL * bool(flags & ClearFlags.STENCIL)
        if found.aspect & wanted:
            value = make("VkClearValue", depthStencil=(min(max(depth, 0.0), 1.0), stencil & 0xFF))
            attachments.append(
                make("VkClearAttachment", aspectMask=found.aspect & wanted, clearValue=value)
            )
    if not attachments:
        return True
    rendering = context.rendering
    if framebuffer is not None:
        rendering.end()
    rendering.begin(framebuffer)
    place = make(
        "VkClearRect",
        rect=((rect.minx, rect.miny), (rect.maxx - rect.minx, rect.maxy - rect.miny)),
        layerCount=layers_of(target),
    )
    context.device.vk.vkCmdClearAttachments(
        context.stream.batch.commands, len(attachments), byref(array(attachments)),
        1, byref(place),
    )  # fmt: skip
    if framebuffer is not None:
        rendering.end()
    return True


def _color(color: Color, format: Format) -> Any:
    value = make("VkClearColorValue")
    if format.is_pure_integer:
        limit = 0xFFFFFFFF
        words = [int(x) & limit for x in color]
        if format.is_signed_integer:
            value.int32 = tuple(ctypes.c_int32(word).value for word in words)
        else:
            value.uint32 = tuple(words)
    else:
        value.float32 = tuple(float(x) for x in color)
    return value


def clear_rect_on_device(
    context: VulkanContext,
    surface: Surface,
    flags: ClearFlags,
    color: Color,
    depth: float,
    stencil: int,
    rect: ScissorState,
) -> bool:
    """Clear a rectangle of one surface; whether it was done."""
    found = vulkan_format(surface.format)
    if found is None:
        return False
    is_color = found.aspect == COLOR
    from gallette.pipe.resource import level_extent

    width, height, _ = level_extent(surface.resource.desc, surface.level)
    bind = 0x80 if is_color else 0x200
    features = context.device.physical.format_features(found.number)[1]
    if not features & bind:
        return False
    target = FramebufferState(
        width,
        height,
        surface.last_layer - surface.first_layer + 1,
        surface.resource.desc.samples,
        (surface,) if is_color else (),
        None if is_color else surface,
    )
    return clear_on_device(context, flags, color, depth, stencil, rect, target)
