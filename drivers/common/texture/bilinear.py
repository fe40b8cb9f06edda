"""Bilinear filtering of padded copies (see `padded`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import minmax
from gallette.drivers.common.fixed.addressing import Axis
from gallette.pipe.enums import Wrap

from .floats import Place
from .padded import Copies, Padded, lerp_up, spread_weight

__all__ = ["PaddedFilter"]

Array = npt.NDArray[Any]

_EIGHT = np.uint16(8)
_HIGH = np.uint16(0xFF00)
_HALF = np.uint16(0x80)


class PaddedFilter:
    """Filters one view through one sampler, from its padded copy."""

    __slots__ = ("_axes", "_padded")

    def __init__(self, padded: Padded, axes: list[Axis]) -> None:
        self._padded = padded
        self._axes = axes

    def linear(self, place: Place) -> Array | None:
        """The mean of four texels, as four 16-bit channels per lane; None without a copy."""
        copies = self._padded.copies(place.coords[0].shape[0])
        if copies is None:
            return None
        layout, level = self._padded.layout, place.level
        row: Any = layout.row[level]
        index, column_weight = self._first(0, place, layout.image.width[level])
        y, row_weight = self._first(1, place, layout.image.height[level])
        y *= row
        index += y
        index += layout.base[level] + (row + 1)  # the texel at 0, 0
        if np.ndim(place.z) or place.z:
            index += np.asarray(place.z, np.int64) * layout.layers[level]
        low = _between(copies, index, column_weight)
        index += row
        return _mean(low, _between(copies, index, column_weight), row_weight)

    def _first(self, axis: int, place: Place, extent: Any) -> tuple[Array, Array]:
        """The first texel of each pair along an axis, and the weights of the second ones."""
        coords, offset = place.coords[axis], place.offset[axis]
        first, weight = _linear_first(self._axes[axis], coords, extent, offset)
        return first.astype(np.int64), spread_weight(weight)


def _between(copies: Copies, index: Array, weight: Array) -> Array:
    """Pairs of texels at an index, weighted: times 256, with fractional bits below."""
    words, steps = copies
    if steps is None:
        return lerp_up(words, index, weight)
    found, step = words.take(index).view(np.uint16), steps.take(index).view(np.uint16)
    step *= weight
    found += step
    return found


def _mean(low: Array, high: Array, weight: Array) -> Array:
    """Two rows weighted: `lerp16` of `lerp16`s, without the shifts that cancel out."""
    mean = high >> _EIGHT
    mean -= low >> _EIGHT
    mean *= weight
    rounded = low & _HIGH
    rounded |= _HALF
    mean += rounded
    mean >>= _EIGHT
    return mean


def _linear_first(axis: Axis, s: Array, n: Any, offset: Array | int) -> tuple[Array, Array]:
    """The first texel, -1 to n - 1 (the second is the next), and the second one's weight of 256."""
    fixed = _fixed(axis, s, n, offset)
    first = fixed >> np.int32(8)
    fixed &= np.int32(255)
    if axis.mode is Wrap.REPEAT and axis.pot:
        first &= n - 1
    else:
        minmax.minimum(minmax.maximum(first, np.int32(-1), first), n - 1, first)
    return first, fixed


def _fixed(axis: Axis, s: Array, n: Any, offset: Array | int) -> Array:
    """The coordinate minus half a texel, in 256ths of a texel."""
    nf = np.asarray(n, np.float32)
    s = _offset_coordinate(s, offset, nf, axis.scaled)
    repeat = axis.mode is Wrap.REPEAT
    if repeat and not axis.pot:
        s = s - np.floor(s)
    u = np.asarray(s * np.float32(256.0) if axis.scaled else s * (nf * np.float32(256.0)))
    if not repeat:
        minmax.maximum(u, np.float32(0.0), u)
        minmax.minimum(u, nf * np.float32(256.0), u)
    fixed: Array = np.rint(u, out=u).astype(np.int32)
    fixed -= np.int32(128)
    return fixed


def _offset_coordinate(s: Array, offset: Array | int, nf: Array, scaled: bool) -> Array:
    if isinstance(offset, int) and offset == 0:
        return s
    return s + offset if scaled else s + offset / nf
