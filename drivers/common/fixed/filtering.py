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


@cache
def array_layer(faces: int) -> Routine:
    """The array layer that a coordinate selects of `layers`; with 6 faces a layer, the given face
    of the cube that it selects.
    """

    def build(b: Builder, coordinate: Def, layers: Def, face: Def | None = None) -> list[Def]:
        count = layers if face is None else b.udiv(layers, b.imm_int(faces))
        zero, top = b.imm_float(0.0), b.i2f32(b.isub(count, b.imm_int(1)))
        nearest = b.fround_even(coordinate)
        bounded = b.bcsel(b.flt(zero, nearest), nearest, zero)  # a NaN is 0
        layer = b.f2i32(b.bcsel(b.flt(top, bounded), top, bounded))
        return [layer if face is None else b.iadd(b.imul(layer, b.imm_int(faces)), face)]

    names = ("coordinate", "layers") if faces == 1 else ("coordinate", "layers", "face")
    return routine("layer", dict.fromkeys(names, (1, 32)), build, "i", any_conversion=True)


@cache
def mix(kept: bool = False) -> Routine:
    """Two numbers, the second one weighted; `kept`: where its weight is zero, even an infinity does
    not count.
    """

    def build(b: Builder, first: Def, second: Def, weight: Def) -> list[Def]:
        mixed = b.fadd(first, b.fmul(weight, b.fsub(second, first)))
        return [b.bcsel(b.feq(weight, b.imm_float(0.0)), first, mixed) if kept else mixed]

    return routine("mix", dict.fromkeys(("first", "second", "weight"), (1, 32)), build, "f")


@cache
def mean_of_others() -> Routine:
    """Where it is `alone`, the mean of three other texels in place of a texel: at a corner of a
    cube three faces meet, and there is no fourth.
    """

    def build(b: Builder, alone: Def, own: Def, x: Def, y: Def, z: Def) -> list[Def]:
        mean = b.fdiv(b.fadd(b.fadd(x, y), z), b.imm_float(3.0))
        return [b.bcsel(alone, mean, own)]

    others = dict.fromkeys(("own", "first", "second", "third"), (1, 32))
    return routine("mean of others", {"alone": (1, 1), **others}, build, "f")


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
def unpacked(sources: tuple[str | int, ...]) -> Routine:
    """The components of filtered bytes: even and odd ones of a word, or constants."""

    def build(b: Builder, even: Def, odd: Def) -> list[Def]:
        found = []
        for source in sources:
            if isinstance(source, str):
                found.append(b.imm_float(float(source)))
                continue
            word = odd if source & 1 else even
            byte = b.ushr(word, b.imm_int(16)) if source >= 2 else word
            code = b.u2f32(b.iand(byte, b.imm_int(255)))
            found.append(b.fdiv(code, b.imm_float(255.0)))
        return found

    return routine("unpacked", dict.fromkeys(("even", "odd"), (1, 32)), build, "ffff")


@cache
def clamped() -> Routine:
    """A reference limited to 0..1; a NaN remains."""

    def build(b: Builder, reference: Def) -> list[Def]:
        zero, one = b.imm_float(0.0), b.imm_float(1.0)
        raised = b.bcsel(b.flt(reference, zero), zero, reference)
        return [b.bcsel(b.flt(one, raised), one, raised)]

    return routine("clamped", {"reference": (1, 32)}, build, "f")


@cache
def compared(func: CompareFunc) -> Routine:
    """1.0 where a depth passes the comparison with a reference, else 0.0."""

    def build(b: Builder, reference: Def, depth: Def) -> list[Def]:
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
