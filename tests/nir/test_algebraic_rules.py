"""Every rewrite rule holds: both sides are built as shaders, run, and compared."""

from __future__ import annotations

import re

import pytest
from rule_checker import WAIVERS, CannotBuildError, cases, check_rule, waiver_key

from gallette.compiler.nir.algebraic.options import AlgebraicOptions
from gallette.compiler.nir.algebraic.pattern import Rule, RuleError, compile_rule
from gallette.compiler.nir.algebraic.rules import PHASES, all_rules, rule_groups
from gallette.compiler.nir.rewrite.matching import RuleSet
from gallette.compiler.nir.rewrite.passes import rewrite_impl, rule_set
from gallette.compiler.nir.rewrite.structural import STRUCTURAL_RULES

RULES = all_rules()
# A driver that lacks one has the other.
UNDO_EACH_OTHER = {"lower_fsqrt", "lower_ffloor", "fuse_ffma", "fuse_flrp"}


@pytest.mark.parametrize("first", range(0, len(RULES), 40))
def test_both_sides_of_every_rule_compute_the_same(first: int) -> None:
    failures = []
    for rule in RULES[first : first + 40]:
        problems = check_rule(rule, WAIVERS.get(waiver_key(rule)))
        if problems:
            failures.append(f"{rule}\n    {problems[0]}")
    assert not failures, "\n".join(failures)


def test_there_are_at_least_250_different_rules() -> None:
    def shape(rule: Rule) -> str:
        """A rule without what only differs between bit sizes."""
        text = str(rule)
        for bits in ("16", "32", "64"):
            text = text.replace(f"2f{bits}", "2f").replace(f"2i{bits}", "2i")
            text = text.replace(f"@{bits}", "@")
        return text

    assert len({shape(rule) for rule in RULES}) >= 250


def test_every_rule_has_a_name_of_its_own_and_a_reason() -> None:
    named = [*RULES, *STRUCTURAL_RULES.values()]
    assert len({rule.name for rule in named}) == len(named)
    assert all(rule.reason.endswith(".") and len(rule.reason) > 20 for rule in named)
    groups = [group for phase in PHASES for group in rule_groups(phase)]
    assert len({group.name for group in groups}) == len(groups)


def test_no_rule_is_written_twice() -> None:
    for phase in ("main", "late"):
        texts = [repr(t) for group in rule_groups(phase) for t in group.rules]
        assert sorted({t for t in texts if texts.count(t) > 1}) == []


def test_every_waiver_belongs_to_a_rule() -> None:
    assert set(WAIVERS) <= {waiver_key(rule) for rule in RULES}


@pytest.mark.parametrize(
    "text",
    [
        (("fadd", "a", 0.0), "a"),
        (("fmul", "a", ("frcp", "b")), ("fdiv", "a", "b")),
        (("flt", "a", "b"), ("inot", ("fge", "a", "b"))),
        (("iabs", "a"), ("imax", "a", ("inot", "a"))),
        (("~fsub", "a", "b"), ("fadd", "a", "b")),
        (("ishr", "a", 31), ("ushr", "a", 31)),
        (("fdot2", "a", "b"), ("fmul", "a.x", "b.x")),
        (("bcsel", "a", "b", "c"), "b"),
    ],
)
def test_the_check_finds_wrong_rules(text: tuple[object, ...]) -> None:
    assert check_rule(compile_rule(text))


EVERYTHING = AlgebraicOptions(
    **{name: True for name in AlgebraicOptions.names() if name not in UNDO_EACH_OTHER}
)


@pytest.mark.parametrize("phase", ["main", "late"])
@pytest.mark.parametrize("options", [AlgebraicOptions(), EVERYTHING], ids=["default", "everything"])
def test_rules_terminate_on_every_search_tree(phase: str, options: AlgebraicOptions) -> None:
    together = rule_set(options, phase)
    restless = []
    for rule in RULES:
        try:
            case = cases(rule)[0]
            impl = case.build().entry
        except CannotBuildError:
            continue
        count = rewrite_impl(impl, together)
        if count > 60 or rewrite_impl(impl, together):
            restless.append(f"{rule}: {count} rewrites")
    assert not restless, "\n".join(restless)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (("fadd", "a", "b"), "a rule is (search, replace, *conditions)"),
        ((("fadd", "a"), "a"), "fadd takes 2 sources"),
        ((("fsum", "a"), "a"), "unknown opcode 'fsum'"),
        ((("fneg", "a(is_lucky)"), "a"), "unknown predicate 'is_lucky'"),
        ((("fneg", "a"), "b"), "variable 'b' is not bound by the search"),
        ((("fneg", "a.x"), "a"), "a swizzle is for replacements"),
        ((("fneg", "A?"), "a"), "malformed variable 'A?'"),
        ((("f neg", "a"), "a"), "malformed operation 'f neg'"),
        ((("fneg", "a"), "a", "sometimes"), "malformed condition 'sometimes'"),
        ((("fneg", None), "a"), "what is None?"),
        ((("flt", "a", "b"), ("fge", 0.0, 1.0)), "the bit size of a part of the replacement"),
    ],
)
def test_a_malformed_rule_says_what_is_wrong(text: tuple[object, ...], message: str) -> None:
    with pytest.raises(RuleError, match=re.escape(message)):
        compile_rule(text)


@pytest.mark.parametrize("part", range(4))
def test_a_rule_finds_its_search_tree_however_operands_are_swapped(part: int) -> None:
    missed, swapped = [], 0
    for rule in RULES[part::4]:
        possible = [case for case in cases(rule) if case.width == 1]
        for flips in range(1 << rule.flips):
            for case in possible:
                try:
                    case.flips, case.bound, case.inputs = flips, {}, []
                    impl = case.build().entry
                except CannotBuildError:
                    continue
                if rewrite_impl(impl, RuleSet([rule])):
                    swapped += flips > 0
                    break
            else:
                missed.append(f"{rule} with {flips:b}")
    assert missed == []
    assert swapped > 40
