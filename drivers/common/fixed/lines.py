"""The coverage of smooth lines: by the distance of a pixel's centre from the line's sides.

A line is lengthened by half a pixel at both ends and widened by half a pixel on both sides, and
its coverage falls from 1 to 0 over the outermost pixel. Lines that are shorter than a pixel cover
the part of a pixel that they are long.

These are llvmpipe's numbers; the specification leaves them open. llvmpipe interpolates distances
over the two triangles of the lengthened rectangle, in perspective: where 1/w differs, the middle of
a line is not in the middle of the rectangle, and it has a kink on the triangles' common edge. It is
the edge that windows have there.
"""

from __future__ import annotations

from functools import cache

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Def

from .routine import Routine, routine

__all__ = ["line_coverage", "line_frame"]


@cache
def line_frame() -> Routine:
    """Of a lengthened line with these ends and 1/w there: its middle, its direction, half its
    length, the distance that coverage takes from middle to end, and how much 1/w changes.
    """
    names = ("x0", "y0", "w0", "x1", "y1", "w1")

    def build(b: Builder, x0: Def, y0: Def, w0: Def, x1: Def, y1: Def, w1: Def) -> list[Def]:
        half = b.imm_float(0.5)
        dx, dy = b.fsub(x1, x0), b.fsub(y1, y0)
        length = b.fsqrt(b.fadd(b.fmul(dx, dx), b.fmul(dy, dy)))
        reach = b.fmul(length, half)
        distance = b.fmin(reach, b.fsub(length, b.imm_float(1.0)))
        middle = [b.fmul(b.fadd(one, two), half) for one, two in ((x0, x1), (y0, y1))]
        change = b.fdiv(b.fsub(w1, w0), b.fadd(w1, w0))
        return [*middle, b.fdiv(dx, length), b.fdiv(dy, length), reach, distance, change]

    return routine("frame of a line", dict.fromkeys(names, (1, 32)), build, "f" * 7)


@cache
def line_coverage() -> Routine:
    """The coverage of the pixel with this centre by a line of half this width, given its frame."""
    names = ("x", "y", "middle_x", "middle_y", "dx", "dy", "reach", "distance", "change", "width")

    def build(b: Builder, x: Def, y: Def, *given: Def) -> list[Def]:
        middle_x, middle_y, dx, dy, reach, distance, change, width = given
        x, y = b.fsub(x, middle_x), b.fsub(y, middle_y)
        along = b.fdiv(b.fadd(b.fmul(x, dx), b.fmul(y, dy)), reach)  # -1 to 1
        across = b.fdiv(b.fsub(b.fmul(y, dx), b.fmul(x, dy)), width)
        kink = b.fmul(change, b.fabs(b.fadd(across, along)))
        w = b.frcp(b.fadd(b.imm_float(1.0), b.fmul(change, along)))
        found = []
        for place, size in ((b.fadd(along, change), distance),
                            (b.fadd(b.fsub(across, change), kink), width)):  # fmt: skip
            away = b.fmul(b.fabs(b.fmul(place, w)), size)
            found.append(b.fsat(b.fsub(size, away)))
        return [b.fmul(*found)]

    return routine("coverage of a line", dict.fromkeys(names, (1, 32)), build, "f")
