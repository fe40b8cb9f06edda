"""In which way draws that waited are executed: alone, by plans, together, around clears."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gallette.drivers.common.draw import execution
from gallette.drivers.common.draw.execution import Execution
from gallette.pipe.enums import Primitive
from gallette.pipe.state import DrawInfo

INFO = DrawInfo(Primitive.TRIANGLES, count=3)


class Plan:
    """Makes draws up to one that it cannot make."""

    def __init__(self, cannot: Any = None) -> None:
        self.made: list[Any] = []
        self.cannot = cannot

    def draw(self, info: DrawInfo, row: Any) -> bool:
        assert info is INFO
        if row[0].raw == self.cannot:
            return False
        self.made.append(row[0].raw)
        return True


class Given:
    """What was given for draws of some shaders."""

    def __init__(self, shaders: str = "some", plan: Any = None, made: bool = False) -> None:
        self.shaders, self.flushes = shaders, 0
        self._plan, self._made = plan, made
        self.asked = 0

    def made_plan(self, mode: Primitive) -> Any:
        return self._plan if self._made else None

    def has_no_plan(self, mode: Primitive) -> bool:
        return self._made and self._plan is None

    def plan(self, mode: Primitive) -> Any:
        self.asked += 1
        self._made = True
        return self._plan

    def relatives(self, mode: Primitive) -> Any:
        return self.shaders


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Draws that were made one by one, and those made together."""
    found: list[Any] = []
    monkeypatch.setattr(execution, "draw_one", lambda given, info, row, at: found.append((row, at)))
    monkeypatch.setattr(
        Execution,
        "_together",
        lambda self, entries, failures: found.append([row for _, _, row in entries]),
    )
    return found


def executing(tally: Any = None) -> Execution:
    return Execution(SimpleNamespace(counters=SimpleNamespace(tally=tally)), True)  # type: ignore[arg-type]


def draws(*givens: Given) -> Any:
    return [(given, INFO, b"%d" % number) for number, given in enumerate(givens)]


ROWS = [b"0", b"1", b"2", b"3", b"4"]
NOWHERE: Any = SimpleNamespace(several=False)


