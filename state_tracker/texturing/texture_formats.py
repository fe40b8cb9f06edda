"""Internal formats: the channels of `GL_RGB8` and others, and the pipe format that stores each.

The table lists, for each GL internal format, its base format (the channels it has) and pipe formats
from best to worst; the first one that the driver supports is used. All other properties of an
internal format follow from these two.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from gallette.pipe.enums import Bind, Target
from gallette.pipe.formats import ASTC_FOOTPRINTS, FORMATS, Format
from gallette.state_tracker.entry_points.enums import GL

if TYPE_CHECKING:
    from gallette.pipe.caps import Caps
    from gallette.pipe.interface import Screen

# GL name | base | pipe formats, best first. An upper-case base name lists the channels.
_TABLE = """
1 L L8_UNORM
2 LA L8A8_UNORM
3 RGB R8G8B8X8_UNORM R8G8B8A8_UNORM
4 RGBA R8G8B8A8_UNORM
RED R R8_UNORM
RG RG R8G8_UNORM
RGB RGB R8G8B8X8_UNORM R8G8B8A8_UNORM
RGBA RGBA R8G8B8A8_UNORM
BGRA RGBA R8G8B8A8_UNORM
R8 R R8_UNORM
R8_SNORM R R8_SNORM
RED_SNORM R R8_SNORM
RG_SNORM RG R8G8_SNORM
RGB_SNORM RGB R8G8B8X8_SNORM R8G8B8A8_SNORM
RGBA_SNORM RGBA R8G8B8A8_SNORM
R16 R R16_UNORM
R16_SNORM R R16_SNORM
RG8 RG R8G8_UNORM
RG8_SNORM RG R8G8_SNORM
RG16 RG R16G16_UNORM
RG16_SNORM RG R16G16_SNORM
R3_G3_B2 RGB B2G3R3_UNORM R3G3B2_UNORM B5G6R5_UNORM R8G8B8X8_UNORM R8G8B8A8_UNORM
RGB4 RGB B5G6R5_UNORM R8G8B8X8_UNORM R8G8B8A8_UNORM
RGB5 RGB B5G5R5X1_UNORM B5G6R5_UNORM R8G8B8X8_UNORM R8G8B8A8_UNORM
RGB565 RGB B5G6R5_UNORM R5G6B5_UNORM R8G8B8X8_UNORM R8G8B8A8_UNORM
RGB8 RGB R8G8B8X8_UNORM R8G8B8A8_UNORM
RGB8_SNORM RGB R8G8B8X8_SNORM R8G8B8A8_SNORM
RGB10 RGB R10G10B10X2_UNORM R10G10B10A2_UNORM R16G16B16A16_UNORM
RGB12 RGB R16G16B16_UNORM R16G16B16A16_UNORM
RGB16 RGB R16G16B16_UNORM R16G16B16A16_UNORM
RGB16_SNORM RGB R16G16B16_SNORM R16G16B16A16_SNORM
RGBA2 RGBA B4G4R4A4_UNORM R8G8B8A8_UNORM
RGBA4 RGBA B4G4R4A4_UNORM A4B4G4R4_UNORM R8G8B8A8_UNORM
RGB5_A1 RGBA B5G5R5A1_UNORM A1B5G5R5_UNORM R8G8B8A8_UNORM
RGBA8 RGBA R8G8B8A8_UNORM B8G8R8A8_UNORM
RGBA8_SNORM RGBA R8G8B8A8_SNORM
RGB10_A2 RGBA R10G10B10A2_UNORM
RGB10_A2UI RGBA R10G10B10A2_UINT
RGBA12 RGBA R16G16B16A16_UNORM
RGBA16 RGBA R16G16B16A16_UNORM
RGBA16_SNORM RGBA R16G16B16A16_SNORM
SRGB RGB R8G8B8X8_SRGB R8G8B8A8_SRGB
SRGB8 RGB R8G8B8X8_SRGB R8G8B8A8_SRGB
SRGB_ALPHA RGBA R8G8B8A8_SRGB
SRGB8_ALPHA8 RGBA R8G8B8A8_SRGB
SR8_EXT R R8_SRGB
SRG8_EXT RG R8G8_SRGB
R16F R R16_FLOAT
RG16F RG R16G16_FLOAT
RGB16F RGB R16G16B16_FLOAT R16G16B16A16_FLOAT
RGBA16F RGBA R16G16B16A16_FLOAT
R32F R R32_FLOAT
RG32F RG R32G32_FLOAT
RGB32F RGB R32G32B32_FLOAT R32G32B32A32_FLOAT
RGBA32F RGBA R32G32B32A32_FLOAT
R11F_G11F_B10F RGB R11G11B10_FLOAT
RGB9_E5 RGB R9G9B9E5_FLOAT
ALPHA A A8_UNORM R8G8B8A8_UNORM
ALPHA4 A A8_UNORM
ALPHA8 A A8_UNORM
ALPHA12 A A16_UNORM
ALPHA16 A A16_UNORM
LUMINANCE L L8_UNORM
LUMINANCE4 L L8_UNORM
LUMINANCE8 L L8_UNORM
LUMINANCE12 L L16_UNORM
LUMINANCE16 L L16_UNORM
LUMINANCE_ALPHA LA L8A8_UNORM
LUMINANCE4_ALPHA4 LA L8A8_UNORM
LUMINANCE6_ALPHA2 LA L8A8_UNORM
LUMINANCE8_ALPHA8 LA L8A8_UNORM
LUMINANCE12_ALPHA4 LA L16A16_UNORM
LUMINANCE12_ALPHA12 LA L16A16_UNORM
LUMINANCE16_ALPHA16 LA L16A16_UNORM
SLUMINANCE L L8_SRGB
SLUMINANCE8 L L8_SRGB
SLUMINANCE_ALPHA LA L8A8_SRGB
SLUMINANCE8_ALPHA8 LA L8A8_SRGB
INTENSITY I I8_UNORM
INTENSITY4 I I8_UNORM
INTENSITY8 I I8_UNORM
INTENSITY12 I I16_UNORM
INTENSITY16 I I16_UNORM
ALPHA16F_ARB A A16_FLOAT
ALPHA32F_ARB A A32_FLOAT
LUMINANCE16F_ARB L L16_FLOAT
LUMINANCE32F_ARB L L32_FLOAT
LUMINANCE_ALPHA16F_ARB LA L16A16_FLOAT
LUMINANCE_ALPHA32F_ARB LA L32A32_FLOAT
INTENSITY16F_ARB I I16_FLOAT
INTENSITY32F_ARB I I32_FLOAT
ALPHA8_SNORM A A8_SNORM
ALPHA_SNORM A A8_SNORM
LUMINANCE_SNORM L L8_SNORM
LUMINANCE_ALPHA_SNORM LA L8A8_SNORM
INTENSITY_SNORM I I8_SNORM
LUMINANCE8_SNORM L L8_SNORM
LUMINANCE8_ALPHA8_SNORM LA L8A8_SNORM
INTENSITY8_SNORM I I8_SNORM
ALPHA16_SNORM A A16_SNORM
LUMINANCE16_SNORM L L16_SNORM
LUMINANCE16_ALPHA16_SNORM LA L16A16_SNORM
INTENSITY16_SNORM I I16_SNORM
DEPTH_COMPONENT Z Z24X8_UNORM Z24_UNORM_S8_UINT Z32_FLOAT
DEPTH_COMPONENT16 Z Z16_UNORM
DEPTH_COMPONENT24 Z Z24X8_UNORM Z24_UNORM_S8_UINT
DEPTH_COMPONENT32 Z Z32_UNORM Z24X8_UNORM Z24_UNORM_S8_UINT
DEPTH_COMPONENT32F Z Z32_FLOAT
DEPTH_STENCIL ZS Z24_UNORM_S8_UINT
DEPTH24_STENCIL8 ZS Z24_UNORM_S8_UINT
DEPTH32F_STENCIL8 ZS Z32_FLOAT_S8X24_UINT
STENCIL_INDEX S S8_UINT
STENCIL_INDEX1 S S8_UINT
STENCIL_INDEX4 S S8_UINT
STENCIL_INDEX8 S S8_UINT
STENCIL_INDEX16 S S8_UINT
YCBCR_MESA RGB R8G8B8X8_UNORM R8G8B8A8_UNORM
COMPRESSED_RED R R8_UNORM
COMPRESSED_RG RG R8G8_UNORM
COMPRESSED_RGB RGB R8G8B8X8_UNORM R8G8B8A8_UNORM
COMPRESSED_RGBA RGBA R8G8B8A8_UNORM
COMPRESSED_SRGB RGB R8G8B8X8_SRGB R8G8B8A8_SRGB
COMPRESSED_SRGB_ALPHA RGBA R8G8B8A8_SRGB
COMPRESSED_ALPHA A A8_UNORM
COMPRESSED_LUMINANCE L L8_UNORM
COMPRESSED_LUMINANCE_ALPHA LA L8A8_UNORM
COMPRESSED_INTENSITY I I8_UNORM
COMPRESSED_SLUMINANCE L L8_SRGB
COMPRESSED_SLUMINANCE_ALPHA LA L8A8_SRGB
COMPRESSED_RED_RGTC1 R RGTC1_UNORM
COMPRESSED_SIGNED_RED_RGTC1 R RGTC1_SNORM
COMPRESSED_RG_RGTC2 RG RGTC2_UNORM
COMPRESSED_SIGNED_RG_RGTC2 RG RGTC2_SNORM
COMPRESSED_LUMINANCE_LATC1_EXT L RGTC1_UNORM
COMPRESSED_SIGNED_LUMINANCE_LATC1_EXT L RGTC1_SNORM
COMPRESSED_LUMINANCE_ALPHA_LATC2_EXT LA RGTC2_UNORM
COMPRESSED_SIGNED_LUMINANCE_ALPHA_LATC2_EXT LA RGTC2_SNORM
COMPRESSED_LUMINANCE_ALPHA_3DC_ATI LA RGTC2_UNORM
COMPRESSED_RGB_S3TC_DXT1_EXT RGB DXT1_RGB
COMPRESSED_RGBA_S3TC_DXT1_EXT RGBA DXT1_RGBA
COMPRESSED_RGBA_S3TC_DXT3_EXT RGBA DXT3_RGBA
COMPRESSED_RGBA_S3TC_DXT5_EXT RGBA DXT5_RGBA
COMPRESSED_SRGB_S3TC_DXT1_EXT RGB DXT1_SRGB
COMPRESSED_SRGB_ALPHA_S3TC_DXT1_EXT RGBA DXT1_SRGBA
COMPRESSED_SRGB_ALPHA_S3TC_DXT3_EXT RGBA DXT3_SRGBA
COMPRESSED_SRGB_ALPHA_S3TC_DXT5_EXT RGBA DXT5_SRGBA
COMPRESSED_RGB_FXT1_3DFX RGB FXT1_RGB
COMPRESSED_RGBA_FXT1_3DFX RGBA FXT1_RGBA
COMPRESSED_RGB8_ETC2 RGB ETC2_RGB8
ETC1_RGB8_OES RGB ETC2_RGB8
COMPRESSED_SRGB8_ETC2 RGB ETC2_SRGB8
COMPRESSED_RGB8_PUNCHTHROUGH_ALPHA1_ETC2 RGBA ETC2_RGB8A1
COMPRESSED_SRGB8_PUNCHTHROUGH_ALPHA1_ETC2 RGBA ETC2_SRGB8A1
COMPRESSED_RGBA8_ETC2_EAC RGBA ETC2_RGBA8
COMPRESSED_SRGB8_ALPHA8_ETC2_EAC RGBA ETC2_SRGBA8
COMPRESSED_R11_EAC R ETC2_R11_UNORM
COMPRESSED_SIGNED_R11_EAC R ETC2_R11_SNORM
COMPRESSED_RG11_EAC RG ETC2_RG11_UNORM
COMPRESSED_SIGNED_RG11_EAC RG ETC2_RG11_SNORM
COMPRESSED_RGBA_BPTC_UNORM RGBA BPTC_RGBA
COMPRESSED_SRGB_ALPHA_BPTC_UNORM RGBA BPTC_SRGBA
COMPRESSED_RGB_BPTC_SIGNED_FLOAT RGB BPTC_RGB_FLOAT
COMPRESSED_RGB_BPTC_UNSIGNED_FLOAT RGB BPTC_RGB_UFLOAT
"""

_ONLY_SAMPLED = frozenset(
    ["BGRA", "ETC1_RGB8_OES", "SR8_EXT", "SRG8_EXT", "SRGB", "SRGB_ALPHA", "YCBCR_MESA"]
)
_LEGACY_BASES = frozenset(("A", "L", "LA", "I"))


@dataclass(frozen=True)
class InternalFormat:
    """One internal format; interned in `INTERNAL_FORMATS`."""

    value: int
    name: str
    base: str
    candidates: tuple[Format, ...]

    @cached_property
    def compat_only(self) -> bool:
        """Alpha, luminance and intensity, which core profiles removed."""
        return self.base in _LEGACY_BASES or self.name in "1234"

    @cached_property
    def is_color(self) -> bool:
        return self.base not in ("Z", "ZS", "S")

    @cached_property
    def is_ycbcr(self) -> bool:
        """Whether it stores luma and chroma: see `ycbcr`."""
        return self.name == "YCBCR_MESA"

    @cached_property
    def is_integer(self) -> bool:
        return self.candidates[0].is_pure_integer and self.is_color

    @cached_property
    def is_compressed(self) -> bool:
        """Whether it is a specific compressed format, whose bytes the application may pass."""
        return self.candidates[0].is_compressed

    @cached_property
    def is_attachable(self) -> bool:
        """Whether the specification allows attaching textures of this format to a framebuffer.

        False for compressed formats, even if their texels are stored uncompressed here.
        """
        return not (self.is_compressed or self.is_ycbcr or self.is_generic)

    @property
    def is_generic(self) -> bool:
        """Whether images may be compressed, in a format of the implementation's choice."""
        return self.name.startswith("COMPRESSED_") and not self.is_compressed

    @property
    def reported(self) -> int:
        """The internal format that images have: generic compressed formats are replaced by their
        base formats, since no image is compressed for them.
        """
        base = self.name.removeprefix("COMPRESSED_")
        return getattr(GL, base) if self.is_generic else self.value

    @cached_property
    def is_renderable(self) -> bool:
        """Whether renderbuffers can have it: depth, stencil, or colours (legacy ones where they
        exist).

        Drivers may still not draw to it: none does to shared exponents.
        """
        if self.name in "1234":  # a component count, accepted by glTexImage only
            return False
        families = ("COMPRESSED_", "SLUMINANCE")
        return self.name not in _ONLY_SAMPLED and not self.name.startswith(families)


