"""Which recorded draws are of one kind, and what the driver knows each kind by."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.state_tracker.drawing import replaying
from gallette.state_tracker.drawing.replaying import Ints, Tokens

WIDTH = len(replaying._FACTORS)


def keys_of(kinds: list[int]) -> Ints:
    """Of so many draws, each of a kind: those of two kinds differ in one word."""
    keys = np.zeros((len(kinds), WIDTH), np.int64)
    for key, kind in zip(keys, kinds, strict=True):
        key[kind % WIDTH] = kind
    return keys


def look(tokens: Tokens, kinds: list[int]) -> list[str | None]:
    """The token of each draw."""
    keys = keys_of(kinds)
    first, which, each, found = tokens.of_all(keys)
    assert len(each) == len(first) * WIDTH * 8 == len(found) * WIDTH * 8
    np.testing.assert_array_equal(keys[first][which], keys)
    assert each == keys[first].tobytes()
    assert len({*kinds}) == len(first)
    return [found[kind] for kind in which.tolist()]


@pytest.mark.parametrize("many", [0, 1, 2, 70])
@pytest.mark.parametrize("kinds", [1, 2, 100])
def test_what_is_alike_is_named_by_its_first(kinds: int, many: int) -> None:
    values = np.random.default_rng(kinds + many).integers(0, kinds, many)
    first, which = replaying._alike(values)
    given = values.tolist()
    assert sorted(first.tolist()) == sorted(given.index(value) for value in {*given})
    assert first.take(which).tolist() == [given.index(value) for value in given]


@pytest.mark.parametrize("many", [1, 5, 63, 64, 300, 2000])
@pytest.mark.parametrize("kinds", [1, 2, 70, 1000])
def test_each_draw_is_of_its_kind_however_often_it_comes(kinds: int, many: int) -> None:
    random, tokens = np.random.default_rng(kinds + many), Tokens()
    for _ in range(3):
        draws = random.integers(1, kinds + 1, many).tolist()
        told = [f"token {kind}" for kind in draws]
        tokens.known.update({keys_of([k]).tobytes(): f"token {k}" for k in {*draws}})
        for _ in range(3):
            assert look(tokens, draws) == told
        assert look(tokens, draws[::-1]) == told[::-1]


def test_sums_that_are_equal_tell_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replaying, "_FACTORS", np.zeros(WIDTH, np.int64))
    draws = [1, 2, 1, 3] * 40
    tokens = Tokens()
    tokens.known.update({keys_of([k]).tobytes(): str(k) for k in (1, 2, 3)})
    assert look(tokens, draws) == ["1", "2", "1", "3"] * 40


def test_what_is_not_known_is_looked_for_again() -> None:
    tokens, draws = Tokens(), [1, 2, 1, 3]
    one, two, three = (keys_of([kind]).tobytes() for kind in (1, 2, 3))
    assert look(tokens, draws) == [None] * 4
    tokens.known[one] = "a"
    assert look(tokens, draws) == ["a", None, "a", None]
    tokens.known.update({two: "b", three: "c"})
    assert look(tokens, draws) == ["a", "b", "a", "c"]
    assert look(tokens, draws) == ["a", "b", "a", "c"]
    tokens.forget(two)
    assert look(tokens, draws) == ["a", None, "a", "c"]
    tokens.known[two] = "d"
    assert look(tokens, draws) == ["a", "d", "a", "c"]


def test_only_so_many_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = Tokens()
    tokens.known.update({keys_of([k]).tobytes(): str(k) for k in (1, 2)})
    assert look(tokens, [1, 2]) == ["1", "2"]
    monkeypatch.setattr(replaying, "_MOST_TOKENS", 2)
    assert look(tokens, [1, 2]) == [None, None]
    assert not tokens.known