def test_draws_are_made_together_when_enough_have_waited_beside_others(
    made: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted by shaders; one alone does not count."""
    monkeypatch.setattr(execution, "WORTH_MERGING", 5)
    mine, one, again = executing(), Given(), Given()
    one_by_one: list[Any] = [(b"0", 0), (b"1", 1)]
    mine.run(draws(one, one), [], NOWHERE)
    mine.run(draws(one, again), [], NOWHERE)
    mine.run(draws(one, Given("others")), [], NOWHERE)
    assert made == one_by_one * 3
    made.clear()
    mine.run(draws(again, again), [], NOWHERE)  # six there are
    assert made == [ROWS[:2]]
    made.clear()
    mine.forget()
    mine.run(draws(one, one), [], NOWHERE)
    assert made == one_by_one
    made.clear()
    mine.run(draws(one, one, one), [], NOWHERE)  # exactly five
    assert made == [ROWS[:3]]


def test_only_draws_for_which_it_is_worth_it_are_made_together(
    made: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "WORTH_MERGING", 3)
    tally = SimpleNamespace(first=-1)
    firsts: list[int] = []

    def one(given: Given, info: DrawInfo, row: Any, at: int) -> None:
        made.append((row, at))
        firsts.append(tally.first)

    monkeypatch.setattr(execution, "draw_one", one)
    many, few = Given(), Given("few")
    executing(tally).run(draws(many, few, few, many, many), [], NOWHERE)
    assert made == [ROWS[:1], (b"1", 0), (b"2", 1), ROWS[3:]]
    assert firsts == [1, 1] and tally.first == 3


def test_draws_are_made_by_plans(made: list[Any]) -> None:
    """Until one cannot be made so: the rest is executed otherwise."""
    plan = Plan()
    given = Given(plan=plan, made=True)
    executing().run(draws(given, given, given), [], NOWHERE)
    assert plan.made == ROWS[:3] and made == []
    plan = Plan(cannot=b"1")
    given = Given(plan=plan, made=True)
    executing().run(draws(given, given, given), [], NOWHERE)
    assert plan.made == ROWS[:1] and made == [(b"1", 0), (b"2", 1)]


def test_plans_are_made_for_what_has_come_often(made: list[Any]) -> None:
    """Or for as many as there are families: that would take as long."""
    plan = Plan()
    least = execution._FOR_A_PLAN
    for flushes, other, done in ((0, "some", 0), (least - 1, "some", 0), (least, "some", 2)):
        one, two = Given(plan=plan), Given(other, plan=plan)
        one.flushes = two.flushes = flushes
        plan.made.clear()
        executing().run(draws(one, two), [], NOWHERE)
        assert len(plan.made) == done
    plan.made.clear()
    executing().run(draws(Given(plan=plan), Given("others", plan=plan)), [], NOWHERE)
    assert len(plan.made) == 2
    plan.made.clear()
    one, two = Given(plan=plan, made=True), Given(plan=plan)
    executing().run(draws(one, two), [], NOWHERE)  # one new for one family
    assert len(plan.made) == 2


def test_plans_are_made_for_all_or_for_none(made: list[Any]) -> None:
    plan = Plan()
    good, none, known = Given(plan=plan), Given("others"), Given("known", made=True)
    executing().run(draws(good, none), [], NOWHERE)
    assert (good.asked, none.asked, len(made)) == (1, 1, 2)
    executing().run(draws(known, good), [], NOWHERE)  # it is known that there is none
    assert (good.asked, known.asked, len(made)) == (1, 0, 4)
    executing(SimpleNamespace(first=0)).run(draws(good, good), [], NOWHERE)  # each is counted
    assert (good.asked, len(made), plan.made) == (1, 6, [])


def clear(found: list[Any], after: int) -> Any:
    return SimpleNamespace(after=after, now=lambda: found.append(f"clear {after}"))


@pytest.mark.parametrize(
    ("places", "wanted"),
    [
        ([1], [0, "clear 1", 1, 2]),
        ([2, 2], [0, 1, "clear 2", "clear 2", 2]),
        ([1, 3], [0, "clear 1", 1, 2, "clear 3"]),
        ([0], ["clear 0", 0, 1, 2]),
    ],
)
def test_clears_come_between_draws(
    places: list[int], wanted: list[Any], made: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "WORTH_MERGING", 1 << 30)
    given = Given(made=True)
    executing().run(draws(given, given, given), [clear(made, at) for at in places], NOWHERE)
    assert [int(each[0]) if isinstance(each, tuple) else each for each in made] == wanted


@pytest.mark.parametrize("deals", [False, True])
def test_clears_are_dealt_with_draws_where_that_is_worth_it(
    deals: bool, made: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "WORTH_MERGING", 2)
    asked: list[Any] = []

    def dealt(self: Any, entries: Any, failures: Any, clears: Any) -> bool:
        asked.append((len(entries), len(clears)))
        return deals

    monkeypatch.setattr(Execution, "_dealt", dealt)
    given, rare = Given(made=True), Given("rare", made=True)
    executing().run(draws(given, given), [clear(made, 1)], NOWHERE)
    assert asked == [(2, 1)]
    assert made == ([] if deals else [(b"0", 0), "clear 1", (b"1", 0)])
    executing().run(draws(given, given, rare), [clear(made, 1)], NOWHERE)
    assert asked == [(2, 1)]


def test_draws_into_several_framebuffers_are_executed_apart(
    made: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "WORTH_MERGING", 1 << 30)
    given = Given(made=True)
    entries = draws(given, given, given, given)

    def apart(some: Any, clears: Any) -> Any:
        assert some is entries and len(clears) == 1
        return [(entries[:1], []), (entries[1:2], clears), (entries[2:], [])]

    targets: Any = SimpleNamespace(several=True, apart=apart)
    executing().run(entries, [clear(made, 1)], targets)
    assert made == [(b"0", 0), (b"1", 0), "clear 1", (b"2", 0), (b"3", 1)]
