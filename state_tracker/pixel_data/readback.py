"""Reading images back: glReadPixels, glGetTexImage and related functions."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.pipe import codecs
from gallette.pipe.enums import MapFlags, Target
from gallette.pipe.formats import Format
from gallette.pipe.resource import Resource
from gallette.pipe.state import BlitInfo, Box
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_framebuffer,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.es_enums import check_es
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.entry_points.watchers import READERS, colors_read
from gallette.state_tracker.pixel_data.convert import (
    client_depth_stencil,
    encode_client,
    from_pipe,
    same_bits,
)
from gallette.state_tracker.pixel_data.pixel_store import check_pair, write_client
from gallette.state_tracker.pixel_data.pixels import INTEGER_FORMATS, pixel_bytes
from gallette.state_tracker.pixel_data.plain_reads import (
    byte_order,
    in_order,
    read_again,
    remember,
)
from gallette.state_tracker.targets.framebuffers import (
    DEPTH,
    STENCIL,
    Attachment,
    Framebuffer,
)
from gallette.state_tracker.targets.renderbuffers import Renderbuffer, channel_bits, channel_of
from gallette.state_tracker.texturing.es_formats import (
    check_es_depth_pair,
    check_es_depth_read,
    check_es_read,
    half_float,
)
from gallette.state_tracker.texturing.texture_formats import InternalFormat, linear_format
from gallette.state_tracker.texturing.texture_targets import check_level, image_target
from gallette.state_tracker.texturing.textures import TexImage, TextureObject
from gallette.state_tracker.texturing.units import current
from gallette.state_tracker.texturing.ycbcr import is_words, read_words

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

Array = npt.NDArray[Any]
Bytes = npt.NDArray[np.uint8]


@contextmanager
def box_mapped(ctx: Context, resource: Resource, level: int, box: Box) -> Iterator[Bytes]:
    """Rows `[z, y, bytes]` of a box, mapped for reading."""
    transfer = ctx.pipe.transfer_map(resource, level, MapFlags.READ, box)
    try:
        yield transfer.data
    finally:
        ctx.pipe.transfer_unmap(transfer)


def read_box(ctx: Context, resource: Resource, level: int, box: Box) -> Bytes:
    """A copy of a box's rows."""
    with box_mapped(ctx, resource, level, box) as data:
        return np.array(data)


def read_source(ctx: Context, format: int) -> Attachment:
    """The attachment that a read of that client format uses."""
    framebuffer = ctx.framebuffers.read
    if framebuffer.status(ctx) != GL.FRAMEBUFFER_COMPLETE:
        raise invalid_framebuffer("the read framebuffer is not complete")
    several = framebuffer.samples > 1
    if several and not framebuffer.is_window:
        raise invalid_operation("a multisampled framebuffer cannot be read")
    found = _attachment(framebuffer, format)
    return resolved(ctx, found) if several else found


def _attachment(framebuffer: Framebuffer, format: int) -> Attachment:
    if format in (GL.DEPTH_COMPONENT, GL.STENCIL_INDEX, GL.DEPTH_STENCIL):
        depth = format != GL.STENCIL_INDEX
        found = framebuffer.attachments.get(DEPTH if depth else STENCIL)
        if found is None or (format == GL.DEPTH_STENCIL and not framebuffer.has("S")):
            raise invalid_operation("the framebuffer has no such buffer")
        return found
    found = framebuffer.read_attachment()
    if found is None or found.info is None:
        raise invalid_operation("there is no colour buffer to read")
    if format == GL.COLOR_INDEX:
        raise invalid_operation("colour indices are not to be had of colours")
    if found.info.is_integer != (format in INTEGER_FORMATS):
        raise invalid_operation("integer buffers are read with integer formats only")
    return found


