"""The squares that points cover."""

from __future__ import annotations

from functools import cache

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Def

from .lines import snapped
from .routine import Routine, routine

LARGEST_POINT = 255.0
"""The largest size of a point, whatever the shader writes."""


@cache
def point_size() -> Routine:
    """A size as rasterized: whole sub-pixels, at least one pixel."""

    def build(b: Builder, size: Def) -> list[Def]:
        size = b.fmin(b.fmax(size, b.imm_float(1.0)), b.imm_float(LARGEST_POINT))
        return [b.fmul(snapped(b, size), b.imm_float(1 / 256))]

    return routine("size of a point", {"size": (1, 32)}, build, "f")


@cache
def point_square(shift: float) -> Routine:
    """The bounds of a point of such a size along one axis, in 1/256 pixel. Pixel centres are at
    `shift` then.
    """

    def build(b: Builder, center: Def, size: Def) -> list[Def]:
        width = b.f2i32(b.fmul(size, b.imm_float(256.0)))
        low = b.isub(_snapped(b, center, shift), b.ishr(width, b.imm_int(1)))
        return [low, b.iadd(low, width)]

    return routine("square of a point", {"center": (1, 32), "size": (1, 32)}, build, "ii", True)


@cache
def point_pixels() -> Routine:
    """The first and past-the-last pixel along one axis of a point that covers whole pixels: a
    square around a pixel or, of even size, around a pixel's corner.
    """

    def build(b: Builder, center: Def, size: Def) -> list[Def]:
        width = b.f2i32(b.fmul(size, b.imm_float(256.0)))
        pixels = b.ishr(b.iadd(width, b.imm_int(127)), b.imm_int(8))
        odd = b.ine(b.iand(pixels, b.imm_int(1)), b.imm_int(0))
        at = b.iadd(_snapped(b, center, 0.0), b.bcsel(odd, b.imm_int(0), b.imm_int(128)))
        first = b.isub(b.ishr(at, b.imm_int(8)), b.ishr(pixels, b.imm_int(1)))
        return [first, b.iadd(first, pixels)]

    return routine("pixels of a point", {"center": (1, 32), "size": (1, 32)}, build, "ii", True)


def _snapped(b: Builder, value: Def, shift: float) -> Def:
    return b.f2i32(snapped(b, b.fsub(value, b.imm_float(shift))))
