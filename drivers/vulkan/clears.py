"""Clears on the device: in a render pass of the framebuffer or of one surface, or as draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gallette.drivers.common.memory.clear import ClearValues, cleared_rect
from gallette.pipe.enums import ClearFlags
from gallette.pipe.formats import Format
from gallette.pipe.interface import Color
from gallette.pipe.resource import level_extent
from gallette.pipe.state import FramebufferState, ScissorState, Surface

from .api.binding import array, byref, make
from .memory.formats import COLOR, DEPTH, STENCIL, vulkan_format
from .rendering import layers_of

if TYPE_CHECKING:
    from .context import VulkanContext

__all__ = ["clear_on_device", "clear_rect_on_device"]


def clear_on_device(
    context: VulkanContext,
    flags: ClearFlags,
    values: ClearValues,
    scissor: ScissorState | None,
    target: FramebufferState,
) -> None:
    """Clear attachments of a framebuffer."""
    rect = cleared_rect(target, scissor)
    if rect.maxx <= rect.minx or rect.maxy <= rect.miny:
        return
    attachments = []
    for index, surface in enumerate(target.cbufs):
        if surface is None or not flags & ClearFlags.COLOR0 << index:
            continue
        color = _color(values.color, surface.format)
        # Alpha is stored as red, which only draws know.
        if all(values.color_mask) and surface.format.channels[0].name != "A":
            value = make("VkClearValue", color=color)
            attachments.append(
                make("VkClearAttachment", aspectMask=COLOR, colorAttachment=index, clearValue=value)
            )
        else:
            mask = sum(bool(on) << bit for bit, on in enumerate(values.color_mask))
            context.internal.clear(surface, bytes(color), mask, (0, 0), rect)
    zsbuf = target.zsbuf
    if zsbuf is not None:
        found = vulkan_format(zsbuf.format)
        assert found is not None
        wanted = DEPTH * bool(flags & ClearFlags.DEPTH) | STENCIL * bool(flags & ClearFlags.STENCIL)
        aspect, stencil, bits = found.aspect & wanted, values.stencil, values.stencil_mask & 0xFF
        if aspect & STENCIL and bits != 0xFF:
            context.internal.clear(zsbuf, bytes(16), 0, (stencil & 0xFF, bits), rect)
            aspect &= ~STENCIL
        if aspect:
            value = make(
                "VkClearValue", depthStencil=(min(max(values.depth, 0.0), 1.0), stencil & 0xFF)
            )
            attachments.append(make("VkClearAttachment", aspectMask=aspect, clearValue=value))
    if not attachments:
        return
    context.rendering.begin(target)
    place = make(
        "VkClearRect",
        rect=((rect.minx, rect.miny), (rect.maxx - rect.minx, rect.maxy - rect.miny)),
        layerCount=layers_of(target),
    )
    context.device.vk.vkCmdClearAttachments(
        context.stream.batch.commands, len(attachments), byref(array(attachments)),
        1, byref(place),
    )  # fmt: skip


def _color(color: Color, format: Format) -> Any:
    if format.is_pure_integer:  # signed ones have the same bits
        words = tuple(int(x) & 0xFFFFFFFF for x in color)
        return make("VkClearColorValue", uint32=words)
    return make("VkClearColorValue", float32=tuple(float(x) for x in color))


def clear_rect_on_device(
    context: VulkanContext,
    surface: Surface,
    flags: ClearFlags,
    values: ClearValues,
    rect: ScissorState,
) -> bool:
    """Clear a rectangle of one surface; returns false if the device cannot draw to it."""
    found = vulkan_format(surface.format)
    if found is None:
        return False
    is_color = found.aspect == COLOR
    features = context.device.physical.format_features(found.number)[1]
    if not features & (0x80 if is_color else 0x200):
        return False
    width, height, _ = level_extent(surface.resource.desc, surface.level)
    target = FramebufferState(
        width,
        height,
        surface.last_layer - surface.first_layer + 1,
        surface.resource.desc.samples,
        (surface,) if is_color else (),
        None if is_color else surface,
    )
    clear_on_device(context, flags, values, rect, target)
    return True
