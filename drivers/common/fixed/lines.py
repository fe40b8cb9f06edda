"""The coverage of smooth lines: by the distance of a pixel's centre from the line's sides.

A line is lengthened by half a pixel at both ends and widened by half a pixel on both sides, and
its coverage falls from 1 to 0 over the outermost pixel. Lines that are shorter than a pixel cover
the part of a pixel that they are long.

These are llvmpipe's numbers; the specification leaves them open. llvmpipe interpolates distances
over the two triangles of the lengthened rectangle, in perspective: where 1/w differs, the middle of
a line is not in the middle of the rectangle, and it has a kink on the triangles' common edge. That
is another edge where Mesa counts rows upwards: in framebuffer objects, but not in windows.
"""

from __future__ import annotations

from functools import cache

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Def

from .routine import Routine, routine


@cache
def line_ends(shift: float) -> Routine:
    """The ends of a line for the parallelogram between them, from its vertices: those on its longer
    axis `u` and across it `v`, in 1/256 pixel, the one with the lower u first; and whether u is x.
    Pixel centres are at `shift` then.

    The rule for ends is applied with rows counted downwards, as windows have them elsewhere. Each
    end is moved to the next pixel border where the plain parallelogram would disagree with it.
    """

    def build(b: Builder, x0: Def, y0: Def, x1: Def, y1: Def) -> list[Def]:
        zero, half, one = b.imm_float(0.0), b.imm_float(0.5), b.imm_float(1.0)
        dx, dy = b.fsub(x0, x1), b.fsub(y0, y1)
        wide = b.fge(b.fabs(dx), b.fabs(dy))

        def turned(value: Def, by: Def) -> Def:
            return b.bcsel(by, value, b.fneg(value))

        def equal(first: Def, second: Def) -> Def:
            return b.inot(b.ixor(first, second))

        du, dv = b.bcsel(wide, dx, dy), b.bcsel(wide, dy, dx)
        slope = b.fneg(b.fdiv(dv, du))
        tall = b.inot(wide)
        us = [turned(b.bcsel(wide, x, y), wide) for x, y in ((x0, y0), (x1, y1))]
        vs = [turned(b.bcsel(wide, y, x), tall) for x, y in ((x0, y0), (x1, y1))]
        leftwards = b.fge(turned(du, wide), zero)  # from the start to the end
        downwards = b.flt(turned(dv, tall), zero)
        along, across, inside, past, sideways, crosses = [], [], [], [], [], []
        for number, (u, v) in enumerate(zip(us, vs, strict=True)):
            v_at = b.fsub(v, b.ffloor(v))
            # The position inside the pixel, -0.5 .. 0.5.
            a, c = b.fsub(b.fsub(u, b.ffloor(u)), half), b.fsub(v_at, half)
            if number:  # between two rows, it belongs to the row that the line comes from
                edge = b.iand(b.feq(c, b.imm_float(-0.5)), downwards)
                c = b.bcsel(edge, half, c)
            along.append(a)
            across.append(c)
            inside.append(b.flt(b.fadd(b.fabs(a), b.fabs(c)), half))
            # Whether a point is on that side of its pixel's centre towards which the line runs.
            # Points on the centre line belong to the side that the axis prefers.
            past.append(equal(b.fge(turned(a, wide), zero), b.fge(zero, du)))
            sideways.append(equal(b.fge(zero, turned(c, wide)), b.fge(zero, dv)))
            meets = b.fadd(v_at, b.fmul(a, slope))  # where the pixel's centre column is crossed
            cross = b.iand(b.flt(meets, one), b.flt(zero, meets))
            if number:
                cross = b.ior(cross, b.iand(tall, b.feq(meets, zero)))
            crosses.append(cross)
        start = b.ior(inside[0], b.iand(b.inot(past[0]), b.ior(b.inot(sideways[0]), crosses[0])))
        end = b.iand(b.inot(inside[1]), b.iand(past[1], b.ior(sideways[1], crosses[1])))
        plain_start = b.bcsel(
            wide,
            b.ixor(b.fge(zero, along[0]), leftwards),
            equal(b.fge(along[0], zero), leftwards),
        )
        plain_end = b.ior(past[1], b.feq(along[1], zero))
        side = b.bcsel(leftwards, half, b.imm_float(-0.5))
        places = []
        for u, v, a, moves in zip(
            us, vs, along, (b.ixor(plain_start, start), b.ixor(plain_end, end)), strict=True
        ):
            offset = b.bcsel(moves, b.fsub(side, a), zero)
            ends = turned(b.fadd(u, offset), wide), turned(b.fadd(v, b.fmul(offset, slope)), tall)
            places += [snapped(b, b.fsub(value, b.imm_float(shift))) for value in ends]
        rising = b.flt(du, zero)
        low = [b.bcsel(rising, places[k], places[k + 2]) for k in range(2)]
        high = [b.bcsel(rising, places[k + 2], places[k]) for k in range(2)]
        return [*low, *high, b.b2i32(wide)]

    return routine(
        "ends of a line", dict.fromkeys(("x0", "y0", "x1", "y1"), (1, 32)), build, "ffffi"
    )