def resolved(ctx: Context, found: Attachment) -> Attachment:
    """Resolve a window's multisample buffer; application-made buffers are resolved explicitly."""
    buffer = found.object
    assert isinstance(buffer, Renderbuffer) and buffer.resource is not None
    twin = buffer.resolved
    if twin is None:
        twin = Renderbuffer(0)
        twin.width, twin.height, twin.info = buffer.width, buffer.height, buffer.info
        twin.internal_format = buffer.internal_format
        twin.resource = ctx.screen.resource_create(
            dataclasses.replace(buffer.resource.desc, samples=0, label="resolved for reading")
        )
        buffer.resolved = twin
    assert twin.resource is not None
    format = linear_format(found.format)
    box = Box(0, 0, 0, buffer.width, buffer.height, 1)
    mask = "rgba" if format.is_color else "z" * format.has_depth + "s" * format.has_stencil
    ctx.pipe.blit(BlitInfo(twin.resource, 0, box, format, buffer.resource, 0, box, format, mask))
    return Attachment(twin)


def client_pixels(
    rows: Bytes, stored: Format, info: InternalFormat, format: int, type: int, sum: bool
) -> Bytes:
    """Rows of a pipe format as client pixels `[d, h, w, pixel bytes]`."""
    source = linear_format(stored)
    if same_bits(format, type) == source.name:
        return rows.reshape(*rows.shape[:-1], -1, pixel_bytes(format, type))
    order = byte_order(source, info.base, format, type)
    if order is not None:
        return in_order(rows, source, order)
    if source.is_depth_stencil:
        return client_depth_stencil(source, format, type, rows)
    return encode_client(format, type, _read_values(source, rows, info), luminance_sum=sum)


def _read_values(source: Format, rows: Bytes, info: InternalFormat) -> Array:
    """RGBA (or depth and stencil), with defaults for the channels that the format lacks.

    Luminance and intensity are read as red alone.
    """
    rgba = from_pipe(source, rows)
    if "A" not in info.base and info.base not in ("Z", "ZS", "S"):
        rgba[..., 3] = 1
    if info.base in ("L", "LA", "I"):
        rgba[..., 1:3] = 0
    return rgba


def changes_values(ctx: Context, info: InternalFormat, format: int) -> bool:
    """Whether pixel transfer currently changes values."""
    if not ctx.is_compat or info.is_integer:
        return False
    state = ctx.transfer
    if info.is_color:
        return state.transforms_color
    stencil = format in (GL.STENCIL_INDEX, GL.DEPTH_STENCIL)
    return state.transforms_depth or (stencil and state.transforms_index)


def transferred(ctx: Context, info: InternalFormat, format: int, values: Array) -> Array:
    """RGBA (or depth and stencil) scaled, biased and mapped."""
    state = ctx.transfer
    if info.is_color:
        return state.color(np.asarray(values, np.float64))
    out = np.array(values, np.float64)
    if format != GL.STENCIL_INDEX:
        out[..., 0] = state.depth(out[..., 0])
    if format != GL.DEPTH_COMPONENT:
        out[..., 1] = state.index(out[..., 1], "S_TO_S")
    return out


@entry
def read_pixels(
    ctx: Context, x: int, y: int, width: int, height: int, format: int, type: int, pixels: Any
) -> bytes | None:
    found = _read_pixels(ctx, x, y, width, height, format, type, pixels, None)
    if READERS and format not in _DEPTHS:
        colors_read(ctx, width, height)
    return found


@entry
def readn_pixels(
    ctx: Context, x: int, y: int, width: int, height: int, format: int, type: int,
    room: int, pixels: Any,
) -> bytes | None:  # fmt: skip
    found = _read_pixels(ctx, x, y, width, height, format, type, pixels, room)
    if READERS and format not in _DEPTHS:
        colors_read(ctx, width, height)
    return found


_DEPTHS = (GL.DEPTH_COMPONENT, GL.STENCIL_INDEX, GL.DEPTH_STENCIL)


def _is_clamped(ctx: Context, info: InternalFormat) -> bool:
    """Whether colours outside 0..1 are clamped when read (glClampColor): by default those of
    fixed-point buffers, of which signed ones have such colours.
    """
    clamp = ctx.fragment.clamp_read_color
    if clamp == GL.FALSE or ctx.profile == "es" or not info.is_color:
        return False
    kind = info.candidates[0].channels[0].type
    return kind == "SNORM" or (kind == "FLOAT" and clamp == GL.TRUE)


