"""What a lesson counts that its page does not show (pages: `tests/tools/test_stack.py`)."""

from __future__ import annotations

import numpy as np

from gallette.lessons import binning


def test_samples_resolved_on_the_chip_move_fewer_bytes() -> None:
    found = [binning.resolved(in_tile, gone) for _, in_tile, gone in binning.RESOLVES]
    assert [moved for moved, _ in found] == [2_555_904, 1_769_472, 196_608]
    assert all(np.array_equal(found[0][1], color) for _, color in found)
