"""Texels to colours and back, generated from the format table.

A texel is one word or several (`layout`), which routines get and return as they are in memory.
Numbers are rounded by adding a power of two that leaves the rounded value in the lowest bits of the
float: to nearest, ties to even, as the codecs of `gallette.pipe.codecs` do.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Def
from gallette.pipe.codecs import texel_layout, unorm_scale
from gallette.pipe.codecs.srgb import FIRST, LOWEST
from gallette.pipe.formats import Channel, Format

from .routine import Routine, routine

SOURCE = {"R": 0, "G": 1, "B": 2, "A": 3, "L": 0, "I": 0}
"""The component of a colour that a channel stores."""

_WHOLE_FLOAT = float(1 << 23)  # adding it rounds to a whole number, below 2**22
_WHOLE_DOUBLE = 1.5 * (1 << 52)


def layout(format: Format) -> tuple[int, int]:
    """The bits of a texel's words, and their number."""
    word, count = texel_layout(format)
    return word.itemsize * 8, count


def codes(b: Builder, value: Def, bits: int) -> Def:
    """Values clamped to 0..1 (NaN: 0) as unsigned codes of at most 22 bits."""
    top, zero = (1 << bits) - 1, b.imm_float(0.0)
    greatest = b.imm_float(float(top))
    # After `fsat`, LLVM would multiply inside of the selection, which takes two instructions more.
    scaled = b.fmul(b.bcsel(b.flt(zero, value), value, zero), b.imm_float(unorm_scale(bits)))
    limited = b.bcsel(b.flt(scaled, greatest), scaled, greatest)
    return b.iand(b.fadd(limited, b.imm_float(_WHOLE_FLOAT)), b.imm_int(top))


def raw_bits(b: Builder, words: Sequence[Def], channel: Channel) -> Def:
    """The raw bits of one channel, in 32 bits (or 64 if it has more than 32)."""
    number, shift = divmod(channel.shift, words[0].bit_size)
    word = words[number]
    if word.bit_size < 32:
        word = b.u2u32(word)
    if shift:
        word = b.ushr(word, b.imm_int(shift))
    if word.bit_size == 64 and channel.bits <= 32:
        word = b.u2u32(word)
    if channel.bits in (32, 64):
        return word
    return b.iand(word, b.imm_int((1 << channel.bits) - 1))


# -- decoding ------------------------------------------------------------------------------------


def unpack(b: Builder, format: Format, words: Sequence[Def]) -> Def:
    """The four components of a texel; integers of integer formats, else floats."""
    whole = format.is_pure_integer
    made: dict[int, Def] = {}
    parts = []
    for source in format.swizzle:
        if not isinstance(source, int):
            parts.append(b.imm_int(int(source)) if whole else b.imm_float(float(source)))
            continue
        if source not in made:
            channel = format.channels[source]
            bits = raw_bits(b, words, channel)
            if format.is_srgb and channel.name != "A":
                made[source] = b.intrinsic("load_table", [bits], table="srgb_decode")
            elif format.codec == "shared_exponent":
                made[source] = _shared_exponent(b, bits, words[0])
            else:
                made[source] = _decoded(b, channel, bits, whole)
        parts.append(made[source])
    return b.vec(parts)


def _shared_exponent(b: Builder, mantissa: Def, word: Def) -> Def:
    """A mantissa times the power of two in the uppermost five bits."""
    exponent = b.iadd(b.ushr(word, b.imm_int(27)), b.imm_int(127 - 24))
    return b.fmul(b.u2f32(mantissa), b.ishl(exponent, b.imm_int(23)))


def _decoded(b: Builder, channel: Channel, bits: Def, whole: bool) -> Def:
    width, kind = channel.bits, channel.type
    if kind == "FLOAT":
        if width >= 32:
            return bits if width == 32 else b.f2f32(bits)
        if width < 16:  # the upper bits of a half without its sign
            bits = b.ishl(bits, b.imm_int(15 - width))
        return b.f2f32(b.u2u16(bits))
    if kind == "UNORM":
        top = (1 << width) - 1
        if width > 16:
            return b.f2f32(b.fmul(b.u2f64(bits), b.imm_float(1.0 / top, 64)))
        return b.fdiv(b.u2f32(bits), b.imm_float(float(top)))
    if kind in ("UINT", "USCALED"):
        return bits if whole else b.u2f32(bits)
    signed = bits
    if width < 32:
        room = b.imm_int(32 - width)
        signed = b.ishr(b.ishl(bits, room), room)
    if kind in ("SINT", "SSCALED"):
        return signed if whole else b.i2f32(signed)
    if kind == "FIXED":
        return b.f2f32(b.fmul(b.i2f64(signed), b.imm_float(1.0 / 65536.0, 64)))
    top = (1 << (width - 1)) - 1
    if width > 16:
        exact = b.fmul(b.i2f64(signed), b.imm_float(1.0 / top, 64))
        return b.f2f32(b.fmax(exact, b.imm_float(-1.0, 64)))
    return b.fmax(b.fdiv(b.i2f32(signed), b.imm_float(float(top))), b.imm_float(-1.0))


# -- encoding ------------------------------------------------------------------------------------


def pack(b: Builder, format: Format, color: Def) -> list[Def]:
    """The words of a texel; bits that belong to no component are 0."""
    parts = []
    for channel in format.channels:
        source = SOURCE.get(channel.name)
        if source is None:
            continue
        value = b.channel(color, source)
        if format.is_srgb and channel.name != "A":
            parts.append((channel, _srgb_code(b, value)))
        else:
            parts.append((channel, _encoded(b, channel, value)))
    return assembled(b, format, parts)


