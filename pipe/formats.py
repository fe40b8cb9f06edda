"""The pixel format table: a format's name lists its channels, and everything else is derived from
it.

`R8G8B8A8_UNORM` reads: four 8-bit channels in memory order, unsigned normalised. Formats whose
channels all have 8, 16, 32 or 64 bits are arrays of channels; the others (`B5G6R5_UNORM`) are
packed into one little-endian word, first channel in the lowest bits. Formats that cannot be spelled
that way (shared exponents, block compression) have codecs of their own in `gallette.pipe.codecs`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["ASTC_FOOTPRINTS", "FORMATS", "Channel", "Format", "format_named"]

Array = npt.NDArray[Any]

_TYPES = ("UNORM", "SNORM", "UINT", "SINT", "USCALED", "SSCALED", "FLOAT", "SRGB", "FIXED")


@dataclass(frozen=True, slots=True)
class Channel:
    """One channel: its letter (R G B A L I X Z S), bits, position in the block, numeric type."""

    name: str
    bits: int
    shift: int
    type: str  # one of _TYPES, with SRGB resolved to UNORM


@dataclass(frozen=True, eq=False)
class Format:
    """A pixel format. Formats are interned: compare them with `is`."""

    name: str
    channels: tuple[Channel, ...]
    block_bytes: int
    block_width: int = 1
    block_height: int = 1
    is_srgb: bool = False
    codec: str = "plain"  # "plain", or the name of a codec in pipe.codecs

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return format_named, (self.name,)

    @cached_property
    def is_compressed(self) -> bool:
        return self.block_width > 1

    @cached_property
    def has_depth(self) -> bool:
        return any(c.name == "Z" for c in self.channels)

    @cached_property
    def has_stencil(self) -> bool:
        return any(c.name == "S" for c in self.channels)

    @cached_property
    def is_depth_stencil(self) -> bool:
        return self.has_depth or self.has_stencil

    @cached_property
    def is_color(self) -> bool:
        return not self.is_depth_stencil

    @cached_property
    def is_pure_integer(self) -> bool:
        """Whether it is a UINT or SINT colour format, which is never filtered, blended or
        converted.
        """
        integer = any(c.type in ("UINT", "SINT") and c.name != "X" for c in self.channels)
        return self.is_color and integer

    @cached_property
    def is_signed_integer(self) -> bool:
        return self.is_pure_integer and any(c.type == "SINT" for c in self.channels)

    @cached_property
    def is_float(self) -> bool:
        return any(c.type == "FLOAT" for c in self.channels)

    @cached_property
    def is_normalized(self) -> bool:
        return any(c.type in ("UNORM", "SNORM") for c in self.channels)

    @cached_property
    def is_fixed_point(self) -> bool:
        """Whether channels are fractions from 0 to 1."""
        return all(c.type == "UNORM" for c in self.channels if c.name != "X")

    @cached_property
    def is_byte_color(self) -> bool:
        """Whether texels are four unsigned normalised bytes, one of them perhaps padding."""
        return len(self.channels) == 4 and all(
            c.bits == 8 and c.type == "UNORM" and c.name in "RGBAX" for c in self.channels
        )

    @cached_property
    def is_unorm8(self) -> bool:
        """Whether all channels are 8-bit normalised and stored linearly, so that they are blended
        and filtered in 8 bits.
        """
        return (
            self.is_array
            and not self.is_srgb
            and all(c.bits == 8 and c.type == "UNORM" for c in self.channels)
        )

    @cached_property
    def component_count(self) -> int:
        return sum(c.name != "X" for c in self.channels)

    @cached_property
    def rgba_dtype(self) -> np.dtype[Any]:
        """The type that `unpack` returns: float32 (never float64), or int32 / uint32 for pure
        integers.
        """
        if not self.is_pure_integer:
            return np.dtype(np.float32)
        return np.dtype(np.int32 if self.is_signed_integer else np.uint32)

    @cached_property
    def is_array(self) -> bool:
        """Whether all channels have the same whole-byte size, so that memory is an array of
        channels.
        """
        sizes = {c.bits for c in self.channels}
        return self.codec == "plain" and len(sizes) == 1 and sizes <= {8, 16, 32, 64}

    @cached_property
    def swizzle(self) -> tuple[str | int, str | int, str | int, str | int]:
        """The source of R, G, B, A: an index into `channels`, or "0" / "1"."""
        found: dict[str, int] = {c.name: i for i, c in enumerate(self.channels)}
        if "L" in found:
            source = found["L"]
            return source, source, source, found.get("A", "1")
        if "I" in found:
            source = found["I"]
            return source, source, source, source
        if "Z" in found:
            return found["Z"], "0", "0", "1"
        if "S" in found:
            return found["S"], "0", "0", "1"
        first: tuple[str | int, ...] = tuple(found.get(name, "0") for name in "RGB")
        return first[0], first[1], first[2], found.get("A", "1")

    def row_bytes(self, width: int) -> int:
        """Bytes of one row of blocks, tightly packed."""
        return -(-width // self.block_width) * self.block_bytes

    def rows(self, height: int) -> int:
        """Rows of blocks in an image of this height."""
        return -(-height // self.block_height)


# Names spelled by their channels, grouped by kind; the parser below reads them.
_NAMED = """
R8_{n} R8G8_{n} R8G8B8_{n} R8G8B8A8_{n}
R16_{w} R16G16_{w} R16G16B16_{w} R16G16B16A16_{w}
R32_{d} R32G32_{d} R32G32B32_{d} R32G32B32A32_{d}
R64_FLOAT R64G64_FLOAT R64G64B64_FLOAT R64G64B64A64_FLOAT
R64_UINT R64_SINT
R8_SRGB R8G8_SRGB R8G8B8_SRGB R8G8B8A8_SRGB B8G8R8A8_SRGB R8G8B8X8_SRGB L8_SRGB L8A8_SRGB
B8G8R8A8_UNORM B8G8R8X8_UNORM R8G8B8X8_UNORM R8G8B8X8_SNORM A8R8G8B8_UNORM A8B8G8R8_UNORM
A8_UNORM L8_UNORM L8A8_UNORM I8_UNORM A16_UNORM L16_UNORM L16A16_UNORM I16_UNORM
A16_FLOAT L16_FLOAT L16A16_FLOAT I16_FLOAT A32_FLOAT L32_FLOAT L32A32_FLOAT I32_FLOAT
A8_SNORM L8_SNORM L8A8_SNORM I8_SNORM A16_SNORM L16_SNORM L16A16_SNORM I16_SNORM
A8_UINT A8_SINT L8_UINT L8_SINT L8A8_UINT L8A8_SINT I8_UINT I8_SINT
A16_UINT A16_SINT L16_UINT L16_SINT L16A16_UINT L16A16_SINT I16_UINT I16_SINT
A32_UINT A32_SINT L32_UINT L32_SINT L32A32_UINT L32A32_SINT I32_UINT I32_SINT
B5G6R5_UNORM R5G6B5_UNORM B4G4R4A4_UNORM A4B4G4R4_UNORM R4G4B4A4_UNORM B5G5R5A1_UNORM A1B5G5R5_UNORM
R5G5B5A1_UNORM B2G3R3_UNORM R3G3B2_UNORM
R10G10B10A2_{p} B10G10R10A2_{p} A2B10G10R10_UNORM A2R10G10B10_UNORM
R10G10B10X2_UNORM
Z16_UNORM Z32_UNORM Z24X8_UNORM Z32_FLOAT S8_UINT
"""
_GROUPS = {
    "n": ("UNORM", "SNORM", "UINT", "SINT", "USCALED", "SSCALED"),
    "w": ("UNORM", "SNORM", "UINT", "SINT", "USCALED", "SSCALED", "FLOAT"),
    "d": ("UNORM", "SNORM", "UINT", "SINT", "USCALED", "SSCALED", "FLOAT", "FIXED"),
    "p": ("UNORM", "SNORM", "UINT", "SINT", "USCALED", "SSCALED"),
}

# Formats without such a name: channels as (letter, bits, type), bytes per block, block size, codec.
_SPECIAL: dict[str, tuple[str, int, int, int, str]] = {
    "Z24_UNORM_S8_UINT": ("Z24:UNORM S8:UINT", 4, 1, 1, "plain"),
    "Z32_FLOAT_S8X24_UINT": ("Z32:FLOAT S8:UINT X24:UINT", 8, 1, 1, "plain"),
    "R11G11B10_FLOAT": ("R11:FLOAT G11:FLOAT B10:FLOAT", 4, 1, 1, "small_float"),
    "R9G9B9E5_FLOAT": ("R9:FLOAT G9:FLOAT B9:FLOAT X5:UINT", 4, 1, 1, "shared_exponent"),
    "DXT1_RGB": ("R8:UNORM G8:UNORM B8:UNORM", 8, 4, 4, "bc1"),
    "DXT1_RGBA": ("R8:UNORM G8:UNORM B8:UNORM A8:UNORM", 8, 4, 4, "bc1a"),
    "DXT3_RGBA": ("R8:UNORM G8:UNORM B8:UNORM A8:UNORM", 16, 4, 4, "bc2"),
    "DXT5_RGBA": ("R8:UNORM G8:UNORM B8:UNORM A8:UNORM", 16, 4, 4, "bc3"),
    "DXT1_SRGB": ("R8:SRGB G8:SRGB B8:SRGB", 8, 4, 4, "bc1"),
    "DXT1_SRGBA": ("R8:SRGB G8:SRGB B8:SRGB A8:UNORM", 8, 4, 4, "bc1a"),
    "DXT3_SRGBA": ("R8:SRGB G8:SRGB B8:SRGB A8:UNORM", 16, 4, 4, "bc2"),
    "DXT5_SRGBA": ("R8:SRGB G8:SRGB B8:SRGB A8:UNORM", 16, 4, 4, "bc3"),
    "RGTC1_UNORM": ("R8:UNORM", 8, 4, 4, "bc4"),
    "RGTC1_SNORM": ("R8:SNORM", 8, 4, 4, "bc4s"),
    "RGTC2_UNORM": ("R8:UNORM G8:UNORM", 16, 4, 4, "bc5"),
    "RGTC2_SNORM": ("R8:SNORM G8:SNORM", 16, 4, 4, "bc5s"),
    "FXT1_RGB": ("R8:UNORM G8:UNORM B8:UNORM", 16, 8, 4, "fxt1_opaque"),
    "FXT1_RGBA": ("R8:UNORM G8:UNORM B8:UNORM A8:UNORM", 16, 8, 4, "fxt1"),
    "ETC2_RGB8": ("R8:UNORM G8:UNORM B8:UNORM", 8, 4, 4, "etc2"),
    "ETC2_SRGB8": ("R8:SRGB G8:SRGB B8:SRGB", 8, 4, 4, "etc2"),
    "ETC2_RGB8A1": ("R8:UNORM G8:UNORM B8:UNORM A8:UNORM", 8, 4, 4, "etc2a1"),
    "ETC2_SRGB8A1": ("R8:SRGB G8:SRGB B8:SRGB A8:UNORM", 8, 4, 4, "etc2a1"),
    "ETC2_RGBA8": ("R8:UNORM G8:UNORM B8:UNORM A8:UNORM", 16, 4, 4, "etc2a8"),
    "ETC2_SRGBA8": ("R8:SRGB G8:SRGB B8:SRGB A8:UNORM", 16, 4, 4, "etc2a8"),
    "ETC2_R11_UNORM": ("R11:UNORM", 8, 4, 4, "eac_r11"),
    "ETC2_R11_SNORM": ("R11:SNORM", 8, 4, 4, "eac_r11s"),
    "ETC2_RG11_UNORM": ("R11:UNORM G11:UNORM", 16, 4, 4, "eac_rg11"),
    "ETC2_RG11_SNORM": ("R11:SNORM G11:SNORM", 16, 4, 4, "eac_rg11s"),
    "BPTC_RGBA": ("R8:UNORM G8:UNORM B8:UNORM A8:UNORM", 16, 4, 4, "bc7"),
    "BPTC_SRGBA": ("R8:SRGB G8:SRGB B8:SRGB A8:UNORM", 16, 4, 4, "bc7"),
    "BPTC_RGB_FLOAT": ("R16:FLOAT G16:FLOAT B16:FLOAT", 16, 4, 4, "bc6h_signed"),
    "BPTC_RGB_UFLOAT": ("R16:FLOAT G16:FLOAT B16:FLOAT", 16, 4, 4, "bc6h_unsigned"),
}


ASTC_FOOTPRINTS = (
    *((4, 4), (5, 4), (5, 5), (6, 5), (6, 6), (8, 5), (8, 6), (8, 8)),
    *((10, 5), (10, 6), (10, 8), (10, 10), (12, 10), (12, 12)),
)
for _w, _h in ASTC_FOOTPRINTS:
    _SPECIAL[f"ASTC_{_w}x{_h}_RGBA"] = (
        *("R8:UNORM G8:UNORM B8:UNORM A8:UNORM", 16, _w, _h),
        f"astc_{_w}x{_h}",
    )
    _SPECIAL[f"ASTC_{_w}x{_h}_SRGBA"] = (
        *("R8:SRGB G8:SRGB B8:SRGB A8:UNORM", 16, _w, _h),
        f"astc_{_w}x{_h}_srgb",
    )


def _channels(items: list[tuple[str, int, str]]) -> tuple[Channel, ...]:
    shift = 0
    channels = []
    for letter, bits, kind in items:
        srgb = "UNORM" if kind == "SRGB" else kind
        channels.append(Channel(letter, bits, shift, "UINT" if letter == "S" else srgb))
        shift += bits
    return tuple(channels)


def _spelt(name: str) -> Format:
    layout, _, kind = name.rpartition("_")
    assert kind in _TYPES, name
    items = [(m[1], int(m[2]), kind) for m in re.finditer(r"([RGBALIXZS])(\d+)", layout)]
    channels = _channels(items)
    bits = sum(c.bits for c in channels)
    return Format(name, channels, bits // 8, is_srgb=kind == "SRGB")


def _special(name: str) -> Format:
    text, size, width, height, codec = _SPECIAL[name]
    items = []
    for part in text.split():
        layout, kind = part.split(":")
        items.append((layout[0], int(layout[1:]), kind))
    return Format(name, _channels(items), size, width, height, "SRGB" in text, codec)


def _all_names() -> list[str]:
    names = []
    for entry in _NAMED.split():
        group = re.search(r"\{(\w)\}", entry)
        kinds = _GROUPS[group[1]] if group else ("",)
        names += [re.sub(r"\{\w\}", kind, entry) for kind in kinds]
    return names + list(_SPECIAL)


FORMATS: dict[str, Format] = {
    name: _special(name) if name in _SPECIAL else _spelt(name) for name in _all_names()
}


@cache
def format_named(name: str) -> Format:
    """The format of that name; KeyError if there is none."""
    return FORMATS[name]
