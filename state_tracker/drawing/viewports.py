"""Viewports, depth ranges, scissor rectangles and clip conventions."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gallette.pipe.state import ScissorState, ViewportState
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum, invalid_value
from gallette.state_tracker.entry_points.memory import Pointer, read_array
from gallette.state_tracker.entry_points.registry import entry, register

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context


def viewport_states(ctx: Context) -> list[ViewportState]:
    """Pipe viewports: scale and translate."""
    s = ctx.raster
    boxes, ranges = s.viewports, s.depth_ranges
    count = len(boxes)
    turned, positive = s.clip_origin == GL.UPPER_LEFT, s.clip_depth == GL.ZERO_TO_ONE
    if boxes.count(boxes[0]) == count and ranges.count(ranges[0]) == count:
        return [_state(boxes[0], ranges[0], turned, positive)] * count  # the usual case
    pairs = zip(boxes, ranges, strict=True)
    return [_state(box, ends, turned, positive) for box, ends in pairs]


def to_window(ctx: Context, clip: npt.NDArray[np.float64]) -> tuple[float, float, float, float]:
    """The window coordinates of a point in clip coordinates, with its w, in the first viewport."""
    state, w = viewport_states(ctx)[0], float(clip[3])
    x, y, z = (
        scale * (float(c) / (w or 1.0)) + middle
        for c, scale, middle in zip(clip[:3], state.scale, state.translate, strict=True)
    )
    return x, y, z, w


@lru_cache(maxsize=256)  # equal states are one object, which is compared faster
def _state(
    box: tuple[float, float, float, float], ends: tuple[float, float], turned: bool, positive: bool
) -> ViewportState:
    (x, y, width, height), (near, far) = box, ends
    half_w, half_h = width / 2.0, height / 2.0
    flip = -1.0 if turned else 1.0
    if positive:
        scale_z, translate_z = far - near, near
    else:
        scale_z, translate_z = (far - near) / 2.0, (far + near) / 2.0
    return ViewportState((half_w, half_h * flip, scale_z), (x + half_w, y + half_h, translate_z))


def scissor_states(ctx: Context) -> list[ScissorState]:
    """Pipe scissors; where the test is off for a viewport, the whole framebuffer."""
    enabled, boxes = ctx.raster.scissor_enabled, ctx.raster.scissors
    framebuffer, count = ctx.framebuffers.draw.state(ctx), len(boxes)
    size = framebuffer.width, framebuffer.height
    if enabled.count(enabled[0]) == count and boxes.count(boxes[0]) == count:
        return [scissor_state(size, enabled[0], boxes[0])] * count
    return [scissor_state(size, on, box) for on, box in zip(enabled, boxes, strict=True)]


@lru_cache(maxsize=256)
def scissor_state(
    size: tuple[int, int], enabled: bool, box: tuple[int, int, int, int]
) -> ScissorState:
    """The pixels of a framebuffer inside a box."""
    width, height = size
    if not enabled:
        return ScissorState(0, 0, width, height)
    x, y, w, h = box
    return ScissorState(
        min(max(x, 0), width),
        min(max(y, 0), height),
        min(max(x + w, 0), width),
        min(max(y + h, 0), height),
    )


def _clamped(
    ctx: Context, x: float, y: float, w: float, h: float
) -> tuple[float, float, float, float]:
    width, height = ctx.limits.max_viewport_dims
    return (
        max(-32768.0, min(float(x), 32767.0)),
        max(-32768.0, min(float(y), 32767.0)),
        min(float(w), float(width)),
        min(float(h), float(height)),
    )


def _set_viewport(ctx: Context, index: int, x: float, y: float, w: float, h: float) -> None:
    ctx.raster.viewports[index] = _clamped(ctx, x, y, w, h)
    ctx.dirty |= Dirty.VIEWPORT


@entry
def viewport(ctx: Context, x: int, y: int, width: int, height: int) -> None:
    if width < 0 or height < 0:
        raise invalid_value("negative viewport size")
    if ctx.look_at_window is not None:
        ctx.look_at_window()
    box = _clamped(ctx, x, y, width, height)
    ctx.raster.viewports = [box] * len(ctx.raster.viewports)
    ctx.dirty |= Dirty.VIEWPORT


def _indices(ctx: Context, first: int, count: int) -> range:
    if count < 0 or first + count > len(ctx.raster.viewports):
        raise invalid_value("there are not that many viewports")
    return range(first, first + count)


@entry
def viewport_arrayv(ctx: Context, first: int, count: int, v: Pointer) -> None:
    indices = _indices(ctx, first, count)
    boxes = read_array(v, "float", 4 * count).reshape(-1, 4).tolist()
    if any(b[2] < 0 or b[3] < 0 for b in boxes):
        raise invalid_value("negative viewport size")
    for index, box in zip(indices, boxes, strict=True):
        _set_viewport(ctx, index, *box)


@entry
def viewport_indexedf(ctx: Context, index: int, x: float, y: float, w: float, h: float) -> None:
    _indices(ctx, index, 1)
    if w < 0 or h < 0:
        raise invalid_value("negative viewport size")
    _set_viewport(ctx, index, x, y, w, h)


@entry
def viewport_indexedfv(ctx: Context, index: int, v: Pointer) -> None:
    viewport_indexedf(ctx, index, *read_array(v, "float", 4).tolist())


def _set_depth_range(ctx: Context, index: int, near: float, far: float) -> None:
    ctx.raster.depth_ranges[index] = (min(max(near, 0.0), 1.0), min(max(far, 0.0), 1.0))
    ctx.dirty |= Dirty.VIEWPORT | Dirty.VALUES


@entry
def depth_range(ctx: Context, near: float, far: float) -> None:
    ends = min(max(near, 0.0), 1.0), min(max(far, 0.0), 1.0)
    ctx.raster.depth_ranges = [ends] * len(ctx.raster.depth_ranges)
    ctx.dirty |= Dirty.VIEWPORT | Dirty.VALUES


register("depth_rangef", depth_range)


def _depth_range_array(ctx: Context, first: int, count: int, v: Pointer, kind: str) -> None:
    indices = _indices(ctx, first, count)
    pairs = read_array(v, kind, 2 * count).reshape(-1, 2).tolist()
    for index, (near, far) in zip(indices, pairs, strict=True):
        _set_depth_range(ctx, index, near, far)


@entry
def depth_range_arrayv(ctx: Context, first: int, count: int, v: Pointer) -> None:
    _depth_range_array(ctx, first, count, v, "double")


@entry
def depth_range_arrayfv_oes(ctx: Context, first: int, count: int, v: Pointer) -> None:
    _depth_range_array(ctx, first, count, v, "float")


@entry
def depth_range_indexed(ctx: Context, index: int, near: float, far: float) -> None:
    _indices(ctx, index, 1)
    _set_depth_range(ctx, index, near, far)


register("depth_range_indexedf_oes", depth_range_indexed)
register("depth_range_arraydv_nv", depth_range_arrayv)
register("depth_range_indexedd_nv", depth_range_indexed)


@entry
def scissor(ctx: Context, x: int, y: int, width: int, height: int) -> None:
    if width < 0 or height < 0:
        raise invalid_value("negative scissor size")
    ctx.raster.scissors = [(x, y, width, height)] * len(ctx.raster.scissors)
    ctx.dirty |= Dirty.SCISSOR


@entry
def scissor_indexed(ctx: Context, index: int, x: int, y: int, width: int, height: int) -> None:
    _indices(ctx, index, 1)
    if width < 0 or height < 0:
        raise invalid_value("negative scissor size")
    ctx.raster.scissors[index] = (x, y, width, height)
    ctx.dirty |= Dirty.SCISSOR


@entry
def scissor_indexedv(ctx: Context, index: int, v: Pointer) -> None:
    scissor_indexed(ctx, index, *read_array(v, "int", 4).tolist())


@entry
def scissor_arrayv(ctx: Context, first: int, count: int, v: Pointer) -> None:
    indices = _indices(ctx, first, count)
    boxes = read_array(v, "int", 4 * count).reshape(-1, 4).tolist()
    if any(b[2] < 0 or b[3] < 0 for b in boxes):
        raise invalid_value("negative scissor size")
    for index, box in zip(indices, boxes, strict=True):
        ctx.raster.scissors[index] = (box[0], box[1], box[2], box[3])
    ctx.dirty |= Dirty.SCISSOR


@entry
def clip_control(ctx: Context, origin: int, depth: int) -> None:
    if origin not in (GL.LOWER_LEFT, GL.UPPER_LEFT):
        raise invalid_enum(origin, "clip origin")
    if depth not in (GL.NEGATIVE_ONE_TO_ONE, GL.ZERO_TO_ONE):
        raise invalid_enum(depth, "clip depth mode")
    ctx.raster.clip_origin, ctx.raster.clip_depth = origin, depth
    ctx.dirty |= Dirty.VIEWPORT | Dirty.RASTERIZER
