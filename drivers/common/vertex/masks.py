"""Questions about masks and counts in the way that costs least for a few of them.

What draws of a handful of triangles take is mostly what it takes to call NumPy: the methods of
arrays go through Python several times where these do once, and are no slower for many.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["ends_of", "every", "some", "where"]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def every(mask: npt.NDArray[Any]) -> bool:
    """Is all of a mask set?"""
    return bool(np.count_nonzero(mask) == mask.size)


def some(mask: npt.NDArray[Any]) -> bool:
    """Is any of it?"""
    return bool(np.count_nonzero(mask) != 0)


def where(mask: npt.NDArray[Any]) -> Ints:
    """The numbers of those that are set, of one axis."""
    return mask.nonzero()[0]


def ends_of(lengths: Ints) -> Ints:
    """Where runs of these lengths end that are laid end to end."""
    ends: Ints = np.add.accumulate(lengths, dtype=np.int64)
    return ends
