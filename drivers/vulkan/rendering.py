"""Render passes: begun with the first draw or clear of a framebuffer, ended by any other command.

A barrier between passes makes all writes visible. Clears are commands in a pass of the framebuffer
or of one surface, or draws.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gallette.drivers.common.memory.clear import ClearValues, cleared_rect
from gallette.pipe.enums import ClearFlags
from gallette.pipe.resource import level_extent
from gallette.pipe.state import FramebufferState, ScissorState, Surface

from .api.binding import array, byref, make
from .memory.formats import COLOR, DEPTH, STENCIL, vulkan_format
from .memory.resources import VulkanTexture
from .pipeline.textures import surface_view

if TYPE_CHECKING:
    from .context import VulkanContext

_WORD = 0xFFFFFFFF


class Rendering:
    """The render pass of a context, if one has begun."""

    def __init__(self, context: VulkanContext) -> None:
        self.context = context
        self.target: FramebufferState | None = None  # that of the pass that has begun
        self.info: Any = None  # VkRenderingInfo of that pass, or of the last
        self._of: FramebufferState | None = None

    def begin(self, framebuffer: FramebufferState | None = None) -> None:
        """Begin to draw into a framebuffer, by default the one that is bound."""
        context = self.context
        target = context.bound.framebuffer if framebuffer is None else framebuffer
        if self.target is not None:
            if self.target is target or self.target == target:
                return
            self.end()
        for surface in (*target.cbufs, target.zsbuf):
            if surface is not None:
                context.on_device(surface.resource, (surface.level,), write=True)
        context.stream.barrier()
        if self._of is not target:
            self._of, self.info = target, self._described(target)
        context.device.vk.vkCmdBeginRendering(context.stream.batch.commands, byref(self.info))
        self.target = target
        context.queries.resume()

    def end(self) -> None:
        """End the pass."""
        if self.target is None:
            return
        context = self.context
        context.draws.feedback.end()
        context.queries.pause()
        context.device.vk.vkCmdEndRendering(context.stream.batch.commands)
        self.target, context.stream.written = None, True

    def _described(self, target: FramebufferState) -> Any:
        colors = [self._attachment(surface) for surface in target.cbufs]
        zsbuf = target.zsbuf
        aspect = 0 if zsbuf is None else zsbuf.resource.format.aspect  # type: ignore[attr-defined]
        area = (0, 0), (max(1, target.width), max(1, target.height))
        return make(
            "VkRenderingInfo", renderArea=area, layerCount=layers_of(target),
            colorAttachmentCount=len(colors), pColorAttachments=colors,
            pDepthAttachment=self._attachment(zsbuf) if aspect & DEPTH else None,
            pStencilAttachment=self._attachment(zsbuf) if aspect & STENCIL else None,
        )  # fmt: skip

    def _attachment(self, surface: Surface | None) -> Any:
        if surface is None:
            return make("VkRenderingAttachmentInfo", imageLayout=1)
        texture = surface.resource
        assert isinstance(texture, VulkanTexture)
        view = surface_view(texture, surface)
        return make("VkRenderingAttachmentInfo", imageView=view, imageLayout=1)  # kept: 0 and 0


def layers_of(target: FramebufferState) -> int:
    """The number of layers drawn to: the least among the attachments."""
    surfaces = [surface for surface in (*target.cbufs, target.zsbuf) if surface is not None]
    counts = [surface.last_layer - surface.first_layer + 1 for surface in surfaces]
    return max(1, min(counts, default=target.layers))


def clear_on_device(
    context: VulkanContext, flags: ClearFlags, values: ClearValues,
    scissor: ScissorState | None, target: FramebufferState,
) -> None:  # fmt: skip
    """Clear attachments of a framebuffer."""
    rect = cleared_rect(target, scissor)
    if rect.maxx <= rect.minx or rect.maxy <= rect.miny:
        return
    attachments = []
    for index, surface in enumerate(target.cbufs):
        if surface is None or not flags & ClearFlags.COLOR0 << index:
            continue
        if surface.format.is_pure_integer:  # signed ones have the same bits
            color = make("VkClearColorValue", uint32=tuple(int(x) & _WORD for x in values.color))
        else:
            color = make("VkClearColorValue", float32=tuple(map(float, values.color)))
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
    found = None if zsbuf is None else vulkan_format(zsbuf.format)
    if zsbuf is not None and found is not None:
        wanted = DEPTH * bool(flags & ClearFlags.DEPTH) | STENCIL * bool(flags & ClearFlags.STENCIL)
        aspect, stencil, bits = found.aspect & wanted, values.stencil, values.stencil_mask & 0xFF
        if aspect & STENCIL and bits != 0xFF:
            context.internal.clear(zsbuf, bytes(16), 0, (stencil & 0xFF, bits), rect)
            aspect &= ~STENCIL
        if aspect:
            depth = min(max(values.depth, 0.0), 1.0)
            value = make("VkClearValue", depthStencil=(depth, stencil & 0xFF))
            attachments.append(make("VkClearAttachment", aspectMask=aspect, clearValue=value))
    if not attachments:
        return
    context.rendering.begin(target)
    area = (rect.minx, rect.miny), (rect.maxx - rect.minx, rect.maxy - rect.miny)
    place = make("VkClearRect", rect=area, layerCount=layers_of(target))
    context.device.vk.vkCmdClearAttachments(
        context.stream.batch.commands, len(attachments), byref(array(attachments)),
        1, byref(place),
    )  # fmt: skip


def clear_rect_on_device(
    context: VulkanContext, surface: Surface, flags: ClearFlags, values: ClearValues,
    rect: ScissorState,
) -> bool:  # fmt: skip
    """Clear a rectangle of one surface; returns false if the device cannot draw to it."""
    found = vulkan_format(surface.format)
    if found is None:
        return False
    is_color = found.aspect == COLOR
    features = context.device.physical.format_features(found.number)[1]
    if not features & (0x80 if is_color else 0x200):
        return False
    width, height, _ = level_extent(surface.resource.desc, surface.level)
    count, samples = surface.last_layer - surface.first_layer + 1, surface.resource.desc.samples
    bound = ((surface,), None) if is_color else ((), surface)
    target = FramebufferState(width, height, count, samples, *bound)
    clear_on_device(context, flags, values, rect, target)
    return True
