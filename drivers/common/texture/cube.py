"""Cube maps on arrays: `drivers.common.fixed.addressing`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import minmax
from gallette.drivers.common.fixed import addressing
from gallette.drivers.common.fixed.arrays import evaluate

__all__ = ["Projection", "across_the_seam", "project"]

Array = npt.NDArray[Any]
F32 = np.float32
I32 = np.int32


class Projection:
    """Directions projected onto their faces; keeps what derivatives need."""

    __slots__ = ("direction", "face", "s", "t")

    def __init__(self, x: Array, y: Array, z: Array) -> None:
        self.direction = x, y, z
        face, s, t = evaluate(addressing.project(), self.direction)
        self.face, self.s, self.t = face.view(I32), s.view(F32), t.view(F32)

    def derivative(self, dx: Array, dy: Array, dz: Array) -> tuple[Array, Array]:
        """How the face coordinates change with the direction, staying on the face."""
        s, t = evaluate(addressing.face_derivative(), [*self.direction, dx, dy, dz])
        return s.view(F32), t.view(F32)


def project(direction: Sequence[Array]) -> Projection:
    """Select the faces of directions."""
    x, y, z = np.broadcast_arrays(*direction[:3])
    return Projection(x, y, z)


def across_the_seam(face: Array, i: Array, j: Array, n: Any) -> tuple[Array, Array, Array]:
    """The texel beyond a face's edge: `i` or `j` (not both) is -1 or n, so it is on a neighbouring
    face.
    """
    last = np.asarray(n, I32) - 1
    found = evaluate(addressing.across_the_seam(), [face, i, j, last + 1])
    face, i, j = (part.view(I32) for part in found)
    return face, *(minmax.maximum(minmax.minimum(k, last), 0) for k in (i, j))  # type: ignore[return-value]
