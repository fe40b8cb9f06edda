"""Bilinear filtering of padded copies (see `padded`), with coordinates computed once.

A shader that takes several samples, such as a blur, passes the same column or row coordinates again
and again. The texel indices of coordinates are cached as long as their arrays live, and looked up
by comparison, which takes a fraction of the time.
"""

from __future__ import annotations

import weakref
from functools import partial
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
_Key = tuple[int, Any]

_MOST_KEPT = 12
"""The number of coordinates cached per axis."""

_LEAST, _MOST = 1 << 8, 1 << 15
"""The numbers of lanes for which caching coordinates pays."""

_PATIENCE = 64
"""After this many coordinates that never recur, caching is disabled."""

_EIGHT = np.uint16(8)
_HIGH = np.uint16(0xFF00)
_HALF = np.uint16(0x80)


class PaddedFilter:
    """Filters one view through one sampler, from its padded copy."""

    __slots__ = ("_axes", "_padded", "_remembered")

    def __init__(self, padded: Padded, axes: list[Axis]) -> None:
        self._padded = padded
        self._axes = axes
        self._remembered = [_IndexCache() for _ in axes]

    def linear(self, place: Place) -> Array | None:
        """The mean of four texels, as four 16-bit channels per lane; None without a copy."""
        copies = self._padded.copies(place.coords[0].shape[0])
        if copies is None:
            return None
        layout, level = self._padded.layout, place.level
        row: Any = layout.row[level]
        x = self._line(0, place, layout.image.width[level], 1)
        y = self._line(1, place, layout.image.height[level], row)
        index = x.places + y.places
        index += layout.base[level] + (row + 1)  # the texel at 0, 0
        plain = isinstance(level, int)
        if np.ndim(place.z) or place.z:
            plain = False
            index += np.asarray(place.z, np.int64) * layout.layers[level]
        low: Array | None = None
        if plain and x.above is not None and x.above[0] is copies and y.follows(x.above[1], row):
            low = x.above[2]
        if low is None:
            low = _between(copies, index, x.weight)
        index += row
        high = _between(copies, index, x.weight)
        if plain and x.kept and y.kept:
            x.above = copies, y, high
        return _mean(low, high, y.weight)

    def _line(self, axis: int, place: Place, extent: Any, stride: Any) -> _Line:
        """The texel indices of coordinates along an axis."""
        coords, offset, level = place.coords[axis], place.offset[axis], place.level
        if not isinstance(level, int) or not isinstance(offset, int):
            return _Line(self._axes[axis], coords, extent, offset, stride)
        kept, where = self._remembered[axis], (level, offset)
        found = kept.find(where, coords)
        if found is None:
            found = _Line(self._axes[axis], coords, int(extent), offset, stride)
            kept.keep(where, coords, found)
        return found


class _Line:
    """Columns or rows: `places` are the first texels of pairs, as distances in the copy, `weight`
    the weights of the second ones.
    """

    __slots__ = ("_after", "above", "ends", "given", "kept", "places", "weight")

    def __init__(
        self, axis: Axis, coords: Array, extent: Any, offset: Array | int, stride: Any
    ) -> None:
        first, weight = _linear_first(axis, coords, extent, offset)
        self.places = first.astype(np.int64)
        if not isinstance(stride, int):
            self.places *= stride
        self.weight = spread_weight(weight)
        self.kept = False
        self.given = coords
        self.ends: weakref.ref[Array] | None = None
        self.above: tuple[Copies, _Line, Array] | None = None
        """For columns: the weighted upper row of the previous sample, and which row it was."""
        self._after: tuple[_Line, bool] | None = None

    def follows(self, other: _Line, row: Any) -> bool:
        """For rows: whether each row is the one after the other's."""
        if self._after is None or self._after[0] is not other:
            same = self.places.shape == other.places.shape
            self._after = other, same and bool((self.places == other.places + row).all())
        return self._after[1]


class _IndexCache:
    """A cache of the texel indices of coordinates.

    Arrays are looked up by identity and then compared, since their memory may be reused. Nothing is
    stored before a lookup recurs, which most shaders never cause.
    """

    __slots__ = ("__weakref__", "_asked", "_found", "_patience")

    def __init__(self) -> None:
        self._asked: dict[_Key, weakref.ref[Array]] = {}
        self._found: dict[_Key, _Line] = {}
        self._patience = 0

    def find(self, where: Any, coords: Array) -> _Line | None:
        found = self._found.get((id(coords), where))
        if found is None or found.given.shape != coords.shape:
            return None
        if not (found.given == coords).all():
            return None
        self._patience = _PATIENCE
        return found

    def keep(self, where: Any, coords: Array, line: _Line) -> None:
        if not _LEAST <= len(coords) <= _MOST:
            return
        key = id(coords), where
        if self._patience > 0:
            self._patience -= 1
        elif not self._was_looked_up(key, coords):
            return
        found = self._found
        if key not in found and len(found) >= _MOST_KEPT:
            # A concurrent reader finds the old entries or the new ones.
            self._found = found = dict(list(found.items())[_MOST_KEPT // 2 :])
        line.given, line.kept = coords.copy(), True
        line.ends = weakref.ref(coords, partial(_forget, weakref.ref(self), key))
        found[key] = line

    def _was_looked_up(self, key: _Key, coords: Array) -> bool:
        """Whether these coordinates were looked up recently."""
        before = self._asked.get(key)
        if before is not None and before() is coords:
            self._patience = _PATIENCE
            return True
        if len(self._asked) >= _MOST_KEPT:
            self._asked = {}
        self._asked[key] = weakref.ref(coords)
        return False

    def forget(self, key: _Key, ended: object) -> None:
        """Drop the entry of coordinates that no longer exist."""
        line = self._found.get(key)
        if line is not None and line.ends is ended:
            self._found.pop(key, None)


def _forget(where: weakref.ref[_IndexCache], key: _Key, ended: object) -> None:
    remembered = where()
    if remembered is not None:
        remembered.forget(key, ended)


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
