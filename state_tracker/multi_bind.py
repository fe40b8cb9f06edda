"""Several bindings in one call (ARB_multi_bind), and buffers filled with a value.

Each binding of a call is checked on its own: an invalid one is an error and leaves that binding
unchanged, while the others are made. The objects must exist; a name without an object, for which
the single-binding calls would create one, is an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    GLError,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from gallette.state_tracker.entry_points.memory import Pointer, read_array, read_bytes
from gallette.state_tracker.entry_points.registry import entry, implemented, register_for
from gallette.state_tracker.pixel_data.convert import to_pipe
from gallette.state_tracker.pixel_data.pixel_store import check_pair
from gallette.state_tracker.pixel_data.pixels import INTEGER_FORMATS, pixel_bytes
from gallette.state_tracker.texturing.format_classes import IMAGE_FORMATS
from gallette.state_tracker.texturing.image_rules import texel_format
from gallette.state_tracker.vertices.buffer_objects import (
    bind_indexed,
    by_name,
    check_block,
    check_range,
)
from gallette.state_tracker.vertices.buffers import BufferObject, bound, indexed
from gallette.state_tracker.vertices.vertex_arrays import (
    VertexArray,
    bound_array,
    set_vertex_buffer,
    vertex_array,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gallette.state_tracker.context import Context

_NO_COLORS = frozenset((GL.DEPTH_COMPONENT, GL.STENCIL_INDEX, GL.DEPTH_STENCIL, GL.COLOR_INDEX))


def _single(method: str) -> Callable[..., Any]:
    return implemented(FUNCTIONS.method(method).name)


def _names(names: Pointer, count: int) -> list[int]:
    if names is None:
        return [0] * count
    return [int(n) for n in read_array(names, "uint", count)]


def _check(first: int, count: int, limit: int) -> None:
    if count < 0:
        raise invalid_value("negative count")
    if first + count > limit:
        raise invalid_operation(f"bindings {first}..{first + count - 1} are not all below {limit}")


def _each(bind: Callable[[int], None], count: int) -> None:
    """Make `count` bindings; the first error is raised after all are done."""
    wrong: GLError | None = None
    for i in range(count):
        try:
            bind(i)
        except GLError as error:
            wrong = wrong or error
    if wrong is not None:
        raise wrong


@entry
def bind_buffers_base(ctx: Context, target: int, first: int, count: int, buffers: Pointer) -> None:
    _check(first, count, len(indexed(ctx, target)))
    names = _names(buffers, count)
    _each(lambda i: _bind_block(ctx, target, first + i, names[i]), count)


@entry
def bind_buffers_range(
    ctx: Context, target: int, first: int, count: int, buffers: Pointer, offsets: Pointer,
    sizes: Pointer,
) -> None:  # fmt: skip
    _check(first, count, len(indexed(ctx, target)))
    if buffers is None:
        bind_buffers_base(ctx, target, first, count, None)
        return
    names = _names(buffers, count)
    starts = read_array(offsets, "intptr", count).tolist()
    lengths = read_array(sizes, "sizeiptr", count).tolist()

    def bind(i: int) -> None:
        check_block(ctx, target, starts[i], lengths[i])  # that of no buffer, too
        _bind_block(ctx, target, first + i, names[i], starts[i], lengths[i])

    _each(bind, count)


def _bind_block(
    ctx: Context, target: int, index: int, name: int, offset: int = 0, size: int = 0
) -> None:
    """Bind an indexed point only; the target's general binding stays."""
    if name:
        ctx.buffers.names.require(name)
    bind_indexed(ctx, target, index, name, offset, size, general=False)


@entry
def bind_textures(ctx: Context, first: int, count: int, textures: Pointer) -> None:
    _check(first, count, len(ctx.textures.units))
    names, single = _names(textures, count), _single("bind_texture_unit")
    _each(lambda i: single(ctx, first + i, names[i]), count)


