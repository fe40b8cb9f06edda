"""Cube maps: from a direction to a face and its coordinates, and across the edges between faces.

Faces are numbered +X -X +Y -Y +Z -Z. If two components of a direction have equal length, z takes
precedence over x and x over y.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import minmax

__all__ = ["Projection", "across_the_seam", "project"]

Array = npt.NDArray[Any]
F32 = np.float32
HALF = F32(0.5)


class Projection:
    """Directions projected onto their faces; keeps what derivatives need."""

    __slots__ = ("direction", "face", "is_x", "is_z", "major", "s", "sc", "sign", "t", "tc")

    def __init__(self, x: Array, y: Array, z: Array) -> None:
        self.direction = x, y, z
        ax, ay, az = np.abs(x), np.abs(y), np.abs(z)
        self.is_z = az >= np.maximum(ax, ay)
        self.is_x = ~self.is_z & (ax >= ay)
        along = self._along(x, y, z)
        self.sign = np.where(np.signbit(along), F32(-1.0), F32(1.0))
        self.major = np.abs(along)
        axis = np.where(self.is_z, np.int32(4), np.where(self.is_x, np.int32(0), np.int32(2)))
        self.face = axis + np.signbit(along)
        self.sc, self.tc = self._across(x, y, z)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            scale = HALF / self.major
            self.s = self.sc * scale + HALF
            self.t = self.tc * scale + HALF

    def _along(self, x: Array, y: Array, z: Array) -> Array:
        return np.where(self.is_z, z, np.where(self.is_x, x, y))

    def _across(self, x: Array, y: Array, z: Array) -> tuple[Array, Array]:
        """The components along a face's s and t axes."""
        s = np.where(self.is_z, self.sign * x, np.where(self.is_x, -self.sign * z, x))
        t = np.where(self.is_z | self.is_x, -y, self.sign * z)
        return s, t

    def derivative(self, dx: Array, dy: Array, dz: Array) -> tuple[Array, Array]:
        """How the face coordinates change with the direction, staying on the face."""
        ds, dt = self._across(dx, dy, dz)
        dm = self._along(dx, dy, dz) * self.sign
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inverse = HALF / (self.major * self.major)
            return (
                (ds * self.major - self.sc * dm) * inverse,
                (dt * self.major - self.tc * dm) * inverse,
            )


def project(direction: Sequence[Array]) -> Projection:
    """Select the faces of directions."""
    x, y, z = np.broadcast_arrays(*direction[:3])
    return Projection(x, y, z)


def across_the_seam(face: Array, i: Array, j: Array, n: Any) -> tuple[Array, Array, Array]:
    """The texel beyond a face's edge: `i` or `j` (not both) is -1 or n, so it is on a neighbouring
    face.

    The texel's centre, extended over the edge, is a direction that projects onto the neighbour.
    """
    step = F32(2.0) / np.asarray(n, F32)
    s = (i.astype(F32) + HALF) * step - F32(1.0)
    t = (j.astype(F32) + HALF) * step - F32(1.0)
    sign = np.where(face & 1, F32(-1.0), F32(1.0))
    axis = face >> 1
    x = np.where(axis == 0, sign, np.where(axis == 1, s, sign * s))
    y = np.where(axis == 1, sign, -t)
    z = np.where(axis == 0, -sign * s, np.where(axis == 1, sign * t, sign))
    # The extended coordinate is longer than 1, so the neighbour's axis is chosen without ties.
    at = Projection(x, y, z)
    new_i = minmax.minimum(np.asarray(at.s * n).astype(np.int32), np.asarray(n, np.int32) - 1)
    new_j = minmax.minimum(np.asarray(at.t * n).astype(np.int32), np.asarray(n, np.int32) - 1)
    return at.face, minmax.maximum(new_i, 0), minmax.maximum(new_j, 0)
