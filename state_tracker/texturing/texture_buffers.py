"""Buffer textures: glTexBuffer and related functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.registry import register_for
from gallette.state_tracker.texturing.image_rules import texel_format
from gallette.state_tracker.texturing.textures import TextureObject
from gallette.state_tracker.texturing.units import current

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context


def _range(
    ctx: Context, texture: TextureObject, internalformat: int, name: int, offset: int, size: int
) -> None:
    if not name:  # Detaching ignores the range (8.9).
        _attach(ctx, texture, internalformat, 0)
        return
    found = ctx.buffers.names.require(name)
    if offset < 0 or size <= 0 or offset + size > found.size:
        raise invalid_value("the range is outside the buffer")
    if offset % 16:
        raise invalid_value("the offset of a buffer texture is a multiple of 16")
    _attach(ctx, texture, internalformat, name, offset, size)


def _attach(
    ctx: Context, texture: TextureObject, internalformat: int, name: int,
    offset: int = 0, size: int = 0,
) -> None:  # fmt: skip
    info = texel_format(ctx, internalformat)
    buffer = ctx.buffers.names.require(name) if name else None
    texture.attach_buffer(buffer, info, offset, size)


def _bound(ctx: Context, target: int) -> TextureObject:
    if target != GL.TEXTURE_BUFFER:
        raise invalid_enum(target, "buffer texture target")
    return current(ctx, target)


def _by_name(ctx: Context, name: int) -> TextureObject:
    found = ctx.textures.names.require(name)
    if found.target.value != GL.TEXTURE_BUFFER:
        raise invalid_operation(f"texture {name} is no buffer texture")
    return found


register_for(_bound, {"tex_buffer": _attach, "tex_buffer_range": _range})
register_for(_by_name, {"texture_buffer": _attach, "texture_buffer_range": _range})
