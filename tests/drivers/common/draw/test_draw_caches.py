"""Caches of draws: what they keep of calls, positions and states, and how long."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gallette.compiler.nir.ir import Stage
from gallette.drivers.common.bound import ConstantBuffer
from gallette.drivers.common.draw import (
    positions,
    prepared,
    snapshot,
    snapshot_cache,
)
from gallette.drivers.common.draw.positions import FewVertices, PositionsFirst
from gallette.drivers.common.draw.prepared import PreparedDraw
from gallette.drivers.common.draw.snapshot_cache import SnapshotCache
from gallette.drivers.common.memory.resource import HostResource
from gallette.pipe.enums import PolygonMode, Primitive, Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc
from gallette.pipe.state import (
    DrawInfo,
    FramebufferState,
)

TRIANGLES = Primitive.TRIANGLES
VECTOR = FORMATS["R32G32B32_FLOAT"]  # 12 bytes


def buffer(width: int = 64) -> HostResource:
    desc = ResourceDesc(Target.BUFFER, FORMATS["R8_UINT"], width)
    return HostResource(desc, lambda _: None, [np.zeros((1, 1, width), np.uint8)])


# -- calls that come again -------------------------------------------------------------------------


def test_moved_calls_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared, "_MOST_STARTS", 2)
    plans: list[Any] = [None]
    snapshot: Any = SimpleNamespace(made_plan=lambda mode: plans[0])
    info = DrawInfo(TRIANGLES, start=2, count=3)
    draw = PreparedDraw(snapshot, info, FramebufferState(), 0, True)
    assert draw.call(2) is info
    first, second = draw.call(0), draw.call(1)
    assert (first.start, first.count, second.start) == (0, 3, 1)
    assert draw.call(0) is first and draw.call(1) is second
    assert draw.call(5).start == 5
    assert draw.call(0) is not first  # all were forgotten
    assert draw.made_plan() is None
    plans[0] = object()
    kept = draw.made_plan()
    assert kept is plans[0]
    plans[0] = None
    assert draw.made_plan() is kept


# -- positions first -------------------------------------------------------------------------------


class _Shader:
    """So many instructions in all, so many for the position."""

    def __init__(self, whole: int, place: int, effects: bool = False) -> None:
        self.whole, self.place, self.effects = whole, place, effects
        self.compiler = SimpleNamespace(positions_first=True)
        self.reads = SimpleNamespace(has_varyings=True)
        self.bound: list[Any] = []

    def variant_for(self, key: Any) -> Any:
        count = self.place if key.depth_only else self.whole
        facts = SimpleNamespace(has_side_effects=self.effects)
        program = SimpleNamespace(facts=facts, bind=lambda resources: ("bound", count))
        shader = SimpleNamespace(count_instrs=lambda: count)
        return SimpleNamespace(program=program, shader=shader)


def first(whole: int = 1000, place: int = 10, effects: bool = False) -> PositionsFirst:
    from gallette.drivers.common.variants.keys import VertexKey

    shader: Any = _Shader(whole, place, effects)
    filled: Any = SimpleNamespace(fill_front=PolygonMode.FILL, fill_back=PolygonMode.FILL)
    found = PositionsFirst.of(shader, VertexKey(), filled, False)
    assert found is not None
    return found


NOTHING: Any = None
LEAST = positions._LEAST_LANES


def test_positions_come_first_where_there_is_much_besides() -> None:
    assert positions._LEAST_CODE == 32
    for whole, place, wanted in ((72, 20, True), (71, 20, False), (33, 0, True), (32, 0, False)):
        assert (first(whole, place).begin(NOTHING, TRIANGLES, LEAST) is not None) is wanted
    assert first(effects=True).begin(NOTHING, TRIANGLES, LEAST) is None
    assert first().begin(NOTHING, TRIANGLES, LEAST - 1) is None
    for mode in (Primitive.LINES, Primitive.POINTS, Primitive.PATCHES):
        assert first().begin(NOTHING, mode, LEAST) is None
    found = first().begin(NOTHING, TRIANGLES, LEAST)
    assert found is not None
    program: Any = found[0]
    assert program == ("bound", 10)
    assert (found[1].lanes, found[1].shaded) == (LEAST, 0)


def test_positions_come_first_again_after_some_draws() -> None:
    """When most vertices of a draw were shaded after all."""
    mine = first()
    for shaded, again in ((7 * LEAST, True), (7 * LEAST + 1, False)):
        found = mine.begin(NOTHING, TRIANGLES, 10 * LEAST)
        assert found is not None
        found[1].shaded = shaded
        assert (mine.begin(NOTHING, TRIANGLES, 10 * LEAST) is not None) is again
    tried = [mine.begin(NOTHING, TRIANGLES, LEAST) is not None for _ in range(32)]
    assert tried == [False] * 31 + [True]


def test_shaded_vertices_are_counted() -> None:
    few = FewVertices(100)
    shade = few.shading(lambda which: which)
    assert shade(np.arange(7)).tolist() == list(range(7)) and few.shaded == 7
    assert shade(None) is None and few.shaded == 107


# -- states ----------------------------------------------------------------------------------------


def memory() -> SnapshotCache:
    return SnapshotCache(SimpleNamespace(bound=SimpleNamespace(stages=dict.fromkeys(Stage))))  # type: ignore[arg-type]


def test_numbers_stand_for_one_value_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """When all were forgotten others are given."""
    monkeypatch.setattr(snapshot_cache, "_MOST", 3)
    mine = memory()
    assert [mine._number(each) for each in ("a", "b", "a", "c", "b")] == [0, 1, 0, 2, 1]
    assert mine._number("d") == 3
    assert [mine._number(each) for each in ("a", "d", "b")] == [4, 3, 5]


def test_states_are_forgotten_when_many_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_cache, "_FEW", 4)
    mine = memory()
    mine._crowded = 4
    mine._bases["related",] = object()  # type: ignore[assignment]

    def state(held: bool, alive: bool) -> Any:
        return SimpleNamespace(held=held, alive=alive)

    mine._found = {(k,): state(k == 0, k == 1) for k in range(3)}
    mine.tidy()
    assert len(mine._found) == 3 and mine._bases  # too few to look at
    mine._found[3,] = state(False, True)
    mine.tidy()
    assert [*mine._found] == [(0,), (1,), (3,)] and not mine._bases
    assert mine._crowded == 6
    mine._bases["related",] = object()  # type: ignore[assignment]
    mine.tidy(3)
    mine._crowded = 0
    mine.tidy(3)
    assert len(mine._found) == 3 and mine._bases
    mine._crowded = 0
    mine.tidy(2)
    assert [*mine._found] == [(0,)] and not mine._bases and mine._crowded == 4
    mine.tidy(0)
    assert [*mine._found] == [(0,)]


def test_constants_are_bytes_or_blocks() -> None:
    block = ConstantBuffer(b"abc")
    assert snapshot.row_of((block, None)) == (block, None)
    one, other = snapshot.row_of(b"xyz")
    assert one is other and one is not None and one.raw == b"xyz"
