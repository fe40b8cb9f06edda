"""How the executor runs the draws of a batch: one by one, as instances, in order."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from gallette.drivers.common.draw import execution
from gallette.drivers.common.draw.execution import Execution
from gallette.pipe.enums import Primitive
from gallette.pipe.state import DrawInfo

INFO = DrawInfo(Primitive.TRIANGLES, count=3)


class Snapshot:
    """What was given for draws of some shaders."""

    def __init__(self, shaders: str = "some") -> None:
        self.shaders = shaders

    def merge_key(self, mode: Primitive) -> Any:
        return self.shaders


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Draws that were made one by one, and those made together."""
    found: list[Any] = []
    monkeypatch.setattr(
        execution, "draw_one", lambda snapshot, info, row, at: found.append((row, at))
    )
    monkeypatch.setattr(execution, "merge", lambda entries: [])
    monkeypatch.setattr(
        Execution,
        "_together",
        lambda self, entries, merged, failures: found.append([row for _, _, row in entries]),
    )
    return found


def executing(tally: Any = None) -> Execution:
    return Execution(SimpleNamespace(counters=SimpleNamespace(tally=tally)), True)  # type: ignore[arg-type]


def draws(*snapshots: Snapshot) -> Any:
    return [(snapshot, INFO, b"%d" % number) for number, snapshot in enumerate(snapshots)]


ROWS = [b"0", b"1", b"2", b"3", b"4"]


def test_enough_pending_draws_are_executed_together(
    made: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted by shaders; one alone does not count."""
    monkeypatch.setattr(execution, "WORTH_MERGING", 5)
    mine, one, again = executing(), Snapshot(), Snapshot()
    one_by_one: list[Any] = [(b"0", 0), (b"1", 1)]
    mine.run(draws(one, one))
    mine.run(draws(one, again))
    mine.run(draws(one, Snapshot("others")))
    assert made == one_by_one * 3
    made.clear()
    mine.run(draws(again, again))  # six there are
    assert made == [ROWS[:2]]
    made.clear()
    mine.forget()
    mine.run(draws(one, one))
    assert made == one_by_one
    made.clear()
    mine.run(draws(one, one, one))  # exactly five
    assert made == [ROWS[:3]]


def test_only_draws_for_which_merging_pays_are_merged(
    made: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "WORTH_MERGING", 3)
    tally = SimpleNamespace(first=-1)
    firsts: list[int] = []

    def one(snapshot: Snapshot, info: DrawInfo, row: Any, at: int) -> None:
        made.append((row, at))
        firsts.append(tally.first)

    monkeypatch.setattr(execution, "draw_one", one)
    many, few = Snapshot(), Snapshot("few")
    executing(tally).run(draws(many, few, few, many, many))
    assert made == [ROWS[:1], (b"1", 0), (b"2", 1), ROWS[3:]]
    assert firsts == [1, 1] and tally.first == 3


def test_draws_that_are_never_merged_part_those_that_are(
    made: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "WORTH_MERGING", 1)
    monkeypatch.setattr(execution, "never_merged", lambda entries: {id(entries[2][1])})
    snapshot = Snapshot()
    entries = draws(*[snapshot] * 5)
    entries[2] = (snapshot, replace(INFO), b"2")
    executing().run(entries)
    assert made == [ROWS[:2], (b"2", 0), ROWS[3:]]


# -- together --------------------------------------------------------------------------------------


class Ways:
    """How draws are executed whose shaders run for many draws at once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, merge: Any, **answers: Any) -> None:
        self.taken: list[Any] = []
        self.answers = answers
        self.begun = 0
        self.restored: list[Any] = []
        put = monkeypatch.setattr
        put(execution, "WORTH_MERGING", 1)
        put(execution, "merge", lambda entries: merge)
        put(execution, "draw_many", self._many)
        put(execution, "add_group", lambda groups, merged: groups.append(merged))
        put(execution, "draw_group", lambda group: self.taken.append(group.name))
        put(execution, "can_order_pixels", lambda state: state != "fills")
        put(execution, "draw_in_pixel_order", self._in_pixel_order)

    def _many(self, merged: Any, first: int = -1) -> None:
        self.taken.append((getattr(merged, "name", len(merged.entries)), first))

    def _in_pixel_order(self, groups: Any, *others: Any) -> bool:
        self.taken.append(f"in pixel order {len(groups)}")
        return not self.answers.get("rows")

    def merged(self, name: str, lanes: int = 3, alike: bool = False, state: Any = "plain") -> Any:
        def begin(merged: bool) -> None:
            assert merged
            self.begun += 1

        work = SimpleNamespace(begin=begin)
        snapshot = SimpleNamespace(states=SimpleNamespace(work=work))
        found = SimpleNamespace(name=name, lanes=lanes, limit=3, alike=alike, state=state)
        found.entries, found.first_state = [(snapshot, INFO, b"")], lambda: found.state
        return found

    def run(self, count: int = 2, regroup: bool = True) -> list[Any]:
        counters = SimpleNamespace(
            tally=None, snapshot=lambda: "before", restore=self.restored.append
        )
        states: Any = SimpleNamespace(counters=counters, scratch=None)
        one, two = Snapshot(), Snapshot()
        Execution(states, regroup).run(draws(*[one] * count, two))
        return self.taken


