"""The Vulkan format of each pipe format.

Most names differ in spelling only. Luminance, intensity and alpha are red (and green) with a
swizzle; formats with unused bits are those with alpha, which views read as one. Words that are
packed name their channels from the highest bits in Vulkan, from the lowest in the format table.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.text_tables import table_rows
from gallette.drivers.vulkan.api.binding import constant
from gallette.pipe.formats import ASTC_FOOTPRINTS, FORMATS, Format

COLOR, DEPTH, STENCIL = 1, 2, 4
"""Aspects of an image."""

_ROWS = [line.split() for line in table_rows(Path(__file__).with_name("formats.txt"))]
_SPECIAL = {
    **{name: vulkan for name, vulkan, *_ in _ROWS},
    **{
        f"ASTC_{w}x{h}_{letter}RGBA": f"ASTC_{w}x{h}_{kind}_BLOCK"
        for w, h in ASTC_FOOTPRINTS
        for letter, kind in (("", "UNORM"), ("S", "SRGB"))
    },
}
_DECODED = {name: decoded[0] for name, _, *decoded in _ROWS if decoded}
_LETTERS = {"L": "RRR1", "LA": "RRRG", "I": "RRRR", "A": "000R"}
_COMPONENTS = {"0": 1, "1": 2, "R": 3, "G": 4, "B": 5, "A": 6}
"""VkComponentSwizzle by letter."""


@lazy_dataclass(frozen=True)
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


_EXPANDED = frozenset({"L8_SRGB", "L8A8_SRGB", "R8_SRGB", "R8G8_SRGB"})


def decoded_format(format: Format) -> Format | None:
    """The format to which the host converts a format that the device cannot sample, or None."""
    if not format.is_compressed and format.name not in _EXPANDED:
        return None
    plain = "R8G8B8A8_SRGB" if format.is_srgb else "R8G8B8A8_UNORM"
    return FORMATS[_DECODED.get(format.name, plain)]
