"""Copies within the device: framebuffer blits, framebuffer to texture, image to image."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gallette.pipe.enums import Filter, Target
from gallette.pipe.resource import Resource, level_extent
from gallette.pipe.state import BlitInfo, Box, ScissorState
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing.validate import validate
from gallette.state_tracker.drawing.viewports import scissor_states
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_framebuffer,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.registry import entry, register
from gallette.state_tracker.pixel_data.readback import (
    changes_values,
    client_pixels,
    read_box,
    read_source,
)
from gallette.state_tracker.targets.framebuffers import Attachment, Framebuffer
from gallette.state_tracker.targets.renderbuffers import Renderbuffer
from gallette.state_tracker.texturing.es_formats import ETC, check_es_copy
from gallette.state_tracker.texturing.format_classes import may_copy
from gallette.state_tracker.texturing.image_rules import check_target, internal_format
from gallette.state_tracker.texturing.sampling import MIPMAP_FILTERS
from gallette.state_tracker.texturing.teximage import (
    after_update,
    check_blocks,
    check_border,
    check_part,
    check_sizes,
    fill_part,
    named_image,
    pipe_box,
    without_border,
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

# EXT_framebuffer_multisample_blit_scaled: samples are resolved where sizes differ, too.
_SCALED_RESOLVES = (GL.SCALED_RESOLVE_FASTEST_EXT, GL.SCALED_RESOLVE_NICEST_EXT)

Span = tuple[int, int, int, int]  # dst from, dst to, src from, src to


def clip_span(span: Span, dst_size: int, src_size: int) -> Span | None:
    """Clip one axis of a blit to both images, moving both ends together; None if it is empty."""
    d0, d1, s0, s1 = (float(v) for v in span)
    if d0 == d1 or s0 == s1:
        return None
    for low_first in (True, False):
        for bound, is_low in ((0.0, True), (float(dst_size), False)):
            d0, d1, s0, s1 = _cut(d0, d1, s0, s1, bound, is_low)
        for bound, is_low in ((0.0, True), (float(src_size), False)):
            s0, s1, d0, d1 = _cut(s0, s1, d0, d1, bound, is_low)
        if not low_first:
            break
    # Less than a texel of the source may fill pixels of the destination.
    result = (round(d0), round(d1), round(s0), round(s1))
    return None if result[0] == result[1] or s0 == s1 else result


def _cut(
    a0: float, a1: float, b0: float, b1: float, bound: float, is_low: bool
) -> tuple[float, float, float, float]:
    """Move the ends of `a` that lie beyond `bound` onto it, and those of `b` proportionally."""
    if a0 == a1:
        return a0, a1, b0, b1
    scale = (b1 - b0) / (a1 - a0)
    if (a0 < bound) if is_low else (a0 > bound):
        b0, a0 = b0 + (bound - a0) * scale, bound
    if (a1 < bound) if is_low else (a1 > bound):
        b1, a1 = b1 + (bound - a1) * scale, bound
    return a0, a1, b0, b1


def _box(x0: int, x1: int, y0: int, y1: int, z: int) -> Box:
    return Box(x0, y0, z, x1 - x0, y1 - y0, 1)


def blit(
    ctx: Context,
    read: Attachment,
    write: Attachment,
    xs: Span,
    ys: Span,
    mask: str,
    filter: Filter,
    scissor: ScissorState | None,
) -> None:
    """Blit one attachment to another."""
    src, dst = read.place(), write.place()
    if src is None or dst is None:
        return
    if ctx.raster.framebuffer_srgb:
        src_format, dst_format = read.encoded, write.encoded
    else:
        src_format, dst_format = linear_format(read.format), linear_format(write.format)
    ctx.pipe.blit(
        BlitInfo(
            dst[0],
            dst[1],
            _box(xs[0], xs[1], ys[0], ys[1], dst[2]),
            dst_format,
            src[0],
            src[1],
            _box(xs[2], xs[3], ys[2], ys[3], src[2]),
            src_format,
            mask,
            filter,
            scissor,
        )
    )


def _check_blit(
    ctx: Context,
    read: Framebuffer,
    draw: Framebuffer,
    coords: tuple[int, ...],
    mask: int,
    filter: int,
) -> None:
    for framebuffer in (read, draw):
        if framebuffer.status(ctx) != GL.FRAMEBUFFER_COMPLETE:
            raise invalid_framebuffer("a framebuffer is not complete")
    if filter not in (GL.NEAREST, GL.LINEAR, *_SCALED_RESOLVES):
        raise invalid_enum(filter, "blit filter")
    if mask & ~(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT):
        raise invalid_value("unknown buffers to blit")
    if mask & (GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT) and filter != GL.NEAREST:
        raise invalid_operation("depth and stencil are copied with GL_NEAREST")
    sx0, sy0, sx1, sy1, dx0, dy0, dx1, dy1 = coords
    same = abs(sx1 - sx0) == abs(dx1 - dx0) and abs(sy1 - sy0) == abs(dy1 - dy0)
    if filter in _SCALED_RESOLVES:
        if read.samples <= 1 or draw.samples > 1:
            raise invalid_operation("a scaled resolve reads several samples and writes one")
    elif (read.samples > 1 or draw.samples > 1) and not same:
        raise invalid_operation("multisampled blits do not scale without a scaled resolve")
    if draw.samples > 1 and read.samples > 1 and draw.samples != read.samples:
        raise invalid_operation("sample counts differ")


def _check_colors(ctx: Context, read: Framebuffer, draw: Framebuffer, filter: int) -> bool:
    source = read.read_attachment()
    if source is None or source.info is None:
        return False
    for name in draw.draw_buffers:
        target = draw.color(name) if name != GL.NONE else None
        if target is None or target.info is None:
            continue
        kinds = []
        for info in (source.info, target.info):
            format = info.candidates[0]
            kinds.append("int" if format.is_signed_integer else "uint" if info.is_integer else "f")
        if kinds[0] != kinds[1]:
            raise invalid_operation("colour buffers of different kinds")
    if source.info.is_integer and filter != GL.NEAREST:
        raise invalid_operation("integer colours cannot be filtered")
    return True


def _alike(a: InternalFormat, b: InternalFormat, depth: bool, stencil: bool) -> bool:
    """Whether the channels to be copied have equal sizes and kinds."""
    wanted = "Z" * depth + "S" * stencil
    channels = []
    for info in (a, b):
        found = {c.name: (c.bits, c.type) for c in info.candidates[0].channels}
        channels.append([found.get(letter) for letter in wanted])
    return channels[0] == channels[1]


def _same_texels(a: Attachment, b: Attachment) -> bool:
    """Whether both have one format, except for the encoding of colours."""
    return linear_format(a.format) is linear_format(b.format)


def _check_es_images(read: Framebuffer, draw: Framebuffer, color: bool, both: bool) -> None:
    """Check that an ES blit does not read an image that it writes, whatever the rectangles."""
    pairs = [(read.depth_stencil, draw.depth_stencil)] if both else []
    if color:
        source = read.read_attachment()
        pairs += [(source, draw.color(name)) for name in draw.draw_buffers if name != GL.NONE]
    if any(a is not None and a.same_image(b) for a, b in pairs):
        raise invalid_operation("the source and the destination are the same image")


def _check_es_samples(
    read: Framebuffer, draw: Framebuffer, coords: tuple[int, ...], color: bool
) -> None:
    """Check that an ES blit of multisample images only resolves, without scaling or flipping."""
    if draw.samples > 1:
        raise invalid_operation("nothing is copied to a multisampled framebuffer")
    if read.samples <= 1:
        return
    if coords[:4] != coords[4:]:
        raise invalid_operation("samples are resolved to where they come from")
    source = read.read_attachment() if color else None
    if source is not None:
        for name in draw.draw_buffers:
            target = draw.color(name) if name != GL.NONE else None
            if target is not None and not _same_texels(target, source):
                raise invalid_operation("samples are resolved to their own format")


def _blit_framebuffers(ctx: Context, read: Framebuffer, draw: Framebuffer, *args: int) -> None:
    *coords, mask, filter = args
    _check_blit(ctx, read, draw, tuple(coords), mask, filter)
    color = bool(mask & GL.COLOR_BUFFER_BIT) and _check_colors(ctx, read, draw, filter)
    if ctx.profile == "es":
        _check_es_samples(read, draw, tuple(coords), color)
    depth = bool(mask & GL.DEPTH_BUFFER_BIT) and read.has("Z") and draw.has("Z")
    stencil = bool(mask & GL.STENCIL_BUFFER_BIT) and read.has("S") and draw.has("S")
    if ctx.profile == "es":
        _check_es_images(read, draw, color, depth or stencil)
    if depth or stencil:
        a, b = read.depth_stencil, draw.depth_stencil
        assert a is not None and b is not None
        if a.info is not None and b.info is not None:
            same = a.info.candidates[0] is b.info.candidates[0]
            if not same and not (ctx.is_compat and _alike(a.info, b.info, depth, stencil)):
                raise invalid_operation("depth and stencil formats differ")
    sx0, sy0, sx1, sy1, dx0, dy0, dx1, dy1 = coords
    xs = clip_span((dx0, dx1, sx0, sx1), 1 << 30, read.size[0])
    ys = clip_span((dy0, dy1, sy0, sy1), 1 << 30, read.size[1])
    if xs is None or ys is None:
        return
    width, height = draw.size
    scissor = ScissorState(0, 0, width, height)
    if ctx.raster.scissor_enabled[0] and draw is ctx.framebuffers.draw:
        scissor = scissor_states(ctx)[0]
    if abs(dx1 - dx0) != abs(sx1 - sx0) or abs(dy1 - dy0) != abs(sy1 - sy0):
        # The ends were rounded to whole texels: a scaled blit keeps its own, and so its scale.
        left, right, bottom, top = *sorted(xs[:2]), *sorted(ys[:2])
        scissor = ScissorState(
            max(scissor.minx, left), max(scissor.miny, bottom),
            min(scissor.maxx, right), min(scissor.maxy, top),
        )  # fmt: skip
        xs, ys = (dx0, dx1, sx0, sx1), (dy0, dy1, sy0, sy1)
    how = Filter.NEAREST if filter == GL.NEAREST else Filter.LINEAR
    if color:
        source = read.read_attachment()
        assert source is not None
        for name in dict.fromkeys(draw.draw_buffers):
            target = draw.color(name) if name != GL.NONE else None
            if target is not None:
                blit(ctx, source, target, xs, ys, "rgba", how, scissor)
    both = ("z" if depth else "") + ("s" if stencil else "")
    if both:
        a, b = read.depth_stencil, draw.depth_stencil
        assert a is not None and b is not None
        blit(ctx, a, b, xs, ys, both, Filter.NEAREST, scissor)


@entry
def blit_framebuffer(ctx: Context, *args: int) -> None:
    validate(ctx, Dirty.FRAMEBUFFER)
    _blit_framebuffers(ctx, ctx.framebuffers.read, ctx.framebuffers.draw, *args)


@entry
def blit_named_framebuffer(ctx: Context, read: int, draw: int, *args: int) -> None:
    names, window = ctx.framebuffers.names, ctx.framebuffers.window
    source = names.require(read) if read else window
    target = names.require(draw) if draw else window
    _blit_framebuffers(ctx, source, target, *args)


# -- framebuffer to texture ------------------------------------------------------------------------


def _copy_source(ctx: Context, info: InternalFormat) -> Attachment:
    """The buffer to copy from into a texture of that format."""
    if info.is_ycbcr:
        raise invalid_operation("a framebuffer has no luma and chroma to copy")
    if ctx.profile == "es" and info.name == "RGB9_E5":
        raise invalid_operation("nothing is copied into images of shared exponents")
    if info.base == "Z":
        return read_source(ctx, GL.DEPTH_COMPONENT)
    if info.base == "ZS":
        return read_source(ctx, GL.DEPTH_STENCIL)
    if info.base == "S":
        return read_source(ctx, GL.STENCIL_INDEX)
    source = read_source(ctx, GL.RGBA_INTEGER if info.is_integer else GL.RGBA)
    if info.is_integer and source.info is not None:
        signed = source.info.candidates[0].is_signed_integer
        if signed != info.candidates[0].is_signed_integer:
            raise invalid_operation("signed and unsigned integers do not mix")
    return source


# As what pixels are read for images whose contents are converted, by base format; or RGBA floats.
_AS_READ: dict[str, tuple[int, int]] = {
    "Z": (GL.DEPTH_COMPONENT, GL.FLOAT),
    "S": (GL.STENCIL_INDEX, GL.UNSIGNED_BYTE),
    "ZS": (GL.DEPTH_STENCIL, GL.FLOAT_32_UNSIGNED_INT_24_8_REV),
}


def _copy_part(
    ctx: Context, texture: TextureObject, face: int, level: int,
    at: tuple[int, int, int], x: int, y: int, width: int, height: int,
) -> None:  # fmt: skip
    image = texture.image(face, level)
    assert image is not None
    if image.compressed and ctx.profile == "es":
        raise invalid_operation("nothing is copied into compressed images")
    check_blocks(ctx, image, at, (width, height, 1))
    source = _copy_source(ctx, image.info)
    place, storage = source.place(), texture.storage(face, level)
    if place is None or storage is None:
        return
    fb_width, fb_height = source.size
    x0, y0, x1, y1 = max(x, 0), max(y, 0), min(x + width, fb_width), min(y + height, fb_height)
    if x1 <= x0 or y1 <= y0:
        return
    assert source.info is not None
    format, type = _AS_READ.get(image.info.base, (GL.RGBA, GL.FLOAT))
    if image.format.is_compressed or changes_values(ctx, image.info, format):
        rows = read_box(ctx, place[0], place[1], Box(x0, y0, place[2], x1 - x0, y1 - y0, 1))
        client = client_pixels(rows, source.format, source.info, format, type, False)
        if image.format.is_compressed:  # whole blocks; what is outside is undefined
            beside = (0, 0), (y0 - y, y + height - y1), (x0 - x, x + width - x1), (0, 0)
            client, x0, y0 = np.pad(client, beside), x, y
        at = (at[0] + x0 - x, at[1] + y0 - y, at[2])
        extent = (client.shape[2], client.shape[1], 1)
        fill_part(ctx, texture, face, level, at, extent, format, type, client)
        return
    resource, at_level, layer = storage
    # Rows of a 1D array are its layers: copy them one by one.
    high = 1 if texture.target.pipe is Target.TEXTURE_1D_ARRAY else y1 - y0
    for row in range(y0, y1, high):
        box = pipe_box(texture, layer, at[0] + x0 - x, at[1] + row - y, at[2], x1 - x0, high, 1)
        _copy_texels(ctx, resource, at_level, box, place, Box(x0, row, place[2], x1 - x0, high, 1))


def _copy_texels(
    ctx: Context, dst: Resource, dst_level: int, dst_box: Box,
    place: tuple[Resource, int, int, int], src_box: Box,
) -> None:  # fmt: skip
    src, src_level = place[0], place[1]
    dst_format, src_format = linear_format(dst.desc.format), linear_format(src.desc.format)
    if dst_format is src_format:
        ctx.pipe.resource_copy_region(
            dst, dst_level, dst_box.x, dst_box.y, dst_box.z, src, src_level, src_box
        )
        return
    mask = "rgba"
    if dst_format.is_depth_stencil:
        both = dst_format.has_stencil and src_format.has_stencil
        mask = "zs" if both and dst_format.has_depth else "z" if dst_format.has_depth else "s"
    ctx.pipe.blit(
        BlitInfo(dst, dst_level, dst_box, dst_format, src, src_level, src_box, src_format, mask)
    )


def _copy_image_family(dimensions: int) -> None:
    def define(
        ctx: Context, target: int, level: int, internalformat: int, x: int, y: int, *rest: int
    ) -> None:
        info, face, proxy = image_target(target, dimensions)
        if proxy:
            raise invalid_enum(target, "texture image target")
        width, height = (rest[0], 1) if dimensions == 1 else (rest[0], rest[1])
        border = rest[-1]
        check_border(ctx, info, border)
        known = INTERNAL_FORMATS.get(internalformat)
        missing = known is None or (known.compat_only and ctx.is_core)
        if missing or internalformat in (1, 2, 3, 4, GL.ETC1_RGB8_OES):
            raise invalid_enum(internalformat, "internal format")
        kind = internal_format(ctx, internalformat)
        if kind.value in ETC:
            raise invalid_operation(f"GL_{kind.name} images come compressed")
        check_target(ctx, kind, info)
        extent = (width, height, 1)
        if border:
            extent = without_border(info, extent)
            width, height, _ = extent
            x, y = x + 1, y + (1 if dimensions == 2 else 0)
        if not check_sizes(ctx, info, level, extent):
            raise invalid_value(f"{width}x{height} is too large for level {level}")
        texture = current(ctx, info.value)
        if texture.immutable_levels:
            raise invalid_operation("the texture's storage is immutable")
        source = _copy_source(ctx, kind)
        if ctx.profile == "es" and source.info is not None:
            check_es_copy(internalformat, kind, source.info)
        texture.define(face, level, make_image(ctx, kind, info, extent, encodable=True))
        _copy_part(ctx, texture, face, level, (0, 0, 0), x, y, width, height)
        after_update(ctx, texture, level)

    register(f"copy_tex_image{dimensions}d", define)


def _copy_sub_family(dimensions: int) -> None:
    pad = (0,) * (3 - dimensions)

    def update(ctx: Context, texture: TextureObject, face: int, level: int, args: Any) -> None:
        at = (*args[:dimensions], *pad)
        x, y, *size = args[dimensions:]
        width, height = size[0], size[1] if len(size) > 1 else 1
        check_part(texture, face, level, at, (width, height, 1))
        _copy_part(ctx, texture, face, level, at, x, y, width, height)
        after_update(ctx, texture, level)

    def by_target(ctx: Context, target: int, level: int, *args: int) -> None:
        info, face, proxy = image_target(target, dimensions)
        if proxy:
            raise invalid_enum(target, "texture image target")
        update(ctx, current(ctx, info.value), face, level, args)

    def by_name(ctx: Context, name: int, level: int, *args: int) -> None:
        texture, face = named_image(ctx, name, dimensions), 0
        if texture.target.value == GL.TEXTURE_CUBE_MAP:
            x, y, face, *rest = args
            if not 0 <= face < 6:
                raise invalid_value(f"a cube has no face {face}")
            args = (x, y, 0, *rest)
        update(ctx, texture, face, level, args)

    register(f"copy_tex_sub_image{dimensions}d", by_target)
    register(f"copy_texture_sub_image{dimensions}d", by_name)


for _n in (1, 2):
    _copy_image_family(_n)
for _n in (1, 2, 3):
    _copy_sub_family(_n)


# -- image to image --------------------------------------------------------------------------------


class _Place(NamedTuple):
    """Where the layers of an image are in a resource, and the format that they are given."""

    resource: Resource
    level: int
    first_layer: int
    layers: int
    info: InternalFormat


def _image_place(ctx: Context, name: int, target: int, level: int, z: int) -> _Place:
    if target == GL.RENDERBUFFER:
        found = ctx.renderbuffers.names.get(name)
        if found is None and not ctx.renderbuffers.names.is_reserved(name):
            raise invalid_value(f"{name} is not the name of a renderbuffer")
        if not isinstance(found, Renderbuffer) or found.resource is None:
            raise invalid_operation(f"renderbuffer {name} has no storage")
        if level:
            raise invalid_value("a renderbuffer has one level")
        return _Place(found.resource, 0, 0, 1, found.info)
    texture = ctx.textures.names.get(name)
    if texture is None:
        if ctx.textures.names.is_reserved(name):
            raise invalid_operation(f"texture {name} has no image")
        raise invalid_value(f"{name} is not the name of a texture")
    if texture.target.value != target:
        raise invalid_enum(target, "target of this texture")
    mipmaps = texture.params.min_filter in MIPMAP_FILTERS
    if not (texture.immutable_levels or texture.is_complete(mipmaps)):
        raise invalid_operation(f"texture {name} is not complete")
    face = z if texture.target.faces == 6 else 0
    if not 0 <= face < texture.target.faces:
        raise invalid_value(f"a cube has no face {face}")
    place, image = texture.storage(face, level), texture.image(face, level)
    if place is None or image is None:
        raise invalid_value(f"level {level} has no image")
    resource, stored_level, layer = place
    layers = texture.view_layers or level_extent(resource.desc, stored_level)[2]
    return _Place(resource, stored_level, layer - face, layers, image.info)


def _check_region(
    place: _Place, x: int, y: int, width: int, height: int, z: int, depth: int
) -> None:
    """Check that the region is inside the image, in whole blocks."""
    wide, high, _ = level_extent(place.resource.desc, place.level)
    if min(z, depth) < 0 or z + depth > place.layers:
        raise invalid_value("the region is outside the image")
    if min(x, y, width, height) < 0 or x + width > wide or y + height > high:
        raise invalid_value("the region is outside the image")


def _check_blocks(place: _Place, x: int, y: int, width: int, height: int) -> None:
    """Check that a region begins at a block, and ends at a block or at the image's edge."""
    format = place.resource.desc.format
    wide, high, _ = level_extent(place.resource.desc, place.level)
    for start, size, block, edge in (
        (x, width, format.block_width, wide),
        (y, height, format.block_height, high),
    ):
        if start % block or (size % block and start + size != edge):
            raise invalid_value("the region does not consist of whole blocks")


