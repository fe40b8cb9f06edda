"""Filtering of texels: layers, weighted means, comparisons with a reference.

Texels of bytes are filtered as words with a channel in each half, in integers; everything else in
floats.
"""

from __future__ import annotations

from functools import cache

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Def
from gallette.pipe.enums import CompareFunc

from .routine import Routine, routine

__all__ = ["compare", "compared", "layer", "mix", "mix_bytes"]


@cache
def layer() -> Routine:
    """The array layer that a coordinate selects, of `count`."""

    def build(b: Builder, coordinate: Def, layers: Def) -> list[Def]:
        zero, top = b.imm_float(0.0), b.i2f32(b.isub(layers, b.imm_int(1)))
        nearest = b.fround_even(coordinate)
        bounded = b.bcsel(b.flt(zero, nearest), nearest, zero)  # a NaN is 0
        return [b.f2i32(b.bcsel(b.flt(top, bounded), top, bounded))]

    given = dict.fromkeys(("coordinate", "layers"), (1, 32))
    return routine("layer", given, build, "i", any_conversion=True)


@cache
def mix() -> Routine:
    """Two numbers, the second one weighted."""

    def build(b: Builder, first: Def, second: Def, weight: Def) -> list[Def]:
        return [b.fadd(first, b.fmul(weight, b.fsub(second, first)))]

    return routine("mix", dict.fromkeys(("first", "second", "weight"), (1, 32)), build, "f")


@cache
def mix_bytes() -> Routine:
    """Two words of two channels each, the second one's weight of 256, rounded to nearest.

    No product or sum exceeds the 16 bits of its channel, so one multiplication weights both.
    """

    def build(b: Builder, first: Def, second: Def, weight: Def) -> list[Def]:
        rest = b.isub(b.imm_int(256), weight)
        both = b.iadd(b.imul(first, rest), b.imul(second, weight))
        rounded = b.ushr(b.iadd(both, b.imm_int(0x00800080)), b.imm_int(8))
        return [b.iand(rounded, b.imm_int(0x00FF00FF))]

    return routine("mix bytes", dict.fromkeys(("first", "second", "weight"), (1, 32)), build)


@cache
def compared(func: CompareFunc, clamped: bool) -> Routine:
    """1.0 where a depth passes the comparison with a reference, else 0.0; the reference may be
    limited to 0..1 first.
    """

    def build(b: Builder, reference: Def, depth: Def) -> list[Def]:
        if clamped:
            zero, one = b.imm_float(0.0), b.imm_float(1.0)
            reference = b.bcsel(b.flt(reference, zero), zero, reference)
            reference = b.bcsel(b.flt(one, reference), one, reference)
        return [b.b2f32(compare(b, func, reference, depth, "f"))]

    given = dict.fromkeys(("reference", "depth"), (1, 32))
    return routine(f"compare {func.name}", given, build, "f")


def compare(b: Builder, func: CompareFunc, x: Def, y: Def, kind: str) -> Def:
    """A comparison of floats (`kind` f) or of unsigned integers (u)."""
    less, at_least = f"{kind}lt", f"{kind}ge"
    same, other = ("feq", "fneu") if kind == "f" else ("ieq", "ine")
    if func is CompareFunc.LESS:
        return b.alu(less, x, y)
    if func is CompareFunc.LEQUAL:
        return b.alu(at_least, y, x)
    if func is CompareFunc.GREATER:
        return b.alu(less, y, x)
    if func is CompareFunc.GEQUAL:
        return b.alu(at_least, x, y)
    if func is CompareFunc.EQUAL:
        return b.alu(same, x, y)
    if func is CompareFunc.NOTEQUAL:
        return b.alu(other, x, y)
    return b.imm_bool(func is CompareFunc.ALWAYS)
