"""The smaller and the larger of an array and a number are NumPy's, however long the array is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.compiler.nir.ir import minmax

Array = np.ndarray[Any, Any]
LENGTHS = [0, 1, 100, minmax._FEW, minmax._LENGTH, minmax._LENGTH + 1, 3 * minmax._LENGTH - 5]
FUNCTIONS = ["fmin", "fmax", "minimum", "maximum"]
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]


def values(length: int, dtype: str) -> Array:
    rng = np.random.default_rng(length)
    whole = rng.integers(0 if dtype[0] == "u" else -100, 200, length)
    found = whole.astype(dtype)
    if dtype[0] == "f" and length:
        where = rng.integers(0, length, 2 * len(SPECIAL))
        found[where] = SPECIAL * 2
    return found


def same(found: Array, wanted: Array) -> bool:
    return found.dtype == wanted.dtype and np.array_equal(
        found, wanted, equal_nan=found.dtype.kind == "f"
    )


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "u4", "u2", "u1"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_numbers_of_every_kind(name: str, dtype: str, length: int) -> None:
    ours, numpys = getattr(minmax, name), getattr(np, name)
    x = values(length, dtype)
    number: Any
    for number in [0, 1, 77, *([*SPECIAL, 0.5] if dtype[0] == "f" else [])]:
        for given in (number, np.dtype(dtype).type(number), np.array(number, dtype)):
            wanted = numpys(x, given)
            assert same(ours(x, given), wanted), (number, type(given))
            out = np.full(length, 55, dtype)
            assert ours(x, given, out) is out and same(out, wanted)
            again = x.copy()
            assert same(ours(again, given, again), wanted)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_negative_zero_is_not_a_zero(name: str) -> None:
    """Which zero comes out of two is NumPy's to choose, but what is kept of one is not another."""
    x = np.full(minmax._LENGTH, np.float32(-1 if name in ("fmax", "maximum") else 1))
    ours = getattr(minmax, name)
    assert not np.signbit(ours(x, 0.0)).any()
    assert np.signbit(ours(x, -0.0)).all()
    assert not np.signbit(ours(x, 0.0)).any()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_numbers_that_change_the_type(name: str) -> None:
    ours, numpys = getattr(minmax, name), getattr(np, name)
    for length in (10, minmax._LENGTH):
        for dtype, number in (("f4", np.float64(0.1)), ("i4", np.int64(7)), ("u2", np.int32(-3))):
            x = values(length, dtype)
            assert same(ours(x, number), numpys(x, number))
            assert same(ours(x, np.asarray(number)), numpys(x, number))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arrays_that_are_no_rows(name: str) -> None:
    """Strided ones, those of two dimensions, arrays for numbers, numbers for arrays."""
    ours, numpys = getattr(minmax, name), getattr(np, name)
    x = values(4 * minmax._LENGTH, "f4")
    assert same(ours(x[::2], 3.0), numpys(x[::2], np.float32(3)))
    assert same(ours(x.reshape(4, -1), 3.0), numpys(x.reshape(4, -1), np.float32(3)))
    assert same(ours(x.reshape(4, -1).T, 3.0), numpys(x.reshape(4, -1).T, np.float32(3)))
    assert same(ours(x, x[::-1]), numpys(x, x[::-1]))
    wide = np.full(2 * len(x), 9, np.float32)
    assert same(ours(x, 3.0, wide[::2]), numpys(x, np.float32(3)))
    assert (wide[1::2] == 9).all() and same(wide[::2].copy(), numpys(x, np.float32(3)))
    double = np.zeros(len(x))
    assert same(ours(x, 3.0, double), numpys(x, np.float32(3)).astype("f8"))
    zero = np.float32(2)
    assert same(np.asarray(ours(zero, np.float32(3))), np.asarray(numpys(zero, np.float32(3))))
    assert same(ours(zero, x), numpys(zero, x))


@pytest.mark.parametrize("length", LENGTHS)
def test_between(length: int) -> None:
    x = values(length, "f4")
    kept = x.copy()
    found = minmax.between(x, 0.0, 1.0)
    assert same(found, np.fmin(np.fmax(x, np.float32(0)), np.float32(1)))
    assert same(x, kept)
    assert same(minmax.between(x, 0.0, 1.0, x), found) and same(x, found)
    assert minmax.between(np.float32("nan"), np.float32(0), np.float32(1)) == 0


def test_rows_are_not_kept_for_ever() -> None:
    x = values(minmax._LENGTH, "f4")
    for number in range(3 * minmax._MOST_ROWS):
        assert minmax.fmax(x, number / 2)[0] == max(float(x[0]), number / 2)
    assert len(minmax._rows) <= minmax._MOST_ROWS
    with pytest.raises(ValueError, match="read-only"):
        next(iter(minmax._rows.values()))[0] = 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "odd", [None, np.nan, -np.nan, np.inf, -np.inf, -0.0, -1e-30, 1.0000001, 7]
)
def test_saturated(odd: float | None, dtype: Any) -> None:
    """As `between` 0 and 1; the array itself if there is nothing to do, which is never written."""
    inside = np.array([0.0, 1.0, 1e-40, 0.5, 0.99999994], dtype)
    for given in (inside, inside[::2], inside.reshape(5, 1), inside[:0], inside[1]):
        values = np.array(given)
        if odd is not None and values.size > 2:
            values[2] = odd
        before = values.tobytes()
        found = minmax.saturated(values)
        wanted = np.fmin(np.fmax(values, dtype(0)), dtype(1))
        assert found.dtype == dtype and found.tolist() == wanted.tolist()
        assert values.tobytes() == before
        untouched = dtype is np.float32 and values.ndim > 0 and (odd is None or values.size <= 2)
        assert (found is values) == untouched
        if dtype is np.float32:
            assert minmax.are_inside(values) == (odd is None or values.size <= 2)


@pytest.mark.parametrize("count", [1, 40, 1000])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint32])
def test_selected_numbers_keep_their_bits(count: int, dtype: Any) -> None:
    random = np.random.default_rng(count)
    condition = random.random(count) < 0.5
    a, b = (random.integers(0, 1 << 32, count, np.uint32).view(dtype) for _ in range(2))
    number = np.array(0xFFC01234, np.uint32).view(dtype)  # of floats, one of the NaNs
    for yes, no in ((a, b), (a, number), (number, b), (number, number), (number[()], b)):
        found = minmax.select(condition, yes, no)
        assert found.dtype == dtype
        assert found.tobytes() == np.where(condition, yes, no).tobytes()
