"""Defining and updating texture images: glTexImage*, glTexSubImage*."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.pipe import codecs
from gallette.pipe.enums import MapFlags, Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.state import Box, TextureWrite
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.es_enums import check_es
from gallette.state_tracker.entry_points.memory import Pointer
from gallette.state_tracker.entry_points.registry import entry, register
from gallette.state_tracker.pixel_data.convert import decode_client, pack_values, to_pipe
from gallette.state_tracker.pixel_data.pixel_store import check_pair, read_client
from gallette.state_tracker.pixel_data.readback import changes_values, transferred
from gallette.state_tracker.texturing.es_formats import (
    ETC,
    check_es_compressing,
    check_es_image,
    check_es_update,
    effective_format,
    half_float,
)
from gallette.state_tracker.texturing.image_rules import (
    check_target,
    internal_format,
)
from gallette.state_tracker.texturing.mipmaps import generate, has_mipmaps
from gallette.state_tracker.texturing.texture_formats import INTERNAL_FORMATS, InternalFormat
from gallette.state_tracker.texturing.texture_targets import (
    TargetInfo,
    image_target,
)
from gallette.state_tracker.texturing.textures import TexImage, TextureObject, make_image
from gallette.state_tracker.texturing.units import current
from gallette.state_tracker.texturing.ycbcr import check_words, rgb, store_words

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.share import ShareGroup

Bytes = npt.NDArray[np.uint8]


def pipe_box(
    texture: TextureObject, face: int, x: int, y: int, z: int, w: int, h: int, d: int
) -> Box:
    """A GL box in pipe coordinates: array layers and cube faces are z."""
    if texture.target.pipe is Target.TEXTURE_1D_ARRAY:
        return Box(x, 0, y + face, w, 1, h)
    return Box(x, y, z + face, w, h, d)


_WRITES = MapFlags.WRITE | MapFlags.DISCARD_RANGE


def store_pixels(
    owner: Context | ShareGroup,
    texture: TextureObject,
    face: int,
    level: int,
    at: tuple[int, int, int],
    extent: tuple[int, int, int],
    rows: Bytes,
) -> None:
    """Write rows `[d, h, row bytes]` of the image's own format into a box of it."""
    place = texture.storage(face, level)
    if place is None or 0 in extent:
        return
    resource, at_level, layer = place
    box = pipe_box(texture, layer, *at, *extent)
    if texture.target.pipe is Target.TEXTURE_1D_ARRAY:
        rows = rows.reshape(extent[1], 1, -1)
    transfer = owner.pipe.transfer_map(resource, at_level, _WRITES, box)
    transfer.data[...] = rows.reshape(transfer.data.shape)
    owner.pipe.transfer_unmap(transfer)


_RGBA_BYTES = frozenset((FORMATS["R8G8B8A8_UNORM"], FORMATS["R8G8B8A8_SRGB"]))


def texture_write(
    ctx: Context, name: int, level: int, x: int, y: int, width: int, height: int
) -> TextureWrite | None:
    """glTexSubImage2D with RGBA bytes as a single write; None if it takes more, or is an error."""
    texture = ctx.textures.names.get(name) if name else None
    if texture is None or texture.target.pipe is not Target.TEXTURE_2D or texture.generate_mipmap:
        return None
    image, place = texture.image(0, level), texture.storage(0, level)
    if image is None or place is None or image.info.base != "RGBA" or image.compressed:
        return None
    if image.format not in _RGBA_BYTES or any(i.stray for i in texture.images[0].values()):
        return None
    if min(x, y, width, height) < 0 or x + width > image.width or y + height > image.height:
        return None
    return TextureWrite(place[0], place[1], pipe_box(texture, place[2], x, y, 0, width, height, 1))


