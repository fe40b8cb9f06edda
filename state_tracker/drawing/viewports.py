"""Viewports, depth ranges, scissor rectangles and clip conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.pipe.state import ScissorState, ViewportState
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum, invalid_value
from gallette.state_tracker.entry_points.memory import Pointer, read_array
from gallette.state_tracker.entry_points.registry import entry, register
from gallette.state_tracker.getters import gets, gets_indexed

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

__all__ = ["scissor_states", "viewport_states"]


def viewport_states(ctx: Context) -> list[ViewportState]:
    """Pipe viewports: scale and translate."""
    s, states = ctx.raster, []
    for (x, y, width, height), (near, far) in zip(s.viewports, s.depth_ranges, strict=True):
        half_w, half_h = width / 2.0, height / 2.0
        flip = -1.0 if s.clip_origin == GL.UPPER_LEFT else 1.0
        if s.clip_depth == GL.ZERO_TO_ONE:
            scale_z, translate_z = far - near, near
        else:
            scale_z, translate_z = (far - near) / 2.0, (far + near) / 2.0
        states.append(
            ViewportState((half_w, half_h * flip, scale_z), (x + half_w, y + half_h, translate_z))
        )
    return states


def scissor_states(ctx: Context) -> list[ScissorState]:
    """Pipe scissors; where the test is off for a viewport, the whole framebuffer."""
    width, height = ctx.framebuffers.draw.size
    states = []
    for enabled, box in zip(ctx.raster.scissor_enabled, ctx.raster.scissors, strict=True):
        if not enabled:
            states.append(ScissorState(0, 0, width, height))
            continue
        x, y, w, h = box
        states.append(
            ScissorState(
                min(max(x, 0), width),
                min(max(y, 0), height),
                min(max(x + w, 0), width),
                min(max(y + h, 0), height),
            )
        )
    return states


def _set_viewport(ctx: Context, index: int, x: float, y: float, w: float, h: float) -> None:
    width, height = (float(v) for v in ctx.limits.max_viewport_dims)
    ctx.raster.viewports[index] = (
        max(-32768.0, min(x, 32767.0)),
        max(-32768.0, min(y, 32767.0)),
        min(w, width),
        min(h, height),
    )
    ctx.dirty |= Dirty.VIEWPORT


@entry
def viewport(ctx: Context, x: int, y: int, width: int, height: int) -> None:
    if width < 0 or height < 0:
        raise invalid_value("negative viewport size")
    for index in range(len(ctx.raster.viewports)):
        _set_viewport(ctx, index, float(x), float(y), float(width), float(height))


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
    ctx.dirty |= Dirty.VIEWPORT | Dirty.BUILTINS


@entry
def depth_range(ctx: Context, near: float, far: float) -> None:
    for index in range(len(ctx.raster.depth_ranges)):
        _set_depth_range(ctx, index, near, far)


register("depth_rangef", depth_range)


@entry
def depth_range_arrayv(ctx: Context, first: int, count: int, v: Pointer) -> None:
    indices = _indices(ctx, first, count)
    pairs = read_array(v, "double", 2 * count).reshape(-1, 2).tolist()
    for index, (near, far) in zip(indices, pairs, strict=True):
        _set_depth_range(ctx, index, near, far)


@entry
def depth_range_indexed(ctx: Context, index: int, near: float, far: float) -> None:
    _indices(ctx, index, 1)
    _set_depth_range(ctx, index, near, far)


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


gets(
    {
        "VIEWPORT": lambda c: c.raster.viewports[0],
        "SCISSOR_BOX": lambda c: c.raster.scissors[0],
        "CLIP_ORIGIN": lambda c: c.raster.clip_origin,
        "CLIP_DEPTH_MODE": lambda c: c.raster.clip_depth,
    }
)
gets({"DEPTH_RANGE": lambda c: c.raster.depth_ranges[0]}, normalized=True)
gets_indexed(
    lambda c: len(c.raster.viewports),
    {
        "VIEWPORT": lambda c, i: c.raster.viewports[i],
        "SCISSOR_BOX": lambda c, i: c.raster.scissors[i],
        "DEPTH_RANGE": lambda c, i: c.raster.depth_ranges[i],
    },
)
