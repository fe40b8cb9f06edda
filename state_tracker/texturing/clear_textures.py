"""glClearTexImage, glClearTexSubImage, and the invalidation of texture images."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gallette.pipe.enums import ClearFlags, Target
from gallette.pipe.state import ScissorState, Surface
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.memory import Pointer, read_bytes
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.pixel_data.convert import from_pipe, to_pipe
from gallette.state_tracker.pixel_data.pixel_store import check_pair
from gallette.state_tracker.pixel_data.pixels import INTEGER_FORMATS, pixel_bytes
from gallette.state_tracker.texturing.teximage import store_pixels
from gallette.state_tracker.texturing.texture_formats import linear_format
from gallette.state_tracker.texturing.textures import TexImage, TextureObject

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

Triple = tuple[int, int, int]


def _texture(ctx: Context, name: int, level: int) -> TextureObject:
    texture = ctx.textures.names.get(name) if name else None
    if texture is None:
        raise invalid_operation(f"{name} is not the name of a texture")
    if texture.target.pipe is Target.BUFFER:
        raise invalid_operation("a buffer texture is cleared as a buffer")
    return texture


def _check_format(image: TexImage, format: int) -> None:
    info = image.info
    wanted = {"Z": GL.DEPTH_COMPONENT, "ZS": GL.DEPTH_STENCIL, "S": GL.STENCIL_INDEX}
    given = format if format in wanted.values() else None
    if given != wanted.get(info.base):
        raise invalid_operation(f"GL_{info.name} is not cleared with {GL.name_of(format)}")
    if info.is_color and info.is_integer != (format in INTEGER_FORMATS):
        raise invalid_operation("integer textures are cleared with integer formats only")
    if info.is_compressed:
        raise invalid_operation("compressed textures cannot be cleared")
    if info.is_ycbcr:
        raise invalid_operation("images of luma and chroma cannot be cleared")


def _clear(
    ctx: Context, texture: TextureObject, face: int, level: int, at: Triple, extent: Triple,
    format: int, type: int, data: Pointer,
) -> None:  # fmt: skip
    image = texture.image(face, level)
    assert image is not None
    if 0 in extent:
        return
    unit = image.format.block_bytes
    texel = np.zeros(unit, np.uint8)
    if data is not None:
        pixel = np.array(read_bytes(data, pixel_bytes(format, type))).reshape(1, 1, 1, -1)
        texel = to_pipe(image.format, format, type, pixel, image.info.base).reshape(-1)
    if image.samples > 1:
        _clear_samples(ctx, texture, face, level, at, extent, texel)
        return
    rows = np.tile(texel, (extent[2], extent[1], extent[0]))
    store_pixels(ctx, texture, face, level, at, extent, rows)


def _clear_samples(
    ctx: Context, texture: TextureObject, face: int, level: int, at: Triple, extent: Triple,
    texel: npt.NDArray[np.uint8],
) -> None:  # fmt: skip
    """Clear every sample of a multisample image through a surface, since transfers cannot access
    it.
    """
    image, place = texture.image(face, level), texture.storage(face, level)
    assert image is not None and place is not None
    resource, at_level, layer = place
    stored = linear_format(image.format)  # the texel is already encoded
    first = layer + at[2]
    surface = Surface(resource, stored, at_level, first, first + extent[2] - 1)
    rect = ScissorState(at[0], at[1], at[0] + extent[0], at[1] + extent[1])
    values = from_pipe(stored, texel.reshape(1, 1, -1)).reshape(-1).tolist()
    if image.info.is_color:
        ctx.pipe.clear_render_target(surface, (values[0], values[1], values[2], values[3]), rect)
        return
    flags = ClearFlags.DEPTH | ClearFlags.STENCIL
    ctx.pipe.clear_depth_stencil(surface, flags, float(values[0]), int(values[1]), rect)


def _clear_box(
    ctx: Context, texture: TextureObject, level: int, at: Triple, extent: Triple,
    format: int, type: int, data: Pointer,
) -> None:  # fmt: skip
    pieces = [*texture.target.pieces(at, extent)]
    first = texture.image(pieces[0][0] if pieces else min(at[2], 5), level)
    if first is None:
        raise invalid_operation(f"level {level} has no image")
    check_pair(ctx, format, type)
    _check_format(first, format)
    for offset, size, limit in zip(at, extent, texture.whole(level), strict=True):
        if offset < 0 or offset + size > limit:
            raise invalid_operation("the box is outside the image")
    for face, _, _ in pieces:
        if texture.image(face, level) is None:
            raise invalid_operation(f"face {face} of level {level} has no image")
    for face, place, size_of_piece in pieces:
        _clear(ctx, texture, face, level, place, size_of_piece, format, type, data)


@entry
def clear_tex_image(
    ctx: Context, texture: int, level: int, format: int, type: int, data: Pointer
) -> None:
    found = _texture(ctx, texture, level)
    _clear_box(ctx, found, level, (0, 0, 0), found.whole(level), format, type, data)


@entry
def clear_tex_sub_image(
    ctx: Context, texture: int, level: int, x: int, y: int, z: int,
    width: int, height: int, depth: int, format: int, type: int, data: Pointer,
) -> None:  # fmt: skip
    found = _texture(ctx, texture, level)
    if min(width, height, depth) < 0:
        raise invalid_value("negative size")
    if found.target.faces == 6 and not (z >= 0 and z + depth <= 6):
        raise invalid_operation("the box names faces that do not exist")
    at, extent = (x, y, z), (width, height, depth)
    _clear_box(ctx, found, level, at, extent, format, type, data)


# -- invalidation: contents become undefined, so they may stay unchanged ---------------------------


def _check_invalidated(ctx: Context, name: int, level: int) -> TextureObject:
    texture = ctx.textures.names.get(name) if name else None
    if texture is None:
        raise invalid_value(f"{name} is not the name of a texture")
    last = texture.target.limit(ctx.caps).bit_length() - 1 if texture.target.mipmapped else 0
    if not 0 <= level <= last:
        raise invalid_value(f"level {level} of a {texture.target.name}")
    return texture


@entry
def invalidate_tex_image(ctx: Context, texture: int, level: int) -> None:
    _check_invalidated(ctx, texture, level)


@entry
def invalidate_tex_sub_image(
    ctx: Context, texture: int, level: int, x: int, y: int, z: int, w: int, h: int, d: int
) -> None:
    found = _check_invalidated(ctx, texture, level)
    if min(w, h, d) < 0:
        raise invalid_value("negative size")
    for offset, size, limit in zip((x, y, z), (w, h, d), found.whole(level), strict=True):
        if offset < 0 or offset + size > limit:
            raise invalid_value("the box is outside the image")
