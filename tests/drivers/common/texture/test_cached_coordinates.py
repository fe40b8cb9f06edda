"""A bilinear filter keeps what coordinates mean if somebody asks twice, as long as they live."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.drivers.common.memory.resource import create_resource
from gallette.drivers.common.texture import Unit, bilinear
from gallette.pipe.enums import Filter, Target
from gallette.pipe.formats import format_named
from gallette.pipe.resource import ResourceDesc, ResourceLedger
from gallette.pipe.state import SamplerState, SamplerView

LANES = 600
LINEAR = SamplerState(min_img_filter=Filter.LINEAR, mag_img_filter=Filter.LINEAR)

Floats = npt.NDArray[np.float32]


@pytest.fixture
def unit() -> Unit:
    desc = ResourceDesc(Target.TEXTURE_2D, format_named("R8G8B8A8_UNORM"), 32, 16)
    resource = create_resource(desc, ResourceLedger())
    random = np.random.default_rng(3)
    resource.storage[0][:] = random.integers(0, 256, resource.storage[0].shape)
    made = Unit(SamplerView(resource, desc.format, desc.target), LINEAR)
    assert made.packed is not None and made.packed._padded is not None
    made.packed._padded._padded.layout.texels = 0  # a padded copy is worth it at once
    return made


def kept(unit: Unit) -> list[int]:
    """How many columns and rows are kept."""
    assert unit.packed is not None and unit.packed._padded is not None
    return [len(each._found) for each in unit.packed._padded._remembered]


def coordinates(seed: int) -> Floats:
    return np.random.default_rng(seed).uniform(0, 1, LANES).astype(np.float32)


def sample(unit: Unit, s: Floats, t: Floats) -> list[Any]:
    return unit.sample("tex", [s, t], LANES)


def test_coordinates_looked_up_once_are_not_cached(unit: Unit) -> None:
    for seed in range(20):
        sample(unit, coordinates(seed), coordinates(100 + seed))
        assert kept(unit) == [0, 0]


def test_coordinates_looked_up_twice_are_cached_until_they_are_freed(unit: Unit) -> None:
    s, t = coordinates(1), coordinates(2)
    sample(unit, s, t)
    sample(unit, s, coordinates(3))
    assert kept(unit) == [1, 0]
    sample(unit, s, t)
    assert kept(unit) == [1, 1]
    del s
    assert kept(unit) == [0, 1]
    del t
    assert kept(unit) == [0, 0]


def test_other_arrays_at_the_same_address_are_not_confused(unit: Unit) -> None:
    column = coordinates(1)
    sample(unit, column, coordinates(2))
    sample(unit, column, coordinates(2))
    expected = sample(unit, coordinates(4), coordinates(2))
    column[:] = coordinates(4)
    for a, b in zip(sample(unit, column, coordinates(2)), expected, strict=True):
        np.testing.assert_array_equal(a, b)
    column[:] = coordinates(1)
    del column
    assert kept(unit) == [0, 0]


def test_a_replaced_line_is_dropped_with_its_coordinates(unit: Unit) -> None:
    column = coordinates(1)
    for seed in (2, 3, 4):
        column[:] = coordinates(10 + seed)
        sample(unit, column, coordinates(seed))
    assert kept(unit)[0] == 1
    del column
    assert kept(unit)[0] == 0


def test_the_cache_is_bounded_and_empty_without_repeated_lookups(unit: Unit) -> None:
    columns = [coordinates(seed) for seed in range(bilinear._MOST_KEPT + 5)]
    for column in columns:
        for seed in (50, 51):
            sample(unit, column, coordinates(seed))
    assert 0 < kept(unit)[0] <= bilinear._MOST_KEPT
    del column
    columns.clear()
    assert kept(unit) == [0, 0]
    others = [coordinates(100 + seed) for seed in range(3 * bilinear._PATIENCE)]
    for column in others:
        sample(unit, column, coordinates(60))
    assert kept(unit)[0] <= bilinear._MOST_KEPT
    late = coordinates(999)
    before = kept(unit)[0]
    sample(unit, late, coordinates(61))
    assert kept(unit)[0] == before
