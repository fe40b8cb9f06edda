"""Interpolation planes: `value = a0 + dx x + dy y` per primitive and varying component.

Every step is rounded to float32 as in a hardware (or Mesa's) setup unit, and evaluation is two
fused multiply-adds, x first. A fused multiply-add of float32 is computed in float64, where the
product is exact, so the same vertices give the same depth and colours as on llvmpipe, bit for bit.

A plane is computed when a shader first reads its component.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.drivers.common.vertex.masks import every, some
from gallette.drivers.common.vertex.vertices import Floats, Ints, VertexSet

Doubles = npt.NDArray[np.float64]


_FLOAT, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
_HALF, _NO_HALF, _ZERO, _ONE = (np.array(v, _FLOAT) for v in (0.5, 0.0, 0.0, 1.0))


class Plane(NamedTuple):
    """Coefficients of every primitive, float32 values held as float64.

    A slope is None where no primitive has one, as on rectangles along the axes. Where nothing
    varies within primitives there are none, and `a0` is float32 (or a scalar).
    """

    a0: npt.NDArray[Any]
    dx: Doubles | None
    dy: Doubles | None


def fused(a: npt.NDArray[Any], b: npt.NDArray[Any], c: npt.NDArray[Any]) -> Floats:
    """`a b + c` of float32 numbers (held in float64), rounded once."""
    product = np.multiply(a, b)
    product += c
    return np.asarray(product, np.float32)


def values_at(plane: Plane, x: npt.NDArray[Any] | None, y: npt.NDArray[Any] | None) -> Floats:
    """The values of a plane at places, of which x or y is not needed where there is no slope: two
    fused multiply-adds, each rounded to float32. The arrays of slopes are overwritten.
    """
    dy = plane.dy
    return moved_values(plane, x, None if dy is None or y is None else _times(dy, y))


def moved_values(plane: Plane, x: npt.NDArray[Any] | None, moved: Doubles | None) -> Floats:
    """The values of a plane at x, moved by as much as its slope in y makes there."""
    a0, dx, _ = plane
    if dx is None or x is None:
        return np.asarray(a0 if moved is None else moved + a0, _FLOAT)
    values = _times(dx, x)
    values += a0
    rounded = values.astype(_FLOAT)
    if moved is None:
        rounded += _ZERO
        return rounded
    values[...] = rounded
    values += moved
    return values.astype(_FLOAT)


def _times(slope: Doubles, place: npt.NDArray[Any]) -> Doubles:
    moved: Doubles = np.multiply(slope, place, out=slope) if slope.ndim else slope * place
    return moved


@lazy_dataclass()
class PlaneSource:
    """The primitives of one kind in one batch, and the planes computed so far.

    `corners` is `[k, n]`: k is 3 for triangles, 2 for lines, 1 for points; planes are anchored at
    corner 0. `provoking[n]` is the vertex of flat values.
    """

    vertices: VertexSet
    corners: Ints
    provoking: Ints
    pixel_center: bool = True
    rectangular: bool = False  # lines: values vary along the line, not along an axis
    depth: Floats | None = None  # window z per corner, where an offset moved it
    depth_range: tuple[Floats, Floats] | None = None  # per primitive, if viewports differ
    _planes: dict[tuple[int, int, bool], Plane] = field(default_factory=dict)
    _flats: dict[tuple[int, int], npt.NDArray[Any]] = field(default_factory=dict)
    _weights: tuple[Floats, ...] | None = None
    _place: tuple[Floats, Floats] | None = None
    _inverse_w: Floats | None = None
    _affine: bool | None = None

    @property
    def affine(self) -> bool:
        """Whether every vertex has w = 1, so that perspective makes no difference."""
        if self._affine is None:
            self._affine = every(self.vertices.window[3] == _ONE)
        return self._affine

    def plane(self, slot: int, component: int, perspective: bool) -> Plane:
        """The plane of a varying; with `perspective`, of the varying divided by w."""
        perspective = perspective and not self.affine
        key = (slot, component, perspective)
        found = self._planes.get(key)
        if found is None:
            value = self.vertices.component(slot, component)
            found = self._planes[key] = self._of(value, perspective)
        return found

    def window_plane(self, component: int) -> Plane:
        """The plane of window z (2) or 1/w (3)."""
        key = (-1, component, False)
        found = self._planes.get(key)
        if found is None:
            moved = component == 2 and self.depth is not None
            at = self.depth if moved else self._at_corners(component)
            assert at is not None
            found = self._planes[key] = self._through(at)
        return found

    def flat(self, slot: int, component: int) -> npt.NDArray[Any]:
        """The provoking vertex's value of every primitive (or a scalar), as raw bits in float32."""
        key = (slot, component)
        found = self._flats.get(key)
        if found is None:
            value = self.vertices.component(slot, component)
            found = value[self.provoking] if value.ndim else value
            found = self._flats[key] = found.view(np.float32) if found.ndim else _raw(found)
        return found

    def _of(self, value: npt.NDArray[Any], perspective: bool) -> Plane:
        if not value.ndim and not perspective:
            return Plane(np.asarray(value, np.float32), None, None)
        corners = self.corners
        at: Floats
        if value.ndim:
            at = value.take(corners)
            if at.dtype != _FLOAT:
                at = at.view(_FLOAT)
        else:
            at = np.full(corners.shape, value, np.float32)
        if perspective:
            if self._inverse_w is None:
                self._inverse_w = self._at_corners(3)
            at = at * self._inverse_w
        return self._through(at)

    def _at_corners(self, component: int) -> Floats:
        """A component of the window positions of all corners, `[k, n]`."""
        return np.asarray(self.vertices.window[component].take(self.corners))

    def _through(self, at: Floats) -> Plane:
        """The planes through values at the corners, `[k, n]`."""
        first = at[0]
        if len(at) == 1:
            return Plane(first, None, None)
        if _level(at):
            return Plane(first + _ZERO, None, None)
        dx, dy = self._slopes(at)
        x0, y0 = self._anchor()
        moved = dx * x0
        moved += dy * y0
        a0 = first - moved
        if not len(first) or (dx[0] == 0 and not some(dx)):
            a0 += dx  # which turns a negative zero into a positive one
            return Plane(a0.astype(_DOUBLE), None, dy.astype(_DOUBLE))
        if dy[0] == 0 and not some(
            dy.view(np.uint32)
        ):  # (negative zeros are slopes: they add nothing at all)
            return Plane(a0.astype(_DOUBLE), dx.astype(_DOUBLE), None)
        return Plane(a0.astype(_DOUBLE), dx.astype(_DOUBLE), dy.astype(_DOUBLE))

    def _anchor(self) -> tuple[Floats, Floats]:
        """Window x and y of corner 0."""
        if self._place is None:
            half = _HALF if self.pixel_center else _NO_HALF
            window, first = self.vertices.window, self.corners[0]
            self._place = window[0].take(first) - half, window[1].take(first) - half
        return self._place

    def _slopes(self, at: Floats) -> tuple[Floats, Floats]:
        """The slopes of values in x and y."""
        weights = self._weights
        if weights is None:
            weights = self._weights = self._make_weights()
        dx: Floats
        dy: Floats
        if len(at) == 2:
            step, (along_x, along_y, inverse) = at[0] - at[1], weights
            dx, dy = step * along_x, step * along_y
            dx *= inverse
            dy *= inverse
            return dx, dy
        d01, d20 = at[0] - at[1], at[2] - at[0]
        dy20, dy01, dx01, dx20 = weights
        dx, dy = d01 * dy20, d20 * dx01
        dx -= d20 * dy01
        dy -= d01 * dx20
        return dx, dy

    def _make_weights(self) -> tuple[Floats, ...]:
        """The divisor and differences of positions: along lines, or between the corners of
        triangles.
        """
        x, y = self._at_corners(0), self._at_corners(1)
        dx01, dy01 = x[0] - x[1], y[0] - y[1]
        if len(x) == 2:
            inverse = _ONE / (dx01 * dx01 + dy01 * dy01)
            if not self.rectangular:
                # Values vary along the longer axis only, since a line has no extent across it.
                # llvmpipe applies the slope twice, which changes the rounding, and so do we, for
                # equal bits.
                wide = np.abs(dx01) >= np.abs(dy01)
                slope = np.where(wide, dy01, dx01) / np.where(wide, dx01, dy01)
                longer = _ONE + slope * slope
                dx01, dy01 = np.where(wide, dx01, _ZERO), np.where(wide, _ZERO, dy01)
                dx01, dy01 = dx01 * longer, dy01 * longer
            return dx01, dy01, inverse
        dx20, dy20 = x[2] - x[0], y[2] - y[0]
        area = dx01 * dy20
        area -= dx20 * dy01
        inverse = np.divide(_ONE, area, area)
        return dy20 * inverse, dy01 * inverse, dx01 * inverse, dx20 * inverse


def _level(at: Floats) -> bool:
    """Whether every primitive has one finite value at all its corners, so that no slope is needed.

    The sums are equal: `0 x + (a0 + 0 y)`, where only a negative zero becomes positive.
    """
    first = at[0]
    if len(first):
        begin = at[:, 0].tolist()
        if begin.count(begin[0]) < len(begin):
            return False
    return every(at[1:] == first) and every(np.isfinite(first))


def _raw(value: npt.NDArray[Any]) -> Floats:
    """A 0-d value's bits as float32."""
    return np.asarray(value).reshape(1).view(np.float32)[0:1].reshape(())
