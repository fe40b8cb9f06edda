"""The Vulkan format of each pipe format.

Most names differ in spelling only. Luminance, intensity and alpha are red (and green) with a
swizzle; formats with unused bits are those with alpha, which views read as one. Words that are
packed name their channels from the highest bits in Vulkan, from the lowest in the format table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from gallette.drivers.vulkan.api.binding import constant
from gallette.pipe.formats import ASTC_FOOTPRINTS, FORMATS, Format

__all__ = ["COLOR", "DEPTH", "STENCIL", "VulkanFormat", "decoded_format", "vulkan_format"]

COLOR, DEPTH, STENCIL = 1, 2, 4
"""Aspects of an image."""

_NAMES = """
Z16_UNORM:D16_UNORM Z32_FLOAT:D32_SFLOAT Z24X8_UNORM:X8_D24_UNORM_PACK32
Z24_UNORM_S8_UINT:D24_UNORM_S8_UINT Z32_FLOAT_S8X24_UINT:D32_SFLOAT_S8_UINT S8_UINT:S8_UINT
R11G11B10_FLOAT:B10G11R11_UFLOAT_PACK32 R9G9B9E5_FLOAT:E5B9G9R9_UFLOAT_PACK32
R10G10B10X2_UNORM:A2B10G10R10_UNORM_PACK32 R8G8B8X8_UNORM:R8G8B8A8_UNORM
R8G8B8X8_SNORM:R8G8B8A8_SNORM
R8G8B8X8_SRGB:R8G8B8A8_SRGB B8G8R8X8_UNORM:B8G8R8A8_UNORM DXT1_RGB:BC1_RGB_UNORM_BLOCK
DXT1_RGBA:BC1_RGBA_UNORM_BLOCK DXT3_RGBA:BC2_UNORM_BLOCK DXT5_RGBA:BC3_UNORM_BLOCK
DXT1_SRGB:BC1_RGB_SRGB_BLOCK DXT1_SRGBA:BC1_RGBA_SRGB_BLOCK DXT3_SRGBA:BC2_SRGB_BLOCK
DXT5_SRGBA:BC3_SRGB_BLOCK RGTC1_UNORM:BC4_UNORM_BLOCK RGTC1_SNORM:BC4_SNORM_BLOCK
RGTC2_UNORM:BC5_UNORM_BLOCK RGTC2_SNORM:BC5_SNORM_BLOCK BPTC_RGBA:BC7_UNORM_BLOCK
BPTC_SRGBA:BC7_SRGB_BLOCK BPTC_RGB_FLOAT:BC6H_SFLOAT_BLOCK BPTC_RGB_UFLOAT:BC6H_UFLOAT_BLOCK
ETC2_RGB8:ETC2_R8G8B8_UNORM_BLOCK ETC2_SRGB8:ETC2_R8G8B8_SRGB_BLOCK
ETC2_RGB8A1:ETC2_R8G8B8A1_UNORM_BLOCK ETC2_SRGB8A1:ETC2_R8G8B8A1_SRGB_BLOCK
ETC2_RGBA8:ETC2_R8G8B8A8_UNORM_BLOCK ETC2_SRGBA8:ETC2_R8G8B8A8_SRGB_BLOCK
ETC2_R11_UNORM:EAC_R11_UNORM_BLOCK ETC2_R11_SNORM:EAC_R11_SNORM_BLOCK
ETC2_RG11_UNORM:EAC_R11G11_UNORM_BLOCK ETC2_RG11_SNORM:EAC_R11G11_SNORM_BLOCK
"""
_SPECIAL = {
    **dict(pair.split(":") for pair in _NAMES.split()),
    **{
        f"ASTC_{w}x{h}_{letter}RGBA": f"ASTC_{w}x{h}_{kind}_BLOCK"
        for w, h in ASTC_FOOTPRINTS
        for letter, kind in (("", "UNORM"), ("S", "SRGB"))
    },
}
_LETTERS = {"L": "RRR1", "LA": "RRRG", "I": "RRRR", "A": "000R"}
_COMPONENTS = {"0": 1, "1": 2, "R": 3, "G": 4, "B": 5, "A": 6}
"""VkComponentSwizzle by letter."""


@dataclass(frozen=True, slots=True)
class VulkanFormat:
    """A format as the device stores it; `swizzle` has the sources of a view's R, G, B and A."""

    number: int
    swizzle: tuple[int, int, int, int] = (3, 4, 5, 6)
    aspect: int = COLOR
    has_alpha: bool = True


def _number(name: str) -> int:
    try:
        return constant(f"VK_FORMAT_{name}")
    except KeyError:
        return 0


def _swizzle(letters: str) -> tuple[int, int, int, int]:
    r, g, b, a = (_COMPONENTS[letter] for letter in letters)
    return r, g, b, a


@cache
def vulkan_format(format: Format) -> VulkanFormat | None:
    """The Vulkan format that stores the same bytes, or None."""
    name = format.name
    letters = "".join(c.name for c in format.channels)
    if format.is_depth_stencil:
        number = _number(_SPECIAL.get(name, ""))
        aspect = DEPTH * format.has_depth | STENCIL * format.has_stencil
        return VulkanFormat(number, _swizzle("R001"), aspect) if number else None
    if letters in _LETTERS:
        bits, kind = format.channels[0].bits, name.rpartition("_")[2]
        twin = "".join(f"{c}{bits}" for c in "RG"[: len(letters)]) + f"_{kind}"
        found = vulkan_format(FORMATS[twin]) if twin in FORMATS else None
        if found is None:
            return None
        return VulkanFormat(found.number, _swizzle(_LETTERS[letters]), COLOR)
    if name in _SPECIAL:
        number = _number(_SPECIAL[name])
    elif format.is_array:
        number = _number(name.replace("_FLOAT", "_SFLOAT"))
        if "X" in letters:
            number = 0
    else:
        parts = "".join(f"{c.name}{c.bits}" for c in reversed(format.channels))
        number = _number(f"{parts}_{name.rpartition('_')[2]}_PACK{format.block_bytes * 8}")
    if not number:
        return None
    alpha = "A" in letters
    return VulkanFormat(number, _swizzle("RGBA" if alpha else "RGB1"), COLOR, alpha)


_DECODED_NAMES = """
ETC2_R11_UNORM:R16_UNORM ETC2_R11_SNORM:R16_SNORM ETC2_RG11_UNORM:R16G16_UNORM
ETC2_RG11_SNORM:R16G16_SNORM BPTC_RGB_FLOAT:R16G16B16A16_FLOAT
BPTC_RGB_UFLOAT:R16G16B16A16_FLOAT RGTC1_UNORM:R8_UNORM RGTC1_SNORM:R8_SNORM
RGTC2_UNORM:R8G8_UNORM RGTC2_SNORM:R8G8_SNORM
"""
_DECODED = dict(pair.split(":") for pair in _DECODED_NAMES.split())
_EXPANDED = frozenset({"L8_SRGB", "L8A8_SRGB", "R8_SRGB", "R8G8_SRGB"})


def decoded_format(format: Format) -> Format | None:
    """The format to which the host converts a format that the device cannot sample, or None."""
    if not format.is_compressed and format.name not in _EXPANDED:
        return None
    plain = "R8G8B8A8_SRGB" if format.is_srgb else "R8G8B8A8_UNORM"
    return FORMATS[_DECODED.get(format.name, plain)]
