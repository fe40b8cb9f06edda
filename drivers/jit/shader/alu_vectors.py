"""Opcodes on whole vectors: packing, unpacking, dot products, comparisons of all components.

They take a list of values for a source of several components, and return one value or a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ..llvm.text import Builder
from ..llvm.values import V
from .alu import EMITTERS, Emit

Values = Sequence[V]


def _dot(b: Builder, x: Values, y: Values) -> V:
    """Sum the products from the last component on, rounding every step."""
    return _with_products(x[-1] * y[-1], x[:-1], y[:-1])


def _with_products(total: V, x: Values, y: Values) -> V:
    pairs = zip(x[::-1], y[::-1], strict=True)
    return reduce(lambda total, pair: total + pair[0] * pair[1], pairs, total)


def _dph(b: Builder, x: Values, y: Values) -> V:
    return _with_products(y[3], x, y[:3])


def _sum(b: Builder, x: Values) -> V:
    return reduce(lambda total, one: total + one, x)


def _every(b: Builder, x: Values, y: Values) -> V:
    return reduce(lambda a, c: a & c, [p.eq(q) for p, q in zip(x, y, strict=True)])


def _some(b: Builder, x: Values, y: Values) -> V:
    return reduce(lambda a, c: a | c, [p.ne(q) for p, q in zip(x, y, strict=True)])


for _n in (2, 3, 4):
    EMITTERS[f"fdot{_n}"] = _dot
    EMITTERS[f"fsum{_n}"] = _sum
    EMITTERS[f"ball_fequal{_n}"] = EMITTERS[f"ball_iequal{_n}"] = _every
    EMITTERS[f"bany_fnequal{_n}"] = EMITTERS[f"bany_inequal{_n}"] = _some
EMITTERS["fdph"] = _dph


def _half_bits(x: V) -> V:
    return x.fp("half").as_int().to("i32", False)


def _unpacked_half(x: V, shift: int) -> V:
    return (x.lshr(shift) if shift else x).to("i16").bitcast("half").fp("float")


def _pack_halves(b: Builder, x: V, y: V) -> V:
    return _half_bits(x) | (_half_bits(y) << 16)


EMITTERS["pack_half_2x16"] = lambda b, v: _pack_halves(b, *v)
EMITTERS["pack_half_2x16_split"] = _pack_halves
EMITTERS["unpack_half_2x16"] = lambda b, x: [_unpacked_half(x, 0), _unpacked_half(x, 16)]
EMITTERS["unpack_half_2x16_split_x"] = lambda b, x: _unpacked_half(x, 0)
EMITTERS["unpack_half_2x16_split_y"] = lambda b, x: _unpacked_half(x, 16)


def _pack_norm(bits: int, signed: bool) -> Emit:
    """Clamp, scale, round and combine; the first component is the lowest."""
    scale = float(2 ** (bits - 1) - 1 if signed else 2**bits - 1)
    low = -1.0 if signed else 0.0

    def run(b: Builder, values: Values) -> V:
        packed: V | None = None
        for i, x in enumerate(values):
            limited = b.math("minnum", b.math("maxnum", x, low), 1.0)
            n = b.cast("fptosi", b.math("roundeven", limited * scale), "i32")
            part = (n & ((1 << bits) - 1)) << (i * bits)
            packed = part if packed is None else packed | part
        assert packed is not None
        return packed

    return run


def _unpack_norm(bits: int, signed: bool) -> Emit:
    scale = float(2 ** (bits - 1) - 1 if signed else 2**bits - 1)

    def run(b: Builder, x: V) -> list[V]:
        found = []
        for i in range(32 // bits):
            part = x.lshr(i * bits)
            if signed:
                n = (part << (32 - bits)) >> (32 - bits)
                f = n.to_float() / scale
                found.append(b.math("minnum", b.math("maxnum", f, -1.0), 1.0))
            else:
                found.append((part & ((1 << bits) - 1)).to_float() / scale)
        return found

    return run


for _sign, _signed in (("unorm", False), ("snorm", True)):
    for _count, _bits in ((2, 16), (4, 8)):
        EMITTERS[f"pack_{_sign}_{_count}x{_bits}"] = _pack_norm(_bits, _signed)
        EMITTERS[f"unpack_{_sign}_{_count}x{_bits}"] = _unpack_norm(_bits, _signed)


def _join(whole: int, bits: int) -> Emit:
    def run(b: Builder, values: Values) -> V:
        parts = [v.to(f"i{whole}", False) << (i * bits) for i, v in enumerate(values)]
        return reduce(lambda a, c: a | c, parts)

    return run


def _part(bits: int, shift: int) -> Emit:
    return lambda b, x: x.lshr(shift).to(f"i{bits}", False)


def _cut(bits: int, count: int) -> Emit:
    return lambda b, x: [x.lshr(i * bits).to(f"i{bits}", False) for i in range(count)]


def _join_two(whole: int, bits: int) -> Emit:
    joined = _join(whole, bits)
    return lambda b, x, y: joined(b, [x, y])


for _whole, _count, _bits in ((64, 2, 32), (64, 4, 16), (32, 2, 16), (32, 4, 8)):
    _name = f"{_whole}_{_count}x{_bits}"
    EMITTERS[f"pack_{_name}"] = _join(_whole, _bits)
    EMITTERS[f"unpack_{_name}"] = _cut(_bits, _count)
    if _count == 2:
        EMITTERS[f"pack_{_name}_split"] = _join_two(_whole, _bits)
        EMITTERS[f"unpack_{_name}_split_x"] = _part(_bits, 0)
        EMITTERS[f"unpack_{_name}_split_y"] = _part(_bits, _bits)


def _vector(b: Builder, *parts: V) -> list[V]:
    return list(parts)


for _n in (2, 3, 4, 5, 8, 16):
    EMITTERS[f"vec{_n}"] = _vector
