"""All texture formats: a shader reads an uploaded texel; compressed blocks are decoded.

If a format rounds, the texel is one it can represent exactly, or the tolerance is the step of its
narrowest channel.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from gallette.compiler.text_tables import table_rows
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


# -- blocks: compressed_blocks.txt -----------------------------------------------------------------

_ASTC = "4x4 5x4 5x5 6x5 6x6 8x5 8x6 8x8 10x5 10x6 10x8 10x10 12x10 12x12"


@dataclass(frozen=True, slots=True)
class Block:
    """A compressed format, a block of one colour, and that colour."""

    internal: str
    extension: str
    data: bytes
    color: tuple[float, ...]
    near: float
    size: tuple[int, int]
    srgb: str  # the format of the same blocks as sRGB


def _blocks() -> Iterator[Block]:
    for line in table_rows(Path(__file__).with_name("compressed_blocks.txt")):
        name, extension, data, color, *columns = line.split()
        of = dict(column.split("=") for column in columns)
        fractions = tuple(float(Fraction(channel)) for channel in color.split(","))
        near, srgb = float(of.get("near", 0.012)), of.get("srgb", "")
        for size in _ASTC.split() if "*" in name else ["4x4"]:
            width, height = map(int, size.split("x"))
            yield Block(
                f"COMPRESSED_{name.replace('*', size)}",
                extension.strip("-"),
                bytes.fromhex(data),
                fractions,
                near,
                (width, height),
                srgb and f"COMPRESSED_{srgb.replace('*', size)}",
            )


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def _compressed(block: Block) -> str:
    data = f"{len(block.data)} ubyte({' '.join(map(str, block.data))})"
    cases = [(block.internal, data, _words(block.color), f"{block.near:.6g}")]
    if block.srgb:
        color = (*map(_linear, block.color[:3]), block.color[3])
        cases.append((block.srgb, data, _words(color), f"{block.near:.6g}"))
    extensions = f"GL_{block.extension}\n" if block.extension else ""
    if block.srgb and "S3TC" in block.internal:
        extensions += "GL_EXT_texture_sRGB\n"
    short = re.sub("^COMPRESSED_|_(ARB|KHR|EXT)$", "", block.internal)
    group = block.extension.lower() or "gl-3.3"
    return _test(
        f"{group}/compressed/{short.lower().replace('_', '-')}",
        f"A block of {block.internal} is decoded, as colours and as sRGB where there is that",
        cases,
        extensions,
        size=block.size,
    )
