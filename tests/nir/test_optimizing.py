"""The optimiser: what it answers, that each of its options reaches the passes, and its rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gallette.compiler.nir.algebraic.options import AlgebraicOptions
from gallette.compiler.nir.algebraic.pattern import operations
from gallette.compiler.nir.algebraic.rules import table
from gallette.compiler.nir.ir.metadata import ANALYSES, Metadata
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.rewrite.passes import rule_set
from gallette.compiler.nir.run.optimize import DEFAULT, OptimizeOptions, canonicalize, optimize
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.nir.text.printer import print_shader

HEAD = """shader fragment "s"
function main () entry
impl main {
    block start:
    32 %zero = load_const (0)
    32x4 %x = @load_input (%zero) (location=VARYING.VAR0)
    32x4 %y = @load_input (%zero) (location=VARYING.VAR1)
"""
STORED = "@store_output (%r, %zero) (location=FRAG.DATA0, write_mask=xyzw)\n}\n"
STORED_ONE = "@store_output (%r, %zero) (location=FRAG.DATA0, write_mask=x)\n}\n"


def shader(code: str, stored: str = STORED) -> Shader:
    return parse(f"{HEAD}{code}\n{stored}")


def test_what_late_rules_change_is_progress() -> None:
    """Only a late rule applies: a sum of a product becomes one operation."""
    options = OptimizeOptions(fuse_ffma=True)
    made = shader("32x4 %p = fmul %x, %y\n32x4 %r = fadd %p, %x")
    assert not canonicalize(made, options)
    assert optimize(made, options)
    assert " ffma " in print_shader(made)
    assert not optimize(made, options)
    plain = shader("32x4 %p = fmul %x, %y\n32x4 %r = fadd %p, %x")
    assert not optimize(plain, OptimizeOptions(fuse_ffma=False))
    assert " ffma " not in print_shader(plain)
    assert not DEFAULT.fuse_ffma
    assert DEFAULT.inexact_used_once == "not_position"
    assert not DEFAULT.position_invariant


def test_code_at_the_fixed_point_is_skipped_until_it_changes() -> None:
    made = shader("32x4 %p = fmul %x, %y\n32x4 %r = fadd %p, %x")
    canonicalize(made)
    version = made.entry.version
    assert not canonicalize(made)
    assert made.entry.version == version
    one = OptimizeOptions(scalar=True)  # other options: another look
    assert canonicalize(made, one)
    assert not canonicalize(made, one)
    text = print_shader(made)
    assert canonicalize(made, OptimizeOptions(scalar=True, fuse_ffma=True)) is False
    assert print_shader(made) == text


LOOP = """
    32 %x0 = mov %x.x
    32 %two = load_const (2)
    32 %one = load_const (1)
    loop {
    block head:
    32 %i = phi start: %zero, back: %j
    32 %s = phi start: %x0, back: %t
    1 %c = ige %i, %two
    if %c {
    break
    } else {
    }
    block back:
    32 %t = fmul %s, %y.x
    32 %j = iadd %i, %one
    }
    32 %r = mov %s
"""
BRANCH = """
    32 %x0 = mov %x.x
    1 %c = flt %x.x, %y.x
    if %c {
    block a:
    32 %n = fadd %x.y, %y.y
    } else {
    block b:
    }
    block join:
    32 %r = phi a: %n, b: %x0
"""


def count(made: Shader, word: str) -> int:
    return print_shader(made).count(word)


def test_each_option_is_obeyed() -> None:
    def optimized(code: str, stored: str = STORED_ONE, **options: Any) -> Shader:
        made = shader(code, stored)
        optimize(made, OptimizeOptions(**options))
        return made

    assert count(optimized(LOOP), "loop {") == 0
    assert count(optimized(LOOP, unroll=False), "loop {") == 1
    assert count(optimized(BRANCH), "if ") == 0
    assert count(optimized(BRANCH, select_limit=0), "if ") == 1
    dear = BRANCH.replace("fadd %x.y, %y.y", "fsin %x.y")
    assert count(optimized(dear), "if ") == 1
    assert count(optimized(dear, select_limit=4, select_expensive=True), "if ") == 0
    assert count(optimized(dear, select_limit=3, select_expensive=True), "if ") == 1
    wide = "32x4 %r = fmul %x, %y"
    assert count(optimized(wide, STORED), " fmul ") == 1
    assert count(optimized(wide, STORED, scalar=True), " fmul ") == 4
    divided = "32x4 %r = fdiv %x, %y"
    assert count(optimized(divided, STORED), " fdiv ") == 1
    lowered = AlgebraicOptions(lower_fdiv=True)
    assert count(optimized(divided, STORED, algebraic=lowered), " fdiv ") == 0


LOWERING = sorted(n for n in AlgebraicOptions.names() if n.startswith("lower_"))


@pytest.mark.parametrize("name", LOWERING)
def test_what_is_lowered_is_not_brought_back(name: str) -> None:
    """By no rule of either phase; the rules that lower it are there."""
    chosen: dict[str, Any] = {name: True, "fuse_ffma": True, "inexact_used_once": "always"}
    options = replace(AlgebraicOptions(), **chosen)
    own = {
        rule.root
        for phase in ("main", "late")
        for rule in table(phase)
        if f"options.{name}" in rule.conditions
    }
    for phase in ("main", "late"):
        for rule in rule_set(options, phase).rules:
            if not any(word.startswith("options.lower_") for word in rule.conditions):
                assert own.isdisjoint(operations(rule.text[1])), rule.text
    assert own


def test_metadata_is_computed_in_the_order_of_its_dependences() -> None:
    known = Metadata.NONE
    for analysis in ANALYSES:
        assert analysis.needs & ~known == 0
        known |= analysis.fact
    assert known == Metadata.ALL
    assert [a.fact for a in ANALYSES] == sorted(a.fact for a in ANALYSES)
