"""Formats and targets of textures, and what they are in shaders."""

from __future__ import annotations

from dataclasses import dataclass

from gallette.state_tracker import GL
from gallette.state_tracker.texturing.texture_formats import INTERNAL_FORMATS, InternalFormat

FORMATS = {
    info.name: info
    for info in INTERNAL_FORMATS.values()
    if not (info.compat_only or info.is_ycbcr or info.name.isdigit())
}
"""Every internal format of textures that core profiles have."""

_IMAGES = """
RGBA32F RGBA16F RG32F RG16F R11F_G11F_B10F R32F R16F RGBA16 RGB10_A2 RGBA8 RG16 RG8 R16 R8
RGBA16_SNORM RGBA8_SNORM RG16_SNORM RG8_SNORM R16_SNORM R8_SNORM RGBA32I RGBA16I RGBA8I RG32I RG16I
RG8I R32I R16I R8I RGBA32UI RGBA16UI RGB10_A2UI RGBA8UI RG32UI RG16UI RG8UI R32UI R16UI R8UI
"""
IMAGE_FORMATS = {name: name.lower() for name in _IMAGES.split()}
"""Formats of images: the internal format, and what GLSL calls it."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A target of textures, and what it is in GLSL."""

    target: str
    sampler: str
    sizes: int  # dimensions of a level
    coords: int  # of a lookup, the layer among them
    derivatives: int
    layers: str = ""  # "layer", "face", "slice"
    plain: bool = True  # with levels, filters and uploads


TARGETS = {
    shape.target: shape
    for shape in (
        Shape("TEXTURE_1D", "1D", 1, 1, 1),
        Shape("TEXTURE_2D", "2D", 2, 2, 2),
        Shape("TEXTURE_3D", "3D", 3, 3, 3, "slice"),
        Shape("TEXTURE_CUBE_MAP", "Cube", 2, 3, 3, "face"),
        Shape("TEXTURE_RECTANGLE", "2DRect", 2, 2, 2),
        Shape("TEXTURE_1D_ARRAY", "1DArray", 2, 2, 1, "layer"),
        Shape("TEXTURE_2D_ARRAY", "2DArray", 3, 3, 2, "layer"),
        Shape("TEXTURE_CUBE_MAP_ARRAY", "CubeArray", 3, 4, 3, "layer"),
        Shape("TEXTURE_BUFFER", "Buffer", 0, 1, 0, plain=False),
        Shape("TEXTURE_2D_MULTISAMPLE", "2DMS", 2, 2, 0, plain=False),
        Shape("TEXTURE_2D_MULTISAMPLE_ARRAY", "2DMSArray", 3, 3, 0, "layer", plain=False),
    )
}


def kind_of(info: InternalFormat) -> str:
    """What a sampler of the format yields: "" for floats, "i" or "u", "z" for depths."""
    if info.base in ("Z", "ZS"):
        return "z"
    if info.base == "S":
        return "u"
    if not info.is_integer:
        return ""
    return "u" if info.candidates[0].channels[0].type == "UINT" else "i"


def upload(info: InternalFormat) -> tuple[str, str]:
    """A pixel format and a type that fit."""
    if info.base == "Z":
        return "GL.DEPTH_COMPONENT", "GL.FLOAT"
    if info.base == "ZS":
        packed = "FLOAT" in info.candidates[0].name
        kind = "FLOAT_32_UNSIGNED_INT_24_8_REV" if packed else "UNSIGNED_INT_24_8"
        return "GL.DEPTH_STENCIL", f"GL.{kind}"
    if info.base == "S":
        return "GL.STENCIL_INDEX", "GL.UNSIGNED_BYTE"
    if info.is_integer:
        return "GL.RGBA_INTEGER", "GL.UNSIGNED_INT" if kind_of(info) == "u" else "GL.INT"
    return "GL.RGBA", "GL.FLOAT"


assert all(hasattr(GL, name) for name in IMAGE_FORMATS)
