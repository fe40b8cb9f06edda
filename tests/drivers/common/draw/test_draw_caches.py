"""Caches of draws: what they keep of calls and states, and how long."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from gallette.compiler.nir.ir import Stage
from gallette.drivers.common.bound import ConstantBuffer
from gallette.drivers.common.draw import snapshot as snapshots
from gallette.drivers.common.draw import snapshot_cache
from gallette.drivers.common.draw.snapshot import Begun
from gallette.drivers.common.draw.snapshot_cache import SnapshotCache
from gallette.drivers.common.memory.resource import HostResource
from gallette.pipe.enums import Primitive, Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc
from gallette.pipe.state import DrawInfo

TRIANGLES = Primitive.TRIANGLES
VECTOR = FORMATS["R32G32B32_FLOAT"]  # 12 bytes


def buffer(width: int = 64) -> HostResource:
    desc = ResourceDesc(Target.BUFFER, FORMATS["R8_UINT"], width)
    return HostResource(desc, lambda _: None, [np.zeros((1, 1, width), np.uint8)])


# -- calls that come again -------------------------------------------------------------------------


def test_moved_calls_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "_MOST_CALLS", 3)
    info, begun = DrawInfo(TRIANGLES, start=2, count=3), Begun()
    first, second, third = begun.at(info, 0), begun.at(info, 1), begun.at(info, 2, 7)
    assert (first.start, first.count, second.start) == (0, 3, 1)
    assert (third.start, third.start_instance) == (2, 7)
    assert begun.at(info, 2, 7) is third
    assert begun.at(info, 5).start == 5
    assert begun.at(info, 2, 7) is not third  # all were forgotten


# -- states ----------------------------------------------------------------------------------------


def memory() -> SnapshotCache:
    return SnapshotCache(SimpleNamespace(bound=SimpleNamespace(stages=dict.fromkeys(Stage))))  # type: ignore[arg-type]


def test_numbers_stand_for_one_value_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """When all were forgotten others are given."""
    monkeypatch.setattr(snapshot_cache, "_MOST", 3)
    mine = memory()
    assert [mine._number_of("x", each) for each in ("a", "b", "a", "c", "b")] == [0, 1, 0, 2, 1]
    assert mine._number_of("y", "a") == 0
    assert mine._number_of("x", "d") == 3
    assert mine._number_of("y", "a") == 0  # the last value of a parameter keeps its number
    assert [mine._number_of("x", each) for each in ("a", "d", "b")] == [4, 3, 5]


def test_states_are_forgotten_when_many_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_cache, "_FEW", 4)
    monkeypatch.setattr(snapshot_cache, "_MOST", 4)
    mine = memory()

    def add(number: int, held: bool, alive: bool) -> None:
        found: Any = Mock(held=held, alive=alive)
        mine._found[number,] = mine._bases[number,] = found
        mine._alike[number,] = [found]

    def tidy() -> list[int]:
        mine._tidy()
        return [k for (k,) in mine._found]

    def successors() -> list[int]:
        assert [[each] for each in mine._bases.values()] == list(mine._alike.values())
        return [k for (k,) in mine._alike]

    for number in range(4):
        add(number, number == 0, number in (1, 3))
    assert tidy() == [0, 1, 3] and mine._crowded == 6
    assert successors() == [0, 1, 2, 3]  # new ones may succeed the one that is gone
    assert tidy() == [0, 1, 3] and successors() == [0, 1, 2, 3]  # none is gone
    add(4, False, True)
    assert tidy() == [0] and mine._crowded == 4  # too many: the held one stays
    assert successors() == [0, 1, 3, 4]


def test_constants_are_bytes_or_blocks() -> None:
    block = ConstantBuffer(b"abc")
    assert snapshots.row_of((block, None)) == (block, None)
    one, other = snapshots.row_of(b"xyz")
    assert one is other and one is not None and one.raw == b"xyz"
