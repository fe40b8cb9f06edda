"""From a shader's colour to texels: convert, blend and mask, in machine code.

The arithmetic is that of `drivers.common.output`: 8-bit normalised colours are blended in 8 bits,
everything else in float32.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from gallette.drivers.common.output.blend import DIRECT, INVERSE
from gallette.pipe.codecs.srgb import LOWEST, SHIFT, decode_table
from gallette.pipe.enums import BlendFactor, BlendFunc, LogicOp
from gallette.pipe.formats import Channel, Format

from ..llvm.text import Builder
from ..llvm.values import V
from .maths import unit
from .tile_keys import ColorKey

__all__ = ["Curve", "new_texels", "new_words", "packed_texels", "unpacked"]

_MAGIC = float(1 << 23)
_SOURCE = {"R": 0, "G": 1, "B": 2, "A": 3, "L": 0, "I": 0}
_F = BlendFactor


Curve = tuple[V, V]
"""The tables that encode sRGB: first guesses and thresholds."""


def new_words(
    b: Builder,
    key: ColorKey,
    color: Sequence[V],
    second: Sequence[V],
    constant: Sequence[V],
    current: Sequence[V] | None,
) -> list[V]:
    """The words to store for a texel whose four channels are words of their own."""
    channels = key.format.channels
    if key.blends:
        assert current is not None
        swizzle = key.format.swizzle
        held = [
            current[s].as_float() if isinstance(s, int) else b.const("float", float(s))
            for s in swizzle
        ]
        floats = [[c.as_float() for c in row] for row in (color, second, constant)]
        color = _blended(_Arithmetic(b, False), key, (floats[0], held, floats[2], floats[1]))
    words = []
    for number, channel in enumerate(channels):
        given = color[_SOURCE[channel.name]] if channel.name in _SOURCE else b.const("i32", 0)
        word = given.as_int()
        if key.logicop is not None:
            assert current is not None
            word = _logic(b, key.logicop, word, current[number])
        if key.mask is not None:
            assert current is not None
            mask = key.mask >> (32 * number) & 0xFFFFFFFF
            word = (word & mask) | (current[number] & ~mask)
        words.append(word)
    return words


def new_texels(
    b: Builder,
    key: ColorKey,
    color: Sequence[V],
    second: Sequence[V],
    constant: Sequence[V],
    current: V | None,
    curve: Curve | None = None,
) -> V:
    """The texels to store; `current` are the stored ones, where they matter."""
    format = key.format
    t = f"i{format.block_bytes * 8}"
    if not key.blends:
        texels = _packed(b, format, color, curve)
    elif _is_bytes(format):
        assert current is not None
        texels = _blend_bytes(b, key, color, second, constant, current)
    else:
        assert current is not None
        limits = _limits(format)
        texels = _blend_floats(
            b,
            key,
            [_limited(b, c, limits) for c in color],
            [_limited(b, c, limits) for c in second],
            [_limited(b, c, limits) for c in constant],
            current,
            curve,
        )
    if key.logicop is not None:
        assert current is not None
        texels = _logic(b, key.logicop, texels, current)
    if key.mask is not None:
        assert current is not None
        mask = b.const(t, key.mask)
        texels = (texels & mask) | (current & ~key.mask)
    return texels


def _is_bytes(format: Format) -> bool:
    return (
        format.is_array
        and not format.is_srgb
        and all(c.bits == 8 and c.type == "UNORM" for c in format.channels)
    )


# -- packing and unpacking -----------------------------------------------------------------------


def packed_texels(b: Builder, format: Format, color: Sequence[V], curve: Curve | None = None) -> V:
    """Whole texels of colours that are not blended."""
    return _packed(b, format, color, curve)


def _packed(b: Builder, format: Format, color: Sequence[V], curve: Curve | None) -> V:
    t = f"i{format.block_bytes * 8}"
    total: V | None = None
    for channel in format.channels:
        if channel.name not in _SOURCE:
            continue
        value = color[_SOURCE[channel.name]]
        if curve is not None and _is_curved(format, channel):
            bits = _to_srgb(b, value.as_float(), curve).to(t, False)
        else:
            bits = _encoded(b, channel, value).to(t, False)
        part = bits << channel.shift if channel.shift else bits
        total = part if total is None else total | part
    assert total is not None
    return total


def _encoded(b: Builder, channel: Channel, value: V) -> V:
    """The raw bits of one channel, zero above its width."""
    width, kind = channel.bits, channel.type
    if kind == "FLOAT":
        f = value.as_float()
        if width < 16:
            return _small_float(b, f, width - 5)
        return f.as_int() if width == 32 else f.fp("half").as_int()
    if kind in ("UINT", "SINT"):
        whole = value.as_int()
        if width == 32:
            return whole
        if kind == "UINT":
            return b.math("umin", whole, (1 << width) - 1)
        top = (1 << (width - 1)) - 1
        return b.math("smin", b.math("smax", whole, -top - 1), top) & ((1 << width) - 1)
    if kind == "UNORM" and width == 8:
        return _to_bytes(b, value.as_float())
    f = value.as_float()
    if kind == "UNORM":
        unit = _unit(b, f)
        if width > 16:
            wide = b.math("roundeven", unit.fp("double") * float((1 << width) - 1))
            return b.cast("fptoui", wide, "i32")
        return b.cast("fptoui", b.math("roundeven", unit * float((1 << width) - 1)), "i32")
    assert kind == "SNORM", kind
    f = b.select(f.ne(f), b.const("float", 0.0), f)
    limited = b.math("minnum", b.math("maxnum", f, -1.0), 1.0)
    codes = b.math("roundeven", limited.fp("double") * float((1 << (width - 1)) - 1))
    return b.cast("fptosi", codes, "i32") & ((1 << width) - 1)


def _small_float(b: Builder, value: V, mantissa: int) -> V:
    """The bits of an unsigned float with five bits of exponent, truncated."""
    top = (2.0 - 2.0**-mantissa) * 2.0**15
    limited = b.math("minnum", b.math("maxnum", value, 0.0), top)
    bits = (limited * 2.0**-112).as_int().lshr(23 - mantissa)
    infinity = 31 << mantissa
    bits = b.select(value.eq(float("inf")), infinity, bits)
    return b.select(value.ne(value), infinity | 1, bits)


def _unit(b: Builder, value: V) -> V:
    """Clamp to 0..1; NaN becomes 0."""
    low = b.select(value > 0.0, value, 0.0)
    return b.select(low < 1.0, low, 1.0)


def _to_bytes(b: Builder, value: V) -> V:
    """Clamp and scale to 0..255; NaN becomes 0.

    Adding 2**23 leaves a float's rounded value in its lowest bits.
    """
    scaled = b.select(value > 0.0, value, 0.0) * 255.0
    limited = b.select(scaled < 255.0, scaled, 255.0)
    return (limited + _MAGIC).as_int() & 0xFF


def _is_curved(format: Format, channel: Channel) -> bool:
    return format.is_srgb and channel.name != "A"


def _to_srgb(b: Builder, value: V, curve: Curve) -> V:
    """The nearest sRGB code of a linear value, as `pipe.codecs.srgb` computes it."""
    guesses, thresholds = curve
    every = b.lanes("i1", [True] * value.w)
    lowest, highest = b.const("float", LOWEST), b.const("float", 1.0)
    value = b.math("minnum", b.math("maxnum", value, lowest), highest)
    first = struct.unpack("<I", struct.pack("<f", LOWEST))[0] >> SHIFT
    index = value.as_int().lshr(SHIFT) - first
    guess = b.gather(b.at(guesses, index.to("i64", False), "i8"), every, "i8").to("i32", False)
    limit = b.gather(b.at(thresholds, guess.to("i64", False), "float"), every, "float")
    return guess + (value >= limit).to("i32", False)


def _decoded(b: Builder, channel: Channel, word: V, curved: bool = False) -> V:
    width, kind = channel.bits, channel.type
    bits = word.lshr(channel.shift) if channel.shift else word
    bits = bits.to(f"i{width}") if width in (8, 16, 32) else bits & ((1 << width) - 1)
    if curved:
        table = b.table("float", [float(v) for v in decode_table()])
        place = b.at(table, bits.to("i64", False), "float")
        return b.gather(place, b.lanes("i1", [True] * word.w), "float")
    if kind == "FLOAT":
        if width < 16:
            return (bits << (15 - width)).to("i16").bitcast("half").fp("float")
        return bits.bitcast("float" if width == 32 else "half").fp("float")
    if kind == "UNORM":
        if width > 16:
            wide = bits.to("i64", False).to_float("double") * (1.0 / ((1 << width) - 1))
            return wide.fp("float")
        return unit(b, bits.to("i32", False).to_float(), (1 << width) - 1)
    assert kind == "SNORM", kind
    room = 32 - width
    signed = (bits.to("i32", False) << room) >> room
    top = (1 << (width - 1)) - 1
    return b.math("maxnum", signed.to_float() / float(top), -1.0)


def unpacked(b: Builder, format: Format, word: V) -> list[V]:
    """The four components of texels."""
    found = []
    for source in format.swizzle:
        if isinstance(source, int):
            channel = format.channels[source]
            found.append(_decoded(b, channel, word, _is_curved(format, channel)))
        else:
            found.append(b.spread(b.const("float", float(source)), word.w))
    return found


def _limits(format: Format) -> tuple[float, float] | None:
    if not format.is_normalized:
        return None
    return (-1.0 if any(c.type == "SNORM" for c in format.channels) else 0.0), 1.0


def _limited(b: Builder, value: V, limits: tuple[float, float] | None) -> V:
    value = value.as_float()
    if limits is None:
        return value
    return b.math("minnum", b.math("maxnum", value, limits[0]), limits[1])


# -- blending ------------------------------------------------------------------------------------


class _Arithmetic:
    """How colours are multiplied and combined, in 8 bits or in floats."""

    def __init__(self, b: Builder, bytes8: bool) -> None:
        self.b = b
        self.bytes8 = bytes8
        self.one = b.const("i32", 255) if bytes8 else b.const("float", 1.0)
        self.zero = b.const("i32", 0) if bytes8 else b.const("float", 0.0)

    def multiply(self, x: V, y: V) -> V:
        product = x * y
        if not self.bytes8:
            return product
        return (product + product.lshr(8) + 128).lshr(8)

    def add(self, x: V, y: V) -> V:
        total = x + y
        return self.b.math("umin", total, 255) if self.bytes8 else total

    def subtract(self, x: V, y: V) -> V:
        return self.b.math("umax", x, y) - y if self.bytes8 else x - y

    def smaller(self, x: V, y: V) -> V:
        if self.bytes8:
            return self.b.math("umin", x, y)
        return self.b.select(x < y, x, self.b.select(x.ne(x), x, y))

    def larger(self, x: V, y: V) -> V:
        if self.bytes8:
            return self.b.math("umax", x, y)
        return self.b.select(x > y, x, self.b.select(x.ne(x), x, y))


Operands = tuple[Sequence[V], Sequence[V], Sequence[V], Sequence[V]]


def _weight(a: _Arithmetic, operands: Operands, factor: BlendFactor, channel: int) -> V | None:
    """A blend factor; None stands for one."""
    if factor is _F.ONE or (factor is _F.SRC_ALPHA_SATURATE and channel == 3):
        return None
    if factor is _F.ZERO:
        return a.zero
    if factor is _F.SRC_ALPHA_SATURATE:
        return a.smaller(operands[0][3], a.one - operands[1][3])
    base = INVERSE.get(factor)
    planes, alpha = DIRECT[base or factor]
    value = operands[planes][3 if alpha else channel]
    return value if base is None else a.one - value


def _blended(a: _Arithmetic, key: ColorKey, operands: Operands) -> list[V]:
    found = []
    state = key.blend
    for channel in range(4):
        func, src, dst = state.rgb_func, state.rgb_src_factor, state.rgb_dst_factor
        if channel == 3:
            func, src, dst = state.alpha_func, state.alpha_src_factor, state.alpha_dst_factor
        x, y = operands[0][channel], operands[1][channel]
        if func is BlendFunc.MIN:
            found.append(a.smaller(x, y))
            continue
        if func is BlendFunc.MAX:
            found.append(a.larger(x, y))
            continue
        weighted = []
        for value, factor in ((x, src), (y, dst)):
            weight = _weight(a, operands, factor, channel)
            if weight is None:
                weighted.append(value)
            elif factor is _F.ZERO:
                weighted.append(weight)
            else:
                weighted.append(a.multiply(value, weight))
        x, y = weighted
        if func is BlendFunc.ADD:
            found.append(a.add(x, y))
        elif func is BlendFunc.SUBTRACT:
            found.append(a.subtract(x, y))
        else:
            found.append(a.subtract(y, x))
    return found


def _blend_bytes(
    b: Builder,
    key: ColorKey,
    color: Sequence[V],
    second: Sequence[V],
    constant: Sequence[V],
    current: V,
) -> V:
    format = key.format
    a = _Arithmetic(b, True)
    wide = current.to("i32", False) if current.bits < 32 else current
    destination = []
    for source in format.swizzle:
        if isinstance(source, int):
            shift = format.channels[source].shift
            part = (wide.lshr(shift) if shift else wide) & 0xFF
            destination.append(part.to("i32", False))
        else:
            destination.append(b.const("i32", 255 * (source == "1")))
    parts = [[_to_bytes(b, c.as_float()) for c in row] for row in (color, second, constant)]
    result = _blended(a, key, (parts[0], destination, parts[2], parts[1]))
    total: V | None = None
    for channel in format.channels:
        plane = _SOURCE.get(channel.name)
        value = b.const("i32", 255) if plane is None else result[plane]
        part = b.spread(value, current.w).to(current.t, False) << channel.shift
        total = part if total is None else total | part
    assert total is not None
    return total


def _blend_floats(
    b: Builder,
    key: ColorKey,
    color: Sequence[V],
    second: Sequence[V],
    constant: Sequence[V],
    current: V,
    curve: Curve | None,
) -> V:
    destination = unpacked(b, key.format, current)
    a = _Arithmetic(b, False)
    result = _blended(a, key, (color, destination, constant, second))
    return _packed(b, key.format, [b.spread(r, current.w) for r in result], curve)


def _logic(b: Builder, op: LogicOp, s: V, d: V) -> V:
    zero = b.spread(b.const(d.t, 0), d.w)
    table = {
        LogicOp.CLEAR: lambda: zero,
        LogicOp.AND: lambda: s & d,
        LogicOp.AND_REVERSE: lambda: s & ~d,
        LogicOp.COPY: lambda: s,
        LogicOp.AND_INVERTED: lambda: ~s & d,
        LogicOp.NOOP: lambda: d,
        LogicOp.XOR: lambda: s ^ d,
        LogicOp.OR: lambda: s | d,
        LogicOp.NOR: lambda: ~(s | d),
        LogicOp.EQUIV: lambda: ~(s ^ d),
        LogicOp.INVERT: lambda: ~d,
        LogicOp.OR_REVERSE: lambda: s | ~d,
        LogicOp.COPY_INVERTED: lambda: ~s,
        LogicOp.OR_INVERTED: lambda: ~s | d,
        LogicOp.NAND: lambda: ~(s & d),
        LogicOp.SET: lambda: ~zero,
    }
    return table[op]()
