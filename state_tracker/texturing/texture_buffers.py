"""Buffer textures: glTexBuffer and related functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.texturing.image_rules import texel_format
from gallette.state_tracker.texturing.textures import TextureObject
from gallette.state_tracker.texturing.units import current

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

__all__: list[str] = []


def _tex_buffer(
    ctx: Context, texture: TextureObject, internalformat: int, name: int, offset: int, size: int
) -> None:
    info = texel_format(ctx, internalformat)
    buffer = ctx.buffers.names.require(name) if name else None
    texture.attach_buffer(buffer, info, offset, size)


@entry
def tex_buffer(ctx: Context, target: int, internalformat: int, buffer: int) -> None:
    if target != GL.TEXTURE_BUFFER:
        raise invalid_enum(target, "buffer texture target")
    _tex_buffer(ctx, current(ctx, target), internalformat, buffer, 0, 0)


@entry
def tex_buffer_range(
    ctx: Context, target: int, internalformat: int, buffer: int, offset: int, size: int
) -> None:
    if target != GL.TEXTURE_BUFFER:
        raise invalid_enum(target, "buffer texture target")
    _range(ctx, current(ctx, target), internalformat, buffer, offset, size)


def _range(
    ctx: Context, texture: TextureObject, internalformat: int, buffer: int, offset: int, size: int
) -> None:
    found = ctx.buffers.names.get(buffer)
    if found is not None and (offset < 0 or size <= 0 or offset + size > found.size):
        raise invalid_value("the range is outside the buffer")
    if offset % 16:
        raise invalid_value("the offset of a buffer texture is a multiple of 16")
    if not buffer:
        offset = size = 0
    _tex_buffer(ctx, texture, internalformat, buffer, offset, size)


@entry
def texture_buffer_range(
    ctx: Context, texture: int, internalformat: int, buffer: int, offset: int, size: int
) -> None:
    _range(ctx, _by_name(ctx, texture), internalformat, buffer, offset, size)


def _by_name(ctx: Context, name: int) -> TextureObject:
    found = ctx.textures.names.require(name)
    if found.target.value != GL.TEXTURE_BUFFER:
        raise invalid_operation(f"texture {name} is no buffer texture")
    return found


@entry
def texture_buffer(ctx: Context, texture: int, internalformat: int, buffer: int) -> None:
    _tex_buffer(ctx, _by_name(ctx, texture), internalformat, buffer, 0, 0)
