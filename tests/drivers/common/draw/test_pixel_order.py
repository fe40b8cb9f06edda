"""Draws executed in per-pixel order: portions, turns at a pixel, what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gallette.drivers.common.draw import pixel_order
from gallette.drivers.common.draw.pixel_order import can_order_pixels, draw_in_pixel_order
from gallette.drivers.common.output.order import Scratch
from gallette.drivers.common.program import BoundProgram


class Sheet:
    """Spans of some draws: each of so many fragments."""

    def __init__(self, order: Sequence[int], length: Sequence[int]) -> None:
        self.order = np.array(order, np.uint16)
        self.spans = SimpleNamespace(length=np.array(length, np.int64))

    def part(self, first: int, end: int) -> Any:
        return pixel_order._Sheet.part(self, first, end)  # type: ignore[arg-type]

    def of(self, chosen: Any) -> Any:
        return self.order.take(chosen).tolist() or None


def portions(*sheets: Sheet) -> list[Any]:
    return list(pixel_order._portions(list(sheets)))  # type: ignore[arg-type]


def test_few_fragments_are_one_portion(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to half more than a portion has otherwise."""
    monkeypatch.setattr(pixel_order, "AT_ONCE", 10)
    assert portions() == []
    all_of_it = Sheet([0, 1, 2], [5, 5, 5])
    assert portions(all_of_it) == [[all_of_it]]
    assert portions(Sheet([0, 1, 2], [5, 5, 6])) == [[[0, 1]], [[2]]]
    assert portions(Sheet([0, 1, 2], [5, 6, 5])) == [[[0]], [[1]], [[2]]]


def test_portions_end_between_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """A draw that is larger is one of its own; one may be of several sheets."""
    monkeypatch.setattr(pixel_order, "AT_ONCE", 10)
    first = Sheet([0, 0, 2, 4], [3, 3, 30, 4])
    second = Sheet([1, 3, 4], [4, 5, 1])
    assert portions(first, second) == [[[0, 0], [1]], [[2]], [[4], [3, 4]]]
    assert portions(Sheet([3, 3, 7], [9, 9, 9])) == [[], [[3, 3]], [[7]]]


def turns(*sheets: Sheet) -> list[Any]:
    state = SimpleNamespace(plane=50, layers=2)
    return pixel_order._turns(list(sheets), state)  # type: ignore[arg-type]


def test_states_are_drawn_in_turn_unless_that_takes_many_more_turns_than_rounds() -> None:
    assert turns(Sheet([2, 2], [1, 1]), Sheet([0, 1], [1, 1])) == [[0, 1], [2, 2]]
    assert turns(Sheet([3], [1]), Sheet([3, 4], [1, 1])) == [[3], [3, 4]]
    few = Sheet([0, 2, 4], [1, 1, 1]), Sheet([1, 3, 5], [1, 1, 1])
    assert turns(*few) == []
    deep = Sheet([0, 2, 4], [50, 50, 50]), Sheet([1, 3, 5], [50, 50, 50])
    assert turns(*deep) == [[0], [1], [2], [3], [4], [5]]
    large = [pixel_order.LARGE] * 3
    wide = SimpleNamespace(plane=1 << 20, layers=1)
    found = pixel_order._turns([Sheet([0, 2, 4], large), Sheet([1, 3, 5], large)], wide)  # type: ignore[arg-type, list-item]
    assert found == [[0], [1], [2], [3], [4], [5]]


# -- rounds ----------------------------------------------------------------------------------------


class Lanes:
    """Fragments at these pixels of these primitives."""

    def __init__(self, pixel: Any, primitive: Any, covered: Any = None) -> None:
        self.pixel, self.primitive = np.array(pixel, np.int64), np.array(primitive, np.int64)
        self.covered = None if covered is None else np.array(covered, np.bool_)
        self.count = len(self.pixel)

    def take(self, which: Any) -> Lanes:
        return Lanes(self.pixel.take(which), self.primitive.take(which))


def sheet(lanes: Lanes, draws: Sequence[int], quads: bool = False) -> Any:
    found = SimpleNamespace(quads=quads, draws=np.array(draws, np.uint16), asked=[])

    def asked(in_quads: bool) -> Lanes:
        assert in_quads is found.quads
        return lanes

    def turned() -> Any:
        found.quads = True
        return found

    found.lanes, found.in_quads, found.mine = asked, turned, lanes
    return found


STATE: Any = SimpleNamespace(plane=16, layers=2)


def rounds(*sheets: Any) -> list[tuple[int, list[tuple[int, int]]]]:
    """Which sheet goes with which (pixel, draw)."""
    found = []
    for each, lanes in pixel_order._rounds(list(sheets), STATE, Scratch()):
        number = next(k for k, given in enumerate(sheets) if given is each)
        draws = each.draws.take(lanes.primitive).tolist()
        found.append((number, list(zip(lanes.pixel.tolist(), draws, strict=True))))
    return found


def test_units_without_shared_pixels_run_in_the_first_round() -> None:
    one, two = sheet(Lanes([0, 1, 2], [0, 0, 0]), [0]), sheet(Lanes([31, 4], [0, 0]), [1])
    assert rounds(one, two) == [(0, [(0, 0), (1, 0), (2, 0)]), (1, [(31, 1), (4, 1)])]


