"""Reading parts of textures and compressed texels: glGetTextureSubImage and related functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.pipe import codecs
from gallette.pipe.enums import Target
from gallette.pipe.state import Box
from gallette.state_tracker.entry_points.dispatch import OMITTED
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.pixel_data.convert import from_pipe
from gallette.state_tracker.pixel_data.pixel_store import (
    block_layout,
    check_pair,
    write_client,
    write_laid_out,
)
from gallette.state_tracker.pixel_data.readback import (
    Bytes,
    check_images,
    image_parameter,
    read_box,
    read_image,
)
from gallette.state_tracker.texturing.texture_formats import linear_format
from gallette.state_tracker.texturing.texture_targets import check_level, image_target
from gallette.state_tracker.texturing.textures import TextureObject
from gallette.state_tracker.texturing.units import current

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

Triple = tuple[int, int, int]


def _used(texture: TextureObject) -> int:
    """The number of meaningful coordinates among x, y and z."""
    return 3 if texture.target.faces == 6 else texture.target.dimensions


def _check_box(texture: TextureObject, level: int, at: Triple, extent: Triple) -> None:
    """Check a box; layers and faces are z for every target."""
    if texture.target.pipe is Target.BUFFER or texture.target.multisample:
        raise invalid_operation("this kind of texture has no images to read")
    if min(extent) < 0 or min(at) < 0:
        raise invalid_value("negative offset or size")
    check_level(texture.group.caps, texture.target, level)
    used = _used(texture)
    if (used < 2 and extent[1] != 1) or (used < 3 and extent[2] != 1):
        raise invalid_value("the box has more dimensions than the texture")
    for offset, size, limit in zip(at, extent, texture.whole(level), strict=True):
        if offset + size > limit:
            raise invalid_value("the box is outside the image")


@entry
def get_texture_sub_image(
    ctx: Context, texture: int, level: int, x: int, y: int, z: int, width: int, height: int,
    depth: int, format: int, type: int, room: int, pixels: Any,
) -> bytes | None:  # fmt: skip
    found = ctx.textures.names.require(texture)
    check_images(found, level)
    _check_box(found, level, (x, y, z), (width, height, depth))
    check_pair(ctx, format, type)
    if room < 0:
        raise invalid_value("negative size")
    if found.target.faces == 6:
        images = [read_image(ctx, found, face, level, format, type) for face in range(z, z + depth)]
        whole = np.concatenate(images) if images else np.zeros((0, 0, 0, 1), np.uint8)
        part = whole[:, y : y + height, x : x + width]
    else:
        whole = read_image(ctx, found, 0, level, format, type)
        part = whole[z : z + depth, y : y + height, x : x + width]
    layered = found.target.dimensions == 3 or found.target.faces == 6
    return write_client(ctx, format, type, pixels, part, 3 if layered else 2, room)


# -- compressed ------------------------------------------------------------------------------------


def _compressed_rows(
    ctx: Context, texture: TextureObject, face: int, level: int, at: Triple, extent: Triple
) -> Bytes:
    image, place = texture.image(face, level), texture.storage(face, level)
    if image is None or place is None or not image.compressed:
        raise invalid_operation("the image is not compressed")
    told = image.reported_format
    block = (told.block_width, told.block_height)
    for axis in (0, 1):
        ends = at[axis] + extent[axis] == image.extent[axis]
        if at[axis] % block[axis] or (extent[axis] % block[axis] and not ends):
            raise invalid_value("the box does not consist of whole blocks")
    box = Box(at[0], at[1], at[2] + place[2], *extent)
    rows = read_box(ctx, place[0], place[1], box)
    if told is image.format:
        return rows
    values = from_pipe(linear_format(image.format), rows)
    if image.info.base == "LA":
        values = values[..., [0, 3, 3, 3]]
    return codecs.encode_blocks(told, codecs.block_codes(linear_format(told), values))


def _deliver(
    ctx: Context,
    texture: TextureObject,
    level: int,
    rows: Bytes,
    room: int | None,
    pointer: Any,
) -> bytes | None:
    if room is not None and room < 0:
        raise invalid_value("negative size")
    image = texture.image(0, level)
    if not rows.size or image is None:
        return b"" if pointer is OMITTED else None
    depth, high, row_bytes = rows.shape
    size = image.reported_format.block_bytes
    across = row_bytes // size
    dimensions = 3 if texture.target.faces == 6 else texture.target.dimensions
    layout = block_layout(ctx.pack, dimensions, (across, high, depth, size))
    pixels = rows.reshape(depth, high, across, size)
    return write_laid_out(ctx, layout, pointer, pixels, 1, room)


def _whole(ctx: Context, texture: TextureObject, faces: range, level: int) -> Bytes:
    check_level(ctx.caps, texture.target, level)
    image = texture.image(faces[0], level)
    if image is None:
        raise invalid_operation(f"level {level} has no image")
    parts = [_compressed_rows(ctx, texture, f, level, (0, 0, 0), image.extent) for f in faces]
    return np.concatenate(parts) if len(parts) > 1 else parts[0]


@entry
def getn_compressed_tex_image(
    ctx: Context, target: int, level: int, room: int | None, img: Any
) -> bytes | None:
    info, face, proxy = image_target(target, 0)
    if proxy or info.pipe is Target.BUFFER or info.multisample:
        raise invalid_enum(target, "texture image target")
    found = current(ctx, info.value)
    rows = _whole(ctx, found, range(face, face + 1), level)
    return _deliver(ctx, found, level, rows, room, img)


@entry
def get_compressed_tex_image(ctx: Context, target: int, level: int, img: Any) -> bytes | None:
    return getn_compressed_tex_image(ctx, target, level, None, img)


@entry
def get_compressed_texture_image(
    ctx: Context, texture: int, level: int, room: int, pixels: Any
) -> bytes | None:
    found = ctx.textures.names.require(texture)
    rows = _whole(ctx, found, range(found.target.faces), level)
    return _deliver(ctx, found, level, rows, room, pixels)


@entry
def get_compressed_texture_sub_image(
    ctx: Context, texture: int, level: int, x: int, y: int, z: int, width: int, height: int,
    depth: int, room: int, pixels: Any,
) -> bytes | None:  # fmt: skip
    found = ctx.textures.names.require(texture)
    _check_box(found, level, (x, y, z), (width, height, depth))
    pieces = found.target.pieces((x, y, z), (width, height, depth))
    parts = [_compressed_rows(ctx, found, face, level, *piece) for face, *piece in pieces]
    rows = np.concatenate(parts) if parts else np.zeros((0, 0, 0), np.uint8)
    return _deliver(ctx, found, level, rows, room, pixels)


# -- level parameters by name ----------------------------------------------------------------------


def _level_parameter(ctx: Context, name: int, level: int, pname: int) -> list[int]:
    found = ctx.textures.names.require(name)
    check_level(ctx.caps, found.target, level)
    return image_parameter(ctx, found, found.image(0, level), pname)


@entry
def get_texture_level_parameteriv(ctx: Context, texture: int, level: int, pname: int) -> list[int]:
    return _level_parameter(ctx, texture, level, pname)


@entry
def get_texture_level_parameterfv(
    ctx: Context, texture: int, level: int, pname: int
) -> list[float]:
    return [float(v) for v in _level_parameter(ctx, texture, level, pname)]