def check_sizes(ctx: Context, target: TargetInfo, level: int, extent: tuple[int, int, int]) -> bool:
    """Check level and size: raises for invalid values, returns false for "too big"."""
    if level < 0 or (level and not target.mipmapped):
        raise invalid_value(f"level {level} of a {target.name}")
    limit = target.limit(ctx.caps)
    if level > limit.bit_length() - 1:
        raise invalid_value(f"level {level} is beyond the smallest mipmap")
    if min(extent) < 0:
        raise invalid_value("negative image size")
    if target.pipe.is_cube and extent[0] != extent[1]:
        raise invalid_value("cube map images are square")
    if target.value == GL.TEXTURE_CUBE_MAP_ARRAY and extent[2] % 6:
        raise invalid_value("a cube map array has a multiple of 6 layers")
    for axis, size in enumerate(extent):
        bound = ctx.caps.max_texture_array_layers if axis == target.layers_axis else limit >> level
        if axis < (3 if target.multisample else target.dimensions) and size > max(bound, 1):
            return False
    return True


def _check_type(info: InternalFormat, format: int) -> None:
    """Check that the client format and the internal format can be combined."""
    depth = format in (GL.DEPTH_COMPONENT, GL.DEPTH_STENCIL)
    if depth != (info.base in ("Z", "ZS")) or (format == GL.STENCIL_INDEX) != (info.base == "S"):
        raise invalid_operation(f"GL_{info.name} cannot be filled from {GL.name_of(format)}")
    if info.is_color and info.is_integer != ("_INTEGER" in GL.name_of(format)):
        raise invalid_operation("integer formats go with integer formats only")


def _check_pair(ctx: Context, format: int, type: int) -> None:
    """As `check_pair`, but indices may be bits."""
    if not (type == GL.BITMAP and format == GL.COLOR_INDEX and ctx.is_compat):
        check_pair(ctx, format, type)


def _read(
    ctx: Context, format: int, type: int, pixels: Pointer, extent: tuple[int, int, int], axes: int
) -> Bytes | None:
    if type != GL.BITMAP:
        return read_client(ctx, format, type, pixels, extent, axes)
    width, height, depth = extent
    found: Bytes | None = ctx.transfer.indices_of_bitmap(pixels, width, height * depth)
    return None if found is None else found.reshape(depth, height, width, 1)


def tex_image(
    ctx: Context,
    dimensions: int,
    target: int,
    level: int,
    internalformat: int,
    extent: tuple[int, int, int],
    border: int,
    format: int,
    type: int,
    pixels: Pointer,
) -> None:
    """Define an image, for glTexImageND."""
    info, face, proxy = image_target(target, dimensions)
    check_es(ctx, target, "texture target")
    if ctx.profile == "es":
        kind = _es_image(ctx, internalformat, format, type)
        type = half_float(type)
    else:
        kind = internal_format(ctx, internalformat)
        if not check_words(kind, info.value, border, format, type):
            _check_pair(ctx, format, type)
        if kind.value in ETC:
            raise invalid_operation(f"GL_{kind.name} images come compressed")
    check_target(ctx, kind, info)
    check_border(ctx, info, border)
    around = extent
    if border:
        extent = without_border(info, extent)
    fits = check_sizes(ctx, info, level, extent)
    _check_type(kind, format)
    image = make_image(ctx, kind, info, extent, encodable=True)
    if ctx.profile == "es" and internalformat != kind.value:
        image.unsized = internalformat
    if proxy:
        ctx.textures.set_proxy(info, level, image if fits else None)
        return
    if not fits:
        raise invalid_value(f"{'x'.join(map(str, extent))} is too large for a {info.name}")
    texture = current(ctx, info.value)
    if texture.immutable_levels:
        raise invalid_operation("the texture's storage is immutable")
    client = _read(ctx, format, type, pixels, around, dimensions)
    texture.define(face, level, image)
    if client is not None:
        if border:
            client = _without_border(client, extent)
        fill_part(ctx, texture, face, level, (0, 0, 0), extent, format, type, client)
    after_update(ctx, texture, level)


