"""Gathers texels by index and decodes them, format by format."""

from __future__ import annotations

from gallette.pipe.codecs.srgb import decode_table
from gallette.pipe.formats import Channel, Format

from ..llvm.text import Builder
from ..llvm.values import V
from .maths import unit
from .texture_keys import ImageKey

__all__ = ["Words", "decode", "decoded", "gather_pair", "gather_word", "gather_words"]

Words = dict[int, V]
"""The gathered 32-bit words of texels, by number."""


def decode(b: Builder, key: ImageKey, texels: V, index: V, depths: bool) -> list[V]:
    """Components of the texels at `index`; with `depths`, before the view's swizzle."""
    return decoded(b, key, gather_words(b, key, texels, index), depths)


def decoded(b: Builder, key: ImageKey, words: Words, depths: bool) -> list[V]:
    """Components of texels whose words have been gathered."""
    format = key.format
    w = next(iter(words.values())).w
    if format.is_depth_stencil:
        value = _depth_stencil(key, words)
        zero = b.spread(b.const(value.t, 0), w)
        one = b.spread(b.const(value.t, 1), w)
        planes = [value, zero, zero, one]
    else:
        made: dict[int, V] = {}
        kind = "i32" if format.is_pure_integer else "float"
        planes = []
        for source in format.swizzle:
            if not isinstance(source, int):
                planes.append(b.spread(b.const(kind, float(source) if kind == "float" else
                                               int(source)), w))  # fmt: skip
                continue
            if source not in made:
                channel = format.channels[source]
                if format.codec == "shared_exponent":
                    made[source] = _shared_exponent(channel, words[0])
                    planes.append(made[source])
                    continue
                srgb = format.is_srgb and channel.name != "A"
                made[source] = _channel(b, channel, srgb, _raw(format, source, words))
            planes.append(made[source])
    if depths:
        return planes
    constants = {k: b.spread(b.const(planes[0].t, int(k)), w) for k in "01"}
    return [constants[s] if isinstance(s, str) else planes[s] for s in key.swizzle]


def _gather(b: Builder, texels: V, index: V, t: str, align: int = 0) -> V:
    every = b.lanes("i1", [True] * index.w)
    return b.gather(b.at(texels, index, t), every, t, align)


def gather_word(b: Builder, texels: V, index: V, size: int, number: int = 0) -> V:
    """Gather 32 bits of texels of `size` bytes, the `number`th word of each.

    Machines gather nothing shorter. For shorter texels the upper bits belong to the next one;
    storage has spare bytes after its last texel.
    """
    if size % 4 == 0:
        words = size // 4
        return _gather(b, texels, index * words + number if words > 1 else index, "i32")
    every = b.lanes("i1", [True] * index.w)
    if size in (1, 2):
        places = b.at(texels, index, f"i{size * 8}")
    else:
        places = b.at(texels, index.to("i64") * size + 4 * number, "i8")
    return b.gather(places, every, "i32", 1)


def gather_pair(b: Builder, texels: V, first: V, second: V, size: int) -> tuple[V, V]:
    """The words of two texels of at most 4 bytes, of which the second is usually next to the first.

    One gather fetches both then; if some lane wraps around, another gather follows.
    """
    if size == 4:
        every = b.lanes("i1", [True] * first.w)
        low, high = _halves(b, b.gather(b.at(texels, first, "i32"), every, "i64", 4))
    else:
        low = gather_word(b, texels, first, size)
        high = low.lshr(8 * size)
    found = b.var("i32", high.w, high)
    stray = second.ne(first + 1)
    with b.when(b.any(stray)):
        found.update(stray, gather_word(b, texels, second, size))
    return low, found.get()


def _halves(b: Builder, value: V) -> tuple[V, V]:
    """The lower and upper 32 bits of every lane."""
    parts = b.regroup(value, "i32", 2 * value.w)
    return b.shuffle(parts, range(0, 2 * value.w, 2)), b.shuffle(parts, range(1, 2 * value.w, 2))