IN_ORDER = [(2, 0), (1, 2)]
"""Runs of equal draws, and the number of the first of each."""


def test_draws_that_differ_in_constants_are_instances_of_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    merge: list[Any] = []
    ways = Ways(monkeypatch, merge)
    merge += [ways.merged("a", alike=True)]
    assert ways.run() == [("a", -1)]


def test_one_family_is_one_draw_and_several_are_drawn_in_pixel_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    merge: list[Any] = []
    ways = Ways(monkeypatch, merge)
    merge += [ways.merged("a", state="fills")]
    assert ways.run() == ["a"]
    merge[0].state = None
    merge += [ways.merged("b")]
    assert ways.run()[1:] == ["in pixel order 2"]
    assert ways.begun == 3 and ways.restored == []


def test_what_cannot_be_drawn_in_pixel_order_is_drawn_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    merge: list[Any] = []
    ways = Ways(monkeypatch, merge)
    merge += [ways.merged("a"), ways.merged("b")]
    assert ways.run(regroup=False) == IN_ORDER
    ways.taken.clear()
    merge[1].state = "fills"
    assert ways.run() == IN_ORDER
    assert ways.begun == 0


def test_draws_of_too_many_vertices_are_executed_in_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each half is counted from its own first draw on."""
    ways = Ways(monkeypatch, [])
    tally, parts = SimpleNamespace(first=-1), []

    def merge(entries: Any) -> list[Any]:
        return [ways.merged("a", lanes=len(entries)), ways.merged("b")]

    def together(self: Execution, entries: Any, found: Any, failures: Any) -> None:
        assert found[0].lanes == len(entries)
        parts.append((tally.first, len(entries)))

    monkeypatch.setattr(execution, "merge", merge)
    monkeypatch.setattr(Execution, "_together", together)
    executing(tally).run(draws(*[Snapshot()] * 7))
    assert parts == [(0, 3), (3, 2), (5, 2)]


def test_one_draw_of_too_many_vertices_is_drawn_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    merge: list[Any] = []
    ways = Ways(monkeypatch, merge)
    merge += [ways.merged("a", lanes=4)]
    assert ways.run() == [(1, 0)] * 3


def test_what_was_counted_in_vain_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    merge: list[Any] = []
    ways = Ways(monkeypatch, merge, rows=True)
    merge += [ways.merged("a"), ways.merged("b")]
    assert ways.run() == ["in pixel order 2", *IN_ORDER]
    assert ways.restored == ["before"]


def test_failures_are_raised_after_all_draws(
    made: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(snapshot: Any, info: Any, row: Any, at: int) -> None:
        made.append(row)
        if row != b"1":
            raise MemoryError(row)

    monkeypatch.setattr(execution, "draw_one", fails)
    snapshot = Snapshot()
    with pytest.raises(MemoryError, match="0"):
        executing().run(draws(snapshot, snapshot, snapshot))
    assert [each for each in made if isinstance(each, bytes)] == ROWS[:3]


@pytest.mark.parametrize("way", ["together", "as a group"])
def test_what_fails_together_is_told(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    merge: list[Any] = []
    ways = Ways(monkeypatch, merge)
    merge += [ways.merged("a", alike=way == "together")]

    def fails(*args: Any) -> None:
        raise MemoryError

    for name in ("draw_many", "add_group"):
        monkeypatch.setattr(execution, name, fails)
    snapshot = Snapshot()
    counters = SimpleNamespace(tally=None, snapshot=lambda: None)
    states: Any = SimpleNamespace(counters=counters, scratch=None)
    with pytest.raises(MemoryError):
        Execution(states, True).run(draws(snapshot, snapshot))
