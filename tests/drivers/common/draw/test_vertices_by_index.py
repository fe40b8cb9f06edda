"""A lane reads its primitive's vertices by a dynamic index."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.drivers.common.draw.emissions import corner_at

CORNERS = np.array([[0, 1, 2], [2, 1, 3], [5, 4, 0], [3, 3, 1]], np.int64)


@pytest.mark.parametrize("lanes", [None, [1], [3, 0], [2, 2, 1, 0, 3]])
@pytest.mark.parametrize("indices", [[0], [2], [1, 0, 2, 2, 1], [3], [-1], [0, -1, 3, 2, 100]])
@pytest.mark.parametrize("same", [False, True])
def test_a_vertex_that_is_not_there_is_zero(
    lanes: list[int] | None, indices: list[int], same: bool
) -> None:
    """`same`: all vertices have one value."""
    value = np.float32(7.5) if same else np.arange(10, 16, dtype=np.float32)
    chosen = CORNERS if lanes is None else CORNERS[lanes]
    index = np.resize(np.array(indices, np.int32), len(chosen))
    found = corner_at(np.asarray(value), CORNERS, index, None if lanes is None else np.array(lanes))
    wanted = [
        (7.5 if same else 10.0 + row[i]) if 0 <= i < 3 else 0.0
        for row, i in zip(chosen.tolist(), index.tolist(), strict=True)
    ]
    assert found.tolist() == wanted
