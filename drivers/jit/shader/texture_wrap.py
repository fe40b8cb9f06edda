"""Texture coordinates to texel indices, cube directions to faces: `drivers.common.fixed.addressing`
in machine code.

`n` is the extent, a scalar or a value per lane.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gallette.drivers.common.fixed import addressing
from gallette.drivers.common.fixed.addressing import Axis
from gallette.drivers.common.fixed.routine import Routine

from ..llvm.text import Builder
from ..llvm.values import V
from .routines import inlined

__all__ = [
    "Tap",
    "across_the_seam",
    "face_derivatives",
    "fast_log2",
    "gather_taps",
    "linear_fixed",
    "linear_taps",
    "nearest_fixed",
    "nearest_tap",
    "project",
]


@dataclass(slots=True)
class Tap:
    """The two texels along an axis and the second one's weight."""

    i0: V
    i1: V
    weight: V
    out0: V | None = None
    out1: V | None = None


def nearest_fixed(b: Builder, axis: Axis, s: V, n: V, offset: V | None) -> V:
    return _along(b, addressing.nearest_fixed(axis, offset is not None), s, n, offset)[0]


def linear_fixed(b: Builder, axis: Axis, s: V, n: V, offset: V | None) -> tuple[V, V, V]:
    """The two texels along an axis, and the second one's weight in 256ths."""
    i0, i1, weight = _along(b, addressing.linear_fixed(axis, offset is not None), s, n, offset)
    return i0, i1, weight


def nearest_tap(b: Builder, axis: Axis, s: V, n: V, offset: V | None) -> tuple[V, V | None]:
    """The nearest texel, and which lanes are on the border."""
    found = _along(b, addressing.nearest_tap(axis, offset is not None), s, n, offset)
    return found[0], found[1] if len(found) > 1 else None


def linear_taps(b: Builder, axis: Axis, s: V, n: V, offset: V | None) -> Tap:
    """The two texels whose centres surround the coordinate."""
    return Tap(*_along(b, addressing.linear_taps(axis, offset is not None), s, n, offset))


def gather_taps(b: Builder, axis: Axis, s: V, n: V, offset: V | None) -> Tap:
    """The two texels that a gather reads along an axis."""
    return Tap(*_along(b, addressing.gather_taps(axis, offset is not None), s, n, offset))


def _along(b: Builder, routine: Routine, s: V, n: V, offset: V | None) -> list[V]:
    return inlined(b, routine, [s, n] if offset is None else [s, n, offset])


def fast_log2(b: Builder, x: V) -> V:
    """Exponent plus mantissa minus one of positive floats; about -127 for zero."""
    return inlined(b, addressing.log2(), [x])[0]


def project(b: Builder, direction: Sequence[V]) -> tuple[V, V, V]:
    """The cube face that a direction meets, and the coordinates there."""
    face, s, t = inlined(b, addressing.project(), direction)
    return face, s, t


def across_the_seam(b: Builder, face: V, i: V, j: V, n: V) -> tuple[V, V, V]:
    """The texel next to a face's edge, where `i` or `j` (not both) is -1 or n: face, i, j."""
    found = inlined(b, addressing.across_the_seam(), [face, i, j, n])
    return found[0], found[1], found[2]


def face_derivatives(b: Builder, direction: Sequence[V], d: Sequence[V]) -> list[V]:
    """How the face coordinates change with the direction, staying on the face."""
    return inlined(b, addressing.face_derivative(), [*direction, *d])
