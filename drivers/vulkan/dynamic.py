"""Dynamic state: what is set with commands instead of being part of a pipeline."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from gallette.pipe.enums import CullFace, PolygonMode
from gallette.pipe.state import DepthStencilAlphaState, RasterizerState

from .api.binding import array, byref, struct
from .pipeline.keys import STENCIL_OPS

if TYPE_CHECKING:
    from .context import VulkanContext

__all__ = ["DynamicState"]

_FLOAT = ctypes.c_float


class DynamicState:
    """What was set last in the current batch."""

    def __init__(self, context: VulkanContext) -> None:
        self.context = context
        self.vk = context.device.vk
        self._areas: Any = None
        self._raster: Any = None
        self._depth: Any = None
        self._draw: Any = None
        self._blend: Any = None
        limits = context.device.physical.limits
        self._widths = tuple(limits.lineWidthRange)
        self._wide = context.device.feature("wideLines")
        self._unrestricted = context.device.has("VK_EXT_depth_range_unrestricted")

    def forget(self) -> None:
        """Nothing is set in a new batch."""
        self._areas = self._raster = self._depth = self._draw = self._blend = None

    def can_draw(self) -> bool:
        """Whether there is anything to draw in: a viewport of no width shows nothing."""
        viewport = self.context.bound.viewports[0]
        return viewport.scale[0] > 0 and viewport.scale[1] != 0

    def set(
        self, commands: int, restarts: bool, topology: int, side: int, fill: PolygonMode
    ) -> None:
        """Set what differs from what is set; `side` is a face the pass leaves out, or 0."""
        bound = self.context.bound
        raster = bound.rasterizer.state
        framebuffer = bound.framebuffer
        areas = (bound.viewports, bound.scissors if raster.scissor else None, raster.clip_halfz,
                 framebuffer.width, framebuffer.height)  # fmt: skip
        if areas != self._areas:
            self._areas = areas
            self._set_areas(commands, raster)
        draw = (topology, restarts)
        if draw != self._draw:
            self._draw = draw
            self.vk.vkCmdSetPrimitiveTopology(commands, topology)
            self.vk.vkCmdSetPrimitiveRestartEnable(commands, int(draw[1]))
        if (raster, side, fill) != self._raster:
            self._raster = (raster, side, fill)
            self._set_raster(commands, raster, side, fill)
        depth = (bound.depth_stencil_alpha.state, bound.stencil_ref, framebuffer.zsbuf)
        if depth != self._depth:
            self._depth = depth
            self._set_depth(commands, bound.depth_stencil_alpha.state, bound.stencil_ref)
        if bound.blend_color != self._blend:
            self._blend = bound.blend_color
            color = array(bound.blend_color, _FLOAT)
            self.vk.vkCmdSetBlendConstants(commands, byref(color))

    def _set_areas(self, commands: int, raster: RasterizerState) -> None:
        bound, framebuffer = self.context.bound, self.context.bound.framebuffer
        count = min(len(bound.viewports), self.context.screen.caps.max_viewports)
        viewports, scissors = [], []
        for index in range(count):
            (sx, sy, sz), (tx, ty, tz) = (
                bound.viewports[index].scale,
                bound.viewports[index].translate,
            )
            near, far = (tz, tz + sz) if raster.clip_halfz else (tz - sz, tz + sz)
            if not self._unrestricted:
                near, far = min(max(near, 0.0), 1.0), min(max(far, 0.0), 1.0)
            width = max(2 * sx, 1e-6)
            viewports.append(struct("VkViewport")(tx - sx, ty - sy, width, 2 * sy, near, far))
            x0, y0, x1, y1 = 0, 0, max(framebuffer.width, 1), max(framebuffer.height, 1)
            if raster.scissor:
                s = bound.scissors[min(index, len(bound.scissors) - 1)]
                x0, y0 = max(s.minx, 0), max(s.miny, 0)
                x1, y1 = max(min(s.maxx, x1), x0), max(min(s.maxy, y1), y0)
            scissors.append(struct("VkRect2D")((x0, y0), (x1 - x0, y1 - y0)))
        whole, cut = array(viewports), array(scissors)
        self.vk.vkCmdSetViewportWithCount(commands, count, byref(whole))
        self.vk.vkCmdSetScissorWithCount(commands, count, byref(cut))

    def _set_raster(
        self, commands: int, raster: RasterizerState, side: int, fill: PolygonMode
    ) -> None:
        vk = self.vk
        cull = int(raster.cull_face)
        if side:  # the pass for one face leaves the other out
            cull |= int(CullFace.BACK if side == 2 else CullFace.FRONT)
        vk.vkCmdSetCullMode(commands, cull)
        vk.vkCmdSetFrontFace(commands, int(raster.front_ccw))  # rows count the other way
        width = raster.line_width if self._wide else 1.0
        vk.vkCmdSetLineWidth(commands, min(max(width, self._widths[0]), self._widths[1]))
        vk.vkCmdSetRasterizerDiscardEnable(commands, int(raster.rasterizer_discard))
        offset = {PolygonMode.FILL: raster.offset_tri, PolygonMode.LINE: raster.offset_line,
                  PolygonMode.POINT: raster.offset_point}[fill]  # fmt: skip
        vk.vkCmdSetDepthBiasEnable(commands, int(offset))
        clamp = raster.offset_clamp if self.context.device.feature("depthBiasClamp") else 0.0
        vk.vkCmdSetDepthBias(commands, raster.offset_units, clamp, raster.offset_scale)
        if raster.line_stipple_enable and self.context.device.feature("stippledBresenhamLines"):
            vk.vkCmdSetLineStippleEXT(
                commands, raster.line_stipple_factor, raster.line_stipple_pattern & 0xFFFF
            )

    def _set_depth(
        self, commands: int, state: DepthStencilAlphaState, reference: tuple[int, int]
    ) -> None:
        vk = self.vk
        vk.vkCmdSetDepthTestEnable(commands, int(state.depth_enabled))
        vk.vkCmdSetDepthWriteEnable(commands, int(state.depth_enabled and state.depth_writemask))
        vk.vkCmdSetDepthCompareOp(commands, int(state.depth_func))
        front = state.stencil[0]
        back = state.stencil[1] if state.stencil[1].enabled else front
        vk.vkCmdSetStencilTestEnable(commands, int(front.enabled))
        refs = (reference[0], reference[1] if state.stencil[1].enabled else reference[0])
        for face, one, ref in ((1, front, refs[0]), (2, back, refs[1])):
            vk.vkCmdSetStencilOp(
                commands, face, STENCIL_OPS[one.fail_op], STENCIL_OPS[one.zpass_op],
                STENCIL_OPS[one.zfail_op], int(one.func),
            )  # fmt: skip
            vk.vkCmdSetStencilCompareMask(commands, face, one.valuemask)
            vk.vkCmdSetStencilWriteMask(commands, face, one.writemask)
            vk.vkCmdSetStencilReference(commands, face, ref)
