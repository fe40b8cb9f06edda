"""Draws whose counts are in memory: commands in buffers, and counts of transform feedback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.state_tracker.drawing.draw import (
    INDEX_TYPES,
    check_mode,
    draw,
    draw_captured,
    draw_several,
)
from gallette.state_tracker.entry_points.count_limits import MOST_DRAWS, check_count
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.memory import Pointer, buffer_offset
from gallette.state_tracker.entry_points.registry import entry

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context


def _indirect(ctx: Context, pointer: Pointer, words: int, count: int, stride: int) -> Any:
    """Draw commands from the indirect buffer, one row each."""
    buffer = ctx.buffers.bound[GL.DRAW_INDIRECT_BUFFER]
    offset = buffer_offset(pointer)
    if stride % 4 or stride < 0 or count < 0:
        raise invalid_value("bad stride or count of indirect draws")
    check_count(count, MOST_DRAWS, "draws")
    stride = stride or words * 4
    if buffer is None:
        raise invalid_operation("no indirect buffer is bound")
    if ctx.profile == "es" and ctx.arrays.current is ctx.arrays.default:
        raise invalid_operation("OpenGL ES wants a vertex array object for indirect draws")
    if offset % 4 or offset < 0:
        raise invalid_value("the offset is not a multiple of 4")
    end = offset + (count - 1) * stride + words * 4
    if count and end > buffer.size:
        raise invalid_operation("the commands are outside the buffer")
    if buffer.blocked:
        raise invalid_operation("the indirect buffer is mapped")
    raw = np.frombuffer(buffer.read(offset, max(end - offset, 0)), np.uint8)
    shape, strides = (count, words), (stride, 4)
    return np.ndarray(shape, "<u4", raw, strides=strides).astype(np.int64)


@entry
def multi_draw_arrays_indirect(
    ctx: Context, mode: int, indirect: Pointer, drawcount: int, stride: int
) -> None:
    check_mode(ctx, mode)
    commands = _indirect(ctx, indirect, 4, drawcount, stride)
    calls = np.zeros((len(commands), 5), np.int64)  # without a base vertex
    calls[:, :3], calls[:, 4] = commands[:, :3], commands[:, 3]
    draw_several(ctx, mode, None, calls)


@entry
def multi_draw_elements_indirect(
    ctx: Context, mode: int, type: int, indirect: Pointer, drawcount: int, stride: int
) -> None:
    check_mode(ctx, mode)
    if type not in INDEX_TYPES:
        raise invalid_enum(type, "index type")
    if ctx.arrays.current.element_buffer is None:  # a command cannot refer to client memory
        raise invalid_operation("no element array buffer is bound")
    size = INDEX_TYPES[type][0]
    commands = _indirect(ctx, indirect, 5, drawcount, stride)
    commands[:, 2] *= size
    commands[:, 3] = commands[:, 3].astype(np.int32)  # the base vertex has a sign
    draw_several(ctx, mode, type, commands)


@entry
def draw_arrays_indirect(ctx: Context, mode: int, indirect: Pointer) -> None:
    multi_draw_arrays_indirect(ctx, mode, indirect, 1, 0)


@entry
def draw_elements_indirect(ctx: Context, mode: int, type: int, indirect: Pointer) -> None:
    multi_draw_elements_indirect(ctx, mode, type, indirect, 1, 0)


def _count(ctx: Context, offset: int, most: int) -> int:
    """The number of draws from the parameter buffer, at most `most`."""
    buffer = ctx.buffers.bound[GL.PARAMETER_BUFFER]
    if offset < 0 or offset % 4 or most < 0:
        raise invalid_value("bad offset or count of indirect draws")
    if buffer is None or buffer.blocked or offset + 4 > buffer.size:
        raise invalid_operation("there is no count in the parameter buffer")
    return min(int.from_bytes(buffer.read(offset, 4), "little"), most)


@entry
def multi_draw_arrays_indirect_count(
    ctx: Context, mode: int, indirect: Pointer, drawcount: int, maxdrawcount: int, stride: int
) -> None:
    count = _count(ctx, drawcount, maxdrawcount)
    _indirect(ctx, indirect, 4, maxdrawcount, stride)
    multi_draw_arrays_indirect(ctx, mode, indirect, count, stride)


@entry
def multi_draw_elements_indirect_count(
    ctx: Context, mode: int, type: int, indirect: Pointer, drawcount: int, maxdrawcount: int,
    stride: int,
) -> None:  # fmt: skip
    count = _count(ctx, drawcount, maxdrawcount)
    _indirect(ctx, indirect, 5, maxdrawcount, stride)
    multi_draw_elements_indirect(ctx, mode, type, indirect, count, stride)


# -- counts of transform feedback ------------------------------------------------------------------


def _draw_feedback(ctx: Context, mode: int, name: int, stream: int, instances: int) -> None:
    check_mode(ctx, mode)
    if stream >= ctx.limits.max_vertex_streams:
        raise invalid_value(f"there is no vertex stream {stream}")
    if instances < 0:
        raise invalid_value("negative instance count")
    found = ctx.feedback.default if name == 0 else ctx.feedback.names.get(name)
    if found is None:
        raise invalid_value(f"{name} is not the name of a transform feedback")
    if found.captured is None:
        raise invalid_operation("the transform feedback has not captured anything")
    target = found.captured.get(stream)
    if target is None:
        draw(ctx, mode, 0, 0, instances)
    elif ctx.can_draw():
        draw_captured(ctx, mode, target, instances)


@entry
def draw_transform_feedback(ctx: Context, mode: int, id: int) -> None:
    _draw_feedback(ctx, mode, id, 0, 1)


@entry
def draw_transform_feedback_stream(ctx: Context, mode: int, id: int, stream: int) -> None:
    _draw_feedback(ctx, mode, id, stream, 1)


@entry
def draw_transform_feedback_instanced(ctx: Context, mode: int, id: int, instances: int) -> None:
    _draw_feedback(ctx, mode, id, 0, instances)


@entry
def draw_transform_feedback_stream_instanced(
    ctx: Context, mode: int, id: int, stream: int, instances: int
) -> None:
    _draw_feedback(ctx, mode, id, stream, instances)
