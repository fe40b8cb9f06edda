"""Compressed client images: glCompressedTexImage*, glCompressedTexSubImage*."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gallette.pipe.codecs import decode_blocks, pack
from gallette.pipe.formats import Format
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.es_enums import check_es
from gallette.state_tracker.entry_points.memory import Pointer, advanced
from gallette.state_tracker.entry_points.registry import register
from gallette.state_tracker.pixel_data.pixel_store import read_blocks
from gallette.state_tracker.texturing.image_rules import check_block_target, check_target
from gallette.state_tracker.texturing.paletted import PALETTES, paletted_image
from gallette.state_tracker.texturing.teximage import (
    Bytes,
    check_faces,
    check_part,
    check_sizes,
    named_image,
    store_pixels,
)
from gallette.state_tracker.texturing.texture_formats import (
    INTERNAL_FORMATS,
    InternalFormat,
    linear_format,
)
from gallette.state_tracker.texturing.texture_targets import image_target
from gallette.state_tracker.texturing.textures import TextureObject, make_image
from gallette.state_tracker.texturing.units import current

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context


def _byte_count(format: Format, extent: tuple[int, int, int]) -> int:
    return format.rows(extent[1]) * format.row_bytes(extent[0]) * extent[2]


def _compressed_data(
    ctx: Context,
    info: InternalFormat,
    dimensions: int,
    extent: tuple[int, int, int],
    data: Pointer,
) -> Bytes | None:
    """The blocks of an image or a part, as the application passes them."""
    format = info.candidates[0]
    if 0 in extent:
        return None
    across, rows = format.row_bytes(extent[0]) // format.block_bytes, format.rows(extent[1])
    return read_blocks(ctx, data, dimensions, extent, (across, rows, extent[2], format.block_bytes))


def _compressed_family(dimensions: int) -> None:
    pad, ones = (0,) * (3 - dimensions), (1,) * (3 - dimensions)

    def define(ctx: Context, target: int, level: int, internalformat: int, *args: Any) -> None:
        if internalformat in PALETTES and ctx.profile == "es1" and dimensions == 2:
            paletted_image(ctx, target, level, internalformat, *args)
            return
        check_es(ctx, target, "texture target")
        info, face, proxy = image_target(target, dimensions)
        *size, border, byte_count, data = args
        kind = INTERNAL_FORMATS.get(internalformat)
        if kind is None or not kind.is_compressed or dimensions == 1:
            raise invalid_enum(internalformat, "compressed internal format")
        check_target(ctx, kind, info)
        extent = (*size, *ones)
        fits = check_sizes(ctx, info, level, extent)
        if border and ctx.profile != "es":
            raise invalid_operation("compressed images have no borders")
        if border or not (fits or proxy):
            raise invalid_value("bad size of a compressed image")
        if byte_count != _byte_count(kind.candidates[0], extent):
            raise invalid_value(f"{byte_count} bytes are not the size of this compressed image")
        image = make_image(ctx, kind, info, extent)
        if proxy:
            ctx.textures.set_proxy(info, level, image if fits else None)
            return
        texture = current(ctx, info.value)
        if texture.immutable_levels:
            raise invalid_operation("the texture's storage is immutable")
        rows = _compressed_data(ctx, kind, dimensions, extent, data)
        texture.define(face, level, image)
        if rows is not None:
            store_pixels(ctx, texture, face, level, (0, 0, 0), extent, rows)

    def by_target(ctx: Context, target: int, level: int, *args: Any) -> None:
        check_es(ctx, target, "texture target")
        info, face, proxy = image_target(target, dimensions)
        if proxy:
            raise invalid_enum(target, "texture image target")
        check_block_target(info)
        update(ctx, current(ctx, info.value), face, level, args)

    def by_name(ctx: Context, name: int, level: int, *args: Any) -> None:
        texture = named_image(ctx, name, dimensions)
        if texture.target.value != GL.TEXTURE_CUBE_MAP:
            update(ctx, texture, 0, level, args)
            return
        at, extent = args[:3], args[3:6]
        format, byte_count, data = args[6:]
        check_faces(texture, level, at, extent)
        if extent[2] and byte_count % extent[2]:
            raise invalid_value("the data are not whole faces")
        part = byte_count // max(extent[2], 1)
        for i in range(extent[2]):  # in calls by name, cube faces are layers
            face_args = (*at[:2], 0, *extent[:2], 1, format, part, advanced(data, i * part))
            update(ctx, texture, at[2] + i, level, face_args)

    def update(
        ctx: Context, texture: TextureObject, face: int, level: int, args: tuple[Any, ...]
    ) -> None:
        at, extent = args[:dimensions] + pad, args[dimensions : 2 * dimensions] + ones
        format, byte_count, data = args[2 * dimensions :]
        image = check_part(texture, face, level, at, extent)
        told, kind = image.reported_format, INTERNAL_FORMATS.get(format)
        generic = kind is not None and kind.is_generic and ctx.profile != "es"
        if dimensions == 1 or generic:
            raise invalid_enum(format, "compressed internal format")
        if not image.compressed or image.info.value != format:
            raise invalid_operation("the image has another format")
        for axis, block in ((0, told.block_width), (1, told.block_height)):
            ends = at[axis] + extent[axis] == image.extent[axis]
            if at[axis] % block or (extent[axis] % block and not ends):
                raise invalid_operation("the box does not consist of whole blocks")
        if byte_count != _byte_count(image.info.candidates[0], extent):
            raise invalid_value(f"{byte_count} bytes are not the size of this part")
        rows = _compressed_data(ctx, image.info, dimensions, extent, data)
        if rows is not None and told is not image.format:  # its texels are stored uncompressed here
            texels = decode_blocks(linear_format(told), rows)[:, : extent[1], : extent[0]]
            rows = pack(linear_format(image.format), texels)
        if rows is not None:
            store_pixels(ctx, texture, face, level, at, extent, rows)

    register(f"compressed_tex_image{dimensions}d", define)
    register(f"compressed_tex_sub_image{dimensions}d", by_target)
    register(f"compressed_texture_sub_image{dimensions}d", by_name)


for _n in (1, 2, 3):
    _compressed_family(_n)
