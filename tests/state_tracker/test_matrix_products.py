"""Products of matrices have the same bits one by one and together."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from gallette.state_tracker.optional.compatibility.matrices import cell_product, product


@pytest.mark.parametrize("count", [1, 2, 3, 7, 33, 500])
def test_matrices_are_multiplied_to_the_same_bits_together(count: int) -> None:
    random = np.random.default_rng(count)
    first, second = random.normal(size=(2, count, 4, 4)) * 10.0 ** random.integers(
        -15, 15, (2, count, 4, 4)
    )
    cells = [[tuple(each.reshape(-1).tolist()) for each in some] for some in (first, second)]
    singly = np.array([cell_product(a, b) for a, b in zip(*cells, strict=True)])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(product(first, second), singly.reshape(-1, 4, 4))


def test_numbers_of_a_matrix_that_are_too_large_become_infinite() -> None:
    gl = create_context("numpipe", profile="compat", size=(4, 4))
    gl.load_matrixd(np.full(16, 1e300))
    assert gl.get_doublev(GL.MODELVIEW_MATRIX) == [np.inf] * 16
    gl.load_identity()
    gl.scalef(1e30, 1, 1)
    gl.scalef(-1e30, 1, 1)
    assert gl.get_doublev(GL.MODELVIEW_MATRIX)[0] == -np.inf
    gl.push_matrix()
    gl.load_identity()
    gl.pop_matrix()
    assert gl.get_doublev(GL.MODELVIEW_MATRIX)[0] == -np.inf
    gl.release()
