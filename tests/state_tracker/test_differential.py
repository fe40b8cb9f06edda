"""A slice of `bench/gl_diff_fuzz.py`, and the programs in which it found something."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import numpy as np
from gl_diff.compare import Seen, difference  # type: ignore[import-not-found]
from gl_diff.generate import generate  # type: ignore[import-not-found]
from gl_diff.reduce import reduce_lines  # type: ignore[import-not-found]
from gl_diff_fuzz import PAIRS, check  # type: ignore[import-not-found]

from tests.conftest import native_context


@pytest.mark.parametrize("seed", range(6))
def test_draws_that_wait_are_as_draws_at_once(seed: int) -> None:
    lines, profile = generate(seed)
    assert check(lines, profile, PAIRS[1:]) == ""


@pytest.mark.native
@pytest.mark.parametrize("seed", range(100, 106))
def test_random_programs_look_like_llvmpipes(seed: int) -> None:
    native_context().release()
    lines, profile = generate(seed)
    assert check(lines, profile, PAIRS[:1]) == ""


def test_a_program_is_a_function_of_its_seed() -> None:
    assert generate(7) == generate(7)
    assert generate(7) != generate(8)


def test_differences_are_found_and_allowed_ones_are_not() -> None:
    grey = np.full((2, 2, 4), 100, np.uint8)
    assert difference([Seen("colour 0", grey)], [Seen("colour 0", grey + 2)]) == ""
    assert "colour 0: 16 of 16" in difference(
        [Seen("colour 0", grey)], [Seen("colour 0", grey + 3)]
    )
    assert difference([Seen("colour 0", grey, 1)], [Seen("colour 0", grey + 3)]) == ""
    large = np.zeros((4, 4, 4), np.uint8)
    for pixels, allowed in ((2, True), (3, False)):  # a sliver, or more than one
        dotted = large.copy()
        dotted.reshape(-1, 4)[:pixels, 1] = 90
        found = difference([Seen("colour 0", large)], [Seen("colour 0", dotted)])
        assert (found == "") is allowed
    for values, allowed in ((1, True), (2, False)):  # of 64
        dotted = large.copy()
        dotted.reshape(-1)[[0, 21, 42][:values] * 1] = 90
        dotted.reshape(-1)[1::4][: 3 * (values - 1)] = 90
        found = difference([Seen("colour 0", large, 0, 1, True)], [Seen("colour 0", dotted)])
        assert (found == "") is allowed
    for slope, off, allowed in ((0.1, 7, True), (0.1, 9, False), (0.05, 7, False)):
        ramp = np.arange(4, dtype=np.float64)[None, :, None].repeat(4, 0) * slope
        found = difference([Seen("depth", ramp)], [Seen("depth", ramp + off / (1 << 24))])
        assert (found == "") is allowed
    assert "'query'" in difference([Seen("query", 1)], [])
    assert difference([Seen("query", 1)], [Seen("query", 2)]) == "query: 1, the other 2"


def test_the_reducer_keeps_what_fails_together() -> None:
    lines = [str(i) for i in range(40)]
    assert reduce_lines(lines, lambda some: {"3", "31"} <= set(some)) == ["3", "31"]