@cache
def longer_line() -> Routine:
    """Both ends of a line, half a pixel further out."""

    def build(b: Builder, x0: Def, y0: Def, x1: Def, y1: Def) -> list[Def]:
        dx, dy = b.fsub(x1, x0), b.fsub(y1, y0)
        length = b.fsqrt(b.fadd(b.fmul(dx, dx), b.fmul(dy, dy)))
        scale = b.fdiv(b.imm_float(0.5), length)
        dx, dy = b.fmul(dx, scale), b.fmul(dy, scale)
        return [b.fsub(x0, dx), b.fsub(y0, dy), b.fadd(x1, dx), b.fadd(y1, dy)]

    return routine("longer line", dict.fromkeys(("x0", "y0", "x1", "y1"), (1, 32)), build, "f" * 4)


@cache
def line_sides() -> Routine:
    """The ends of a line with half this width, and the step from there to a corner of the rectangle
    around it, in 1/256 pixel.
    """
    names = ("x0", "y0", "x1", "y1", "half")

    def build(b: Builder, x0: Def, y0: Def, x1: Def, y1: Def, half: Def) -> list[Def]:
        dx, dy = b.fsub(x0, x1), b.fsub(y0, y1)
        scale = b.fdiv(half, b.fsqrt(b.fadd(b.fmul(dx, dx), b.fmul(dy, dy))))
        across = b.fmul(b.fneg(dy), scale), b.fmul(dx, scale)
        return [snapped(b, value) for value in (x0, y0, x1, y1, *across)]

    return routine("sides of a line", dict.fromkeys(names, (1, 32)), build, "f" * 6)


def snapped(b: Builder, value: Def) -> Def:
    """A coordinate in 1/256 pixel, halves rounded away from zero."""
    value = b.fmul(value, b.imm_float(256.0))
    away = b.bcsel(b.flt(value, b.imm_float(0.0)), b.imm_float(-0.5), b.imm_float(0.5))
    return b.ftrunc(b.fadd(away, value))


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
    """The coverage of the pixel with this centre by a line of half this width, given its frame; the
    width is negative where rows are counted upwards.
    """
    names = ("x", "y", "middle_x", "middle_y", "dx", "dy", "reach", "distance", "change", "width")

    def build(b: Builder, x: Def, y: Def, *given: Def) -> list[Def]:
        middle_x, middle_y, dx, dy, reach, distance, change, width = given
        x, y = b.fsub(x, middle_x), b.fsub(y, middle_y)
        along = b.fdiv(b.fadd(b.fmul(x, dx), b.fmul(y, dy)), reach)  # -1 to 1
        across = b.fdiv(b.fsub(b.fmul(y, dx), b.fmul(x, dy)), width)
        width = b.fabs(width)
        kink = b.fmul(change, b.fabs(b.fadd(across, along)))
        w = b.frcp(b.fadd(b.imm_float(1.0), b.fmul(change, along)))
        found = []
        for place, size in ((b.fadd(along, change), distance),
                            (b.fadd(b.fsub(across, change), kink), width)):  # fmt: skip
            away = b.fmul(b.fabs(b.fmul(place, w)), size)
            found.append(b.fsat(b.fsub(size, away)))
        return [b.fmul(*found)]

    return routine("coverage of a line", dict.fromkeys(names, (1, 32)), build, "f")