def assembled(b: Builder, format: Format, parts: Sequence[tuple[Channel, Def]]) -> list[Def]:
    """The words of a texel from the raw bits of its channels."""
    size, count = layout(format)
    words: list[Def | None] = [None] * count
    for channel, bits in parts:
        number, shift = divmod(channel.shift, size)
        if size == 64:
            bits = b.u2u64(bits)
        part = b.ishl(bits, b.imm_int(shift)) if shift else bits
        before = words[number]
        words[number] = part if before is None else b.ior(before, part)
    return [
        b.imm_int(0, size) if word is None else b.alu(f"u2u{size}", word) if size < 32 else word
        for word in words
    ]


def _encoded(b: Builder, channel: Channel, value: Def) -> Def:
    """The raw bits of one channel in 32 bits, zero above its width."""
    width, kind = channel.bits, channel.type
    top = (1 << width) - 1
    if kind == "FLOAT":
        if width < 16:
            return _small_float(b, value, width - 5)
        return value if width == 32 else b.u2u32(b.f2f16_rtz(value))  # as llvmpipe
    if kind == "UINT":
        return value if width == 32 else b.umin(value, b.imm_int(top))
    if kind == "SINT":
        if width == 32:
            return value
        low, high = b.imm_int(-(top // 2) - 1), b.imm_int(top // 2)
        return b.iand(b.imin(b.imax(value, low), high), b.imm_int(top))
    if kind == "UNORM":
        if width <= 22:
            return codes(b, value, width)
        wide = b.fmul(b.f2f64(b.fsat(value)), b.imm_float(float(top), 64))
    else:
        assert kind == "SNORM", kind
        number = b.bcsel(b.fneu(value, value), b.imm_float(0.0), value)
        limited = b.fmin(b.fmax(number, b.imm_float(-1.0)), b.imm_float(1.0))
        wide = b.fmul(b.f2f64(limited), b.imm_float(float(top // 2), 64))
    rounded = b.u2u32(b.fadd(wide, b.imm_float(_WHOLE_DOUBLE, 64)))
    return rounded if width == 32 else b.iand(rounded, b.imm_int(top))


def _small_float(b: Builder, value: Def, mantissa: int) -> Def:
    """The bits of an unsigned float with five bits of exponent, truncated."""
    top = (2.0 - 2.0**-mantissa) * 2.0**15
    limited = b.fmin(b.fmax(value, b.imm_float(0.0)), b.imm_float(top))
    bits = b.ushr(b.fmul(limited, b.imm_float(2.0**-112)), b.imm_int(23 - mantissa))
    infinity = 31 << mantissa
    bits = b.bcsel(b.feq(value, b.imm_float(float("inf"))), b.imm_int(infinity), bits)
    return b.bcsel(b.fneu(value, value), b.imm_int(infinity | 1), bits)


def _srgb_code(b: Builder, value: Def) -> Def:
    """The nearest sRGB code of a linear value, as `gallette.pipe.codecs.srgb` explains it."""
    value = b.fmin(b.fmax(value, b.imm_float(LOWEST)), b.imm_float(1.0))
    piece = b.isub(b.ushr(value, b.imm_int(20)), b.imm_int(FIRST))
    line = b.intrinsic("load_table", [piece], table="srgb_line")
    step = b.iand(b.ushr(value, b.imm_int(12)), b.imm_int(0xFF))
    start = b.ishl(b.ushr(line, b.imm_int(16)), b.imm_int(9))
    slope = b.iand(line, b.imm_int(0xFFFF))
    guess = b.ushr(b.iadd(start, b.imul(slope, step)), b.imm_int(16))
    limit = b.intrinsic("load_table", [guess], table="srgb_limit")
    return b.iadd(guess, b.b2i32(b.fge(value, limit)))


# -- routines ------------------------------------------------------------------------------------


@cache
def packed(format: Format) -> Routine:
    """The routine from a colour to a texel's words."""
    return routine(
        f"pack {format.name}", {"color": (4, 32)}, lambda b, color: pack(b, format, color)
    )


@cache
def viewed(format: Format, swizzle: tuple[str | int, ...], stencil: bool = False) -> Routine:
    """The routine that unpacks a texel, from words of 32 bits, and swizzles it as a texture view
    does. A format with depth and stencil gives depth, or the stencil value with `stencil`.
    """
    whole = format.is_pure_integer or stencil

    def build(b: Builder, *words: Def) -> list[Def]:
        if format.is_depth_stencil:
            first = _depth_or_stencil(b, format, words, stencil)
            others = [b.imm_int(0), b.imm_int(0), b.imm_int(1) if whole else b.imm_float(1.0)]
            color = b.vec([first, *others])
        else:
            color = unpack(b, format, words)
        constants = {name: b.imm_int(int(name)) if whole else b.imm_float(float(name))
                     for name in "01"}  # fmt: skip
        return [constants[s] if isinstance(s, str) else b.channel(color, s) for s in swizzle]

    words = {f"word{i}": (1, 32) for i in range(-(-format.block_bytes // 4))}
    return routine(f"view {format.name}", words, build)


def _depth_or_stencil(b: Builder, format: Format, words: Sequence[Def], stencil: bool) -> Def:
    channel = next(c for c in format.channels if c.name == ("S" if stencil else "Z"))
    bits = raw_bits(b, words, channel)
    if stencil or channel.type == "FLOAT":
        return bits
    share = b.imm_float(1.0 / ((1 << channel.bits) - 1), 64)
    return b.f2f32(b.fmul(b.u2f64(bits), share))


@cache
def unpacked(format: Format) -> Routine:
    """The routine from a texel's words to its colour."""
    size, count = layout(format)
    words = {f"word{i}": (1, size) for i in range(count)}
    return routine(f"unpack {format.name}", words, lambda b, *w: [unpack(b, format, w)])