def gather_words(b: Builder, key: ImageKey, texels: V, index: V) -> Words:
    """The words of the texels, two at a time where possible."""
    size = key.format.block_bytes
    words: Words = {}
    needed = _needed(key)
    for number in needed:
        if number in words:
            continue
        if size % 8 == 0 and number % 2 == 0 and number + 1 in needed:
            every = b.lanes("i1", [True] * index.w)
            at = index * (size // 8) + number // 2 if size > 8 else index
            both = b.gather(b.at(texels, at, "i64"), every, "i64")
            words[number], words[number + 1] = _halves(b, both)
        else:
            words[number] = gather_word(b, texels, index, size, number)
    return words


def _needed(key: ImageKey) -> list[int]:
    """The numbers of the texel words that contain channels the view reads."""
    format = key.format
    if format.is_depth_stencil:
        return [_depth_channel(key).shift // 32]
    shown = {format.swizzle[s] for s in key.swizzle if isinstance(s, int)}
    return sorted({_bit(format, s) // 32 for s in shown if isinstance(s, int)}) or [0]


def _bit(format: Format, channel: int) -> int:
    """The bit of a texel at which a channel begins."""
    found = format.channels[channel]
    return channel * found.bits if format.is_array else found.shift


def _raw(format: Format, channel: int, words: Words) -> V:
    """The raw bits of one channel, in 32 bits."""
    bits = format.channels[channel].bits
    number, shift = divmod(_bit(format, channel), 32)
    word = words.get(number)
    if word is None:  # the view does not read it
        word = next(iter(words.values()))
    if shift:
        word = word.lshr(shift)
    # No bits remain above the uppermost channel of a word.
    return word if bits + shift == 32 else word & ((1 << bits) - 1)


def _shared_exponent(channel: Channel, word: V) -> V:
    """One of three mantissas, times the power of two in the uppermost five bits."""
    mantissa = (word.lshr(channel.shift) & ((1 << channel.bits) - 1)).to_float()
    return mantissa * ((word.lshr(27) + (127 - 24)) << 23).bitcast("float")


def _channel(b: Builder, channel: Channel, srgb: bool, bits: V) -> V:
    width, kind = channel.bits, channel.type
    if srgb:
        table = b.table("float", [float(v) for v in decode_table()])
        return _gather(b, table, bits, "float")
    if kind == "FLOAT":
        if width == 32:
            return bits.bitcast("float")
        if width < 16:  # the upper bits of a half without its sign
            bits = bits << (15 - width)
        return bits.to("i16").bitcast("half").fp("float")
    room = 32 - width
    if kind == "UINT":
        return bits
    if kind == "SINT":
        return (bits << room) >> room if room else bits
    if kind == "UNORM":
        if width > 16:
            wide = bits.to_float("double", False) * (1.0 / ((1 << width) - 1))
            return wide.fp("float")
        return unit(b, bits.to_float(), (1 << width) - 1)
    signed = (bits << room) >> room if room else bits
    top = (1 << (width - 1)) - 1
    if width > 16:
        exact = b.math("maxnum", signed.to_float("double") * (1.0 / top), -1.0)
        return exact.fp("float")
    return b.math("maxnum", signed.to_float() / float(top), -1.0)


def _depth_channel(key: ImageKey) -> Channel:
    name = "S" if key.stencil else "Z"
    return next(c for c in key.format.channels if c.name == name)


def _depth_stencil(key: ImageKey, words: Words) -> V:
    channel = _depth_channel(key)
    number, shift = divmod(channel.shift, 32)
    word = words[number]
    if shift:
        word = word.lshr(shift)
    if channel.bits < 32:
        word = word & ((1 << channel.bits) - 1)
    if channel.name == "S":
        return word
    if channel.type == "FLOAT":
        return word.bitcast("float")
    return (word.to_float("double", False) * (1.0 / ((1 << channel.bits) - 1))).fp("float")