def test_states_alternate_at_a_pixel() -> None:
    """Sheet 0 has draws 0 and 2, sheet 1 has draw 1: at pixel 5 all of them, at 6 two of one."""
    one = sheet(Lanes([4, 5, 6, 5, 6], [0, 0, 0, 1, 1]), [0, 2])
    two = sheet(Lanes([5, 7], [0, 0]), [1])
    assert rounds(one, two) == [
        (0, [(4, 0), (5, 0), (6, 0), (6, 2)]),
        (1, [(7, 1)]),
        (1, [(5, 1)]),
        (0, [(5, 2)]),
    ]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("quads", [False, True])
@pytest.mark.parametrize("searched", [0, 1, 9])
def test_at_every_pixel_fragments_come_in_order(
    seed: int, quads: bool, searched: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many rounds are searched for before the others are sorted."""
    monkeypatch.setattr(pixel_order, "_SEARCHED_ROUNDS", searched)
    rng = np.random.default_rng(seed)
    turns = rng.integers(0, 3, 14)  # the sheet of each draw
    sheets, step = [], 4 if quads else 1
    of_place: dict[int, list[int]] = {}
    for number in range(3):
        draws = np.flatnonzero(turns == number).tolist()
        pixels: list[int] = []
        whose: list[int] = []
        for primitive, draw in enumerate(draws):
            for place in sorted(rng.choice(8, 3, replace=False).tolist()):
                pixels += [place * step + lane for lane in range(step)]
                whose += [primitive] * step
                of_place.setdefault(place * step, []).append(draw)
        covered = np.ones(len(pixels), np.bool_) if quads else None
        sheets.append(sheet(Lanes(pixels, whose, covered), draws or [0], quads and number == 1))
    found = rounds(*sheets)
    seen: dict[int, list[int]] = {}
    for number, lanes in found:
        assert lanes and all(turns[draw] == number for _, draw in lanes)
        if quads:
            firsts = [pixel for pixel, _ in lanes[::4]]
            assert [pixel for pixel, _ in lanes] == [p + k for p in firsts for k in range(4)]
        for pixel, draw in lanes[::step]:
            seen.setdefault(pixel, []).append(draw)
    assert seen == {place: sorted(draws) for place, draws in of_place.items()}
    changes = 0
    for draws in seen.values():
        owners = turns[draws]
        changes = max(changes, int((owners[1:] != owners[:-1]).sum()))
    assert len(found) <= 3 * (changes + 1)  # as many rounds as states take turns at a pixel


def test_quads_that_share_only_helpers_come_in_any_order() -> None:
    """Nothing is cut then, and who has no lanes does not come at all."""
    covered = [True, True, False, False], [False, False, True, True]
    one = sheet(Lanes([0, 1, 4, 5], [0] * 4, covered[0]), [1], True)
    two = sheet(Lanes([0, 1, 4, 5], [0] * 4, covered[1]), [0])
    none = sheet(Lanes([], [], []), [2])
    assert [number for number, _ in rounds(one, none, two)] == [0, 2]
    shared = sheet(Lanes([0, 1, 4, 5], [0] * 4, [False, True, True, True]), [0])
    assert [number for number, _ in rounds(one, shared)] == [1, 0]


@pytest.mark.parametrize("seed", range(8))
def test_units_that_share_a_place(seed: int) -> None:
    places = np.random.default_rng(seed).integers(0, 20, 12 + seed)
    who = np.full(20, 99, np.int32)
    wanted = [k for k, place in enumerate(places) if (places == place).sum() > 1]
    assert pixel_order._shared(places, who).tolist() == wanted
    assert pixel_order._are_distinct(places, who) is (not wanted)
    apart = np.unique(places)
    assert pixel_order._shared(apart, who).tolist() == []
    assert pixel_order._are_distinct(apart, who)


# -- what is refused -------------------------------------------------------------------------------


def group(rows: int, **changed: Any) -> Any:
    """Draws of a state: nothing of them is in sight."""
    engine = SimpleNamespace(deals=True, finished=0, state=SimpleNamespace(sample_mask=1, width=4))

    def finish() -> None:
        engine.finished += 1

    engine.finish = finish
    draw = SimpleNamespace(
        witness=None,
        fragment=SimpleNamespace(program=BoundProgram()),
        fixed=SimpleNamespace(engine=engine),
    )
    for name, value in changed.items():
        setattr(engine if name == "deals" else draw, name, value)
    return SimpleNamespace(rows=rows, draw=draw, engine=engine, primitives=object(), entries=[0])


@pytest.fixture
def covered(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The groups of which it was found out what they cover."""
    found: list[Any] = []
    monkeypatch.setattr(pixel_order, "rows_covered", lambda group: group.rows)
    monkeypatch.setattr(pixel_order, "_cover", lambda group, sheets: found.append(group))
    return found


def attempt(what: Any, *args: Any) -> None:
    what(*args)


def test_states_whose_pixels_can_be_ordered() -> None:
    assert can_order_pixels(group(1).draw)
    for changed in ({"deals": False}, {"witness": object()}):
        assert not can_order_pixels(group(1, **changed).draw)


def test_groups_without_primitives_are_not_drawn(covered: list[Any]) -> None:
    good, none = group(1), group(1)
    none.primitives = None
    assert draw_in_pixel_order([good, none], Scratch(), attempt)
    assert covered == [good]
    assert (good.engine.finished, none.engine.finished) == (1, 0)


def test_rows_have_a_bound(covered: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pixel_order, "MOST_ROWS", 100)
    assert not draw_in_pixel_order([group(50), group(51)], Scratch(), attempt)
    assert not draw_in_pixel_order([group(np.nan)], Scratch(), attempt)  # type: ignore[arg-type]
    assert covered == []
    assert draw_in_pixel_order([group(50), group(50)], Scratch(), attempt)
    assert len(covered) == 2
