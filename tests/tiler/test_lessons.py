"""The lessons' scenes: wrong without the remedy, exact with it."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.lessons import binning, half_precision, texture_scoreboard


def test_texels_land_in_registers_that_are_used_again() -> None:
    assert texture_scoreboard.wrong_pixels(("late", "reads"))[0] == 24_528


@pytest.mark.parametrize("setting", [("late", "writes"), ("in_order", "reads")])
def test_a_barrier_or_order_makes_the_picture_right(setting: texture_scoreboard.Setting) -> None:
    assert texture_scoreboard.wrong_pixels(setting)[0] == 0


def test_half_precision_loses_the_contour_lines() -> None:
    assert half_precision.wrong_pixels("always")[0] == 48_768


@pytest.mark.parametrize("setting", ["auto", "never"])
def test_the_key_or_full_precision_keeps_them(setting: half_precision.HalfColors) -> None:
    assert half_precision.wrong_pixels(setting)[0] == 0


def test_samples_resolved_on_the_chip_move_fewer_bytes() -> None:
    found = [binning.resolved(in_tile, gone) for _, in_tile, gone in binning.RESOLVES]
    assert [moved for moved, _ in found] == [2_555_904, 1_769_472, 196_608]
    assert all(np.array_equal(found[0][1], color) for _, color in found)
