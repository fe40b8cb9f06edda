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


# -- together --------------------------------------------------------------------------------------


class Ways:
    """Which way draws take that are executed together."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, families: Any, **answers: Any) -> None:
        self.taken: list[Any] = []
        self.answers = answers
        self.begun = 0
        self.restored: list[Any] = []
        put = monkeypatch.setattr
        put(execution, "WORTH_MERGING", 1)
        put(execution, "families", lambda entries: families)
        put(execution, "draw_many", self._many)
        put(execution, "companies", lambda found: answers.get("companies"))
        put(execution, "add_group", lambda groups, family: groups.append(family))
        put(execution, "add_company", self._company)
        put(execution, "fill_together", lambda groups, attempt: answers.get("fills", False))
        put(execution, "draw_batch", lambda group, rows: self.taken.append((group.name, rows)))
        put(execution, "batches", lambda groups: [(group, [0]) for group in groups])
        put(execution, "deal", self._deal)

    def _many(self, family: Any, first: int = -1) -> None:
        self.taken.append((getattr(family, "name", len(family.entries)), first))

    def _company(self, groups: Any, company: Any, entries: Any, attempt: Any) -> None:
        groups.append(company[0])

    def _deal(self, groups: Any, *others: Any, **more: Any) -> bool:
        self.taken.append(f"deal {len(groups)}")
        deals = self.answers.get("deals", [])
        return bool(deals.pop(0)) if deals else False

    def family(self, name: str, lanes: int = 3, alike: bool = False) -> Any:
        def begin(merged: bool) -> None:
            assert merged
            self.begun += 1

        work = SimpleNamespace(begin=begin)
        given = SimpleNamespace(states=SimpleNamespace(work=work))
        return SimpleNamespace(
            name=name, lanes=lanes, limit=3, alike=alike, entries=[(given, INFO, b"")]
        )

    def run(self, count: int = 2, regroup: bool = True) -> list[Any]:
        counters = SimpleNamespace(
            tally=None, snapshot=lambda: "before", restore=self.restored.append
        )
        states: Any = SimpleNamespace(counters=counters, scratch=None)
        one, two = Given(made=True), Given(made=True)
        Execution(states, regroup).run(draws(*[one] * count, two), [], NOWHERE)
        return self.taken


def test_draws_that_are_alike_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    families: list[Any] = []
    ways = Ways(monkeypatch, families)
    families += [ways.family("a", alike=True)]
    assert ways.run() == [("a", -1)]
    families += [ways.family("b", alike=True)]
    assert ways.run()[1:] == ["deal 2", ("a", [0]), ("b", [0])]
    assert ways.begun == 2


def test_one_family_is_one_batch_and_several_are_dealt(monkeypatch: pytest.MonkeyPatch) -> None:
    families: list[Any] = []
    ways = Ways(monkeypatch, families, deals=[True])
    families += [ways.family("a")]
    assert ways.run() == [("a", [0, 1, 2])]
    families += [ways.family("b")]
    assert ways.run()[1:] == ["deal 2"]
    ways.taken.clear()
    ways.answers["fills"] = True
    assert ways.run() == []


def test_families_of_too_many_vertices_are_drawn_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or where nothing may change places: runs of equal ones are one."""
    families: list[Any] = []
    ways = Ways(monkeypatch, families, deals=[True])
    families += [ways.family("a"), ways.family("b", lanes=4)]
    assert ways.run() == [(2, 0), (1, 2)]
    ways.taken.clear()
    families[1].lanes = 3
    assert ways.run(regroup=False) == [(2, 0), (1, 2)]
    ways.taken.clear()
    assert ways.run() == ["deal 2"]


def test_families_share_the_way_to_fragments(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was counted on a way that was not gone is forgotten."""
    families: list[Any] = []
    ways = Ways(monkeypatch, families, deals=[True, False, True])
    families += [ways.family("a"), ways.family("b")]
    ways.answers["companies"] = [families]
    assert ways.run() == ["deal 1"]
    assert (ways.begun, ways.restored) == (1, [])
    ways.taken.clear()
    assert ways.run() == ["deal 1", "deal 2"]
    assert (ways.begun, ways.restored) == (4, ["before"])
    ways.taken.clear()
    families[0].lanes = 4
    assert ways.run() == [(2, 0), (1, 2)]


@pytest.mark.parametrize("around", [False, True])
def test_what_fails_is_told_when_all_is_done(
    around: bool, made: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(given: Any, info: Any, row: Any, at: int) -> None:
        made.append(row)
        if row != b"1":
            raise MemoryError(row)

    monkeypatch.setattr(execution, "draw_one", fails)
    given = Given(made=True)
    between = [clear(made, 1)] if around else []
    with pytest.raises(MemoryError, match="0"):
        executing().run(draws(given, given, given), between, NOWHERE)
    assert [each for each in made if isinstance(each, bytes)] == ROWS[:3]
    targets: Any = SimpleNamespace(
        several=True, apart=lambda entries, clears: [(entries[:1], clears), (entries[1:], [])]
    )
    made.clear()
    with pytest.raises(MemoryError, match="0"):
        executing().run(draws(given, given, given), between, targets)
    assert [each for each in made if isinstance(each, bytes)] == ROWS[:3]


@pytest.mark.parametrize("way", ["together", "by plans", "dealt"])
def test_what_fails_together_is_told(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    families: list[Any] = []
    ways = Ways(monkeypatch, families, deals=[True, True])
    families += [ways.family("a", alike=way == "together")]

    def fails(*args: Any) -> None:
        raise MemoryError

    for name in ("draw_many", "add_group"):
        monkeypatch.setattr(execution, name, fails)
    given = Given(made=True, plan=SimpleNamespace(draw=fails) if way == "by plans" else None)
    counters = SimpleNamespace(tally=None)
    states: Any = SimpleNamespace(counters=counters, scratch=None)
    between = [clear([], 1)] if way == "dealt" else []
    with pytest.raises(MemoryError):
        Execution(states, True).run(draws(given, given), between, NOWHERE)