def _read_pixels(
    ctx: Context, x: int, y: int, width: int, height: int, format: int, type: int,
    pixels: Any, room: int | None,
) -> bytes | None:  # fmt: skip
    if room is None and read_again(ctx, x, y, width, height, format, type, pixels):
        return None
    if width < 0 or height < 0 or (room is not None and room < 0):
        raise invalid_value("negative size")
    framebuffer, asked = ctx.framebuffers.read, type
    if framebuffer.status(ctx) != GL.FRAMEBUFFER_COMPLETE:
        raise invalid_framebuffer("the read framebuffer is not complete")
    if format not in _DEPTHS and framebuffer.read_attachment() is None:
        raise invalid_operation("there is no colour buffer to read")
    if ctx.profile == "es":
        type = half_float(type)
    if ctx.profile == "es" and format in _DEPTHS:
        check_es_depth_pair(format, type)
    else:
        check_pair(ctx, format, type)
    seen = framebuffer.read_attachment()
    if ctx.profile == "es" and seen is not None and seen.info is not None:
        check_es_read(seen.info, format, type)
    source = read_source(ctx, format)
    place, info = source.place(), source.info
    assert place is not None and info is not None
    if ctx.profile == "es" and format in _DEPTHS:
        check_es_depth_read(info, format, type)
    resource, level, layer, _ = place
    fb_width, fb_height = source.size
    x0, y0 = max(x, 0), max(y, 0)
    x1, y1 = min(x + width, fb_width), min(y + height, fb_height)
    if x1 <= x0 or y1 <= y0:
        nothing = np.zeros((1, height, width, pixel_bytes(format, type)), np.uint8)
        return write_client(ctx, format, type, pixels, nothing, 2, room)
    with box_mapped(ctx, resource, level, Box(x0, y0, layer, x1 - x0, y1 - y0, 1)) as rows:
        clamped = _is_clamped(ctx, info)
        if clamped or changes_values(ctx, info, format):
            values = transferred(ctx, info, format, _read_values(source.format, rows, info))
            values = np.clip(values, 0.0, 1.0) if clamped else values
            found = encode_client(format, type, values, luminance_sum=info.is_color)
        else:
            found = client_pixels(rows, source.format, info, format, type, info.is_color)
            stored, order = linear_format(source.format), None
            as_stored = np.may_share_memory(found, rows)
            if not as_stored:
                order = byte_order(stored, info.base, format, type)
            if as_stored or order is not None:
                here, size, pixel = (resource, level, layer), source.size, found.shape[-1]
                remember(ctx, framebuffer, format, asked, here, size, pixel, order, stored)
        if found.shape[1:3] == (height, width):  # entirely inside: no padding needed
            return write_client(ctx, format, type, pixels, found, 2, room)
        out = np.zeros((1, height, width, pixel_bytes(format, type)), np.uint8)
        out[:, y0 - y : y1 - y, x0 - x : x1 - x] = found
        return write_client(ctx, format, type, pixels, out, 2, room)


# -- textures --------------------------------------------------------------------------------------


def image_box(texture: TextureObject, image: TexImage, layer: int) -> Box:
    """The whole image in pipe coordinates."""
    if texture.target.pipe is Target.TEXTURE_1D_ARRAY:
        return Box(0, 0, layer, image.width, 1, image.height)
    return Box(0, 0, layer, image.width, image.height, image.depth)


