"""All texture formats: a shader reads an uploaded texel; compressed blocks are decoded.

If a format rounds, the texel is one it can represent exactly, or the tolerance is the step of its
narrowest channel.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gallette.piglit_subset.generators.common import channels_of, templates

_TEXELS = ((1.0, 0.0, 1.0, 0.0), (0.0, 1.0, 0.0, 1.0))
_PLAIN = (
    "R8", "RG8", "RGB8", "RGBA8", "R16", "RG16", "RGB16", "RGBA16", "R8_SNORM", "RG8_SNORM",
    "RGB8_SNORM", "RGBA8_SNORM", "R16_SNORM", "RG16_SNORM", "RGB16_SNORM", "RGBA16_SNORM", "R16F",
    "RG16F", "RGB16F", "RGBA16F", "R32F", "RG32F", "RGB32F", "RGBA32F", "RGB10_A2",
    "R11F_G11F_B10F", "RGB9_E5", "SRGB8", "SRGB8_ALPHA8", "R3_G3_B2", "RGB4", "RGB5", "RGB10",
    "RGB12", "RGBA2", "RGBA4", "RGB5_A1", "RGBA12",
)  # fmt: skip
# The steps of a format's narrowest channel, if it has less than eight bits.
_STEPS = {"R3_G3_B2": 3, "RGBA2": 3, "RGB10_A2": 3, "RGB4": 15, "RGBA4": 15, "RGB5": 31,
          "RGB5_A1": 31}  # fmt: skip
_OLD = {"ALPHA": "A", "LUMINANCE": "L", "LUMINANCE_ALPHA": "LA", "INTENSITY": "I"}

Case = tuple[str, str, str, float]
"""Internal format, the format and type of the texels, the expected value, the tolerance."""


def tests() -> Iterator[str]:
    for name in _PLAIN:
        yield _plain(name)
    for signed in (True, False):
        yield _integers(signed)
    for base, channels in _OLD.items():
        yield _old(base, channels)
        for signed in (True, False):
            yield _old_integers(base, channels, signed)
    yield _depth()
    for block in _blocks():
        yield _compressed(block)


def _test(place: str, purpose: str, cases: Any, extensions: str = "", **how: Any) -> str:
    return str(templates("texture_uploads").upload(place, purpose, cases, extensions, **how))


def _texels(kind: str, texel: tuple[Any, ...]) -> str:
    """Four equal texels, as an argument."""
    return f"{kind}({' '.join(f'{v:g}' for v in texel * 4)})"


def _words(values: tuple[float, ...]) -> str:
    return " ".join(f"{v:g}" for v in values)


def _kept(channels: str, texel: tuple[Any, ...]) -> tuple[Any, ...]:
    """The result of looking up a texel."""
    zero, one = type(texel[0])(0), type(texel[0])(1)
    r, _, _, a = texel
    special = {"A": (zero, zero, zero, a), "L": (r, r, r, one), "LA": (r, r, r, a), "I": (r,) * 4}
    pairs = zip("RGBA", texel, (zero, zero, zero, one), strict=True)
    return special.get(channels) or tuple(v if c in channels else d for c, v, d in pairs)


def _floats(name: str, channels: str, texels: tuple[tuple[float, ...], ...]) -> Iterator[Case]:
    """Texels that the format can represent exactly."""
    for texel in texels:
        data = f"GL_RGBA GL_FLOAT {_texels('float', texel)}"
        yield name, data, _words(_kept(channels, texel)), 0.00001


def _plain(name: str) -> str:
    channels = channels_of(name)
    cases = list(_floats(name, channels, _TEXELS))
    # A value between two steps: off by at most half a step of the narrowest channel.
    texel = (0.25, 0.5, 0.75, 1.0 if name == "RGB5_A1" else 0.25)
    expected = _kept(channels, texel)
    if name.startswith("SRGB"):
        expected = (*(((v + 0.055) / 1.055) ** 2.4 for v in expected[:3]), expected[3])
    data = f"GL_RGBA GL_FLOAT {_texels('float', texel)}"
    cases.append((name, data, _words(expected), 0.55 / _STEPS.get(name, 127)))
    place = f"gl-3.3/texture-uploads/{name.lower().replace('_', '-')}"
    return _test(place, f"Texels of {name} are what was uploaded", cases)


def _integer(name: str, signed: bool, channels: str, alpha: int = 200) -> Case:
    texel = (-5, 7, -3, 100) if signed else (5, 7, 3, alpha)
    kind, type_name = ("INT", "int") if signed else ("UNSIGNED_INT", "uint")
    data = f"GL_RGBA_INTEGER GL_{kind} {_texels(type_name, texel)}"
    return name, data, _words(_kept(channels, texel)), 0.0


def _integers(signed: bool) -> str:
    what, suffix = ("signed", "I") if signed else ("unsigned", "UI")
    cases = [
        _integer(f"{channels}{bits}{suffix}", signed, channels)
        for channels in ("R", "RG", "RGB", "RGBA")
        for bits in (8, 16, 32)
    ]
    if not signed:
        cases.append(_integer("RGB10_A2UI", signed, "RGBA", 3))
    return _test(
        f"gl-3.3/texture-uploads/{what}-integers",
        f"Texels of {what} integer formats are what was uploaded",
        cases,
        "" if signed else "GL_ARB_texture_rgb10_a2ui\n",
        prefix="i" if signed else "u",
    )


def _old(base: str, channels: str) -> str:
    """The variants of GL_ALPHA8 and other legacy formats: unsigned, signed, float, sRGB."""
    luminance, _, alpha = base.partition("_")
    names = [
        f"{luminance}{bits}{f'_{alpha}{bits}' if alpha else ''}{kind}"
        for kind, sizes in (("", (4, 8, 12, 16)), ("_SNORM", (8, 16)))
        for bits in sizes
    ]
    names += [f"{base}16F_ARB", f"{base}32F_ARB"]
    if luminance == "LUMINANCE":
        names.append("SLUMINANCE8_ALPHA8" if alpha else "SLUMINANCE8")
    return _test(
        f"gl-1.1/texture-uploads/{base.lower().replace('_', '-')}",
        f"Texels of the formats of {base} spread over the channels as they should",
        [case for name in names for case in _floats(name, channels, _TEXELS)],
        "GL_ARB_texture_float\nGL_EXT_texture_snorm\nGL_EXT_texture_sRGB\n",
        compat=True,
    )


def _old_integers(base: str, channels: str, signed: bool) -> str:
    what, suffix = ("signed", "I_EXT") if signed else ("unsigned", "UI_EXT")
    return _test(
        f"ext_texture_integer/texture-uploads/{what}-{base.lower().replace('_', '-')}",
        f"Texels of the {what} integer formats of {base} spread over the channels",
        [_integer(f"{base}{bits}{suffix}", signed, channels) for bits in (8, 16, 32)],
        "GL_EXT_texture_integer\n",
        compat=True,
        prefix="i" if signed else "u",
    )


def _depth() -> str:
    word = 0x40000000 | 7
    bits = struct.unpack("<I", struct.pack("<f", 0.25))[0]
    depths = f"GL_DEPTH_COMPONENT GL_FLOAT {_texels('float', (0.25,))}"
    words = f"GL_DEPTH_STENCIL GL_UNSIGNED_INT_24_8 uint({' '.join([str(word)] * 4)})"
    pairs = f"GL_FLOAT_32_UNSIGNED_INT_24_8_REV uint({' '.join([f'{bits} 7'] * 4)})"
    rows = [(f"DEPTH_COMPONENT{size}", depths) for size in ("16", "24", "32", "32F")]
    rows += [("DEPTH24_STENCIL8", words), ("DEPTH32F_STENCIL8", f"GL_DEPTH_STENCIL {pairs}")]
    return _test(
        "gl-3.3/texture-uploads/depth",
        "Depths of all depth formats are what was uploaded",
        [(name, data, "0.25 0 0 1", 0.00002) for name, data in rows],
        depth=True,
    )


# -- blocks ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Block:
    """A compressed format, a block of one colour, and that colour."""

    internal: str
    extension: str
    data: bytes
    color: tuple[float, ...]
    near: float = 0.012
    size: tuple[int, int] = (4, 4)
    srgb: str = ""  # the format of the same blocks as sRGB


def _bits(*fields: tuple[int, int]) -> bytes:
    """Fields of (value, width), the first in the lowest bits; padded to sixteen bytes."""
    word, at = 0, 0
    for value, width in fields:
        word |= value << at
        at += width
    return word.to_bytes(16, "little")


def _blocks() -> Iterator[Block]:
    orange = 31 << 11 | 32 << 5  # R5G6B5: 1, 32/63, 0
    color = (1.0, 32 / 63, 0.0)
    plain = struct.pack("<HHI", orange, 0, 0)
    s3tc = "GL_EXT_texture_compression_s3tc"
    half, alpha = bytes([0x77] * 8), bytes([102, 0, 0, 0, 0, 0, 0, 0])
    for name, srgb, data, opacity in (
        ("RGB_S3TC_DXT1", "SRGB_S3TC_DXT1", plain, 1.0),
        ("RGBA_S3TC_DXT1", "SRGB_ALPHA_S3TC_DXT1", plain, 1.0),
        ("RGBA_S3TC_DXT3", "SRGB_ALPHA_S3TC_DXT3", half + plain, 7 / 15),
        ("RGBA_S3TC_DXT5", "SRGB_ALPHA_S3TC_DXT5", alpha + plain, 0.4),
    ):
        srgb = f"COMPRESSED_{srgb}_EXT"
        yield Block(f"COMPRESSED_{name}_EXT", s3tc, data, (*color, opacity), srgb=srgb)
    less = bytes([51, 0, 0, 0, 0, 0, 0, 0])
    yield Block("COMPRESSED_RED_RGTC1", "", alpha, (0.4, 0.0, 0.0, 1.0))
    yield Block("COMPRESSED_SIGNED_RED_RGTC1", "", less, (51 / 127, 0.0, 0.0, 1.0))
    yield Block("COMPRESSED_RG_RGTC2", "", alpha + less, (0.4, 0.2, 0.0, 1.0))
    yield Block("COMPRESSED_SIGNED_RG_RGTC2", "", less + less, (51 / 127, 51 / 127, 0.0, 1.0))
    bptc = "GL_ARB_texture_compression_bptc"
    # Mode 6: seven bits per endpoint and channel, a bit shared by the channels of each endpoint.
    ends = [(value, 7) for value in (100, 50, 25, 127) for _ in range(2)]
    data = _bits((1 << 6, 7), *ends, (1, 1), (1, 1))
    seen = (201 / 255, 101 / 255, 51 / 255, 1.0)
    srgb = "COMPRESSED_SRGB_ALPHA_BPTC_UNORM_ARB"
    yield Block("COMPRESSED_RGBA_BPTC_UNORM_ARB", bptc, data, seen, srgb=srgb)
    # Mode 11: ten bits per endpoint and channel, stored unchanged.
    ends = [(value, 10) for value in (496, 480, 0) * 2]
    # Sixteen bits of the ten (signed: of nine and a sign), then 31/64 or 31/32 of them.
    for kind, width in (("UNSIGNED", 10), ("SIGNED", 9)):
        halves = []
        for value, _ in ends[:3]:
            wide = (value << 16) + 0x8000 >> 10 if width == 10 else (value << 15) + 0x4000 >> 9
            half = struct.pack("<H", (wide if value else 0) * 31 >> width - 4)
            halves.append(struct.unpack("<e", half)[0])
        seen = (*halves, 1.0)
        data = _bits((3, 5), *ends)
        near = 0.001 * max(seen)
        yield Block(f"COMPRESSED_RGB_BPTC_{kind}_FLOAT_ARB", bptc, data, seen, near)
    yield from _etc2()
    for width, height in ((4, 4), (5, 4), (5, 5), (6, 5), (6, 6), (8, 5), (8, 6), (8, 8), (10, 5),
                          (10, 6), (10, 8), (10, 10), (12, 10), (12, 12)):  # fmt: skip
        # A void extent: one colour, in sixteen bits per channel.
        data = struct.pack("<Q4H", 0xFFFFFFFFFFFFFDFC, 65535, 26214, 13107, 39321)
        yield Block(
            f"COMPRESSED_RGBA_ASTC_{width}x{height}_KHR",
            "GL_KHR_texture_compression_astc_ldr",
            data,
            (1.0, 0.4, 0.2, 0.6),
            size=(width, height),
            srgb=f"COMPRESSED_SRGB8_ALPHA8_ASTC_{width}x{height}_KHR",
        )


def _etc2() -> Iterator[Block]:
    extension = "GL_ARB_ES3_compatibility"
    # Individual mode: four bits per channel for both halves, the smallest table, index 0 (+2).
    color = bytes([0xDD, 0x66, 0x00, 0x00, 0, 0, 0, 0])
    individual = ((0xDD + 2) / 255, (0x66 + 2) / 255, 2 / 255)
    # Punch-through alpha has no individual mode: five bits and a difference of zero, opaque.
    even = bytes([27 << 3, 12 << 3, 0, 2, 0, 0, 0, 0])
    eight = (27 << 3 | 27 >> 2, 12 << 3 | 12 >> 2)
    other = ((eight[0] + 2) / 255, (eight[1] + 2) / 255, 2 / 255)
    # An alpha or red block: base, multiplier 1, table 13; index 4 of it adds nothing.
    flat = bytes([102, 0x1D, *int("100" * 16, 2).to_bytes(6, "big")])
    eac = bytes([102, 0x0D, *int("100" * 16, 2).to_bytes(6, "big")])
    for name, data, seen in (
        ("RGB8_ETC2", color, (*individual, 1.0)),
        ("RGB8_PUNCHTHROUGH_ALPHA1_ETC2", even, (*other, 1.0)),
        ("RGBA8_ETC2_EAC", flat + color, (*individual, 102 / 255)),
    ):
        srgb = f"COMPRESSED_S{name.replace('RGBA8', 'RGB8_ALPHA8')}"
        yield Block(f"COMPRESSED_{name}", extension, data, seen, srgb=srgb)
    red = (102 * 8 + 4) / 2047
    yield Block("COMPRESSED_R11_EAC", extension, eac, (red, 0.0, 0.0, 1.0))
    yield Block("COMPRESSED_RG11_EAC", extension, eac * 2, (red, red, 0.0, 1.0))
    signed = 102 * 8 / 1023
    yield Block("COMPRESSED_SIGNED_R11_EAC", extension, eac, (signed, 0.0, 0.0, 1.0))
    yield Block("COMPRESSED_SIGNED_RG11_EAC", extension, eac * 2, (signed, signed, 0.0, 1.0))


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def _compressed(block: Block) -> str:
    data = f"{len(block.data)} ubyte({' '.join(map(str, block.data))})"
    cases = [(block.internal, data, _words(block.color), f"{block.near:.6g}")]
    if block.srgb:
        color = (*map(_linear, block.color[:3]), block.color[3])
        cases.append((block.srgb, data, _words(color), f"{block.near:.6g}"))
    extensions = f"{block.extension}\n" if block.extension else ""
    if block.srgb and "S3TC" in block.internal:
        extensions += "GL_EXT_texture_sRGB\n"
    short = re.sub("^COMPRESSED_|_(ARB|KHR|EXT)$", "", block.internal)
    group = block.extension.removeprefix("GL_").lower() or "gl-3.3"
    return _test(
        f"{group}/compressed/{short.lower().replace('_', '-')}",
        f"A block of {block.internal} is decoded, as colours and as sRGB where there is that",
        cases,
        extensions,
        size=block.size,
    )
