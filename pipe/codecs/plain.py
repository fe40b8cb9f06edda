"""Colour codecs of uncompressed formats, one component array ("plane") at a time.

A decoder is built once per format from its channels and cached: it extracts each channel from the
raw texels (as a strided view for array formats, by a shift and a mask for packed ones) and converts
it by its type. Encoding rounds normalised values to nearest even; NaN becomes 0.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import minmax

from ..formats import Channel, Format
from .smallfloat import SPECIAL_CODECS
from .srgb import linear_to_srgb8, srgb8_to_linear

Array = npt.NDArray[Any]

_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
_SOURCE = {"R": 0, "G": 1, "B": 2, "A": 3, "L": 0, "I": 0}


@cache
def texel_layout(format: Format) -> tuple[np.dtype[Any], int]:
    """The word type of raw texels and the number of words; with 1, texels are scalars."""
    size = format.block_bytes
    if size in _WORDS:
        return np.dtype(_WORDS[size]), 1
    if format.is_array:
        word = format.channels[0].bits // 8
        return np.dtype(_WORDS[word]), size // word
    return np.dtype(np.uint64), size // 8


def _split(format: Format, texels: Array) -> list[Array]:
    """The raw bits of every channel, as views or fresh unsigned arrays."""
    word, count = texel_layout(format)
    if format.is_array:
        channels = len(format.channels)
        if channels == count == 1:
            return [texels]
        if count == 1:
            flat = np.ascontiguousarray(texels)
            shape = (*flat.shape, channels)
            split = flat.reshape(-1).view(_WORDS[format.channels[0].bits // 8]).reshape(shape)
        else:
            split = texels
        return [split[..., i] for i in range(channels)]
    return [(texels >> word.type(c.shift)) & word.type((1 << c.bits) - 1) for c in format.channels]


def _signed(bits: Array, width: int) -> npt.NDArray[np.int32]:
    """Sign-extend the low `width` bits."""
    if bits.dtype.itemsize * 8 == width:
        return bits.view(f"i{width // 8}").astype(np.int32)
    room = 32 - width
    return (bits.astype(np.uint32) << np.uint32(room)).view(np.int32) >> np.int32(room)


def _decode(channel: Channel, srgb: bool, integer: bool, bits: Array) -> Array:
    """One channel's value from its raw bits."""
    width, kind = channel.bits, channel.type
    if srgb:
        return srgb8_to_linear(bits)
    if kind == "FLOAT":
        if width == 16 and bits.size > _MANY_HALVES:
            return _halves().take(bits)
        value: Array = bits.view(f"f{width // 8}")
        if width == 32:
            return value
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return value.astype(np.float32)
    if kind == "UNORM":
        if width > 16:
            return (bits * (1.0 / ((1 << width) - 1))).astype(np.float32)
        return np.divide(bits, np.float32((1 << width) - 1), dtype=np.float32)
    if kind == "SNORM":
        top = (1 << (width - 1)) - 1
        if width > 16:
            return np.asarray(np.maximum(_signed(bits, width) * (1.0 / top), -1.0), np.float32)
        short = np.divide(_signed(bits, width), np.float32(top), dtype=np.float32)
        return minmax.maximum(short, -1.0)
    if kind == "FIXED":
        return (_signed(bits, width) * (1.0 / 65536.0)).astype(np.float32)
    if kind in ("UINT", "USCALED"):
        return bits.astype(np.uint32 if integer else np.float32)
    return _signed(bits, width).astype(np.int32 if integer else np.float32, copy=False)


_MANY_HALVES = 1 << 9
"""From this many half floats, a table lookup is twice as fast as NumPy's conversion."""


@cache
def _halves() -> Array:
    """The float value of every half float."""
    with np.errstate(invalid="ignore"):
        return np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)


EVERY_PLANE = frozenset(range(4))


@cache
def _unpacker(format: Format, wanted: frozenset[int]) -> Callable[[Array], list[Array]]:
    """The function from raw texels to [r, g, b, a]."""
    special = SPECIAL_CODECS.get(format.codec)
    if special is not None:
        return special[0]
    assert format.codec == "plain", f"{format.name} is decoded by blocks"
    integer = format.is_pure_integer
    dtype = format.rgba_dtype
    sources = [s if n in wanted else "0" for n, s in enumerate(format.swizzle)]
    constants: dict[str | int, Array] = {"0": np.zeros((), dtype), "1": np.ones((), dtype)}

    def decoded(index: int, bits: list[Array]) -> Array:
        channel = format.channels[index]
        srgb = format.is_srgb and channel.name != "A"
        return _decode(channel, srgb, integer, bits[index])

    def unpack(texels: Array) -> list[Array]:
        bits = _split(format, texels)
        planes = dict(constants)
        for source in sources:
            if source not in planes:
                assert isinstance(source, int)
                planes[source] = decoded(source, bits)
        return [planes[source] for source in sources]

    return unpack


def unpack_planes(
    format: Format, texels: Array, wanted: frozenset[int] = EVERY_PLANE
) -> list[Array]:
    """Red, green, blue and alpha of raw texels; components that the format lacks are 0-d constants,
    and so may be those that are not wanted.

    Depth is returned as red, in float; so is stencil, but use `unpack_stencil` for its integers.
    """
    return _unpacker(format, wanted)(texels)


def unorm_scale(bits: int) -> float:
    """What fractions are multiplied by before they are rounded to the nearest code, ties to even.

    A half is rounded up to a single bit, as llvmpipe does: an alpha of 0.5 counts as opaque.
    """
    return 1.0 + 2.0**-23 if bits == 1 else float((1 << bits) - 1)