def _integers() -> list[str]:
    """`RGBA8UI` and related formats, which are regular."""
    lines = []
    for base in ("R", "RG", "RGB", "RGBA"):
        for bits in (8, 16, 32):
            for letter, kind in (("I", "SINT"), ("UI", "UINT")):
                layout = "".join(f"{c}{bits}" for c in base)
                full = "".join(f"{c}{bits}" for c in "RGBA")
                stored = [f"{layout}_{kind}", f"{full}_{kind}"]
                if (base, bits) == ("RGB", 8):  # as large as RGB8, which may be copied to it
                    stored.reverse()
                lines.append(f"{base}{bits}{letter} {base} {' '.join(stored)}")
    for name, base in (
        ("ALPHA", "A"),
        ("LUMINANCE", "L"),
        ("LUMINANCE_ALPHA", "LA"),
        ("INTENSITY", "I"),
    ):
        for bits in (8, 16, 32):
            for letter, kind in (("I", "SINT"), ("UI", "UINT")):
                layout = "".join(f"{c}{bits}" for c in base)
                lines.append(f"{name}{bits}{letter}_EXT {base} {layout}_{kind}")
    return lines


def _astc() -> list[str]:
    lines = []
    for width, height in ASTC_FOOTPRINTS:
        size = f"{width}x{height}"
        lines.append(f"COMPRESSED_RGBA_ASTC_{size}_KHR RGBA ASTC_{size}_RGBA")
        lines.append(f"COMPRESSED_SRGB8_ALPHA8_ASTC_{size}_KHR RGBA ASTC_{size}_SRGBA")
    return lines


