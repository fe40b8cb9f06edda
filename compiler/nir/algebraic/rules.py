"""The table of all rules, and the rules that given options enable."""

from __future__ import annotations

from functools import cache

from gallette.compiler.nir.algebraic import (
    rules_convert,
    rules_float,
    rules_int,
    rules_late,
    rules_logic,
    rules_lower,
)
from gallette.compiler.nir.algebraic.options import AlgebraicOptions, RuleGroup
from gallette.compiler.nir.algebraic.pattern import Rule, RuleError, operations, rule_text

PHASES = ("main", "late")


def rule_groups(phase: str) -> list[RuleGroup]:
    """The groups of a phase, as written."""
    if phase == "late":
        return rules_late.RULES
    return [
        *rules_lower.RULES,
        *rules_float.RULES,
        *rules_int.RULES,
        *rules_logic.RULES,
        *rules_convert.RULES,
    ]


@cache
def table(phase: str) -> tuple[Rule, ...]:
    """The rules of `main` or `late`, which are compiled when shaders need them."""
    names = AlgebraicOptions.names()
    rules: list[Rule] = []
    for group in rule_groups(phase):
        for text in group.rules:
            rule = Rule(text, len(rules), group)
            for condition in rule.conditions:
                if condition.removeprefix("!").removeprefix("options.") not in names:
                    raise RuleError(f"unknown option in {rule_text(text)}")
            rules.append(rule)
    return tuple(rules)


def all_rules() -> list[Rule]:
    """Both phases, for checks and for the reference page."""
    return [rule for phase in PHASES for rule in table(phase)]


def _is_on(rule: Rule, options: AlgebraicOptions) -> bool:
    for condition in rule.conditions:
        negated = condition.startswith("!")
        name = condition.removeprefix("!").removeprefix("options.")
        if bool(getattr(options, name)) == negated:
            return False
    # Exact rules are excluded, too: they keep every bit, but an inexact rule may match their
    # result.
    return not (options.inexact_used_once == "never" and rule.depends_on_use_counts)


def _is_lowering(rule: Rule) -> bool:
    return any(condition.startswith("options.lower_") for condition in rule.conditions)


def switched_on(options: AlgebraicOptions, phase: str) -> list[Rule]:
    """The rules of a phase that `options` enable.

    A rule that would reintroduce an operation which the driver lowers stays disabled.
    """
    rules = [rule for rule in table(phase) if _is_on(rule, options)]
    lowered = {r.root for r in rules if _is_lowering(r)}
    if phase == "late":
        main = switched_on(options, "main")
        lowered |= {r.root for r in main if _is_lowering(r)}
        # Fusing creates negations of operands, which may cancel again.
        rules += [r for r in main if r.root in ("fneg", "fabs") and not r.inexact]
    if lowered:
        rules = [r for r in rules if _is_lowering(r) or lowered.isdisjoint(operations(r.text[1]))]
    return rules
