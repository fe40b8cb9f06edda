"""Which draws that wait become one, and the tables of what each of them reads."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gallette.compiler.nir.ir import Stage
from gallette.drivers.common.bound import ConstantBuffer
from gallette.drivers.common.draw import families as module
from gallette.drivers.common.draw.families import (
    Family,
    families,
    fewest,
    kind_of,
    pairs_of,
)
from gallette.drivers.common.draw.parts import TOLD
from gallette.drivers.common.memory.resource import HostResource
from gallette.pipe.enums import Primitive, Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc
from gallette.pipe.state import DrawInfo

TRIANGLES, STRIP, POINTS = Primitive.TRIANGLES, Primitive.TRIANGLE_STRIP, Primitive.POINTS


class Given:
    """What was given for draws: whose relatives they are, where their vertices are."""

    def __init__(self, relatives: Any = "all", buffers: Any = ("one",), **more: Any) -> None:
        self.buffers, self.reads = buffers, more.get("reads", ())
        self.blocks: Any = ()
        self.found: Any = ()
        self.shaders: Any = (None, None)
        self._relatives, self._sees = relatives, more.get("sees", False)
        self.asked = 0
        self.facts = SimpleNamespace(
            system_values=frozenset(more.get("system_values", ())), outputs={0: 15}
        )
        vertex = SimpleNamespace(facts=self.facts)
        self._selection: Any = SimpleNamespace(
            stages={Stage.VERTEX: vertex}, origin=more.get("origin", ("vertex", "fragment"))
        )
        if more.get("lost"):
            self._selection = None
        self.large = more.get("large")
        bound = SimpleNamespace(
            depth_stencil_alpha=SimpleNamespace(
                state=SimpleNamespace(alpha_ref_value=more.get("reference", 0.0))
            ),
            clip_planes=more.get("planes"),
        )
        self.states = SimpleNamespace(
            bound=bound, merged_fragment=lambda mode, table: ("fragment of", self, mode, table)
        )

    @property
    def like(self) -> Given:
        return self

    def relatives(self, mode: Primitive) -> Any:
        return self._relatives, mode in (POINTS,)

    def sees_start(self, mode: Primitive) -> bool:
        return bool(self._sees)

    def selection(self, mode: Primitive) -> Any:
        self.asked += 1
        return self._selection

    def large_blocks(self, mode: Primitive) -> Any:
        return self.large

    def block(self, stage: Stage, number: int) -> Any:
        return self.found[number] if stage is Stage.VERTEX else None


def call(start: int = 0, count: int = 3, mode: Primitive = TRIANGLES, **more: Any) -> DrawInfo:
    return DrawInfo(mode, start=start, count=count, **more)


def restarting(index: int) -> DrawInfo:
    """A draw of indices 1, 2, 3."""
    desc = ResourceDesc(Target.BUFFER, FORMATS["R8_UINT"], 6)
    data = np.array([1, 2, 3], np.uint16).view(np.uint8).reshape(1, 1, -1)
    buffer = HostResource(desc, lambda _: None, [data])
    return call(index_size=2, primitive_restart=True, restart_index=index, index_buffer=buffer)


def numbers(*entries: tuple[Given, DrawInfo]) -> list[list[int]]:
    """The draws of each family."""
    found = families([(given, info, b"") for given, info in entries])  # type: ignore[misc]
    for family in found:
        assert [entry[1] for entry in family.entries] == [entries[k][1] for k in family.numbers]
    return [family.numbers for family in found]


def test_draws_that_differ_in_constants_or_starts_are_one() -> None:
    given, info = Given(), call()
    assert numbers(*[(given, info)] * 4) == [[0, 1, 2, 3]]
    assert numbers(*[(given, call(3 * k)) for k in range(4)]) == [[0, 1, 2, 3]]
    indexed = [(given, call(3 * k, index_size=2)) for k in range(3)]
    assert numbers(*indexed) == [[0], [1], [2]]
    seen = Given(sees=True)
    assert numbers(*[(seen, call(3 * (k % 2))) for k in range(3)]) == [[0, 2], [1]]


@pytest.mark.parametrize(
    "other",
    [call(3, 6), call(3, mode=STRIP), call(3, start_instance=1), call(3, index_size=2)],
)
def test_draws_of_other_calls_are_others(other: DrawInfo) -> None:
    given = Given()
    assert numbers((given, call()), (given, other), (given, call(6))) == [[0, 2], [1]]
    assert numbers((given, other), (given, call())) == [[0], [1]]
    assert kind_of(given, other) != kind_of(given, call())  # type: ignore[arg-type]


def test_relatives_are_one_family() -> None:
    info = call()
    one, two, other = Given(), Given(), Given("others")
    assert numbers((one, info), (other, info), (two, info), (one, info)) == [[0, 2, 3], [1]]
    assert numbers((two, info), (one, call(9)), (two, info)) == [[0, 1, 2]]
    assert fewest([(one, info, b""), (two, info, b""), (other, info, b"")]) == 2  # type: ignore[list-item]
    points = call(mode=POINTS)
    assert fewest([(one, info, b""), (one, points, b"")]) == 2  # type: ignore[list-item]
    assert fewest([(one, info, b""), (one, call(mode=STRIP), b"")]) == 1  # type: ignore[list-item]


def test_relatives_of_too_many_vertices_are_families_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, two, info = Given(), Given(), call(instance_count=1)
    draws = (one, info), (two, info), (one, info)
    monkeypatch.setattr(module, "lanes_at_once", lambda facts: 9)
    assert numbers(*draws) == [[0, 1, 2]]
    monkeypatch.setattr(module, "lanes_at_once", lambda facts: 8)
    assert numbers(*draws) == [[0, 2], [1]]
    assert numbers((one, info), (one, info), (one, info)) == [[0, 1, 2]]


# -- end to end ------------------------------------------------------------------------------------


def laid(*entries: tuple[Given, DrawInfo]) -> list[tuple[list[int], bool]]:
    """The draws of each family, and whether they are laid end to end."""
    found = families([(given, info, b"") for given, info in entries])  # type: ignore[misc]
    return [(family.numbers, family.calls is not None) for family in found]


def test_calls_of_other_counts_are_laid_end_to_end_if_there_are_enough() -> None:
    given = Given()
    draws = [(given, call(0, 3 * k)) for k in range(1, 5)]
    assert module._WORTH_JOINING == 4
    assert laid(*draws[:3]) == [([0], False), ([1], False), ([2], False)]
    assert laid(*draws) == [([0, 1, 2, 3], True)]
    assert laid(*draws, (given, call(3, 3))) == [([0, 1, 2, 3, 4], True)]


@pytest.mark.parametrize(
    "alone",
    [
        (Given(), call(0, 2)),  # no triangle
        (Given(), call(start_instance=1)),
        (Given(), restarting(3)),
        (Given(buffers=("two",)), call(0, 30)),
        (Given(system_values=[sorted(TOLD)[0]]), call(0, 30)),
        (Given(lost=True), call(0, 30)),
        (Given("others"), call(0, 30)),
        (Given(), call(mode=POINTS)),
        (Given(), call(mode=STRIP)),
    ],
)
def test_what_cannot_follow_others_is_a_family_of_its_own(alone: tuple[Given, DrawInfo]) -> None:
    given = Given()
    draws = [(given, call(0, 3 * k)) for k in range(1, 5)]
    assert laid(*draws, alone) == [([0, 1, 2, 3], True), ([4], False)]
    assert laid(alone, *draws) == [([0], False), ([1, 2, 3, 4], True)]


def test_indexed_draws_follow_others_unless_they_restart() -> None:
    given = Given()
    assert laid(*[(given, restarting(9 + k)) for k in range(4)]) == [([0, 1, 2, 3], True)]


def test_draws_of_several_instances_are_always_laid_end_to_end() -> None:
    given, other = Given(), Given(buffers=("two",))
    many = call(instance_count=2)
    assert laid((given, many)) == [([0], True)]
    assert laid((given, call()), (given, many)) == [([0], False), ([1], True)]
    mixed = (given, many), (other, many), (given, call(instance_count=3)), (given, call())
    assert laid(*mixed) == [([0, 2], True), ([1], True), ([3], False)]
    strips = call(mode=STRIP, instance_count=2)
    assert laid((given, many), (given, strips)) == [([0], True), ([1], True)]


# -- a family --------------------------------------------------------------------------------------


def test_what_a_family_is() -> None:
    given, other = Given(), Given()
    calls = call(0, 3), call(0, 6, instance_count=5)
    entries: Any = [(given, calls[0], b""), (given, calls[1], b""), (given, calls[0], b"")]
    family = Family([0, 1, 2], entries)
    assert family.lanes == 3 + 30 + 3
    assert family.alike and family.calls is None
    family.end_to_end = True
    assert not family.alike and family.calls == [calls[0], calls[1], calls[0]]
    assert not Family([0, 1], [entries[0], (other, calls[0], b"")]).alike


def test_pairs_and_starts() -> None:
    given, info = Given(), call(3)
    again: Any = [(given, info, b"a"), (given, info, b"b"), (given, call(3), b"")]
    assert [found[1] is info for found in pairs_of(again)] == [True, False]
    assert Family.of(again).firsts is None
    again.append((given, call(9), b""))
    found = Family.of(again).firsts
    assert found is not None and found.tolist() == [3, 3, 3, 9]


def tables(entries: Any) -> Any:
    """What shaders read in draws, by stage."""
    return Family.of(entries).constants


def rows(*constants: Any, given: Any = None) -> Any:
    entries: Any = [(given or Given(), call(), each) for each in constants]
    return tables(entries)


def test_constants_of_draws_are_rows_of_whole_vectors() -> None:
    found = rows(b"\1" * 16, b"\2" * 16)
    for stage in (Stage.VERTEX, Stage.FRAGMENT):
        assert found[stage][0].tolist() == [[1] * 16, [2] * 16]
    short = rows(b"\1" * 20, b"\2" * 3)[Stage.VERTEX][0]
    assert short.tolist() == [[1] * 20 + [0] * 12, [2] * 3 + [0] * 29]
    assert rows(b"\1" * 16, b"\2" * 3)[Stage.VERTEX][0].tolist()[1] == [2] * 3 + [0] * 13
    assert rows(b"", b"")[Stage.VERTEX] == {}


def test_stages_may_be_given_different_constants() -> None:
    a, b = ConstantBuffer(b"\5" * 16), ConstantBuffer(b"\6" * 32)
    found = rows((a, None), (None, b), b"\7" * 16)
    assert found[Stage.VERTEX][0].tolist() == [[5] * 16, [0] * 16, [7] * 16]
    wide = found[Stage.FRAGMENT][0].tolist()
    assert wide == [[0] * 32, [6] * 32, [7] * 16 + [0] * 16]


def test_blocks_that_differ_are_tables_as_far_as_they_are_read() -> None:
    shader = SimpleNamespace(reads=SimpleNamespace(blocks=[(1, 20), (2, 4)]))
    one, two, same = Given(), Given(), Given()
    for given, value in ((one, 1), (two, 2), (same, 1)):
        size = 40 if given is one else 8
        data = np.full(size, value, np.uint8)
        block = SimpleNamespace(data=data)
        given.found = None, block, None if value == 2 else block
        given.blocks, given.shaders = ("blocks", value), (shader, None)
    entries: Any = [(given, call(), b"\0" * 16) for given in (two, one, two)]
    found = tables(entries)
    constants = found[Stage.VERTEX]
    assert sorted(constants) == [0, 1, 2]
    assert constants[1].tolist() == [[2] * 8 + [0] * 24, [1] * 32, [2] * 8 + [0] * 24]
    assert constants[2].tolist() == [[0] * 16, [1] * 16, [0] * 16]
    assert sorted(found[Stage.FRAGMENT]) == [0]
    alone = tables(entries[:1])
    assert sorted(alone[Stage.VERTEX]) == [0]


def test_kinds_of_things_told_by_identity() -> None:
    things = [[1], [2], [1], [3]]
    distinct = module._Distinct([things[k] for k in (1, 0, 2, 0, 3, 1)])
    assert [things.index(each) for each in distinct.first] == [1, 0, 0, 3]
    assert distinct.first[2] is things[2]
    assert distinct.which.tolist() == [0, 1, 2, 1, 3, 0]
    first, which = distinct.kinds(lambda each: each[0])
    assert first == [[2], [1], [3]] and first[1] is things[0]
    assert which.tolist() == [0, 1, 1, 1, 2, 0]
    one = module._Distinct([things[0]] * 3)
    assert (one.first, one.which.tolist()) == ([[1]], [0, 0, 0])
