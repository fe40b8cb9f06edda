"""Texture coordinates to texel indices along one axis: `drivers.common.fixed.addressing` on arrays.

`s` is the coordinate (normalised unless the axis is `scaled`), `n` the extent: an int, or an array
by lane.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import minmax
from gallette.drivers.common.fixed import addressing
from gallette.drivers.common.fixed.addressing import Axis
from gallette.drivers.common.fixed.arrays import evaluate

__all__ = [
    "Taps",
    "clamp",
    "gather_taps",
    "limited",
    "linear_fixed",
    "linear_taps",
    "nearest_fixed",
    "nearest_tap",
]

Array = npt.NDArray[Any]
F32 = np.float32
I32 = np.int32


@dataclass(slots=True)
class Taps:
    """The two texels along an axis and the second one's weight; `out` marks border texels."""

    i0: Array
    i1: Array
    weight: Array
    out0: Array | None = None
    out1: Array | None = None


def clamp(i: Array, n: Any) -> Array:
    """`i` limited to 0..n-1."""
    return minmax.minimum(minmax.maximum(i, 0), n - 1)


def limited(u: Array, low: Any, high: Any) -> Array:
    """`u` limited to low..high, a NaN left as it is."""
    raised = minmax.maximum(np.asarray(u), low)
    return minmax.minimum(raised, high, None if np.ndim(high) or not raised.ndim else raised)


def nearest_tap(axis: Axis, s: Array, n: Any, offset: Array | int) -> tuple[Array, Array | None]:
    """The nearest texel, and which lanes are on the border (None where the mode has none)."""
    found = _along(addressing.nearest_tap, axis, s, n, offset)
    return found[0].view(I32), found[1] if len(found) > 1 else None


def linear_taps(axis: Axis, s: Array, n: Any, offset: Array | int) -> Taps:
    """The two texels whose centres surround the coordinate."""
    return _taps(_along(addressing.linear_taps, axis, s, n, offset))


def gather_taps(axis: Axis, s: Array, n: Any, offset: Array | int) -> Taps:
    """The two texels that a gather reads along an axis."""
    return _taps(_along(addressing.gather_taps, axis, s, n, offset))


def nearest_fixed(axis: Axis, s: Array, n: Any, offset: Array | int) -> Array:
    """The texel that contains the coordinate, where texels are filtered in 8 bits."""
    return _along(addressing.nearest_fixed, axis, s, n, offset)[0].view(I32)


def linear_fixed(axis: Axis, s: Array, n: Any, offset: Array | int) -> tuple[Array, Array, Array]:
    """The two texels along an axis, and the second one's weight in 256ths."""
    i0, i1, weight = _along(addressing.linear_fixed, axis, s, n, offset)
    return i0.view(I32), i1.view(I32), weight


def _along(make: Any, axis: Axis, s: Array, n: Any, offset: Array | int) -> list[Array]:
    given = [s, np.asarray(n, I32)]
    if moved := not isinstance(offset, int) or offset != 0:
        given.append(np.asarray(offset, I32))
    return evaluate(make(axis, moved), given)


def _taps(found: list[Array]) -> Taps:
    i0, i1, weight, *out = found
    return Taps(i0.view(I32), i1.view(I32), weight.view(F32), *out)
