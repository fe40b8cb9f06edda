"""Exact rules are proven, wrong ones refuted; the reference page knows every rule."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("z3")

from rule_proofs import PAGE, prove_integer, verdict
from rule_sides import exhausted, special

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
        (("iadd", "a", "b"), ("isub", "a", "b")),
        (("iabs", "a"), ("imax", "a", ("inot", "a"))),
        (("imul", "a", "#b(is_pos_power_of_two)"), ("ishl", "a", ("find_lsb", ("iadd", "b", 1)))),
        (("ishl", ("ishl", "a", "b"), "c"), ("ishl", "a", ("iadd", "b", "c"))),
        (("bcsel", "a", "b", "c"), "b"),
    ],
)
def test_they_are_wrong_for_some_operand_of_8_bits(text: tuple[object, ...]) -> None:
    assert exhausted(compile_rule(text))[0] == "wrong"


@pytest.mark.parametrize(
    "text",
    [
        (("pack_64_2x32", "a"), ("pack_64_2x32_split", "a.y", "a.x")),
        (("unpack_32_4x8", ("pack_32_4x8", "a")), ("vec4", "a.x", "a.y", "a.z", "a.z")),
        (("ubitfield_extract", "a", 0, 8), ("iand", "a", 0x7F)),
        (("udiv", "a", "#b(is_unsigned_power_of_two)"), ("ushr", "a", ("find_lsb", "b"))),
    ],
)
def test_wrong_rules_of_vectors_and_fields_are_refuted(text: tuple[object, ...]) -> None:
    answer, _ = prove_integer(compile_rule(text))
    if text[0][0] == "udiv":  # right, in fact: what makes the others wrong is not their words
        assert answer == "proven"
    else:
        assert answer == "wrong"


@pytest.mark.parametrize(
    "text",
    [
        (("fadd", "a", 0.0), "a"),
        (("fmin", "a", "a"), "a"),
        (("flt", "a", "b"), ("inot", ("fge", "a", "b"))),
        (("fmul", "a", ("frcp", "b")), ("fdiv", "a", "b")),
        (("fmin", ("fneg", "a"), ("fneg", "b")), ("fneg", ("fmax", "a", "b"))),
        (("fdot2", "a", "b"), ("fadd", ("fmul", "a.x", "b.x"), ("fmul", "a.y", "b.x"))),
        (("fmul", "a(is_not_negative)", 0.0), 0.0),
    ],
)
def test_wrong_float_rules_are_refuted(text: tuple[object, ...]) -> None:
    assert special(compile_rule(text))[0] == "wrong"


@pytest.mark.parametrize("part", range(8))
def test_no_exact_rule_is_refuted(part: int) -> None:
    """A slice of the table each (the page is the whole of it)."""
    for rule in all_rules()[part :: 8 * 4]:
        assert verdict(rule)[1] != "wrong", str(rule)


def test_the_page_knows_every_rule_and_no_other() -> None:
    rows = re.findall(r"^\| `(.*?)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    shown = [row.replace("\\|", "|") for row in rows]
    assert sorted(shown) == sorted(map(str, all_rules())), "run python tests/nir/rule_proofs.py"


def test_nothing_on_the_page_is_open() -> None:
    """Every rule is proven, inexact, or waived with a reason."""
    text = PAGE.read_text(encoding="utf-8")
    assert "| open" not in text
    assert "wrong" not in text
