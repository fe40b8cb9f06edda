"""glGetInternalformat*: what each internal format is good for, per texture target.

One function answers one query name; most follow from the format table and from what the driver
says it supports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.pipe.enums import Bind, Target
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum, invalid_value
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.targets.renderbuffers import channel_bits
from gallette.state_tracker.texturing.es_formats import stores_in_es
from gallette.state_tracker.texturing.sparse_pages import page_size
from gallette.state_tracker.texturing.texture_formats import (
    INTERNAL_FORMATS,
    InternalFormat,
    choose_format,
)
from gallette.state_tracker.texturing.texture_targets import DESKTOP_TARGETS, TARGETS, TargetInfo

if TYPE_CHECKING:
    from gallette.pipe.formats import Format
    from gallette.state_tracker.context import Context

__all__: list[str] = []

_SIZES = {
    "RED": "R", "GREEN": "G", "BLUE": "B", "ALPHA": "A", "DEPTH": "Z", "STENCIL": "S",
}  # fmt: skip
_KINDS: dict[str, int] = {
    "UNORM": GL.UNSIGNED_NORMALIZED,
    "SNORM": GL.SIGNED_NORMALIZED,
    "FLOAT": GL.FLOAT,
    "SINT": GL.INT,
    "UINT": GL.UNSIGNED_INT,
}
_FULL, _NONE = int(GL.FULL_SUPPORT), int(GL.NONE)


class _Question:
    """One target and format: what is known about them, looked up once."""

    def __init__(self, ctx: Context, target: int, value: int):
        self.ctx, self.gl_target = ctx, target
        self.target: TargetInfo | None = TARGETS.get(target)
        self.value = value
        info = INTERNAL_FORMATS.get(value)
        if info is not None and info.compat_only and ctx.is_core:
            info = None
        self.info: InternalFormat | None = info
        self.format: Format | None = None
        if info is not None:
            bind = Bind.SAMPLER_VIEW
            if target == GL.RENDERBUFFER:
                bind = Bind.RENDER_TARGET if info.is_color else Bind.DEPTH_STENCIL
            self.format = choose_format(ctx.screen, info.candidates, self.pipe_target, 0, bind)
        if target == GL.RENDERBUFFER and not self.renderable:
            self.format = None

    @property
    def pipe_target(self) -> Target:
        return self.target.pipe if self.target is not None else Target.TEXTURE_2D

    @property
    def supported(self) -> bool:
        return self.info is not None and self.format is not None

    @property
    def renderable(self) -> bool:
        return self.info is not None and self.info.renderable_in_core

    @property
    def is_texture(self) -> bool:
        return self.target is not None

    def bits(self, letter: str) -> int:
        return channel_bits(self.info, letter) if self.info is not None and self.supported else 0

    def kind(self, letter: str) -> int:
        if self.format is None or not self.bits(letter):
            return _NONE
        if letter == "S":
            return int(GL.UNSIGNED_INT)
        found = [c for c in self.format.channels if c.name == letter]
        return _KINDS[found[0].type] if found else _NONE


def _samples(q: _Question) -> list[int]:
    multisample = q.gl_target == GL.RENDERBUFFER or (q.target is not None and q.target.multisample)
    if not multisample or not q.renderable or q.ctx.caps.max_samples < 2:
        return []
    bind = Bind.RENDER_TARGET if q.info is not None and q.info.is_color else Bind.DEPTH_STENCIL
    assert q.info is not None
    return [
        n
        for n in (16, 8, 4, 2)
        if n <= q.ctx.caps.max_samples
        and choose_format(q.ctx.screen, q.info.candidates, Target.TEXTURE_2D, n, bind) is not None
    ]


def _extent(q: _Question, axis: int) -> int:
    if q.target is None:
        return q.ctx.caps.max_texture_2d_size if axis < 2 else 0
    axes = {Target.TEXTURE_1D: 1, Target.BUFFER: 1, Target.TEXTURE_3D: 3}
    count = axes.get(q.target.pipe, 2)
    if q.target.pipe is Target.BUFFER:
        return q.ctx.caps.max_texture_buffer_size if axis == 0 else 0
    if axis == q.target.layers_axis:
        return 0
    return q.target.limit(q.ctx) if axis < count else 0


def _layers(q: _Question) -> int:
    has = q.target is not None and q.target.layers_axis >= 0
    return q.ctx.caps.max_texture_array_layers if has else 0


def _transfer(q: _Question) -> tuple[int, int]:
    """A client format and type that lose nothing."""
    info, format = q.info, q.format
    assert info is not None and format is not None
    if info.base in ("Z", "ZS", "S"):
        return {
            "Z": (GL.DEPTH_COMPONENT, GL.FLOAT if "FLOAT" in format.name else GL.UNSIGNED_INT),
            "ZS": (GL.DEPTH_STENCIL, GL.UNSIGNED_INT_24_8),
            "S": (GL.STENCIL_INDEX, GL.UNSIGNED_BYTE),
        }[info.base]
    name = {
        "R": "RED", "RG": "RG", "RGB": "RGB", "RGBA": "RGBA", "A": "ALPHA", "L": "LUMINANCE",
        "LA": "LUMINANCE_ALPHA", "I": "RED",
    }[info.base]  # fmt: skip
    if info.is_integer:
        name += "_INTEGER" + ("_EXT" if name.startswith("LUMINANCE") else "")
    bits, kind = format.channels[0].bits, format.channels[0].type
    types = {8: "BYTE", 16: "SHORT", 32: "INT"}
    if kind == "FLOAT":
        chosen = "HALF_FLOAT" if bits == 16 else "FLOAT"
    else:
        word = types.get(bits, "BYTE" if bits < 8 else "SHORT")
        chosen = word if kind in ("SNORM", "SINT") else "UNSIGNED_" + word
    return int(getattr(GL, name)), int(getattr(GL, chosen))


def _feature(q: _Question, pname: int) -> int | None:
    """Support of a feature by this resource, None if the name is none."""
    info = q.info
    assert info is not None
    color, depth = info.is_color, info.base in ("Z", "ZS")
    rendered = q.renderable and (q.target is None or q.target.pipe is not Target.BUFFER)
    plain = not info.is_integer and info.base != "S"
    mipmapped = q.target is not None and q.target.mipmapped
    images = bool(q.ctx.caps.max_shader_images) and color and not info.is_compressed
    features: dict[int, bool] = {
        GL.COLOR_RENDERABLE: rendered and color,
        GL.DEPTH_RENDERABLE: rendered and depth,
        GL.STENCIL_RENDERABLE: rendered and "S" in info.base,
        GL.FRAMEBUFFER_RENDERABLE: rendered,
        GL.FRAMEBUFFER_RENDERABLE_LAYERED: rendered and _layers(q) > 0,
        GL.FRAMEBUFFER_BLEND: rendered and color and plain,
        GL.READ_PIXELS: rendered,
        GL.MIPMAP: mipmapped,
        GL.MANUAL_GENERATE_MIPMAP: mipmapped and plain and not info.is_compressed,
        GL.AUTO_GENERATE_MIPMAP: mipmapped and plain and q.ctx.is_compat,
        GL.SRGB_READ: "SRGB" in info.name and q.is_texture,
        GL.SRGB_WRITE: "SRGB" in info.name and rendered,
        GL.SRGB_DECODE_ARB: "SRGB" in info.name and q.is_texture,
        GL.FILTER: plain and q.is_texture and not (q.target and q.target.multisample),
        GL.TEXTURE_REDUCTION_MODE_ARB: (
            q.ctx.caps.filter_minmax
            and info.base != "S"
            and q.is_texture
            and not (q.target and q.target.multisample)
        ),
        GL.TEXTURE_SHADOW: depth and q.is_texture,
        GL.TEXTURE_GATHER: q.is_texture and color,
        GL.TEXTURE_GATHER_SHADOW: q.is_texture and depth,
        GL.SHADER_IMAGE_LOAD: images,
        GL.SHADER_IMAGE_STORE: images,
        GL.SHADER_IMAGE_ATOMIC: images and info.name in ("R32I", "R32UI"),
        GL.CLEAR_BUFFER: color and q.gl_target == GL.TEXTURE_BUFFER,
        GL.TEXTURE_VIEW: q.is_texture and q.gl_target != GL.TEXTURE_BUFFER,
        GL.SIMULTANEOUS_TEXTURE_AND_DEPTH_TEST: depth and q.is_texture,
        GL.SIMULTANEOUS_TEXTURE_AND_STENCIL_TEST: "S" in info.base and q.is_texture,
        GL.SIMULTANEOUS_TEXTURE_AND_DEPTH_WRITE: False,
        GL.SIMULTANEOUS_TEXTURE_AND_STENCIL_WRITE: False,
        GL.VERTEX_TEXTURE: q.is_texture,
        GL.TESS_CONTROL_TEXTURE: q.is_texture and "tess_ctrl" in q.ctx.caps.stages,
        GL.TESS_EVALUATION_TEXTURE: q.is_texture and "tess_eval" in q.ctx.caps.stages,
        GL.GEOMETRY_TEXTURE: q.is_texture and "geometry" in q.ctx.caps.stages,
        GL.FRAGMENT_TEXTURE: q.is_texture,
        GL.COMPUTE_TEXTURE: q.is_texture and "compute" in q.ctx.caps.stages,
    }
    if pname not in features:
        return None
    if pname in _BOOLEANS:
        return int(features[pname])
    return _FULL if features[pname] else _NONE


_BOOLEANS = frozenset((GL.COLOR_RENDERABLE, GL.DEPTH_RENDERABLE, GL.STENCIL_RENDERABLE, GL.MIPMAP))


def _value(q: _Question, pname: int) -> int | None:
    """The answer to a query with one value; None if the name is unknown."""
    info = q.info
    if pname == GL.INTERNALFORMAT_SUPPORTED:
        return int(q.supported)
    if pname == GL.NUM_SAMPLE_COUNTS:
        return len(_samples(q))
    for prefix, letter in _SIZES.items():
        if pname == getattr(GL, f"INTERNALFORMAT_{prefix}_SIZE"):
            return q.bits(letter)
        if pname == getattr(GL, f"INTERNALFORMAT_{prefix}_TYPE"):
            return q.kind(letter)
    if pname in _PAGE_SIZES:
        pages = None
        if q.supported and info is not None and q.format is not None and q.is_texture:
            pages = page_size(TARGETS[q.gl_target], info, q.format)
        axis = _PAGE_SIZES[pname]
        return int(pages is not None) if axis < 0 else pages[axis] if pages is not None else 0
    known = pname in _OTHER
    if not q.supported or info is None or q.format is None:
        plain = known or _feature_name(pname)
        return 0 if plain else None
    found = _feature(q, pname)
    if found is not None:
        return found
    if not known:
        return None
    block = q.format
    answers: dict[int, int] = {
        GL.INTERNALFORMAT_PREFERRED: q.value,
        GL.INTERNALFORMAT_SHARED_SIZE: 5 if info.name == "RGB9_E5" else 0,
        GL.MAX_WIDTH: _extent(q, 0),
        GL.MAX_HEIGHT: _extent(q, 1),
        GL.MAX_DEPTH: _extent(q, 2),
        GL.MAX_LAYERS: _layers(q),
        GL.MAX_COMBINED_DIMENSIONS: 0,
        GL.COLOR_COMPONENTS: int(info.is_color),
        GL.DEPTH_COMPONENTS: int(info.base in ("Z", "ZS")),
        GL.STENCIL_COMPONENTS: int(info.base in ("S", "ZS")),
        GL.COLOR_ENCODING: (
            _NONE if not info.is_color else GL.SRGB if q.format.is_srgb else GL.LINEAR
        ),
        GL.TEXTURE_COMPRESSED: int(info.is_compressed),
        GL.TEXTURE_COMPRESSED_BLOCK_WIDTH: block.block_width if info.is_compressed else 0,
        GL.TEXTURE_COMPRESSED_BLOCK_HEIGHT: block.block_height if info.is_compressed else 0,
        GL.TEXTURE_COMPRESSED_BLOCK_SIZE: block.block_bytes if info.is_compressed else 0,
        GL.IMAGE_FORMAT_COMPATIBILITY_TYPE: int(GL.IMAGE_FORMAT_COMPATIBILITY_BY_SIZE),
        GL.IMAGE_TEXEL_SIZE: 0 if not info.is_color else 8 * block.block_bytes,
        GL.IMAGE_COMPATIBILITY_CLASS: _NONE,
        GL.VIEW_COMPATIBILITY_CLASS: view_class(info),
        GL.CLEAR_TEXTURE: _FULL if q.is_texture and not info.is_compressed else _NONE,
    }
    if pname == GL.MAX_COMBINED_DIMENSIONS:
        sizes = [_extent(q, 0), _extent(q, 1), _extent(q, 2), _layers(q)]
        total = 1
        for size in sizes:
            total *= max(size, 1)
        return total * (6 if q.gl_target == GL.TEXTURE_CUBE_MAP else 1)
    if pname in answers:
        return int(answers[pname])
    format, type = _transfer(q)
    return format if "FORMAT" in GL.name_of(pname) else type


_OTHER_NAMES = """
INTERNALFORMAT_PREFERRED INTERNALFORMAT_SHARED_SIZE MAX_WIDTH MAX_HEIGHT MAX_DEPTH MAX_LAYERS
MAX_COMBINED_DIMENSIONS COLOR_COMPONENTS DEPTH_COMPONENTS STENCIL_COMPONENTS COLOR_ENCODING
TEXTURE_COMPRESSED TEXTURE_COMPRESSED_BLOCK_WIDTH TEXTURE_COMPRESSED_BLOCK_HEIGHT
TEXTURE_COMPRESSED_BLOCK_SIZE CLEAR_TEXTURE IMAGE_FORMAT_COMPATIBILITY_TYPE IMAGE_TEXEL_SIZE
IMAGE_COMPATIBILITY_CLASS IMAGE_PIXEL_FORMAT IMAGE_PIXEL_TYPE VIEW_COMPATIBILITY_CLASS
READ_PIXELS_FORMAT READ_PIXELS_TYPE TEXTURE_IMAGE_FORMAT TEXTURE_IMAGE_TYPE
GET_TEXTURE_IMAGE_FORMAT GET_TEXTURE_IMAGE_TYPE
"""
_OTHER = frozenset(getattr(GL, name) for name in _OTHER_NAMES.split())


_PAGE_SIZES = {
    GL.NUM_VIRTUAL_PAGE_SIZES_ARB: -1,
    GL.VIRTUAL_PAGE_SIZE_X_ARB: 0,
    GL.VIRTUAL_PAGE_SIZE_Y_ARB: 1,
    GL.VIRTUAL_PAGE_SIZE_Z_ARB: 2,
}


def _feature_name(pname: int) -> bool:
    name = GL.name_of(pname)
    words = ("RENDERABLE", "TEXTURE", "SRGB_", "SHADER_IMAGE", "MIPMAP", "FILTER", "READ_PIXELS",
             "FRAMEBUFFER_BLEND", "CLEAR_BUFFER", "SIMULTANEOUS")  # fmt: skip
    return any(w in name for w in words)


def view_class(info: InternalFormat) -> int:
    """Formats of one class may view each other's texels; NONE if there is no class."""
    format = info.candidates[0]
    if not info.is_color or info.compat_only or info.is_ycbcr:
        return _NONE
    if info.is_compressed:
        family = info.name.removeprefix("COMPRESSED_").replace("SRGB_ALPHA", "RGBA")
        family = family.replace("SIGNED_", "").replace("SRGB", "RGB")
        classes = {
            "RED_RGTC1": GL.VIEW_CLASS_RGTC1_RED,
            "RG_RGTC2": GL.VIEW_CLASS_RGTC2_RG,
            "RGB_S3TC_DXT1_EXT": GL.VIEW_CLASS_S3TC_DXT1_RGB,
            "RGBA_S3TC_DXT1_EXT": GL.VIEW_CLASS_S3TC_DXT1_RGBA,
            "RGBA_S3TC_DXT3_EXT": GL.VIEW_CLASS_S3TC_DXT3_RGBA,
            "RGBA_S3TC_DXT5_EXT": GL.VIEW_CLASS_S3TC_DXT5_RGBA,
            "R11_EAC": GL.VIEW_CLASS_EAC_R11,
            "RG11_EAC": GL.VIEW_CLASS_EAC_RG11,
            "RGB8_ETC2": GL.VIEW_CLASS_ETC2_RGB,
            "RGB8_PUNCHTHROUGH_ALPHA1_ETC2": GL.VIEW_CLASS_ETC2_RGBA,
            "RGBA8_ETC2_EAC": GL.VIEW_CLASS_ETC2_EAC_RGBA,
            "RGB8_ALPHA8_ETC2_EAC": GL.VIEW_CLASS_ETC2_EAC_RGBA,
        }
        return int(classes.get(family, _NONE))
    sized = any(c.isdigit() for c in info.name) and not info.name.isdigit()
    return int(getattr(GL, f"VIEW_CLASS_{_bits(info, format)}_BITS", _NONE)) if sized else _NONE


