"""The internal formats available for images: by profile, by target, by how they are made.

Used by the calls that create images, and by the queries of creatable images.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gallette.pipe.enums import Target
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    GLError,
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.texturing.es_formats import compresses_in_es, stores_in_es
from gallette.state_tracker.texturing.texture_formats import INTERNAL_FORMATS, InternalFormat
from gallette.state_tracker.texturing.texture_targets import TARGETS, TargetInfo

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context


def is_of_another_profile(ctx: Context, info: InternalFormat) -> bool:
    return (info.compat_only and ctx.is_core) or (info.is_ycbcr and ctx.profile == "es")


def internal_format(ctx: Context, value: int) -> InternalFormat:
    """The internal format of that GL value; INVALID_VALUE if GL or the profile has none."""
    info = INTERNAL_FORMATS.get(value)
    es_only = value in (GL.BGRA, GL.ETC1_RGB8_OES) and ctx.profile != "es"
    if info is None or es_only or is_of_another_profile(ctx, info):
        raise invalid_value(f"{GL.name_of(value)} is not an internal format")
    return info


_IN_VOLUMES = ("BPTC", "ASTC")
_WITHOUT_BLOCKS = (Target.TEXTURE_1D, Target.TEXTURE_1D_ARRAY, Target.TEXTURE_RECT)


def check_target(ctx: Context, info: InternalFormat, target: TargetInfo) -> None:
    """Check a format for a target: volumes have colours only, and few targets take 2D blocks."""
    if target.pipe is Target.TEXTURE_3D and not info.is_color:
        raise invalid_operation("3D textures have no depth and no stencil")
    if info.is_compressed:
        _check_blocks(ctx, info, target)


def _check_blocks(ctx: Context, info: InternalFormat, target: TargetInfo) -> None:
    es = ctx.profile == "es"
    if not compresses_in_es(info) if es else info.value == GL.ETC1_RGB8_OES:
        raise invalid_enum(info.value, "internal format")
    check_block_target(target)
    if target.pipe is Target.TEXTURE_3D:
        if es and ("ETC2" in info.name or "EAC" in info.name):
            raise invalid_operation(f"3D textures are not GL_{info.name}")
        if not any(family in info.name for family in _IN_VOLUMES):
            raise invalid_enum(info.value, "internal format of a 3D texture")


def check_block_target(target: TargetInfo) -> None:
    if target.pipe in _WITHOUT_BLOCKS:
        raise invalid_enum(target.value, "target of a compressed image")


def multisample_format(ctx: Context, value: int) -> InternalFormat:
    """The format of a multisample texture: a renderable one without shared exponents, which no
    driver draws to.
    """
    if value == GL.RGB9_E5:
        raise invalid_enum(value, "format of a multisample texture")
    return renderable_format(ctx, value)


def renderable_format(ctx: Context, value: int) -> InternalFormat:
    """The format of a renderbuffer; raises if it is not renderable."""
    info = INTERNAL_FORMATS.get(value)
    if info is not None:
        in_profile = ctx.is_compat or not info.compat_only
        if in_profile and (stores_in_es(info) if ctx.profile == "es" else info.is_renderable):
            return info
    raise invalid_enum(value, "renderable internal format")


# Formats of buffer texels: channels, sizes and types.
_TEXELS = {
    "R": "8 16 16F 32F 8I 16I 32I 8UI 16UI 32UI",
    "RG": "8 16 16F 32F 8I 16I 32I 8UI 16UI 32UI",
    "RGB": "32F 32I 32UI",
    "RGBA": "8 16 16F 32F 8I 16I 32I 8UI 16UI 32UI",
}
_IN_BUFFERS = frozenset(
    int(getattr(GL, f"{channels}{size}"))
    for channels, sizes in _TEXELS.items()
    for size in sizes.split()
)
_LEGACY = re.compile(
    r"(ALPHA|LUMINANCE|LUMINANCE_ALPHA|INTENSITY)((8|16)|(8|16|32)U?I_EXT|(16|32)F(_ARB)?)"
    r"|LUMINANCE(8|16)_ALPHA(8|16)"
)
"""Additional formats of buffer textures in the compatibility profile."""


def texel_format(ctx: Context, value: int) -> InternalFormat:
    """The format of texels in a buffer; raises if it is not valid there."""
    info = INTERNAL_FORMATS.get(value)
    legacy = info is not None and ctx.is_compat and _LEGACY.fullmatch(info.name)
    if info is None or not (legacy or value in _IN_BUFFERS):
        raise invalid_enum(value, "format of texels in a buffer")
    return info


def image_format(ctx: Context, target: int, value: int) -> InternalFormat | None:
    """The format of images made with that name for a texture target or GL_RENDERBUFFER, if any."""
    info = TARGETS.get(target)
    try:
        if info is None:
            return renderable_format(ctx, value)
        if info.multisample:
            return multisample_format(ctx, value)
        if info.pipe is Target.BUFFER:
            return texel_format(ctx, value)
        kind = internal_format(ctx, value)
        check_target(ctx, kind, info)
    except GLError:
        return None
    return kind