def _es_image(ctx: Context, internalformat: int, format: int, type: int) -> InternalFormat:
    """The storage format of an image in ES, where format and type may refine it."""
    known = INTERNAL_FORMATS.get(internalformat)
    if known is not None and known.is_compressed and internalformat not in ETC:
        check_pair(ctx, format, half_float(type))
        check_es_compressing(known, format, type)
        return known
    check_es_image(internalformat, format, type)
    effective = effective_format(internalformat, format, type)
    if effective != internalformat:
        return INTERNAL_FORMATS[effective]
    return internal_format(ctx, internalformat)


def check_border(ctx: Context, info: TargetInfo, border: int) -> None:
    """Check the border: one texel is allowed in compatibility profiles, except for rectangles."""
    if border and (not ctx.is_compat or border != 1 or info.value == GL.TEXTURE_RECTANGLE):
        raise invalid_value("texture borders")


def without_border(info: TargetInfo, extent: tuple[int, int, int]) -> tuple[int, int, int]:
    """The size of an image without its border of one texel; layers have none.

    As on most hardware border texels are not stored: filters use the border colour instead.
    """
    axes = 1 if info.pipe in (Target.TEXTURE_1D, Target.TEXTURE_1D_ARRAY) else 2
    axes = 3 if info.pipe is Target.TEXTURE_3D else axes
    inside = [size - 2 if axis < axes else size for axis, size in enumerate(extent)]
    if min(inside) < 0:
        raise invalid_value("an image with a border is at least two texels wide")
    return inside[0], inside[1], inside[2]


def _without_border(client: Bytes, extent: tuple[int, int, int]) -> Bytes:
    """Client pixels `[d, h, w, bytes]` without the border around `extent`."""
    cuts = [
        slice(1, -1) if have > wanted else slice(None)
        for have, wanted in zip(client.shape[:3], reversed(extent), strict=True)
    ]
    return np.ascontiguousarray(client[tuple(cuts)])


def fill_part(
    ctx: Context,
    texture: TextureObject,
    face: int,
    level: int,
    at: tuple[int, int, int],
    extent: tuple[int, int, int],
    format: int,
    type: int,
    client: Bytes,
) -> None:
    """Store client pixels in a part of an image, which is compressed if it is stored so."""
    image = texture.image(face, level)
    assert image is not None
    if image.info.is_ycbcr:
        _fill_words(ctx, texture, image, face, level, at, type, client[0])
        return
    base = image.info.base
    if format == GL.COLOR_INDEX and not image.info.is_integer:
        indices = client if type == GL.BITMAP else decode_client(format, type, client)
        rgba = ctx.transfer.index_to_color(indices[..., 0])
        rows = pack_values(image.format, GL.RGBA, rgba, base)
    elif changes_values(ctx, image.info, format):
        values = transferred(ctx, image.info, format, decode_client(format, type, client))
        rows = pack_values(image.format, format, values, base)
    else:
        rows = to_pipe(image.format, format, type, client, base)
    if image.info.value in _ONE_BIT and not image.format.is_compressed:
        rows = _punched(rows)
    if image.info.base == "ZS" and format == GL.DEPTH_COMPONENT:
        rows = _keep_stencil(ctx, texture, face, level, at, extent, rows)
    store_pixels(ctx, texture, face, level, at, extent, rows)


def _fill_words(
    ctx: Context, texture: TextureObject, image: TexImage, face: int, level: int,
    at: tuple[int, int, int], type: int, client: Bytes,
) -> None:  # fmt: skip
    whole = (image.width, image.height)
    image.words, left, right = store_words(image.words, at[:2], whole, client, type)
    high = client.shape[0]
    rows = rgb(image.words[at[1] : at[1] + high, left:right], image.format)
    place = (left, at[1], 0)
    store_pixels(ctx, texture, face, level, place, (right - left, high, 1), rows[None])


_ONE_BIT = frozenset((GL.COMPRESSED_RGBA_S3TC_DXT1_EXT, GL.COMPRESSED_SRGB_ALPHA_S3TC_DXT1_EXT))


