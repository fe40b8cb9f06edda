"""Classes of internal formats whose texels may be viewed, or copied, as each other.

The tables are the specification's: 8.22 for texture views, 18.4 for copies between compressed and
plain images; the classes of image units (8.27) follow from the channels.
"""

from __future__ import annotations

from gallette.pipe.formats import ASTC_FOOTPRINTS
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.texturing.texture_formats import InternalFormat

_VIEW_CLASSES = """
128_BITS RGBA32F RGBA32UI RGBA32I
96_BITS RGB32F RGB32UI RGB32I
64_BITS RGBA16F RG32F RGBA16UI RG32UI RGBA16I RG32I RGBA16 RGBA16_SNORM
48_BITS RGB16 RGB16_SNORM RGB16F RGB16UI RGB16I
32_BITS RG16F R11F_G11F_B10F R32F RGB10_A2UI RGBA8UI RG16UI R32UI RGBA8I RG16I R32I RGB10_A2 RGBA8
32_BITS RG16 RGBA8_SNORM RG16_SNORM SRGB8_ALPHA8 RGB9_E5
24_BITS RGB8 RGB8_SNORM SRGB8 RGB8UI RGB8I
16_BITS R16F RG8UI R16UI RG8I R16I RG8 R16 RG8_SNORM R16_SNORM SRG8_EXT
8_BITS R8UI R8I R8 R8_SNORM SR8_EXT
RGTC1_RED COMPRESSED_RED_RGTC1 COMPRESSED_SIGNED_RED_RGTC1
RGTC2_RG COMPRESSED_RG_RGTC2 COMPRESSED_SIGNED_RG_RGTC2
BPTC_UNORM COMPRESSED_RGBA_BPTC_UNORM COMPRESSED_SRGB_ALPHA_BPTC_UNORM
BPTC_FLOAT COMPRESSED_RGB_BPTC_SIGNED_FLOAT COMPRESSED_RGB_BPTC_UNSIGNED_FLOAT
S3TC_DXT1_RGB COMPRESSED_RGB_S3TC_DXT1_EXT COMPRESSED_SRGB_S3TC_DXT1_EXT
S3TC_DXT1_RGBA COMPRESSED_RGBA_S3TC_DXT1_EXT COMPRESSED_SRGB_ALPHA_S3TC_DXT1_EXT
S3TC_DXT3_RGBA COMPRESSED_RGBA_S3TC_DXT3_EXT COMPRESSED_SRGB_ALPHA_S3TC_DXT3_EXT
S3TC_DXT5_RGBA COMPRESSED_RGBA_S3TC_DXT5_EXT COMPRESSED_SRGB_ALPHA_S3TC_DXT5_EXT
EAC_R11 COMPRESSED_R11_EAC COMPRESSED_SIGNED_R11_EAC
EAC_RG11 COMPRESSED_RG11_EAC COMPRESSED_SIGNED_RG11_EAC
ETC2_RGB COMPRESSED_RGB8_ETC2 COMPRESSED_SRGB8_ETC2
ETC2_RGBA COMPRESSED_RGB8_PUNCHTHROUGH_ALPHA1_ETC2 COMPRESSED_SRGB8_PUNCHTHROUGH_ALPHA1_ETC2
ETC2_EAC_RGBA COMPRESSED_RGBA8_ETC2_EAC COMPRESSED_SRGB8_ALPHA8_ETC2_EAC
"""


def _read_classes() -> dict[int, int]:
    lines = _VIEW_CLASSES.strip().splitlines()
    for width, height in ASTC_FOOTPRINTS:
        size = f"ASTC_{width}x{height}"
        names = f"COMPRESSED_RGBA_{size}_KHR COMPRESSED_SRGB8_ALPHA8_{size}_KHR"
        lines.append(f"{size}_RGBA {names}")
    found = {}
    for line in lines:
        name, *formats = line.split()
        for format in formats:
            found[int(getattr(GL, format))] = int(getattr(GL, f"VIEW_CLASS_{name}"))
    return found


_CLASS_OF = _read_classes()


def view_class(info: InternalFormat) -> int:
    """The view class of a format; NONE if it has no class."""
    return _CLASS_OF.get(info.value, int(GL.NONE))


# Formats that a shader may declare for an image, table 8.26 of the specification.
_IMAGES = """
RGBA32F RGBA16F RG32F RG16F R11F_G11F_B10F R32F R16F RGBA32UI RGBA16UI RGB10_A2UI RGBA8UI RG32UI
RG16UI RG8UI R32UI R16UI R8UI RGBA32I RGBA16I RGBA8I RG32I RG16I RG8I R32I R16I R8I RGBA16
RGB10_A2 RGBA8 RG16 RG8 R16 R8 RGBA16_SNORM RGBA8_SNORM RG16_SNORM RG8_SNORM R16_SNORM R8_SNORM
"""
IMAGE_FORMATS = frozenset(int(getattr(GL, name)) for name in _IMAGES.split())


def image_class(info: InternalFormat) -> int:
    """The image class: formats of one class may replace each other in an image unit."""
    if info.value not in IMAGE_FORMATS:
        return int(GL.NONE)
    channels = info.candidates[0].channels
    bits = {c.bits for c in channels}
    if len(bits) == 1:
        return int(getattr(GL, f"IMAGE_CLASS_{len(channels)}_X_{bits.pop()}"))
    return int(GL.IMAGE_CLASS_11_11_10 if 11 in bits else GL.IMAGE_CLASS_10_10_10_2)


_BLOCKS = {int(GL.VIEW_CLASS_128_BITS): 16, int(GL.VIEW_CLASS_64_BITS): 8}
"""Classes of plain texels as large as compressed blocks, in bytes."""


def may_copy(a: InternalFormat, b: InternalFormat) -> bool:
    """Whether texels can be copied without conversion, by the declared sizes, not the
    stored ones.
    """
    if a is b:
        return True
    classes = view_class(a), view_class(b)
    if classes[0] == classes[1]:
        return classes[0] != GL.NONE
    if a.is_compressed == b.is_compressed or GL.NONE in classes:
        return False
    packed, plain = (a, classes[1]) if a.is_compressed else (b, classes[0])
    return _BLOCKS.get(plain) == packed.candidates[0].block_bytes