def _read_table() -> dict[int, InternalFormat]:
    table = {}
    for line in [*_TABLE.strip().splitlines(), *_integers(), *_astc()]:
        name, base, *formats = line.split()
        value = int(name) if name.isdigit() else getattr(GL, name)
        table[value] = InternalFormat(value, name, base, tuple(FORMATS[f] for f in formats))
    return table


INTERNAL_FORMATS: dict[int, InternalFormat] = _read_table()


def choose_format(
    screen: Screen, candidates: tuple[Format, ...], target: Target, samples: int, bind: Bind
) -> Format | None:
    """The best pipe format that the driver can sample (and, if possible, render to)."""
    for wanted in (bind, Bind.SAMPLER_VIEW):
        for format in candidates:
            if screen.is_format_supported(format, target, samples, wanted):
                return format
    return None


def format_of_size(candidates: tuple[Format, ...], stored: Format) -> Format:
    """The candidate whose texel size equals the stored format's, for views."""
    for format in candidates:
        if format.block_bytes == stored.block_bytes:
            return format
    return stored


def sample_count(caps: Caps, wanted: int) -> int:
    """The number of samples of an image: the smallest supported count of at least `wanted`."""
    if caps.max_samples <= 1:
        return 0
    if not wanted:
        return 0
    # One sample is not multisampling: such an image gets two, so that sample masks apply.
    counts = [len(positions) for positions in caps.sample_positions] or [caps.max_samples]
    return min((count for count in counts if count >= max(wanted, 2)), default=caps.max_samples)


def encoded_format(format: Format) -> Format:
    """The format with equal bits and sRGB encoding, or itself if there is none."""
    return FORMATS.get(format.name.replace("UNORM", "SRGB"), format)


def linear_format(format: Format) -> Format:
    """The format with equal bits and without sRGB decoding."""
    if not format.is_srgb:
        return format
    if format.is_compressed:
        return FORMATS[format.name.replace("SRGB", "RGB")]
    return FORMATS[format.name.replace("SRGB", "UNORM")]