def _punched(rows: Bytes) -> Bytes:
    """Reduce alpha to that of DXT1: opaque, or black and transparent."""
    texels = rows.reshape(*rows.shape[:-1], -1, 4).copy()
    clear = texels[..., 3] < 128
    texels[..., 3] = 255
    texels[clear] = 0
    return texels.reshape(rows.shape)


def _keep_stencil(
    ctx: Context, texture: TextureObject, face: int, level: int,
    at: tuple[int, int, int], extent: tuple[int, int, int], rows: Bytes,
) -> Bytes:  # fmt: skip
    """Preserve the stencil bits of a combined format in a depth-only update."""
    image, place = texture.image(face, level), texture.storage(face, level)
    assert image is not None and place is not None
    box = pipe_box(texture, place[2], *at, *extent)
    transfer = ctx.pipe.transfer_map(place[0], place[1], MapFlags.READ, box)
    old = codecs.texels(image.format, np.ascontiguousarray(transfer.data))
    ctx.pipe.transfer_unmap(transfer)
    fresh = codecs.texels(image.format, np.ascontiguousarray(rows))
    merged = codecs.pack_stencil(
        image.format, fresh.reshape(old.shape), codecs.unpack_stencil(image.format, old)
    )
    return codecs.texel_bytes(image.format, merged)


def after_update(ctx: Context, texture: TextureObject, level: int) -> None:
    """Generate the compatibility profile's automatic mipmaps, if enabled."""
    if texture.generate_mipmap and level == texture.base_level:
        image = texture.image(0, level)
        if image is not None and has_mipmaps(ctx, image):
            generate(ctx, texture)


@entry
def tex_image1d(
    ctx: Context, target: int, level: int, internalformat: int, width: int,
    border: int, format: int, type: int, pixels: Pointer,
) -> None:  # fmt: skip
    extent = (width, 1, 1)
    tex_image(ctx, 1, target, level, internalformat, extent, border, format, type, pixels)


@entry
def tex_image2d(
    ctx: Context, target: int, level: int, internalformat: int, width: int, height: int,
    border: int, format: int, type: int, pixels: Pointer,
) -> None:  # fmt: skip
    extent = (width, height, 1)
    tex_image(ctx, 2, target, level, internalformat, extent, border, format, type, pixels)


@entry
def tex_image3d(
    ctx: Context, target: int, level: int, internalformat: int, width: int, height: int,
    depth: int, border: int, format: int, type: int, pixels: Pointer,
) -> None:  # fmt: skip
    extent = (width, height, depth)
    tex_image(ctx, 3, target, level, internalformat, extent, border, format, type, pixels)


# -- parts of images -------------------------------------------------------------------------------


def check_part(
    texture: TextureObject,
    face: int,
    level: int,
    at: tuple[int, int, int],
    extent: tuple[int, int, int],
) -> TexImage:
    """The image that a sub-image call refers to; GL errors if it or the box does not exist."""
    if not 0 <= level <= texture.target.last_level(texture.group.caps):
        raise invalid_value(f"level {level} of a {texture.target.name}")
    image = texture.image(face, level)
    if image is None:
        raise invalid_operation(f"level {level} has no image")
    for offset, size, whole in zip(at, extent, image.extent, strict=True):
        if size < 0 or offset < 0 or offset + size > whole:
            raise invalid_value("the box is outside the image")
    return image


def check_faces(
    texture: TextureObject, level: int, at: tuple[int, int, int], extent: tuple[int, int, int]
) -> TexImage:
    """Check a call that names a cube map (`check_part`): its faces are layers, and all must
    exist.
    """
    flat = (at[0], at[1], 0), (extent[0], extent[1], 1)
    image = check_part(texture, 0, level, *flat)
    if min(at[2], extent[2]) < 0 or at[2] + extent[2] > 6:
        raise invalid_value("a cube has six faces")
    for images in texture.images:
        other = images.get(level)
        if other is None or (other.extent, other.info) != (image.extent, image.info):
            raise invalid_operation("the cube map is not complete")
    return image


