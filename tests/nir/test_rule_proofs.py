"""Exact rules are proven, wrong ones refuted; the reference page knows every rule."""

from __future__ import annotations

import pytest

pytest.importorskip("z3")

from rule_proofs import PAGE, prove_float, prove_integer, verdict

from gallette.compiler.nir.algebraic.pattern import compile_rule
from gallette.compiler.nir.algebraic.rules import all_rules


@pytest.mark.parametrize(
    "text",
    [
        (("iadd", "a", "b"), ("isub", "a", "b")),
        (("iabs", "a"), ("imax", "a", ("inot", "a"))),
        (("ishr", "a", 31), ("ushr", "a", 31)),
        (("imul", "a", "#b(is_pos_power_of_two)"), ("ishl", "a", ("find_lsb", ("iadd", "b", 1)))),
        (("ult", "a", "b"), ("ilt", "a", "b")),
        (("bcsel", "a", "b", "c"), "b"),
    ],
)
def test_wrong_integer_rules_are_refuted(text: tuple[object, ...]) -> None:
    assert prove_integer(compile_rule(text))[0] == "wrong"


@pytest.mark.parametrize(
    "text",
    [
        (("fadd", "a", 0.0), "a"),
        (("fmin", "a", "a"), "a"),
        (("flt", "a", "b"), ("inot", ("fge", "a", "b"))),
        (("fmul", "a", ("frcp", "b")), ("fdiv", "a", "b")),
        (("fmin", ("fneg", "a"), ("fneg", "b")), ("fneg", ("fmax", "a", "b"))),
    ],
)
def test_wrong_float_rules_are_refuted(text: tuple[object, ...]) -> None:
    assert prove_float(compile_rule(text))[0] == "wrong"


@pytest.mark.parametrize("part", range(8))
def test_no_exact_rule_is_refuted(part: int) -> None:
    """A slice of the table each (the page is the whole of it)."""
    for rule in all_rules()[part :: 8 * 4]:
        assert verdict(rule)[1] != "wrong", str(rule)


def test_the_page_knows_every_rule() -> None:
    text = PAGE.read_text(encoding="utf-8")
    missing = [str(r) for r in all_rules() if f"`{str(r).replace('|', chr(92) + '|')}`" not in text]
    assert missing == [], "run python tests/nir/rule_proofs.py"
