"""Operations on masks and counts with the least overhead for small arrays.

The time of small draws is mostly that of NumPy calls: the methods of arrays go through Python
several times where these functions do once, and are no slower for large arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def every(mask: npt.NDArray[Any]) -> bool:
    """Whether all elements are set."""
    return bool(np.count_nonzero(mask) == mask.size)


def some(mask: npt.NDArray[Any]) -> bool:
    """Whether any element is set."""
    return bool(np.count_nonzero(mask) != 0)


def where(mask: npt.NDArray[Any]) -> Ints:
    """The indices of set elements, along one axis."""
    return mask.nonzero()[0]


def begins_of(values: npt.NDArray[Any]) -> Ints:
    """Which elements differ from the previous one; the first always counts."""
    begins = np.empty(len(values), np.bool_)
    begins[:1] = True
    np.not_equal(values[1:], values[:-1], out=begins[1:])
    return begins.nonzero()[0]


def lengths_from(begins: Ints, end: int) -> Ints:
    """The lengths of consecutive runs that begin there, the last one up to `end`."""
    lengths = np.empty(len(begins), np.int64)
    np.subtract(begins[1:], begins[:-1], out=lengths[:-1])
    np.subtract(end, begins[-1:], out=lengths[-1:])
    return lengths


def ends_of(lengths: Ints) -> Ints:
    """The ends of concatenated runs of these lengths."""
    ends: Ints = np.add.accumulate(lengths, dtype=np.int64)
    return ends


def counted(count: int, dtype: npt.DTypeLike = np.int64) -> npt.NDArray[Any]:
    """The numbers 0 to count - 1, for reading only: there is one array of each type."""
    numbers = _COUNTED.get(dtype)
    if numbers is None or len(numbers) < count:
        if count > _MOST_COUNTED:
            return np.arange(count, dtype=dtype)
        numbers = np.arange(min(2 * count, _MOST_COUNTED), dtype=dtype)
        numbers.flags.writeable = False
        _COUNTED[dtype] = numbers
    return numbers[:count]


_COUNTED: dict[npt.DTypeLike, npt.NDArray[Any]] = {}
_MOST_COUNTED = 1 << 18
