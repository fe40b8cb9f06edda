"""Minimum and maximum of an array and a number, and selection, several times faster than with
NumPy alone.

NumPy compares two arrays with vector instructions, but an array and a number element by element. So
the number is repeated in a row, and a long array is compared with that, piece by piece. The
functions have the names and results of NumPy's and differ only in time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "are_inside",
    "between",
    "fmax",
    "fmin",
    "limited",
    "maximum",
    "minimum",
    "saturated",
    "select",
]

Array = npt.NDArray[Any]

_LENGTH = 1 << 14
"""Elements of a row: enough to amortise calls, few enough for the cache."""

_FEW = 3 << 11
"""The number of elements from which a row is faster."""

_FEW_SELECTED = 1 << 8

_FLOAT, _WORD = np.dtype(np.float32), np.dtype(np.uint32)
_ZERO, _ONE = np.zeros((), _FLOAT), np.ones((), _FLOAT)
_BITS_OF_ONE = int(_ONE.view(_WORD))

_MOST_ROWS = 128
_rows: dict[tuple[int | float, str], Array] = {}


def fmin(a: Array, b: Any, out: Array | None = None) -> Array:
    """The smaller of two; a number if one is NaN."""
    return np.fmin(a, b, out=out) if a.size < _FEW else _limited(np.fmin, a, b, out)


def fmax(a: Array, b: Any, out: Array | None = None) -> Array:
    """The larger of two; a number if one is NaN."""
    return np.fmax(a, b, out=out) if a.size < _FEW else _limited(np.fmax, a, b, out)


def minimum(a: Array, b: Any, out: Array | None = None) -> Array:
    """The smaller of two; NaN if one is NaN."""
    return np.minimum(a, b, out=out) if a.size < _FEW else _limited(np.minimum, a, b, out)


def maximum(a: Array, b: Any, out: Array | None = None) -> Array:
    """The larger of two; NaN if one is NaN."""
    return np.maximum(a, b, out=out) if a.size < _FEW else _limited(np.maximum, a, b, out)


def between(a: Array, low: Any, high: Any, out: Array | None = None) -> Array:
    """Clamp to `low` and `high`; `low` for a NaN."""
    limited = fmax(a, low, out)
    return fmin(limited, high, limited if limited.ndim else None)


def limited(a: Array, low: Any, high: Any) -> Array:
    """Clamp to `low` and `high`, which may be arrays; a NaN remains."""
    raised = maximum(a, low)
    return minimum(raised, high, None if np.ndim(high) or not raised.ndim else raised)


def select(condition: Array, a: Array, b: Array) -> Array:
    """`a` where the condition holds, else `b`: numbers of 32 bits by their bits, because `np.where`
    branches, which takes up to 20 times as long where the condition changes often.
    """
    if condition.size < _FEW_SELECTED or a.itemsize != 4:
        return np.where(condition, a, b)
    words = condition.view(np.int8).astype(np.int32)
    np.negative(words, out=words)  # all bits, or none
    words &= a.view(np.int32) ^ b.view(np.int32)
    words ^= b.view(np.int32)
    return words.view(a.dtype)


def saturated(a: Array) -> Array:
    """Clamp to 0..1, with 0 for a NaN; the float32 array itself if it is within range.

    Usually it is, and one comparison decides it: the bits of values in range are integers up to
    those of 1.
    """
    if a.dtype == _FLOAT and a.ndim and are_inside(a):
        return a
    return between(a, _ZERO, _ONE)


def are_inside(a: Array) -> bool:
    """Whether all float32 elements are between 0 and 1, without NaN and negative zero."""
    return bool(np.maximum.reduce(a.view(_WORD), axis=None, initial=0) <= _BITS_OF_ONE)


def _limited(ufunc: np.ufunc, a: Array, b: Any, out: Array | None) -> Array:
    row = None if getattr(b, "ndim", 0) else _row(b, a.dtype)
    if row is None or not a.flags.c_contiguous:
        result: Array = ufunc(a, b, out=out)
        return result
    if out is None:
        out = np.empty(a.shape, a.dtype)
    elif out.dtype != a.dtype or not out.flags.c_contiguous:
        return ufunc(a, b, out=out)  # type: ignore[no-any-return]
    flat, into = a.reshape(-1), out.reshape(-1)
    for start in range(0, a.size, _LENGTH):
        piece = flat[start : start + _LENGTH]
        ufunc(piece, row[: piece.size], out=into[start : start + _LENGTH])
    return out


def _row(number: Any, dtype: np.dtype[Any]) -> Array | None:
    """An array full of the number, or None if the number has another type than the array."""
    if type(number) is not int and type(number) is not float:
        if number.dtype != dtype:
            return None
        number = number.item()
    if number != number or (not number and str(number) == "-0.0"):
        return None  # NaN, or a number that the array's type cannot represent
    key = number, dtype.char
    found = _rows.get(key)
    if found is None:
        if len(_rows) >= _MOST_ROWS:
            _rows.clear()
        found = _rows[key] = np.full(_LENGTH, number, dtype)
        found.flags.writeable = False
    return found
