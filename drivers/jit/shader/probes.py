"""Anisotropic filtering in machine code: the probes of `drivers.common.texture.anisotropic`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gallette.drivers.common.fixed.addressing import log2

from ..llvm.values import V
from .routines import inlined

if TYPE_CHECKING:
    from .sampling import Lookup, Sampler

__all__ = ["probed"]


def probed(s: Sampler, look: Lookup, ddx: Sequence[V], ddy: Sequence[V]) -> list[V]:
    """The mean of the probes along the longer of two derivatives."""
    b, w = s.b, s.w
    axis, level, count = _footprint(s, ddx, ddy)
    lod = s.lod(replace(look, op="txl", lod=level), None)
    total = [b.var("float", w, b.lanes("float", [0.0] * w)) for _ in range(4)]
    number = b.var("float", 0, 1.0)
    with b.forever() as done:
        mine = count >= b.spread(number.get(), w)
        more = b.block()
        b.branch(b.any(mine), more, done)
        b.place(more)
        share = b.spread(number.get(), w) / (count + 1.0) - 0.5
        at = [c + a * share for c, a in zip(look.coords, axis, strict=False)]
        probe = replace(look, op="txl", coords=[*at, *look.coords[2:]])
        # A new sampler, because values cached by this one are not available after the loop.
        found = type(s)(b, s.key, s.where, w).filtered(probe, lod)
        for sum_, plane in zip(total, found, strict=True):
            sum_.update(mine, sum_.get() + b.spread(plane, w))
        number.set(number.get() + 1.0)
    return [sum_.get() / count for sum_ in total]


def _footprint(s: Sampler, ddx: Sequence[V], ddy: Sequence[V]) -> tuple[list[V], V, V]:
    """The longer derivative, its level of detail, and the number of probes."""
    b, w = s.b, s.w
    one, infinity = b.const("float", 1.0), b.const("float", float("inf"))
    squares = [b.spread(square, w) for square in s.squared_lengths(ddx, ddy)]
    first, second = (b.math("sqrt", square) for square in squares)
    unknown = first.ne(first) | second.ne(second)
    longer = b.select(first > second, first, second)
    shorter = b.select(first > second, second, first)
    ratio = b.select(longer > 0.0, b.spread(infinity, w), one)
    ratio = b.select(shorter > 0.0, longer / shorter, ratio)
    limited = b.math("minnum", b.math("maxnum", ratio, 1.0), float(s.key.probes))
    several = (longer > 1.0) & ~unknown
    count = b.select(several, b.math("ceil", limited), one)
    rho = b.math("maxnum", squares[0], squares[1])
    level = inlined(b, log2(), [rho / (count * count)])[0] * 0.5
    across = first >= second
    axis = [b.select(across, x, y) for x, y in zip(ddx[:2], ddy[:2], strict=True)]
    return axis, level, count
