"""Lists where a call takes an array: every number there is room for, and what wraps as in C."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from gallette.state_tracker.entry_points.dispatch import _as_array

INTEGERS = {
    "int8": ctypes.c_int8, "uint8": ctypes.c_uint8, "int16": ctypes.c_int16,
    "uint16": ctypes.c_uint16, "int32": ctypes.c_int32, "uint32": ctypes.c_uint32,
    "int64": ctypes.c_int64, "uint64": ctypes.c_uint64,
}  # fmt: skip


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_are_what_c_makes_of_them(name: str) -> None:
    bits = np.dtype(name).itemsize * 8
    ends = (0, 1 << (bits - 1), (1 << bits) - 1, -(1 << (bits - 1)))
    numbers = [end + step for end in ends for step in (-1, 0, 1, 2)]
    made = _as_array(numbers, np.dtype(name))
    assert made.dtype == np.dtype(name)
    assert made.tolist() == [INTEGERS[name](n).value for n in numbers]
    assert _as_array(-1, np.dtype(name)).tolist() == [INTEGERS[name](-1).value]


def test_floats_are_rounded_and_nothing_is_zero() -> None:
    made = _as_array([0.1, None, 1e300], np.dtype(np.float32))
    assert made.tolist() == [float(np.float32(0.1)), 0.0, np.inf]
