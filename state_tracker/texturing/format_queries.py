"""glGetInternalformat*: the properties of each internal format, per texture target.

One table defines each query. For images that cannot be made, every result is none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum, invalid_value
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.texturing.format_classes import image_class, view_class
from gallette.state_tracker.texturing.format_properties import Facts, facts
from gallette.state_tracker.texturing.texture_targets import DESKTOP_TARGETS

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

_NONE = int(GL.NONE)
_PACKED: dict[str, int] = {
    "RGB10_A2": GL.UNSIGNED_INT_2_10_10_10_REV,
    "RGB10_A2UI": GL.UNSIGNED_INT_2_10_10_10_REV,
    "R11F_G11F_B10F": GL.UNSIGNED_INT_10F_11F_11F_REV,
    "RGB9_E5": GL.UNSIGNED_INT_5_9_9_9_REV,
}


def _client_format(f: Facts) -> int:
    """The client format with equal channels."""
    name = {
        "R": "RED", "RG": "RG", "RGB": "RGB", "RGBA": "RGBA", "A": "ALPHA", "L": "LUMINANCE",
        "LA": "LUMINANCE_ALPHA", "I": "RED", "Z": "DEPTH_COMPONENT", "ZS": "DEPTH_STENCIL",
        "S": "STENCIL_INDEX",
    }[f.info.base]  # fmt: skip
    if f.info.is_integer:
        name += "_INTEGER" + ("_EXT" if name.startswith("LUMINANCE") else "")
    return int(getattr(GL, name))


def _client_type(f: Facts) -> int:
    """A client type that preserves all bits."""
    if f.info.name in _PACKED:
        return _PACKED[f.info.name]
    bits, kind = f.format.channels[0].bits, f.format.channels[0].type
    if f.info.base == "Z":
        return int(GL.FLOAT if kind == "FLOAT" else GL.UNSIGNED_INT)
    if f.info.base == "ZS":
        packed = GL.FLOAT_32_UNSIGNED_INT_24_8_REV if bits == 32 else GL.UNSIGNED_INT_24_8
        return int(packed)
    if kind == "FLOAT":
        return int(GL.HALF_FLOAT if bits == 16 else GL.FLOAT)
    word = {8: "BYTE", 16: "SHORT", 32: "INT"}.get(bits, "BYTE" if bits < 8 else "SHORT")
    return int(getattr(GL, word if kind in ("SNORM", "SINT") else "UNSIGNED_" + word))


def _encoding(f: Facts) -> int:
    return _NONE if not f.info.is_color else int(GL.SRGB if f.is_srgb else GL.LINEAR)


def _compatibility(f: Facts) -> int:
    """The class of image format compatibility; buffer textures have none."""
    return int(GL.IMAGE_FORMAT_COMPATIBILITY_BY_SIZE) if f.has_views else _NONE


def _has_images(f: Facts) -> bool:
    """Whether pixels can be transferred from and to the client."""
    return f.is_texture and f.is_sampled


Answer = Callable[[Facts], int]

VALUES: dict[int, Answer] = {
    GL.INTERNALFORMAT_SUPPORTED: lambda f: 1,
    GL.INTERNALFORMAT_PREFERRED: lambda f: f.info.value,
    GL.INTERNALFORMAT_SHARED_SIZE: lambda f: 5 if f.info.name == "RGB9_E5" else 0,
    GL.NUM_SAMPLE_COUNTS: lambda f: len(f.samples),
    GL.MAX_WIDTH: lambda f: f.extent(0),
    GL.MAX_HEIGHT: lambda f: f.extent(1),
    GL.MAX_DEPTH: lambda f: f.extent(2),
    GL.MAX_LAYERS: lambda f: f.layers,
    GL.MAX_COMBINED_DIMENSIONS: lambda f: f.combined,
    GL.COLOR_COMPONENTS: lambda f: f.info.is_color,
    GL.DEPTH_COMPONENTS: lambda f: f.has_depth,
    GL.STENCIL_COMPONENTS: lambda f: f.has_stencil,
    GL.COLOR_RENDERABLE: lambda f: f.is_renderable and f.info.is_color,
    GL.DEPTH_RENDERABLE: lambda f: f.is_renderable and f.has_depth,
    GL.STENCIL_RENDERABLE: lambda f: f.is_renderable and f.has_stencil,
    GL.MIPMAP: lambda f: f.has_mipmaps,
    GL.COLOR_ENCODING: _encoding,
    GL.TEXTURE_COMPRESSED: lambda f: f.info.is_compressed,
    GL.TEXTURE_COMPRESSED_BLOCK_WIDTH: lambda f: f.info.is_compressed * f.format.block_width,
    GL.TEXTURE_COMPRESSED_BLOCK_HEIGHT: lambda f: f.info.is_compressed * f.format.block_height,
    GL.TEXTURE_COMPRESSED_BLOCK_SIZE: lambda f: f.info.is_compressed * f.format.block_bytes,
    GL.IMAGE_FORMAT_COMPATIBILITY_TYPE: _compatibility,
    GL.IMAGE_TEXEL_SIZE: lambda f: 8 * f.format.block_bytes if f.in_image_units else 0,
    GL.IMAGE_COMPATIBILITY_CLASS: lambda f: image_class(f.info) if f.in_image_units else _NONE,
    GL.IMAGE_PIXEL_FORMAT: lambda f: _client_format(f) if f.in_image_units else _NONE,
    GL.IMAGE_PIXEL_TYPE: lambda f: _client_type(f) if f.in_image_units else _NONE,
    GL.VIEW_COMPATIBILITY_CLASS: lambda f: view_class(f.info) if f.has_views else _NONE,
    GL.READ_PIXELS_FORMAT: lambda f: _client_format(f) if f.is_renderable else _NONE,
    GL.READ_PIXELS_TYPE: lambda f: _client_type(f) if f.is_renderable else _NONE,
    GL.TEXTURE_IMAGE_FORMAT: lambda f: _client_format(f) if _has_images(f) else _NONE,
    GL.TEXTURE_IMAGE_TYPE: lambda f: _client_type(f) if _has_images(f) else _NONE,
    GL.GET_TEXTURE_IMAGE_FORMAT: lambda f: _client_format(f) if _has_images(f) else _NONE,
    GL.GET_TEXTURE_IMAGE_TYPE: lambda f: _client_type(f) if _has_images(f) else _NONE,
    GL.INTERNALFORMAT_RED_SIZE: lambda f: f.bits("R"),
    GL.INTERNALFORMAT_GREEN_SIZE: lambda f: f.bits("G"),
    GL.INTERNALFORMAT_BLUE_SIZE: lambda f: f.bits("B"),
    GL.INTERNALFORMAT_ALPHA_SIZE: lambda f: f.bits("A"),
    GL.INTERNALFORMAT_DEPTH_SIZE: lambda f: f.bits("Z"),
    GL.INTERNALFORMAT_STENCIL_SIZE: lambda f: f.bits("S"),
    GL.INTERNALFORMAT_RED_TYPE: lambda f: f.kind("R"),
    GL.INTERNALFORMAT_GREEN_TYPE: lambda f: f.kind("G"),
    GL.INTERNALFORMAT_BLUE_TYPE: lambda f: f.kind("B"),
    GL.INTERNALFORMAT_ALPHA_TYPE: lambda f: f.kind("A"),
    GL.INTERNALFORMAT_DEPTH_TYPE: lambda f: f.kind("Z"),
    GL.INTERNALFORMAT_STENCIL_TYPE: lambda f: f.kind("S"),
}

_FEATURES: dict[int, Callable[[Facts], bool]] = {
    GL.FRAMEBUFFER_RENDERABLE: lambda f: f.is_renderable,
    GL.FRAMEBUFFER_RENDERABLE_LAYERED: lambda f: f.is_renderable and f.is_layered,
    GL.FRAMEBUFFER_BLEND: lambda f: f.is_renderable and f.info.is_color and f.is_plain,
    GL.READ_PIXELS: lambda f: f.is_renderable,
    GL.MANUAL_GENERATE_MIPMAP: lambda f: f.makes_mipmaps,
    GL.AUTO_GENERATE_MIPMAP: lambda f: f.makes_mipmaps and f.ctx.is_compat,
    GL.SRGB_READ: lambda f: f.is_srgb and f.is_texture,
    GL.SRGB_WRITE: lambda f: f.is_srgb and f.is_renderable,
    GL.SRGB_DECODE_ARB: lambda f: f.is_srgb and f.is_texture,
    GL.FILTER: lambda f: f.is_plain and f.is_sampled,
    GL.TEXTURE_REDUCTION_MODE_ARB: lambda f: (
        f.ctx.caps.filter_minmax and f.info.base != "S" and f.is_sampled
    ),
    GL.TEXTURE_SHADOW: lambda f: f.has_depth and f.is_sampled,
    GL.TEXTURE_GATHER: lambda f: f.is_gathered,
    GL.TEXTURE_GATHER_SHADOW: lambda f: f.has_depth and f.is_gathered,
    GL.SHADER_IMAGE_LOAD: lambda f: f.is_image,
    GL.SHADER_IMAGE_STORE: lambda f: f.is_image,
    GL.SHADER_IMAGE_ATOMIC: lambda f: f.is_image and f.info.name in ("R32I", "R32UI"),
    GL.CLEAR_BUFFER: lambda f: f.in_buffer,
    GL.CLEAR_TEXTURE: lambda f: f.has_views and not f.info.is_compressed,
    GL.TEXTURE_VIEW: lambda f: f.has_views,
    GL.SIMULTANEOUS_TEXTURE_AND_DEPTH_TEST: lambda f: f.has_depth and f.is_texture,
    GL.SIMULTANEOUS_TEXTURE_AND_STENCIL_TEST: lambda f: f.has_stencil and f.is_texture,
    GL.SIMULTANEOUS_TEXTURE_AND_DEPTH_WRITE: lambda f: False,
    GL.SIMULTANEOUS_TEXTURE_AND_STENCIL_WRITE: lambda f: False,
    GL.VERTEX_TEXTURE: lambda f: f.is_texture,
    GL.TESS_CONTROL_TEXTURE: lambda f: f.is_texture and "tess_ctrl" in f.ctx.caps.stages,
    GL.TESS_EVALUATION_TEXTURE: lambda f: f.is_texture and "tess_eval" in f.ctx.caps.stages,
    GL.GEOMETRY_TEXTURE: lambda f: f.is_texture and "geometry" in f.ctx.caps.stages,
    GL.FRAGMENT_TEXTURE: lambda f: f.is_texture,
    GL.COMPUTE_TEXTURE: lambda f: f.is_texture and "compute" in f.ctx.caps.stages,
}
"""Queries with the result full support or none."""

_ES_TARGETS = (GL.TEXTURE_2D_MULTISAMPLE, GL.TEXTURE_2D_MULTISAMPLE_ARRAY)
_ES_NAMES = (GL.SAMPLES, GL.NUM_SAMPLE_COUNTS)


def _query(ctx: Context, target: int, internalformat: int, pname: int, count: int) -> list[int]:
    es = ctx.profile == "es"
    if target not in (_ES_TARGETS if es else DESKTOP_TARGETS) and target != GL.RENDERBUFFER:
        raise invalid_enum(target, "target of a format query")
    if count < 0:
        raise invalid_value("negative count")
    known = pname == GL.SAMPLES or pname in VALUES or pname in _FEATURES
    if not known or (es and pname not in _ES_NAMES):
        raise invalid_enum(pname, "internal format query")
    found = facts(ctx, target, internalformat)
    if es and found is None:
        raise invalid_enum(internalformat, "renderable internal format")
    if pname == GL.SAMPLES:
        return found.samples[:count] if found is not None else []
    if found is None:
        return [0][:count]
    if pname in _FEATURES:
        return [int(GL.FULL_SUPPORT) if _FEATURES[pname](found) else _NONE][:count]
    return [int(VALUES[pname](found))][:count]


@entry
def get_internalformativ(
    ctx: Context, target: int, internalformat: int, pname: int, count: int
) -> list[int]:
    return _query(ctx, target, internalformat, pname, count)


@entry
def get_internalformati64v(
    ctx: Context, target: int, internalformat: int, pname: int, count: int
) -> list[int]:
    return _query(ctx, target, internalformat, pname, count)
