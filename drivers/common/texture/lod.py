"""Level of detail: the base-2 logarithm of how many texels a pixel covers.

The numbers follow llvmpipe's: the squared length of the longer of the two derivative vectors, in
texels, and half of its logarithm, approximated by exponent plus mantissa (exact at powers of two).
Implicit derivatives are those of a 2x2 quad: its first lane minus the neighbours to the right and
below. For cube maps every lane has its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.fixed import addressing
from gallette.drivers.common.fixed.arrays import evaluate

__all__ = [
    "fast_log2",
    "lane_derivatives",
    "lod_of_derivatives",
    "quad_derivatives",
    "squared_lengths",
]

Array = npt.NDArray[Any]
F32 = np.float32


def fast_log2(x: Array) -> Array:
    """Exponent plus mantissa minus one of positive floats; about -127 for zero."""
    return evaluate(addressing.log2(), [np.asarray(x, F32)])[0]


def quad_derivatives(coords: Sequence[Array]) -> tuple[list[Array], list[Array]]:
    """Per quad, each coordinate's difference to the right and downwards neighbour."""
    ddx, ddy = [], []
    for c in coords:
        if c.ndim == 0:
            zero = np.zeros((), F32)
            ddx.append(zero)
            ddy.append(zero)
            continue
        quad = c.reshape(-1, 4)
        first = quad[:, 0]
        ddx.append(quad[:, 1] - first)
        ddy.append(quad[:, 2] - first)
    return ddx, ddy


def lane_derivatives(coords: Sequence[Array]) -> tuple[list[Array], list[Array]]:
    """Per lane, each coordinate's difference along its own row and column of the quad."""
    ddx, ddy = [], []
    for c in coords:
        quad = c.reshape(-1, 2, 2)
        across, down = quad[:, :, 1] - quad[:, :, 0], quad[:, 1] - quad[:, 0]
        ddx.append(np.repeat(across.reshape(-1), 2))
        ddy.append(np.repeat(down, 2, axis=0).reshape(-1))
    return ddx, ddy


def lod_of_derivatives(ddx: Sequence[Array], ddy: Sequence[Array], size: Sequence[int]) -> Array:
    """The level of detail of derivatives in coordinates whose whole range is `size` texels."""
    squares = squared_lengths(ddx, ddy, size)
    rho = np.maximum(squares[0], squares[1])
    return fast_log2(rho) * F32(0.5)


def squared_lengths(
    ddx: Sequence[Array], ddy: Sequence[Array], size: Sequence[int]
) -> tuple[Array, Array]:
    """The squared lengths of derivatives in texels."""
    extents = [np.asarray(n, np.int32) for n in size]
    routine = addressing.squared_length(len(size), False)
    one, other = (evaluate(routine, [*derivatives, *extents])[0] for derivatives in (ddx, ddy))
    return one, other
