"""Texture formats, all of them: a texel goes in and a shader reads it; blocks are decoded.

Where a format rounds, the texel is one it can hold exactly, or the difference allowed is the step
of its narrowest channel.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gallette.piglit_subset.generators.common import Test, channels, drawn, green_if, main, slug

_TEXEL = (1.0, 0.0, 1.0, 0.0)
_SETUP = (
    "uniform int image 0",
    "call glGenTextures 1 -> texture",
    "call glBindTexture GL_TEXTURE_2D $texture",
    "call glTexParameteri GL_TEXTURE_2D GL_TEXTURE_MIN_FILTER GL_NEAREST",
    "call glTexParameteri GL_TEXTURE_2D GL_TEXTURE_MAG_FILTER GL_NEAREST",
    "call glTexParameteri GL_TEXTURE_2D GL_TEXTURE_MAX_LEVEL 0",
)
_FETCH = "texelFetch(image, ivec2(gl_FragCoord.xy) / 2, 0)"
_PLAIN = (
    "R8", "RG8", "RGB8", "RGBA8", "R16", "RG16", "RGB16", "RGBA16", "R8_SNORM", "RG8_SNORM",
    "RGB8_SNORM", "RGBA8_SNORM", "R16_SNORM", "RG16_SNORM", "RGB16_SNORM", "RGBA16_SNORM", "R16F",
    "RG16F", "RGB16F", "RGBA16F", "R32F", "RG32F", "RGB32F", "RGBA32F", "RGB10_A2",
    "R11F_G11F_B10F", "RGB9_E5", "SRGB8", "SRGB8_ALPHA8", "R3_G3_B2", "RGB4", "RGB5", "RGB10",
    "RGB12", "RGBA2", "RGBA4", "RGB5_A1", "RGBA12",
)  # fmt: skip
_OLD = {"ALPHA": "A", "LUMINANCE": "L", "LUMINANCE_ALPHA": "LA", "INTENSITY": "I"}


def tests() -> Iterator[Test]:
    for name in _PLAIN:
        yield _upload(name)
    for signed in (True, False):
        yield _integers(signed)
    for base, kept in _OLD.items():
        yield _old(base, kept)
        for signed in (True, False):
            yield _old_integers(base, kept, signed)
    yield _depth()
    for block in _blocks():
        yield _compressed(block)


def _test(
    lines: list[str], prefix: str = "", *, old: bool = False, require: Iterable[str] = (),
    found: str = _FETCH,
) -> str:  # fmt: skip
    """A test that holds what is fetched against a uniform: near to it, or integers equal to it."""
    right, near = "found == expected", list[str]()
    if not prefix:
        right = "all(lessThanEqual(abs(found - expected), vec4(near)))"
        near = ["uniform float near;"]
    fragment = [
        *(f"uniform {prefix}sampler2D image;", f"uniform {prefix}vec4 expected;", *near),
        "out vec4 color;",
        *main(f"{prefix}vec4 found = {found};", f"color = {green_if(right)};"),
    ]
    version, gl = (130, "GL COMPAT >= 3.0") if old else (330, "GL >= 3.3")
    commands = [*_SETUP, *lines[1:]]  # no empty line before the first case
    return drawn(version, fragment, commands, require=require, gl=gl, size="4 4")


def _case(upload: str, uniforms: list[str]) -> list[str]:
    return ["", upload, *uniforms, "draw rect -1 -1 2 2", "probe all rgba 0 1 0 1"]


def _check(internal: str, form: str, kind: str, data: str, expected: str, near: float) -> list[str]:
    upload = f"call glTexImage2D GL_TEXTURE_2D 0 GL_{internal} 2 2 0 GL_{form} GL_{kind} {data}"
    return _case(upload, [f"uniform vec4 expected {expected}", f"uniform float near {near}"])


def _check_floats(name: str, kept: str) -> list[str]:
    """Two texels that every format holds exactly."""
    lines = []
    for texel in (_TEXEL, (0.0, 1.0, 0.0, 1.0)):
        data, expected = f"float({_words(texel * 4)})", _words(_kept(kept, texel))
        lines += _check(name, "RGBA", "FLOAT", data, expected, 0.00001)
    return lines


def _kept(kept: str, texel: tuple[float, ...], one: float = 1.0) -> tuple[float, ...]:
    """What a lookup gives of a texel: its channels, or A, L, LA or I, as they spread."""
    r, _, _, a = texel
    special = {"A": (0, 0, 0, a), "L": (r, r, r, one), "LA": (r, r, r, a), "I": (r,) * 4}
    if kept in special:
        return special[kept]
    pairs = zip("RGBA", texel, (0, 0, 0, one), strict=True)
    return tuple(v if c in kept else default for c, v, default in pairs)


def _words(values: tuple[float, ...]) -> str:
    return " ".join(f"{v:g}" for v in values)


def _upload(name: str) -> Test:
    lines = _check_floats(name, channels(name))
    # A value between: off by at most half a step of the narrowest channel.
    steps = {"R3_G3_B2": 3, "RGBA2": 3, "RGB10_A2": 3, "RGB4": 15, "RGBA4": 15, "RGB5": 31,
             "RGB5_A1": 31}  # fmt: skip
    texel = (0.25, 0.5, 0.75, 1.0 if name == "RGB5_A1" else 0.25)
    expected = _kept(channels(name), texel)
    if name.startswith("SRGB"):
        expected = (*(((v + 0.055) / 1.055) ** 2.4 for v in expected[:3]), expected[3])
    data, near = f"float({_words(texel * 4)})", 0.55 / steps.get(name, 127)
    lines += _check(name, "RGBA", "FLOAT", data, _words(expected), near)
    place = f"gl-3.3/texture-uploads/{slug(name)}"
    return place, f"Texels of {name} are what was uploaded.", _test(lines)


def _integer_case(internal: str, signed: bool, kept: str) -> list[str]:
    texel = (-5, 7, -3, 100) if signed else (5, 7, 3, 200)
    name, kind = ("int", "INT") if signed else ("uint", "UNSIGNED_INT")
    return _case(
        f"call glTexImage2D GL_TEXTURE_2D 0 GL_{internal} 2 2 0 GL_RGBA_INTEGER GL_{kind} "
        f"{name}({_words(texel * 4)})",
        [f"uniform {'iu'[not signed]}vec4 expected {_words(_kept(kept, texel, 1))}"],
    )


def _integers(signed: bool) -> Test:
    what, suffix = ("signed", "I") if signed else ("unsigned", "UI")
    lines = []
    for kept in ("R", "RG", "RGB", "RGBA"):
        for bits in (8, 16, 32):
            lines += _integer_case(f"{kept}{bits}{suffix}", signed, kept)
    if not signed:
        case = _integer_case("RGB10_A2UI", signed, "RGBA")
        lines += [line.replace("200", "3") for line in case]
    place = f"gl-3.3/texture-uploads/{what}-integers"
    purpose = f"Texels of {what} integer formats are what was uploaded."
    require = () if signed else ("GL_ARB_texture_rgb10_a2ui",)
    return place, purpose, _test(lines, "iu"[not signed], require=require)


def _old(base: str, kept: str) -> Test:
    """GL_ALPHA8 and its kin: unsigned, signed, float, sRGB."""
    bits = ("4", "8", "12", "16", "8_SNORM", "16_SNORM")
    names = [f"{base}{b}" for b in bits]
    if base == "LUMINANCE_ALPHA":
        names = [f"LUMINANCE{b.partition('_')[0]}_ALPHA{b}" for b in bits]
    names += [f"{base}16F_ARB", f"{base}32F_ARB"]
    if base.startswith("LUMINANCE"):
        names.append("SLUMINANCE8_ALPHA8" if kept == "LA" else "SLUMINANCE8")
    lines = [line for name in names for line in _check_floats(name, kept)]
    require = ("GL_ARB_texture_float", "GL_EXT_texture_snorm", "GL_EXT_texture_sRGB")
    return (
        f"gl-1.1/texture-uploads/{slug(base)}",
        f"Texels of the formats of {base} spread over the channels as they should.",
        _test(lines, old=True, require=require),
    )


def _old_integers(base: str, kept: str, signed: bool) -> Test:
    what, suffix = ("signed", "I_EXT") if signed else ("unsigned", "UI_EXT")
    lines = []
    for bits in (8, 16, 32):
        lines += _integer_case(f"{base}{bits}{suffix}", signed, kept)
    return (
        f"ext_texture_integer/texture-uploads/{what}-{slug(base)}",
        f"Texels of the {what} integer formats of {base} spread over the channels.",
        _test(lines, "iu"[not signed], old=True, require=["GL_EXT_texture_integer"]),
    )


def _depth() -> Test:
    word, bits = 0x40000000 | 7, struct.unpack("<I", struct.pack("<f", 0.25))[0]
    plain = ("DEPTH_COMPONENT", "FLOAT", "float(0.25 0.25 0.25 0.25)")
    lines = []
    for name, form, kind, data in (
        ("DEPTH_COMPONENT16", *plain),
        ("DEPTH_COMPONENT24", *plain),
        ("DEPTH_COMPONENT32", *plain),
        ("DEPTH_COMPONENT32F", *plain),
        ("DEPTH24_STENCIL8", "DEPTH_STENCIL", "UNSIGNED_INT_24_8",
         f"uint({word} {word} {word} {word})"),
        ("DEPTH32F_STENCIL8", "DEPTH_STENCIL", "FLOAT_32_UNSIGNED_INT_24_8_REV",
         f"uint({' '.join([f'{bits} 7'] * 4)})"),
    ):  # fmt: skip
        lines += _check(name, form, kind, data, "0.25 0 0 1", 0.00002)
    purpose = "Depths of all depth formats are what was uploaded."
    found = f"vec4({_FETCH}.r, 0.0, 0.0, 1.0)"
    return "gl-3.3/texture-uploads/depth", purpose, _test(lines, found=found)


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
    srgb = "COMPRESSED_SRGB_S3TC_DXT1_EXT"
    yield Block("COMPRESSED_RGB_S3TC_DXT1_EXT", s3tc, plain, (*color, 1.0), srgb=srgb)
    srgb = "COMPRESSED_SRGB_ALPHA_S3TC_DXT1_EXT"
    yield Block("COMPRESSED_RGBA_S3TC_DXT1_EXT", s3tc, plain, (*color, 1.0), srgb=srgb)
    half = bytes([0x77] * 8)
    srgb = "COMPRESSED_SRGB_ALPHA_S3TC_DXT3_EXT"
    yield Block("COMPRESSED_RGBA_S3TC_DXT3_EXT", s3tc, half + plain, (*color, 7 / 15), srgb=srgb)
    alpha = bytes([102, 0, 0, 0, 0, 0, 0, 0])
    srgb = "COMPRESSED_SRGB_ALPHA_S3TC_DXT5_EXT"
    yield Block("COMPRESSED_RGBA_S3TC_DXT5_EXT", s3tc, alpha + plain, (*color, 0.4), srgb=srgb)
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
    # Mode 11: ten bits per endpoint and channel, kept as they are.
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
    seen = ((0xDD + 2) / 255, (0x66 + 2) / 255, 2 / 255)
    # Punch-through alpha has no individual mode: five bits and a difference of zero, opaque.
    even = bytes([27 << 3, 12 << 3, 0, 2, 0, 0, 0, 0])
    eight = (27 << 3 | 27 >> 2, 12 << 3 | 12 >> 2)
    other = ((eight[0] + 2) / 255, (eight[1] + 2) / 255, 2 / 255)
    # An alpha or red block: base, multiplier 1, table 13; index 4 of it adds nothing.
    flat = bytes([102, 0x1D, *int("100" * 16, 2).to_bytes(6, "big")])
    eac = bytes([102, 0x0D, *int("100" * 16, 2).to_bytes(6, "big")])
    yield Block(
        "COMPRESSED_RGB8_ETC2", extension, color, (*seen, 1.0), srgb="COMPRESSED_SRGB8_ETC2"
    )
    yield Block(
        "COMPRESSED_RGB8_PUNCHTHROUGH_ALPHA1_ETC2", extension, even, (*other, 1.0),
        srgb="COMPRESSED_SRGB8_PUNCHTHROUGH_ALPHA1_ETC2",
    )  # fmt: skip
    yield Block(
        "COMPRESSED_RGBA8_ETC2_EAC", extension, flat + color, (*seen, 102 / 255),
        srgb="COMPRESSED_SRGB8_ALPHA8_ETC2_EAC",
    )  # fmt: skip
    red = (102 * 8 + 4) / 2047
    yield Block("COMPRESSED_R11_EAC", extension, eac, (red, 0.0, 0.0, 1.0))
    yield Block("COMPRESSED_RG11_EAC", extension, eac * 2, (red, red, 0.0, 1.0))
    signed = 102 * 8 / 1023
    yield Block("COMPRESSED_SIGNED_R11_EAC", extension, eac, (signed, 0.0, 0.0, 1.0))
    yield Block("COMPRESSED_SIGNED_RG11_EAC", extension, eac * 2, (signed, signed, 0.0, 1.0))


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def _compressed(block: Block) -> Test:
    width, height = block.size
    data = f"{len(block.data)} ubyte({' '.join(map(str, block.data))})"
    lines = []
    for name in filter(None, (block.internal, block.srgb)):
        color = block.color
        if name == block.srgb:
            color = (*(_linear(v) for v in color[:3]), color[3])
        upload = f"call glCompressedTexImage2D GL_TEXTURE_2D 0 GL_{name} {width} {height} 0 {data}"
        near = f"uniform float near {block.near:.6g}"
        lines += _case(upload, [f"uniform vec4 expected {_words(color)}", near])
    require = [block.extension] if block.extension else []
    if block.srgb and "S3TC" in block.internal:
        require.append("GL_EXT_texture_sRGB")
    short = re.sub("^COMPRESSED_|_(ARB|KHR|EXT)$", "", block.internal)
    group = block.extension.removeprefix("GL_").lower() or "gl-3.3"
    return (
        f"{group}/compressed/{slug(short)}",
        f"A block of {block.internal} is decoded, as colours and as sRGB where there is that.",
        _test(lines, require=require),
    )
