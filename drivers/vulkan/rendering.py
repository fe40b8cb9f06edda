"""Render passes: begun with the first draw or clear of a framebuffer, ended by any other
command.

A barrier between passes makes all writes visible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gallette.pipe.state import FramebufferState, Surface

from .api.binding import byref, make
from .memory.formats import DEPTH, STENCIL
from .memory.resources import VulkanTexture
from .pipeline.textures import surface_view

if TYPE_CHECKING:
    from .context import VulkanContext

__all__ = ["Rendering", "layers_of"]


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
        depth = stencil = None
        zsbuf = target.zsbuf
        if zsbuf is not None:
            texture = zsbuf.resource
            assert isinstance(texture, VulkanTexture)
            if texture.format.aspect & DEPTH:
                depth = self._attachment(zsbuf)
            if texture.format.aspect & STENCIL:
                stencil = self._attachment(zsbuf)
        return make(
            "VkRenderingInfo",
            renderArea=((0, 0), (max(1, target.width), max(1, target.height))),
            layerCount=layers_of(target),
            colorAttachmentCount=len(colors),
            pColorAttachments=colors or None,
            pDepthAttachment=depth,
            pStencilAttachment=stencil,
        )

    def _attachment(self, surface: Surface | None) -> Any:
        if surface is None:
            return make("VkRenderingAttachmentInfo", imageLayout=1)
        texture = surface.resource
        assert isinstance(texture, VulkanTexture)
        return make(
            "VkRenderingAttachmentInfo",
            imageView=surface_view(texture, surface),
            imageLayout=1,
            loadOp=0,
            storeOp=0,
        )


def layers_of(target: FramebufferState) -> int:
    """The number of layers drawn to: the least among the attachments."""
    counts = [
        surface.last_layer - surface.first_layer + 1
        for surface in (*target.cbufs, target.zsbuf)
        if surface is not None
    ]
    return max(1, min(counts, default=target.layers))