def _encode(channel: Channel, srgb: bool, value: Array) -> Array:
    """The raw bits of one channel, as an unsigned array at least as wide."""
    width, kind = channel.bits, channel.type
    out = np.uint8 if width <= 8 else np.uint16 if width <= 16 else np.uint32
    if srgb:
        return linear_to_srgb8(value)
    if kind == "FLOAT":
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            narrow: Array = np.ascontiguousarray(value, f"f{width // 8}")
            bits: Array = narrow.view(f"u{width // 8}")
            return bits - (np.abs(narrow) > np.abs(value)) if width == 16 else bits  # to zero
    if kind in ("UINT", "SINT"):
        return _encode_integer(width, kind == "SINT", value)
    top = (1 << width) - 1
    if kind == "UNORM":
        wide = np.dtype(np.float64 if width > 16 else np.float32)
        unit: Array = _between(np.asarray(value), 0.0, 1.0).astype(wide, copy=False)
        return np.asarray(np.rint(unit * wide.type(unorm_scale(width))), out)
    exact = np.asarray(value).astype(np.float64)
    if kind == "USCALED":
        scaled = _between(exact, 0.0, float(top))
        return np.asarray(scaled, out)
    limit = float((1 << (width - 1)) - 1)
    if kind == "SNORM":
        signed: Array = np.rint(_between(exact, -1.0, 1.0) * limit)
    elif kind == "FIXED":
        signed = np.rint(_between(exact, -32768.0, 32768.0) * 65536.0)
        signed = np.minimum(signed, limit)
    else:
        signed = np.trunc(_between(exact, -limit - 1.0, limit))
    return signed.astype(np.int32).view(np.uint32) & np.uint32((1 << width) - 1)


def _between(value: Array, low: float, high: float) -> Array:
    """Clamp a value; NaN becomes 0."""
    if low < 0.0:
        value = np.where(np.isnan(value), value.dtype.type(0), value)
    return minmax.between(value, low, high)


def _encode_integer(width: int, signed: bool, value: Array) -> Array:
    """Clamp an integer to a channel's range and return its bits."""
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    wide = np.clip(np.asarray(value).astype(np.int64), low, high)
    return wide.view(np.uint64) & np.uint64((1 << width) - 1)


@cache
def _packer(format: Format) -> Callable[[Sequence[Array]], Array]:
    """The function from [r, g, b, a] to raw texels."""
    special = SPECIAL_CODECS.get(format.codec)
    if special is not None:
        return special[1]
    assert format.codec == "plain", f"{format.name} cannot be packed texel by texel"
    word, count = texel_layout(format)
    sources = [_SOURCE.get(c.name) for c in format.channels]

    def encoded(planes: Sequence[Array]) -> list[Array | None]:
        return [
            None if source is None else _encode(c, format.is_srgb and c.name != "A", planes[source])
            for c, source in zip(format.channels, sources, strict=True)
        ]

    def pack_array(planes: Sequence[Array]) -> Array:
        shape = np.broadcast_shapes(*(p.shape for p in planes))
        unit = _WORDS[format.channels[0].bits // 8]
        out = np.zeros((*shape, len(format.channels)), unit)
        for i, bits in enumerate(encoded(planes)):
            if bits is not None:
                out[..., i] = bits
        return out.view(word)[..., 0] if count == 1 else out

    def pack_word(planes: Sequence[Array]) -> Array:
        total: Array = np.zeros(np.broadcast_shapes(*(p.shape for p in planes)), word)
        for channel, bits in zip(format.channels, encoded(planes), strict=True):
            if bits is not None:
                total |= bits.astype(word) << word.type(channel.shift)
        return total

    return pack_array if format.is_array else pack_word


def pack_planes(format: Format, planes: Sequence[Array]) -> Array:
    """Raw texels of red, green, blue and alpha arrays (which may broadcast); padding is 0."""
    return _packer(format)([np.asarray(p) for p in planes])


def pack_texel(format: Format, color: Sequence[float]) -> Array:
    """One raw texel of a colour, whose numbers are rounded to the format."""
    order = _even(format)
    if order is None:
        planes = [np.asarray([c]).astype(format.rgba_dtype) for c in color]
        return np.asarray(pack_planes(format, planes)[0])
    word, count = texel_layout(format)
    channel = format.channels[0]
    if channel.type == "UNORM" and channel.bits == 8:
        found: Array = np.frombuffer(_bytes(color, order), word)
    else:
        rgba = np.asarray(color).astype(format.rgba_dtype).take(order)
        bits = _encode(channel, False, rgba)
        found = bits.astype(_WORDS[channel.bits // 8], copy=False).view(word)
    return np.asarray(found[0]) if count == 1 else found


_FOUR = struct.Struct("<4f")


def _bytes(color: Sequence[float], order: Sequence[int]) -> bytes:
    """One raw texel of byte channels, for which Python's own numbers are faster than arrays."""
    narrow = _FOUR.unpack(_FOUR.pack(*[min(max(0.0, c), 1.0) for c in color]))
    steps = _FOUR.unpack(_FOUR.pack(*[c * 255.0 for c in narrow]))
    return bytes([round(steps[source]) for source in order])


@cache
def _even(format: Format) -> list[int] | None:
    """The component (red, green, blue or alpha) of each channel, if all have one type and size."""
    kinds = {(channel.type, channel.bits) for channel in format.channels}
    if format.codec != "plain" or not format.is_array or format.is_srgb or len(kinds) != 1:
        return None
    order = [_SOURCE.get(channel.name) for channel in format.channels]
    return None if None in order else [source for source in order if source is not None]