@entry
def bind_samplers(ctx: Context, first: int, count: int, samplers: Pointer) -> None:
    _check(first, count, len(ctx.textures.units))
    names, single = _names(samplers, count), _single("bind_sampler")
    _each(lambda i: single(ctx, first + i, names[i]), count)


@entry
def bind_image_textures(ctx: Context, first: int, count: int, textures: Pointer) -> None:
    _check(first, count, len(ctx.images))
    names, single = _names(textures, count), _single("bind_image_texture")

    def bind(i: int) -> None:
        if not names[i]:
            ctx.images[first + i].clear()
            ctx.dirty |= Dirty.IMAGES
            return
        found = ctx.textures.names.require(names[i])
        if found.buffer_info is not None:
            format = found.buffer_info.value
        else:
            image = found.image(0, 0)
            if image is None or not image.width:
                raise invalid_operation(f"texture {names[i]} has no level 0")
            format = image.info.value
        if format not in IMAGE_FORMATS:
            raise invalid_operation(f"{GL.name_of(format)} is not a format of image units")
        single(ctx, first + i, names[i], 0, 1, 0, GL.READ_WRITE, format)

    _each(bind, count)


def _bind_vertex_buffers(
    ctx: Context, vao: VertexArray, first: int, count: int, buffers: Pointer, offsets: Pointer,
    strides: Pointer,
) -> None:  # fmt: skip
    _check(first, count, ctx.limits.max_vertex_attribs)
    names = _names(buffers, count)
    if buffers is None:
        starts, steps = [0] * count, [16] * count
    else:
        starts = read_array(offsets, "intptr", count).tolist()
        steps = read_array(strides, "sizei", count).tolist()

    def bind(i: int) -> None:
        if names[i]:
            ctx.buffers.names.require(names[i])
        set_vertex_buffer(ctx, vao, first + i, names[i], starts[i], steps[i])

    _each(bind, count)


register_for(bound_array, {"bind_vertex_buffers": _bind_vertex_buffers}, named=False)
register_for(vertex_array, {"vertex_array_vertex_buffers": _bind_vertex_buffers})


# -- buffers filled with a value -------------------------------------------------------------------


def _fill(
    ctx: Context, buffer: BufferObject, internalformat: int, offset: int, size: int,
    format: int, type: int, data: Pointer,
) -> None:  # fmt: skip
    info = texel_format(ctx, internalformat)
    try:
        check_pair(ctx, format, type)
    except GLError as error:  # this command reports unknown names differently
        raise invalid_value(str(error)) from None
    if format in _NO_COLORS:
        raise invalid_value(f"{GL.name_of(format)} is no colour format")
    if info.is_integer != (format in INTEGER_FORMATS):
        raise invalid_operation("integer formats go with integer formats only")
    target = info.candidates[0]
    unit = target.block_bytes
    if offset < 0 or size < 0 or offset + size > buffer.size or offset % unit or size % unit:
        raise invalid_value("the range is outside the buffer or not a multiple of the element")
    check_range(buffer, offset, size)
    element = np.zeros(unit, np.uint8)
    if data is not None:
        pixel = read_bytes(data, pixel_bytes(format, type)).reshape(1, 1, 1, -1)
        element = to_pipe(target, format, type, np.array(pixel), info.base).reshape(-1)
    if size:
        buffer.write(offset, np.tile(element, size // unit))


def _bound(ctx: Context, target: int) -> BufferObject:
    """The buffer to clear; the specification defines an error for none."""
    if target in ctx.buffers.bound and ctx.buffers.bound[target] is None:
        raise invalid_value("no buffer is bound there")
    return bound(ctx, target)


def _fill_all(
    ctx: Context, buffer: BufferObject, internalformat: int, format: int, type: int, data: Pointer
) -> None:
    _fill(ctx, buffer, internalformat, 0, buffer.size, format, type, data)


register_for(_bound, {"clear_buffer_sub_data": _fill, "clear_buffer_data": _fill_all})
register_for(by_name, {"clear_named_buffer_sub_data": _fill, "clear_named_buffer_data": _fill_all})