def _bits(info: InternalFormat, format: Format) -> int:
    """Bits of a texel as the specification counts them: RGB8 is 24, however it is stored."""
    channels = [c for c in format.channels if c.name in info.base or c.name == "E"]
    return sum(c.bits for c in channels)


_ES_TARGETS = (GL.TEXTURE_2D_MULTISAMPLE, GL.TEXTURE_2D_MULTISAMPLE_ARRAY)


def _query(ctx: Context, target: int, internalformat: int, pname: int, count: int) -> list[int]:
    es = ctx.profile == "es"
    if target not in (_ES_TARGETS if es else DESKTOP_TARGETS) and target != GL.RENDERBUFFER:
        raise invalid_enum(target, "target of a format query")
    if count < 0:
        raise invalid_value("negative count")
    question = _Question(ctx, target, internalformat)
    basic = pname in (GL.SAMPLES, GL.NUM_SAMPLE_COUNTS)
    unsized = internalformat in (GL.RGB, GL.RGBA)  # may be asked for, as the only such
    if basic and es and not unsized and (not question.info or not stores_in_es(question.info)):
        raise invalid_enum(internalformat, "renderable internal format")
    if pname == GL.SAMPLES:
        return _samples(question)[:count]
    if es and not basic:
        raise invalid_enum(pname, "internal format query")
    found = _value(question, pname)
    if found is None:
        raise invalid_enum(pname, "internal format query")
    return [found][:count]


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