def read_image(
    ctx: Context, texture: TextureObject, face: int, level: int, format: int, type: int
) -> Bytes:
    image, place = texture.image(face, level), texture.storage(face, level)
    if image is None or place is None:
        return np.zeros((0, 0, 0, pixel_bytes(format, type)), np.uint8)
    info = image.info
    if info.is_ycbcr != (format == GL.YCBCR_MESA):
        raise invalid_operation("luma and chroma are read as such, and nothing else is")
    if info.is_ycbcr:
        return read_words(image.words, type)
    depth = format in (GL.DEPTH_COMPONENT, GL.DEPTH_STENCIL)
    if format == GL.STENCIL_INDEX and "S" not in info.base:
        raise invalid_operation("the image has no stencil")
    if depth and info.base not in (("ZS",) if format == GL.DEPTH_STENCIL else ("Z", "ZS")):
        raise invalid_operation("the image has no depth")
    if not depth and not (info.is_color or (format == GL.STENCIL_INDEX and "S" in info.base)):
        raise invalid_operation("a depth image is read as depth")
    if info.is_color and info.is_integer != (format in INTEGER_FORMATS):
        raise invalid_operation("integer images are read with integer formats only")
    resource, at_level, layer = place
    rows = read_box(ctx, resource, at_level, image_box(texture, image, layer))
    if image.format.is_compressed:
        rgba = codecs.unpack(linear_format(image.format), rows)
        rgba = rgba[:, : image.height, : image.width]
        if info.base == "LA":  # stored as red and green
            rgba = rgba[..., [0, 2, 2, 1]]
        return encode_client(format, type, rgba)
    if texture.target.pipe is Target.TEXTURE_1D_ARRAY:
        rows = rows.reshape(1, rows.shape[0], -1)
    if info.base in ("L", "LA", "I") and not image.format.is_pure_integer:
        rgba = from_pipe(linear_format(image.format), rows)
        if format not in (GL.LUMINANCE, GL.LUMINANCE_ALPHA):  # L is returned as red alone
            rgba[..., 1:3] = 0
            if info.base == "I":
                rgba[..., 3] = 1
            return encode_client(format, type, rgba)
    return client_pixels(rows, image.format, info, format, type, False)


def _get_image(
    ctx: Context, texture: TextureObject, faces: range, level: int, format: int, type: int,
    room: int | None, pixels: Any,
) -> bytes | None:  # fmt: skip
    if not (ctx.profile != "es" and is_words(format, type)):
        check_pair(ctx, format, type)
    check_level(ctx.caps, texture.target, level)
    if room is not None and room < 0:
        raise invalid_value("negative size")
    images = [read_image(ctx, texture, face, level, format, type) for face in faces]
    whole = np.concatenate(images) if len(images) > 1 else images[0]
    layered = texture.target.dimensions == 3 or len(images) > 1
    return write_client(ctx, format, type, pixels, whole, 3 if layered else 2, room)


@entry
def get_tex_image(
    ctx: Context, target: int, level: int, format: int, type: int, pixels: Any
) -> bytes | None:
    return getn_tex_image(ctx, target, level, format, type, None, pixels)


@entry
def getn_tex_image(
    ctx: Context, target: int, level: int, format: int, type: int, room: int | None, pixels: Any
) -> bytes | None:
    info, face, proxy = image_target(target, 0)
    if proxy or info.pipe is Target.BUFFER or info.multisample:
        raise invalid_enum(target, "texture image target")
    texture = current(ctx, info.value)
    return _get_image(ctx, texture, range(face, face + 1), level, format, type, room, pixels)


@entry
def get_texture_image(
    ctx: Context, texture: int, level: int, format: int, type: int, room: int, pixels: Any
) -> bytes | None:
    found = ctx.textures.names.require(texture)
    check_images(found, level)
    faces = range(found.target.faces)
    return _get_image(ctx, found, faces, level, format, type, room, pixels)


def check_images(texture: TextureObject, level: int) -> None:
    """Check a texture that is read as a whole: its images exist, and faces have one size."""
    if texture.target.pipe is Target.BUFFER or texture.target.multisample:
        raise invalid_operation("this kind of texture has no images to read")
    if texture.target.faces == 6:
        images = [texture.image(face, level) for face in range(6)]
        sizes = {None if image is None else image.extent for image in images}
        if len(sizes) > 1 or not texture.is_complete(False):
            raise invalid_operation("the faces do not fit together")


def _level_parameter(ctx: Context, target: int, level: int, pname: int) -> list[int]:
    check_es(ctx, target, "texture target")
    check_es(ctx, pname, "texture level parameter")
    info, face, proxy = image_target(target, 0)
    check_level(ctx.caps, info, level)
    if proxy:
        image = ctx.textures.proxies.get((info.value, level))
        texture = None
    else:
        texture = current(ctx, info.value)
        image = texture.image(face, level)
    return image_parameter(ctx, texture, image, pname)


_CHANNELS = {"RED": "R", "GREEN": "G", "BLUE": "B", "ALPHA": "A", "DEPTH": "Z", "STENCIL": "S",
             "LUMINANCE": "L", "INTENSITY": "I"}  # fmt: skip


