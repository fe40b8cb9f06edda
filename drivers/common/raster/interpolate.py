"""Interpolation planes: per primitive and varying component, `value = a0 + dx x + dy y`.

Every step is rounded to float32 as a hardware (or Mesa's) setup unit would, and evaluation is two
fused multiply-adds, x first. A fused multiply-add of float32 is computed in float64, where the
product is exact; so the same vertices give the same depth and colours as on llvmpipe, bit for bit.

Planes are made lazily, one component at a time, when a shader asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.vertex.masks import every
from gallette.drivers.common.vertex.vertices import Floats, Ints, VertexSet

__all__ = ["Plane", "PlaneSource", "fused"]

Doubles = npt.NDArray[np.float64]


_FEW = 1 << 10
"""Of so many corners all that windows hold is looked up at once."""


class Plane(NamedTuple):
    """Coefficients of every primitive, float32 values held as float64.

    Where nothing changes across primitives there are no slopes, and `a0` is float32 (or a scalar).
    """

    a0: npt.NDArray[Any]
    dx: Doubles | None
    dy: Doubles | None


def fused(a: npt.NDArray[Any], b: npt.NDArray[Any], c: npt.NDArray[Any]) -> Floats:
    """`a b + c` of float32 numbers (held in float64), rounded once."""
    product = np.multiply(a, b)
    product += c
    return np.asarray(product, np.float32)


@dataclass(slots=True)
class PlaneSource:
    """The primitives of one kind in one batch, and the planes asked for so far.

    `corners` is `[k, n]`: k is 3 for triangles, 2 for lines, 1 for points; corner 0 is the one that
    planes are anchored at. `provoking[n]` names the vertex of flat values.
    """

    vertices: VertexSet
    corners: Ints
    provoking: Ints
    pixel_center: bool = True
    rectangular: bool = False  # lines: values change along the line, not along an axis
    depth: Floats | None = None  # window z per corner, where an offset moved it
    depth_range: tuple[Floats, Floats] | None = None  # of each primitive, where viewports differ
    _planes: dict[tuple[int, int, bool], Plane] = field(default_factory=dict)
    _flats: dict[tuple[int, int], npt.NDArray[Any]] = field(default_factory=dict)
    _weights: tuple[Floats, ...] | None = None
    _place: Floats | None = None
    _inverse_w: Floats | None = None
    _window: Floats | None = None  # at the corners, if they are few: `[4, k, n]`
    _affine: bool | None = None

    @property
    def affine(self) -> bool:
        """Every vertex has w = 1: perspective makes no difference."""
        if self._affine is None:
            self._affine = every(self.vertices.window[3] == 1.0)
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
        """The provoking vertex's value of every primitive (or a scalar), raw bits as float32."""
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
            at = value.take(corners).view(np.float32)
        else:
            at = np.full(corners.shape, value, np.float32)
        if perspective:
            if self._inverse_w is None:
                self._inverse_w = self._at_corners(3)
            at = at * self._inverse_w
        return self._through(at)

    def _at_corners(self, component: int) -> Floats:
        """A component of the window positions of all corners, `[k, n]`."""
        if self._window is None:
            window, corners = self.vertices.window, self.corners
            if corners.size > _FEW:
                return np.asarray(window[component].take(corners))
            self._window = window.take(corners, axis=1)
        return np.asarray(self._window[component])

    def _through(self, at: Floats) -> Plane:
        """The planes through values at the corners, `[k, n]`."""
        first = at[0]
        if len(at) == 1:
            return Plane(first, None, None)
        if _level(at):
            return Plane(first + np.float32(0.0), None, None)
        slopes = self._slopes(at)
        moved = slopes * self._anchor()
        plane = np.empty((3, len(first)))
        np.subtract(first, moved[0] + moved[1], out=plane[0], dtype=np.float32)
        plane[1:] = slopes
        return Plane(plane[0], plane[1], plane[2])

    def _anchor(self) -> Floats:
        """Window x and y of corner 0, `[2, n]`."""
        if self._place is None:
            half = np.float32(0.5 if self.pixel_center else 0.0)
            if self._window is not None:
                self._place = self._window[:2, 0] - half
            else:
                self._place = self.vertices.window[:2].take(self.corners[0], axis=1) - half
        return self._place

    def _slopes(self, at: Floats) -> Floats:
        """How values change with x and with y, `[2, n]`."""
        weights = self._weights
        if weights is None:
            weights = self._weights = self._make_weights()
        if len(at) == 2:
            along, inverse = weights
            slopes: Floats = (at[0] - at[1]) * along
            slopes *= inverse
            return slopes
        w20, w01 = weights
        slopes = (at[0] - at[1]) * w20
        slopes -= (at[2] - at[0]) * w01
        return slopes

    def _make_weights(self) -> tuple[Floats, ...]:
        """Of lines: along them, and what that is divided by. Of triangles what the first and the
        last step round them weigh: `dx = d01 dy20 - d20 dy01` over the area, and `dy` is the same
        of x, with other signs.
        """
        x, y = self._at_corners(0), self._at_corners(1)
        dx01, dy01 = x[0] - x[1], y[0] - y[1]
        if len(x) == 2:
            if not self.rectangular:
                # Values change along the longer axis only: the line has no extent across it.
                wide = np.abs(dx01) >= np.abs(dy01)
                dx01, dy01 = np.where(wide, dx01, 0), np.where(wide, 0, dy01)
            return np.stack((dx01, dy01)), np.float32(1.0) / (dx01 * dx01 + dy01 * dy01)
        dx20, dy20 = x[2] - x[0], y[2] - y[0]
        inverse = np.float32(1.0) / (dx01 * dy20 - dx20 * dy01)
        w20, w01 = np.empty((2, 2, len(inverse)), np.float32)
        np.multiply(dy20, inverse, out=w20[0])
        np.multiply(dy01, inverse, out=w01[0])
        np.negative(inverse, out=inverse)
        np.multiply(dx20, inverse, out=w20[1])
        np.multiply(dx01, inverse, out=w01[1])
        return w20, w01


def _level(at: Floats) -> bool:
    """Has every primitive one finite value at all its corners? Then no slope is needed, and the
    sums are the same: `0 x + (a0 + 0 y)`, where only a negative zero turns positive.
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
