"""Sorting by runs is sorting."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.drivers.common.output.order import sorted_runs


@pytest.mark.parametrize("length", [1, 3, 9, 200])
@pytest.mark.parametrize("runs", [0, 1, 60])
def test_equal_keys_stay_in_order(length: int, runs: int) -> None:
    random = np.random.default_rng(length)
    keys = np.repeat(random.integers(0, 5, runs).astype(np.uint16), length)
    np.testing.assert_array_equal(sorted_runs(keys), np.argsort(keys, kind="stable"))
