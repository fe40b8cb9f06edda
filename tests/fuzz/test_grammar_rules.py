"""Grammars of random texts: what the signs of a rule mean, and that no rule is left over."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from fuzz.gl_programs.generate import generate, grammar
from fuzz.grammar import Grammar
from fuzz.hostile import generate as hostile
from fuzz.hostile import stages


class Words:
    """A writer with one word."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.tall = False
        self.name = "box"

    def number(self, stop: int) -> int:
        return self.r.randrange(stop)


def texts(rules: str, **known: object) -> set[str]:
    """Everything that the rule `begin` writes."""
    found = set()
    for seed in range(60):
        w = Words(seed)
        w.__dict__.update(known)
        found.add(Grammar(rules).write("begin", w))
    return found


@pytest.mark.parametrize(
    "rules,written",
    [
        ("begin: a{b c}d", {"abd", "acd"}),
        ("begin: {x {b c} | y}", {"x b", "x c", "y"}),
        ("begin: {number:3}-{name}", {"0-box", "1-box", "2-box"}),
        ("begin: {50% a{=1 + 1}}", {"", "a2"}),
        ("begin: {1..3 a}", {"a", "a\na", "a\na\na"}),
        ("begin: {!x = 3}{x}{other}\nother: {=x + 1}", {"34"}),
        ("begin: {x <- {a b}}{x}{x}", {"aa", "bb"}),
        ("begin: {inner}{name}\ninner: {!name = 'ball'}{name}", {"ballbox"}),
        ("begin:\n  1 a\n  0 b\n  2 c", {"a", "c"}),
        ("begin:\n  1 if w.tall | a\n  1 if not w.tall | b", {"b"}),
        ("begin: a{none}\nnone:\n  1 if w.tall | b", {"a"}),
        ("begin: a\n    b \\\n    c", {"a\nb c"}),
        ("begin: {$SIDE}", {"GL.FRONT", "GL.BACK", "GL.FRONT_AND_BACK"}),
        ("begin: {=write('other', x=2)}{=lines('ab')}\nother: {x}", {"2a\nb"}),
    ],
)
def test_signs_of_a_rule(rules: str, written: set[str]) -> None:
    assert texts(rules) == written


def test_weights_are_how_often_an_alternative_is_chosen() -> None:
    w = Words(1)
    rules = Grammar("begin:\n  3 a\n  1 b")
    found = [rules.write("begin", w) for _ in range(4000)]
    assert 2850 < found.count("a") < 3150


def test_braces_are_text_where_dollars_mark_places() -> None:
    found = Grammar("begin: if (x) { $n3; ${a b} }", dollars=True)
    found.rules["n"] = []
    w = Words(2)
    w.n = lambda size: "n" * size  # type: ignore[attr-defined]
    assert found.write("begin", w) in ("if (x) { nnn; a }", "if (x) { nnn; b }")


@pytest.mark.parametrize("text", ["begin: {a", "begin: a\nbegin: b", "  1 a", "begin:\n  a"])
def test_mistakes_in_rules_are_refused(text: str) -> None:
    with pytest.raises(AssertionError):
        Grammar(text)


def unwritten(
    rules: Grammar, monkeypatch: pytest.MonkeyPatch, write: Callable[[int], object], seeds: range
) -> set[str]:
    """The rules that wrote nothing for any seed; no more seeds are tried once there are none."""
    seen, rule = set(), Grammar._rule

    def note(self: Grammar, which: str, scope: dict[str, object]) -> str:
        text = rule(self, which, scope)
        if text and self is rules:
            seen.add(which)
        return text

    monkeypatch.setattr(Grammar, "_rule", note)
    for seed in seeds:
        if seen >= set(rules.rules):
            break
        write(seed)
    return set(rules.rules) - seen


@pytest.mark.parametrize("name", ["plain", "fixed", "modern", "shared"])
def test_every_rule_is_written(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = {"plain": ("", "es")}.get(name, (name,))

    def write(seed: int) -> None:
        for kind in kinds:
            generate(seed, 40, kind)

    assert unwritten(grammar(name), monkeypatch, write, range(0, 600, 4)) == set()


def test_every_rule_of_hostile_programs_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    assert unwritten(hostile.grammar(), monkeypatch, hostile.generate, range(40)) == set()


def test_every_rule_of_hostile_shaders_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    known = [("TEXTURE_2D", "z", "DEPTH_COMPONENT24"), ("TEXTURE_CUBE_MAP_ARRAY", "", "RGBA8")]

    def write(seed: int) -> None:
        stages.graphics(random.Random(seed), known)
        stages.kernel(random.Random(seed), known)

    assert unwritten(stages.grammar(), monkeypatch, write, range(300)) == set()
