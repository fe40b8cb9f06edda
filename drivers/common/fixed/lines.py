"""The coverage of smooth lines: by the distance of a pixel's centre from the line's sides.

A line is lengthened by half a pixel at both ends and widened by half a pixel on both sides, and
its coverage falls from 1 to 0 over the outermost pixel. Lines that are shorter than a pixel cover
the part of a pixel that they are long. These are llvmpipe's numbers; the specification leaves them
open.
"""

from __future__ import annotations

from functools import cache

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Def

from .routine import Routine, routine

__all__ = ["line_coverage", "line_frame"]


@cache
def line_frame() -> Routine:
    """Of a lengthened line with these ends: its middle, its direction, half its length, and how
    fast coverage falls at the ends.
    """

    def build(b: Builder, x0: Def, y0: Def, x1: Def, y1: Def) -> list[Def]:
        half = b.imm_float(0.5)
        dx, dy = b.fsub(x1, x0), b.fsub(y1, y0)
        length = b.fsqrt(b.fadd(b.fmul(dx, dx), b.fmul(dy, dy)))
        reach = b.fmul(length, half)
        fall = b.fmin(b.imm_float(1.0), b.fdiv(b.fsub(length, b.imm_float(1.0)), reach))
        middle = [b.fmul(b.fadd(one, two), half) for one, two in ((x0, x1), (y0, y1))]
        return [*middle, b.fdiv(dx, length), b.fdiv(dy, length), reach, fall]

    return routine(
        "frame of a line", dict.fromkeys(("x0", "y0", "x1", "y1"), (1, 32)), build, "f" * 6
    )


@cache
def line_coverage() -> Routine:
    """The coverage of the pixel with this centre by a line of half this width, given its frame."""
    names = ("x", "y", "middle_x", "middle_y", "along_x", "along_y", "reach", "fall", "width")

    def build(b: Builder, x: Def, y: Def, *given: Def) -> list[Def]:
        middle_x, middle_y, along_x, along_y, reach, fall, width = given
        x, y = b.fsub(x, middle_x), b.fsub(y, middle_y)
        along = b.fabs(b.fadd(b.fmul(x, along_x), b.fmul(y, along_y)))
        across = b.fabs(b.fsub(b.fmul(y, along_x), b.fmul(x, along_y)))
        inside = b.fsat(b.fmul(b.fsub(reach, along), fall))
        return [b.fmul(b.fsat(b.fsub(width, across)), inside)]

    return routine("coverage of a line", dict.fromkeys(names, (1, 32)), build, "f")
