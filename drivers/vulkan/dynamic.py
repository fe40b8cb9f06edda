"""State that is set with commands: dynamic state, and what is bound.

Commands are rows, `(name, arguments after the command buffer)`. A draw's state is all rows that
lead to it; those that differ from what is set are recorded. `series` keeps the states of draws and
compares them without reading what the application has bound.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gallette.pipe.enums import PolygonMode
from gallette.pipe.state import DepthStencilAlphaState, RasterizerState

from .api.binding import address, array, struct
from .memory.resources import VulkanBuffer
from .memory.storage import DeviceBuffer
from .pipeline.keys import STENCIL_OPS
from .variants import polygon_mode

if TYPE_CHECKING:
    from .context import VulkanContext

Row = tuple[str, tuple[Any, ...]]
State = dict[Any, Row]
"""Commands by what they set: their name, and the face for those of one face."""
_MOST_KNOWN = 256
_PER_FACE = frozenset(
    f"vkCmdSetStencil{what}" for what in ("Op", "CompareMask", "WriteMask", "Reference")
)


def pointer(values: Any) -> Any:
    """An array as an argument: the number is its address, and keeps it alive."""
    made = _Address(address(values))
    made.values = values
    return made


class _Address(int):
    values: Any


def vertex_row(sources: Iterable[tuple[DeviceBuffer | VulkanBuffer, int]]) -> Row:
    """The command that binds buffers from offsets on, at their current addresses."""
    return _vertex_row(
        tuple([(gpu.handle, gpu.offset + at, max(gpu.size - at, 0))
               for gpu, at in [(what.gpu, at) for what, at in sources]])
    )  # fmt: skip


@lru_cache(1024)
def _vertex_row(inputs: tuple[tuple[int, int, int], ...]) -> Row:
    """With sizes, because each is a part of a buffer."""
    columns = [
        pointer((ctypes.c_uint64 * len(inputs))(*column)) for column in zip(*inputs, strict=True)
    ]
    return "vkCmdBindVertexBuffers2", (0, len(inputs), *columns, 0)


@lru_cache(1024)
def push_row(layout: int, data: bytes) -> Row:
    """The command that sets push constants."""
    words = (ctypes.c_uint8 * len(data)).from_buffer_copy(data)
    return "vkCmdPushConstants", (layout, 0x3F, 0, len(data), pointer(words))


class DynamicState:
    """The state set last in the current batch."""

    def __init__(self, context: VulkanContext) -> None:
        self.context = context
        self.vk = context.device.vk
        self._known: dict[Any, State] = {}
        self._last: dict[str, tuple[Any, State]] = {}
        self._set: State = {}
        limits = context.device.physical.limits
        self._widths = tuple(limits.lineWidthRange)
        self._unrestricted = context.device.has("VK_EXT_depth_range_unrestricted")

    def forget(self) -> None:
        """Forget everything set, because a new batch begins."""
        self._set.clear()

    def set(self, commands: int, state: State) -> None:
        """Record the rows that differ from what is set."""
        current, vk = self._set, self.vk
        for slot, row in state.items():
            if current.get(slot) != row:
                current[slot] = row
                getattr(vk, row[0])(commands, *row[1])

    def state(self, restarts: bool, topology: int) -> State:
        """The dynamic state of a draw."""
        bound = self.context.bound
        cso, framebuffer = bound.rasterizer, bound.framebuffer
        raster = cso.state
        areas = (bound.viewports, bound.scissors if raster.scissor else None, raster.clip_halfz,
                 framebuffer.width, framebuffer.height)  # fmt: skip
        depth, found = bound.depth_stencil_alpha, {}
        for name, key, rows in (
            ("areas", areas, lambda: self._areas(raster)),
            ("draw", (topology, restarts), lambda: _primitives(topology, restarts)),
            ("raster", cso, lambda: self._raster(raster)),
            ("depth", (depth, bound.stencil_ref), lambda: _tests(depth.state, bound.stencil_ref)),
            ("blend", bound.blend_color, lambda: _blending(bound.blend_color)),
        ):
            found.update(self._group(name, key, rows))
        return found

    def _group(self, name: str, key: Any, rows: Callable[[], Iterable[Row]]) -> State:
        last = self._last.get(name)
        if last is not None and last[0] == key:
            return last[1]
        state = self._known.get((name, key))
        if state is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            state = self._known[name, key] = {
                (row[0], row[1][0] if row[0] in _PER_FACE else 0): row for row in rows()
            }
        self._last[name] = key, state
        return state

    def _areas(self, raster: RasterizerState) -> Iterable[Row]:
        bound, framebuffer = self.context.bound, self.context.bound.framebuffer
        count = min(len(bound.viewports), self.context.screen.caps.max_viewports)
        viewports, scissors = [], []
        for index in range(count):
            view = bound.viewports[index]
            (sx, sy, sz), (tx, ty, tz) = view.scale, view.translate
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
        yield "vkCmdSetViewportWithCount", (count, pointer(array(viewports)))
        yield "vkCmdSetScissorWithCount", (count, pointer(array(scissors)))

    def _raster(self, raster: RasterizerState) -> Iterable[Row]:
        yield "vkCmdSetCullMode", (int(raster.cull_face),)
        yield "vkCmdSetFrontFace", (int(raster.front_ccw),)  # rows count the other way
        least, most = self._widths
        yield "vkCmdSetLineWidth", (float(min(max(raster.line_width, least), most)),)
        yield "vkCmdSetRasterizerDiscardEnable", (int(raster.rasterizer_discard),)
        lines = polygon_mode(raster) is PolygonMode.LINE
        offset = raster.offset_line if lines else raster.offset_tri
        yield "vkCmdSetDepthBiasEnable", (int(offset),)
        bias = raster.offset_units, raster.offset_clamp, raster.offset_scale
        yield "vkCmdSetDepthBias", tuple(map(float, bias))
        if raster.line_stipple_enable:
            stipple = raster.line_stipple_factor, raster.line_stipple_pattern & 0xFFFF
            yield "vkCmdSetLineStippleEXT", stipple


def _primitives(topology: int, restarts: bool) -> Iterable[Row]:
    yield "vkCmdSetPrimitiveTopology", (topology,)
    yield "vkCmdSetPrimitiveRestartEnable", (int(restarts),)


def _blending(color: tuple[float, ...]) -> Iterable[Row]:
    yield "vkCmdSetBlendConstants", (pointer(array(color, ctypes.c_float)),)


def _tests(state: DepthStencilAlphaState, reference: tuple[int, int]) -> Iterable[Row]:
    yield "vkCmdSetDepthTestEnable", (int(state.depth_enabled),)
    yield "vkCmdSetDepthWriteEnable", (int(state.depth_enabled and state.depth_writemask),)
    yield "vkCmdSetDepthCompareOp", (int(state.depth_func),)
    front = state.stencil[0]
    back = state.stencil[1] if state.stencil[1].enabled else front
    yield "vkCmdSetStencilTestEnable", (int(front.enabled),)
    refs = (reference[0], reference[1] if state.stencil[1].enabled else reference[0])
    for face, one, ref in ((1, front, refs[0]), (2, back, refs[1])):
        ops = [STENCIL_OPS[op] for op in (one.fail_op, one.zpass_op, one.zfail_op)]
        yield "vkCmdSetStencilOp", (face, *ops, int(one.func))
        yield "vkCmdSetStencilCompareMask", (face, one.valuemask)
        yield "vkCmdSetStencilWriteMask", (face, one.writemask)
        yield "vkCmdSetStencilReference", (face, ref)