def image_parameter(
    ctx: Context, texture: TextureObject | None, image: TexImage | None, pname: int
) -> list[int]:
    """The value of glGetTexLevelParameter for one image."""
    compressed = image is not None and image.compressed
    values: dict[int, int] = {
        GL.TEXTURE_WIDTH: image.width if image else 0,
        GL.TEXTURE_HEIGHT: image.height if image else 0,
        GL.TEXTURE_DEPTH: image.depth if image else 0,
        GL.TEXTURE_INTERNAL_FORMAT: image.info.reported if image else GL.RGBA,
        GL.TEXTURE_BORDER: 0,
        GL.TEXTURE_COMPRESSED: int(compressed),
        GL.TEXTURE_SAMPLES: image.samples if image else 0,
        GL.TEXTURE_FIXED_SAMPLE_LOCATIONS: int(image.fixed_samples) if image else 1,
        GL.TEXTURE_SHARED_SIZE: 5 if image is not None and image.info.name == "RGB9_E5" else 0,
        GL.TEXTURE_BUFFER_DATA_STORE_BINDING: 0,
        GL.TEXTURE_BUFFER_OFFSET: 0,
        GL.TEXTURE_BUFFER_SIZE: 0,
    }
    info = image.info if image is not None else None
    if texture is not None and texture.target.pipe is Target.BUFFER:
        info = texture.buffer_info if texture.buffer is not None else None
        values |= _of_a_buffer(texture)
    if pname == GL.TEXTURE_COMPRESSED_IMAGE_SIZE:
        if image is None or not compressed or texture is None:
            raise invalid_operation("the image is not compressed, or a proxy")
        format = image.reported_format
        return [format.rows(image.height) * format.row_bytes(image.width) * image.depth]
    for name, letter in _CHANNELS.items():
        bits = channel_bits(info, letter) if info is not None else 0
        values[getattr(GL, f"TEXTURE_{name}_SIZE")] = bits
        if letter == "S":
            continue
        kind = 0
        if bits and info is not None:
            kind = _kind(info, letter)
        values[getattr(GL, f"TEXTURE_{name}_TYPE_ARB", -1)] = kind
    if pname not in values or (ctx.is_core and pname in _LEGACY):
        raise invalid_enum(pname, "texture level parameter")
    return [values[pname]]


_LEGACY = frozenset(
    (
        GL.TEXTURE_BORDER,
        *(GL.TEXTURE_LUMINANCE_SIZE, GL.TEXTURE_LUMINANCE_TYPE_ARB),
        *(GL.TEXTURE_INTENSITY_SIZE, GL.TEXTURE_INTENSITY_TYPE_ARB),
    )
)
"""Texture level parameters that core profiles do not have."""


def _of_a_buffer(texture: TextureObject) -> dict[int, int]:
    """The values that differ for a buffer texture, which has no image."""
    info, buffer = texture.buffer_info, texture.buffer
    values = {GL.TEXTURE_INTERNAL_FORMAT: int(info.value if info is not None else GL.R8)}
    if info is None or buffer is None:
        return values
    seen = texture.buffer_range[1] or buffer.size
    return values | {
        GL.TEXTURE_WIDTH: seen // info.candidates[0].block_bytes,
        GL.TEXTURE_HEIGHT: 1,
        GL.TEXTURE_DEPTH: 1,
        GL.TEXTURE_BUFFER_DATA_STORE_BINDING: buffer.name,
        GL.TEXTURE_BUFFER_OFFSET: texture.buffer_range[0],
        GL.TEXTURE_BUFFER_SIZE: seen,
    }


def _kind(info: InternalFormat, letter: str) -> int:
    channel = channel_of(info, letter)
    assert channel is not None
    names = {"UNORM": "UNSIGNED_NORMALIZED", "SNORM": "SIGNED_NORMALIZED", "FLOAT": "FLOAT"}
    names |= {"SINT": "INT", "UINT": "UNSIGNED_INT"}
    return int(getattr(GL, names[channel.type]))


@entry
def get_tex_level_parameteriv(ctx: Context, target: int, level: int, pname: int) -> list[int]:
    return _level_parameter(ctx, target, level, pname)


@entry
def get_tex_level_parameterfv(ctx: Context, target: int, level: int, pname: int) -> list[float]:
    return [float(v) for v in _level_parameter(ctx, target, level, pname)]