def _in_texels(extent: int, source: int, target: int) -> int:
    """A region's extent in an image with another block size: blocks correspond one to one."""
    return extent if source == target else -(-extent // source) * target


def _check_pair(source: _Place, target: _Place) -> None:
    """Check that the two formats are compatible for copies."""
    names = f"GL_{source.info.name} and GL_{target.info.name}"
    if source.info.is_ycbcr or target.info.is_ycbcr:
        raise invalid_operation("luma and chroma are not copied")
    if not may_copy(source.info, target.info):
        raise invalid_operation(f"{names} are of different classes")
    a, b = source.resource.desc, target.resource.desc
    if a.format.block_bytes != b.format.block_bytes:
        raise invalid_operation(f"{names} are stored differently, one of them without its blocks")
    if a.samples != b.samples:
        raise invalid_operation("the images have different numbers of samples")


@entry
def copy_image_sub_data(
    ctx: Context, src: int, src_target: int, src_level: int, sx: int, sy: int, sz: int,
    dst: int, dst_target: int, dst_level: int, dx: int, dy: int, dz: int,
    width: int, height: int, depth: int,
) -> None:  # fmt: skip
    source = _image_place(ctx, src, src_target, src_level, sz)
    target = _image_place(ctx, dst, dst_target, dst_level, dz)
    _check_region(source, sx, sy, width, height, sz, depth)
    _check_blocks(source, sx, sy, width, height)
    one, other = source.resource.desc.format, target.resource.desc.format
    to = (
        _in_texels(width, one.block_width, other.block_width),
        _in_texels(height, one.block_height, other.block_height),
    )
    _check_region(target, dx, dy, *to, dz, depth)
    _check_blocks(target, dx, dy, 0, 0)  # an edge of the source may cut the last blocks
    _check_pair(source, target)
    if not (width and height and depth):
        return
    box = Box(sx, sy, source.first_layer + sz, width, height, depth)
    ctx.pipe.resource_copy_region(
        target.resource, target.level, dx, dy, target.first_layer + dz,
        source.resource, source.level, box,
    )  # fmt: skip


@entry
def copy_image_sub_data_nv(
    ctx: Context, src: int, src_target: int, src_level: int, sx: int, sy: int, sz: int,
    dst: int, dst_target: int, dst_level: int, dx: int, dy: int, dz: int,
    width: int, height: int, depth: int,
) -> None:  # fmt: skip
    """glCopyImageSubDataNV: both images must have one format, since it predates format classes."""
    source = _image_place(ctx, src, src_target, src_level, sz)
    target = _image_place(ctx, dst, dst_target, dst_level, dz)
    if source.info is not target.info:
        raise invalid_operation("the images have different formats")
    rest = (dst, dst_target, dst_level, dx, dy, dz, width, height, depth)
    copy_image_sub_data(ctx, src, src_target, src_level, sx, sy, sz, *rest)