def check_blocks(
    ctx: Context, image: TexImage, at: tuple[int, int, int], extent: tuple[int, int, int]
) -> None:
    """Check an update of a compressed image with pixels: it must consist of whole blocks, but at
    the image's edges, and there must be an encoder.
    """
    if not image.compressed:
        return
    if image.format.is_compressed and (ctx.profile == "es" or not codecs.can_encode(image.format)):
        raise invalid_operation("this image is updated with compressed data")
    blocks = image.reported_format.block_width, image.reported_format.block_height
    for first, size, whole, block in zip(at, extent, image.extent, blocks, strict=False):
        if 0 not in extent and (first % block or (size % block and first + size != whole)):
            raise invalid_operation("compressed images are updated block by block")


def tex_sub_image(
    ctx: Context, dimensions: int, texture: TextureObject, face: int, level: int,
    at: tuple[int, int, int], extent: tuple[int, int, int],
    format: int, type: int, pixels: Pointer,
) -> None:  # fmt: skip
    """Update part of an image, for glTexSubImageND."""
    faces = texture.target.value == GL.TEXTURE_CUBE_MAP and dimensions == 3
    if faces:  # in calls by name
        image = check_faces(texture, level, at, extent)
    else:
        image = check_part(texture, face, level, at, extent)
    known = False  # whether the table has the combination
    if ctx.profile == "es" and not image.compressed:
        known = check_es_update(image.info, image.unsized, format, type)
        type = half_float(type)
    if image.info.is_ycbcr:
        check_words(image.info, texture.target.value, 0, format, type)
    elif not known:
        _check_pair(ctx, format, type)
    if image.info.base == "ZS" and format == GL.STENCIL_INDEX:
        raise invalid_operation("stencil alone cannot be updated here")
    _check_type(image.info, format)
    check_blocks(ctx, image, at, extent)
    client = _read(ctx, format, type, pixels, extent, dimensions)
    if client is not None:
        pieces = texture.target.pieces(at, extent) if faces else [(face, at, extent)]
        for i, (face, place, size) in enumerate(pieces):
            part = client[i : i + 1] if faces else client
            fill_part(ctx, texture, face, level, place, size, format, type, part)
        after_update(ctx, texture, level)


def named_image(ctx: Context, name: int, dimensions: int) -> TextureObject:
    """The texture of a by-name update with that many dimensions."""
    texture = ctx.textures.names.require(name)
    expected = 3 if texture.target.value == GL.TEXTURE_CUBE_MAP else texture.target.dimensions
    if expected != dimensions:
        raise invalid_operation(f"texture {name} is no {dimensions}D image")
    return texture


def _sub_image_family(dimensions: int) -> None:
    pad = (0,) * (3 - dimensions)
    ones = (1,) * (3 - dimensions)

    def split(args: tuple[Any, ...]) -> tuple[Any, ...]:
        at, extent = args[:dimensions] + pad, args[dimensions : 2 * dimensions] + ones
        return (at, extent, *args[2 * dimensions :])

    def by_target(ctx: Context, target: int, level: int, *args: Any) -> None:
        info, face, proxy = image_target(target, dimensions)
        if proxy:
            raise invalid_enum(target, "texture image target")
        tex_sub_image(ctx, dimensions, current(ctx, info.value), face, level, *split(args))
        if dimensions == 2:
            buffer = ctx.buffers.bound[GL.PIXEL_UNPACK_BUFFER]
            ctx.stream.rows_are_plain(buffer is None and ctx.unpack.is_plain)

    def by_name(ctx: Context, name: int, level: int, *args: Any) -> None:
        texture = named_image(ctx, name, dimensions)
        tex_sub_image(ctx, dimensions, texture, 0, level, *split(args))

    register(f"tex_sub_image{dimensions}d", by_target)
    register(f"texture_sub_image{dimensions}d", by_name)


for _n in (1, 2, 3):
    _sub_image_family(_n)
