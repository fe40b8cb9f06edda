"""Gathering texels by index and decoding them, format by format."""

from __future__ import annotations

from gallette.pipe.codecs.srgb import decode_table
from gallette.pipe.formats import Channel

from ..llvm.text import Builder
from ..llvm.values import V
from .maths import unit
from .texture_keys import ImageKey

__all__ = ["decode"]


def decode(b: Builder, key: ImageKey, texels: V, index: V, depths: bool) -> list[V]:
    """Components of the texels at `index`; with `depths`, before the view's swizzle."""
    format = key.format
    w = index.w
    if format.is_depth_stencil:
        value = _depth_stencil(b, key, texels, index)
        zero = b.spread(b.const(value.t, 0), w)
        one = b.spread(b.const(value.t, 1), w)
        planes = [value, zero, zero, one]
    else:
        decoded: dict[int, V] = {}
        words: dict[int, V] = {}  # one gather serves all channels of a word
        kind = "i32" if format.is_pure_integer else "float"
        planes = []
        for source in format.swizzle:
            if not isinstance(source, int):
                planes.append(b.spread(b.const(kind, float(source) if kind == "float" else
                                               int(source)), w))  # fmt: skip
                continue
            if source not in decoded:
                channel = format.channels[source]
                srgb = format.is_srgb and channel.name != "A"
                decoded[source] = _channel(
                    b, channel, srgb, _raw(b, key, texels, index, source, words)
                )
            planes.append(decoded[source])
    if depths:
        return planes
    constants = {k: b.spread(b.const(planes[0].t, int(k)), w) for k in "01"}
    return [constants[s] if isinstance(s, str) else planes[s] for s in key.swizzle]


def _gather(b: Builder, texels: V, index: V, t: str) -> V:
    every = b.lanes("i1", [True] * index.w)
    return b.gather(b.at(texels, index, t), every, t)


def _raw(b: Builder, key: ImageKey, texels: V, index: V, channel: int, words: dict[int, V]) -> V:
    """The raw bits of one channel, in 32 bits."""
    format = key.format
    found = format.channels[channel]
    if format.is_array and format.block_bytes not in (1, 2, 4):
        count = len(format.channels)
        return _gather(b, texels, index * count + channel, f"i{found.bits}").to("i32", False)
    if 0 not in words:
        words[0] = _gather(b, texels, index, f"i{format.block_bytes * 8}").to("i32", False)
    word = words[0]
    if found.shift:
        word = word.lshr(found.shift)
    return word & ((1 << found.bits) - 1) if found.bits < 32 else word


def _channel(b: Builder, channel: Channel, srgb: bool, bits: V) -> V:
    width, kind = channel.bits, channel.type
    if srgb:
        table = b.table("float", [float(v) for v in decode_table()])
        return _gather(b, table, bits, "float")
    if kind == "FLOAT":
        if width == 32:
            return bits.bitcast("float")
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


def _depth_stencil(b: Builder, key: ImageKey, texels: V, index: V) -> V:
    name = "S" if key.stencil else "Z"
    channel = next(c for c in key.format.channels if c.name == name)
    word = _gather(b, texels, index, f"i{key.format.block_bytes * 8}").to("i32", False)
    if channel.shift:
        word = word.lshr(channel.shift)
    if channel.bits < 32:
        word = word & ((1 << channel.bits) - 1)
    if name == "S":
        return word
    if channel.type == "FLOAT":
        return word.bitcast("float")
    return (word.to_float("double", False) * (1.0 / ((1 << channel.bits) - 1))).fp("float")
