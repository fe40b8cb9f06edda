"""Which draws that wait become one, and the tables of what each of them reads."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gallette.compiler.nir.ir import Stage
from gallette.drivers.common.bound import ConstantBuffer
from gallette.drivers.common.draw import merging as module
from gallette.drivers.common.draw.merging import (
    MergedDraws,
    call_key,
    merge,
    never_merged,
)
from gallette.drivers.common.draw.splitting import CALL_VALUES
from gallette.drivers.common.memory.resource import HostResource
from gallette.pipe.enums import Primitive, Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc
from gallette.pipe.state import DrawInfo

TRIANGLES, STRIP, POINTS = Primitive.TRIANGLES, Primitive.TRIANGLE_STRIP, Primitive.POINTS


class Snapshot:
    """What was given for draws: whose relatives they are, where their vertices are."""

    def __init__(self, merge_key: Any = "all", buffers: Any = ("one",), **more: Any) -> None:
        self.buffers, self.reads = buffers, more.get("reads", ())
        self.blocks: Any = ()
        self.found: Any = ()
        self.shaders: Any = (None, None)
        self._merge_keys, self._sees = merge_key, more.get("sees", False)
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
    def like(self) -> Snapshot:
        return self

    def merge_key(self, mode: Primitive) -> Any:
        return self._merge_keys, mode in (POINTS,)

    def observes_start(self, mode: Primitive) -> bool:
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


def numbers(*entries: tuple[Snapshot, DrawInfo]) -> list[list[int]]:
    """The draws of each family."""
    found = merge([(snapshot, info, b"") for snapshot, info in entries])  # type: ignore[misc]
    for merged in found:
        assert [entry[1] for entry in merged.entries] == [entries[k][1] for k in merged.numbers]
    return [merged.numbers for merged in found]


def test_draws_that_differ_in_constants_or_starts_are_one() -> None:
    snapshot, info = Snapshot(), call()
    assert numbers(*[(snapshot, info)] * 4) == [[0, 1, 2, 3]]
    assert numbers(*[(snapshot, call(3 * k)) for k in range(4)]) == [[0, 1, 2, 3]]
    indexed = [(snapshot, call(3 * k, index_size=2)) for k in range(3)]
    assert numbers(*indexed) == [[0], [1], [2]]
    seen = Snapshot(sees=True)
    assert numbers(*[(seen, call(3 * (k % 2))) for k in range(3)]) == [[0, 2], [1]]


@pytest.mark.parametrize(
    "other",
    [call(3, 6), call(3, mode=STRIP), call(3, start_instance=1), call(3, index_size=2)],
)
def test_draws_of_other_calls_are_others(other: DrawInfo) -> None:
    snapshot = Snapshot()
    assert numbers((snapshot, call()), (snapshot, other), (snapshot, call(6))) == [[0, 2], [1]]
    assert numbers((snapshot, other), (snapshot, call())) == [[0], [1]]
    assert call_key(snapshot, other) != call_key(snapshot, call())  # type: ignore[arg-type]


def test_relatives_are_one_family() -> None:
    info = call()
    one, two, other = Snapshot(), Snapshot(), Snapshot("others")
    assert numbers((one, info), (other, info), (two, info), (one, info)) == [[0, 2, 3], [1]]
    assert numbers((two, info), (one, call(9)), (two, info)) == [[0, 1, 2]]


def test_relatives_of_too_many_vertices_are_families_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, two, info = Snapshot(), Snapshot(), call(instance_count=1)
    draws = (one, info), (two, info), (one, info)
    monkeypatch.setattr(module, "lanes_at_once", lambda facts: 9)
    assert numbers(*draws) == [[0, 1, 2]]
    monkeypatch.setattr(module, "lanes_at_once", lambda facts: 8)
    assert numbers(*draws) == [[0, 2], [1]]
    assert numbers((one, info), (one, info), (one, info)) == [[0, 1, 2]]


# -- end to end ------------------------------------------------------------------------------------


def laid(*entries: tuple[Snapshot, DrawInfo]) -> list[tuple[list[int], bool]]:
    """The draws of each family, and whether they are laid end to end."""
    found = merge([(snapshot, info, b"") for snapshot, info in entries])  # type: ignore[misc]
    return [(merged.numbers, merged.calls is not None) for merged in found]


def test_calls_of_other_counts_are_laid_end_to_end_if_there_are_enough() -> None:
    snapshot = Snapshot()
    draws = [(snapshot, call(0, 3 * k)) for k in range(1, 5)]
    assert module._WORTH_JOINING == 4
    assert laid(*draws[:3]) == [([0], False), ([1], False), ([2], False)]
    assert laid(*draws) == [([0, 1, 2, 3], True)]
    assert laid(*draws, (snapshot, call(3, 3))) == [([0, 1, 2, 3, 4], True)]
    assert laid(*draws, (snapshot, call(start_instance=1))) == [([0, 1, 2, 3, 4], True)]


@pytest.mark.parametrize(
    "alone",
    [
        (Snapshot(), call(0, 2)),  # no triangle
        (Snapshot(), restarting(3)),
        (Snapshot(system_values=[sorted(CALL_VALUES)[0]]), call(0, 30)),
        (Snapshot(lost=True), call(0, 30)),
        (Snapshot("others"), call(0, 30)),
        (Snapshot(), call(mode=POINTS)),
        (Snapshot(), call(mode=STRIP)),
    ],
)
def test_what_cannot_follow_others_is_a_family_of_its_own(alone: tuple[Snapshot, DrawInfo]) -> None:
    snapshot = Snapshot()
    draws = [(snapshot, call(0, 3 * k)) for k in range(1, 5)]
    assert laid(*draws, alone) == [([0, 1, 2, 3], True), ([4], False)]
    assert laid(alone, *draws) == [([0], False), ([1, 2, 3, 4], True)]


def test_indexed_draws_follow_others_unless_they_restart_lists() -> None:
    snapshot = Snapshot()
    assert laid(*[(snapshot, restarting(9 + k)) for k in range(4)]) == [([0, 1, 2, 3], True)]
    strips = [(snapshot, replace(restarting(k), mode=STRIP)) for k in range(4)]
    assert laid(*strips) == [([0, 1, 2, 3], True)]


def test_draws_follow_others_that_read_other_buffers() -> None:
    draws = [(Snapshot(buffers=(k,)), call(0, 3 * k)) for k in range(1, 5)]
    assert laid(*draws) == [([0, 1, 2, 3], True)]


def test_draws_of_several_instances_are_always_laid_end_to_end() -> None:
    snapshot, other = Snapshot(), Snapshot(buffers=("two",))
    many = call(instance_count=2)
    assert laid((snapshot, many)) == [([0], True)]
    assert laid((snapshot, call()), (snapshot, many)) == [([0], False), ([1], True)]
    mixed = (snapshot, many), (other, many), (snapshot, call(instance_count=3)), (snapshot, call())
    assert laid(*mixed) == [([0, 1, 2], True), ([3], False)]
    strips = call(mode=STRIP, instance_count=2)
    assert laid((snapshot, many), (snapshot, strips)) == [([0], True), ([1], True)]


def test_some_calls_of_several_instances_are_never_merged() -> None:
    """Instances of a list that restarts, that has no whole primitive, or that see their call."""
    plain, sees = Snapshot(), Snapshot(system_values=CALL_VALUES)
    many, few = call(instance_count=2), call(0, 2, instance_count=2)
    strip, restarts = call(mode=STRIP, instance_count=2), replace(restarting(2), instance_count=2)
    infos = [call(), many, few, strip, restarts]
    found = never_merged([(plain, info, b"") for info in infos])  # type: ignore[arg-type]
    assert found == {id(few), id(restarts)}
    found = never_merged([(sees, info, b"") for info in infos])  # type: ignore[arg-type]
    assert found == {*map(id, infos[1:])}
    assert never_merged([(sees, infos[0], b"")] * 2) == set()  # type: ignore[list-item]


# -- a family --------------------------------------------------------------------------------------


def test_what_a_family_is() -> None:
    snapshot, other = Snapshot(), Snapshot()
    calls = call(0, 3), call(0, 6, instance_count=5)
    entries: Any = [(snapshot, calls[0], b""), (snapshot, calls[1], b""), (snapshot, calls[0], b"")]
    merged = MergedDraws([0, 1, 2], entries)
    assert merged.lanes == 3 + 30 + 3
    assert merged.alike and merged.calls is None
    merged.end_to_end = True
    assert not merged.alike and merged.calls == [calls[0], calls[1], calls[0]]
    assert not MergedDraws([0, 1], [entries[0], (other, calls[0], b"")]).alike


def test_starts_of_draws() -> None:
    snapshot, info = Snapshot(), call(3)
    again: Any = [(snapshot, info, b"a"), (snapshot, info, b"b"), (snapshot, call(3), b"")]
    assert MergedDraws.of(again).firsts is None
    again.append((snapshot, call(9), b""))
    found = MergedDraws.of(again).firsts
    assert found is not None and found.tolist() == [3, 3, 3, 9]


def tables(entries: Any) -> Any:
    """What shaders read in draws, by stage."""
    return MergedDraws.of(entries).constants


def rows(*constants: Any, snapshot: Any = None) -> Any:
    entries: Any = [(snapshot or Snapshot(), call(), each) for each in constants]
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
    one, two, same = Snapshot(), Snapshot(), Snapshot()
    for snapshot, value in ((one, 1), (two, 2), (same, 1)):
        size = 40 if snapshot is one else 8
        data = np.full(size, value, np.uint8)
        block = SimpleNamespace(data=data)
        snapshot.found = None, block, None if value == 2 else block
        snapshot.blocks, snapshot.shaders = ("blocks", value), (shader, None)
    entries: Any = [(snapshot, call(), b"\0" * 16) for snapshot in (two, one, two)]
    found = tables(entries)
    constants = found[Stage.VERTEX]
    assert sorted(constants) == [0, 1, 2]
    assert constants[1].tolist() == [[2] * 8 + [0] * 24, [1] * 32, [2] * 8 + [0] * 24]
    assert constants[2].tolist() == [[0] * 16, [1] * 16, [0] * 16]
    assert sorted(found[Stage.FRAGMENT]) == [0]
    alone = tables(entries[:1])
    assert sorted(alone[Stage.VERTEX]) == [0]


def test_kinds_are_numbered_by_identity() -> None:
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
