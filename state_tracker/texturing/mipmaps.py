"""Mipmap generation: glGenerateMipmap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.pipe.codecs import can_encode
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum, invalid_operation
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.texturing.es_formats import makes_es_mipmaps
from gallette.state_tracker.texturing.texture_formats import InternalFormat, linear_format
from gallette.state_tracker.texturing.textures import TexImage, TextureObject
from gallette.state_tracker.texturing.units import current

if TYPE_CHECKING:
    from gallette.pipe.formats import Format
    from gallette.state_tracker.context import Context

_TARGETS = frozenset(
    (
        GL.TEXTURE_1D,
        GL.TEXTURE_2D,
        GL.TEXTURE_3D,
        GL.TEXTURE_1D_ARRAY,
        GL.TEXTURE_2D_ARRAY,
        GL.TEXTURE_CUBE_MAP,
        GL.TEXTURE_CUBE_MAP_ARRAY,
    )
)


def makes_mipmaps(ctx: Context, info: InternalFormat, format: Format, unsized: int = 0) -> bool:
    """Whether an internal format can be averaged, and the driver can write its storage format."""
    packed = format.is_compressed and (ctx.profile == "es" or not can_encode(format))
    if ctx.profile == "es" and not makes_es_mipmaps(info, unsized):
        return False
    return not (info.base in ("S", "ZS") or info.is_integer or packed)


def has_mipmaps(ctx: Context, image: TexImage) -> bool:
    return makes_mipmaps(ctx, image.info, image.format, image.unsized)


def generate(ctx: Context, texture: TextureObject) -> None:
    """Compute every level below the base level."""
    base = texture.image(0, texture.base_level)
    if base is None:
        raise invalid_operation(f"level {texture.base_level}, the base, has no image")
    if not base.width:
        return
    if not has_mipmaps(ctx, base):
        raise invalid_operation(f"no mipmaps of GL_{base.info.name}")
    if texture.target.faces == 6 and not texture.is_complete(False):
        raise invalid_operation("the cube map is not complete")
    last = texture.last_level
    for level in range(texture.base_level + 1, last + 1):
        extent = texture.target.level_extent(base.extent, level - texture.base_level)
        for face, images in enumerate(texture.images):
            old = images.get(level)
            if old is None or old.extent != extent or old.info is not base.info:
                made = TexImage(*extent, base.info, base.format, unsized=base.unsized)
                texture.define(face, level, made)
    texture.finalize()
    resource = texture.resource
    if resource is None:
        return
    last = min(last, resource.desc.last_level - texture.first_level)
    if last > texture.base_level:
        first, layers = texture.first_layer, texture.view_layers or resource.desc.array_size
        up = texture.first_level
        # sRGB numbers are averaged as they are stored where the texture is sampled so.
        decodes = texture.params.srgb_decode == GL.DECODE_EXT
        ctx.pipe.generate_mipmap(
            resource,
            base.format if decodes else linear_format(base.format),
            texture.base_level + up,
            last + up,
            first,
            first + layers - 1,
        )
    texture.changed()


@entry
def generate_mipmap(ctx: Context, target: int) -> None:
    if target not in _TARGETS:
        raise invalid_enum(target, "mipmapped texture target")
    generate(ctx, current(ctx, target))


@entry
def generate_texture_mipmap(ctx: Context, texture: int) -> None:
    found = ctx.textures.names.require(texture)
    if found.target.value not in _TARGETS:
        raise invalid_operation("this texture has no mipmaps")
    generate(ctx, found)
