"""Questions about masks and counts in the way that costs least for a few of them.

What draws of a handful of triangles take is mostly what it takes to call NumPy: the methods of
arrays go through Python several times where these do once, and are no slower for many.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["begins_of", "ends_of", "every", "lengths_from", "some", "where"]

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


def begins_of(values: npt.NDArray[Any]) -> Ints:
    """Where another value begins than the one before; the first always does."""
    begins = np.empty(len(values), np.bool_)
    begins[:1] = True
    np.not_equal(values[1:], values[:-1], out=begins[1:])
    return begins.nonzero()[0]


def lengths_from(begins: Ints, end: int) -> Ints:
    """How long runs are that begin there, one after the other, the last up to `end`."""
    lengths = np.empty(len(begins), np.int64)
    np.subtract(begins[1:], begins[:-1], out=lengths[:-1])
    np.subtract(end, begins[-1:], out=lengths[-1:])
    return lengths


def ends_of(lengths: Ints) -> Ints:
    """Where runs of these lengths end that are laid end to end."""
    ends: Ints = np.add.accumulate(lengths, dtype=np.int64)
    return ends
