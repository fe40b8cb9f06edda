"""Whole GLSL programs that once were compiled wrongly, and what `fuzz glsl-programs` rests on.

Slices of random programs stand in `tests/fuzz/test_slices.py`.
"""

from __future__ import annotations

import pytest

from fuzz.glsl_programs import syntax as s
from fuzz.glsl_programs.evaluate import evaluate
from fuzz.glsl_programs.fuzzer import FUZZER, against_evaluator
from fuzz.glsl_programs.generate import generate, inputs
from fuzz.glsl_programs.scope import Style
from fuzz.harness import judge, options_of
from gallette.compiler.glsl.lower import operators
from gallette.compiler.reduce import Reduction

FOUND_BY_STYLE = {
    16: "c * x + c: two rules undid each other for minutes",
    91: "an equal value, made by a rule further down, was read before it was there",
    102844: "a loop condition with an effect, whose value is read after the loop",
    107151: "an if inside code that another if, found to be decided, made unreachable",
    7413: "the same, deeper",
}
"""Seeds in today's sizes."""

FOUND = {
    1133: "results that differ: conditions asked again inside a loop with jumps",
    1402: "a loop that never ended: continue below a branch on what the loop changes",
}
"""Seeds of programs of 14 statements that were once compiled wrongly, and how."""


@pytest.fixture
def fuzzer() -> FUZZER:
    return FUZZER(options_of("glsl-programs", FUZZER, []), None)


@pytest.mark.parametrize("seed", FOUND)
def test_found_programs(fuzzer: FUZZER, seed: int) -> None:
    assert fuzzer.attempt((generate(seed, Style(14)), seed)) == "agree"


@pytest.mark.parametrize("seed", FOUND_BY_STYLE)
def test_found_programs_of_any_size(fuzzer: FUZZER, seed: int) -> None:
    assert fuzzer.case(seed) == "agree"


def test_a_planted_fault_is_found_and_made_small(
    fuzzer: FUZZER, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(operators._INT, "-", "iadd")
    given = next(x for x in map(fuzzer.make, range(40)) if judge(fuzzer, "attempt", x).kind)
    found = judge(fuzzer, "attempt", given)
    assert found.kind == "difference"
    assert found.text.startswith("lane")
    state = Reduction(
        given, lambda x: judge(fuzzer, "attempt", x).kind == "difference", fuzzer.key, limit=300
    )
    state.run(*fuzzer.steps)
    small = state.value[0].text
    assert "-" in small
    assert len(small.splitlines()) <= 14, small


def test_the_evaluator_covers_the_language() -> None:
    """Copies, evaluation order and wrapping, on a program spelt out by hand."""
    x, result = s.Var(s.INT, "x"), s.Var(s.IVEC4, "result")
    bump = s.Function(
        "bump",
        s.INT,
        [s.Param("inout", s.INT, "a")],
        [
            s.Run(s.Assign(s.INT, "+", s.Var(s.INT, "a"), s.Lit(s.INT, 5))),
            s.Return(s.Bin(s.INT, "*", s.Var(s.INT, "a"), s.Var(s.INT, "a"))),
        ],
    )
    parts = [
        x,
        s.Bin(s.INT, "+", x, s.Call(s.INT, "bump", [x])),
        s.Bin(s.INT, "*", s.Lit(s.INT, 0x7FFFFFFF), s.Lit(s.INT, 2)),
        s.Bin(s.INT, "/", s.Lit(s.INT, -7), s.Lit(s.INT, 2)),
    ]
    main = s.Function(
        "main",
        s.VOID,
        [],
        [
            s.Declare(s.INT, "x", s.Lit(s.INT, 1)),
            s.Run(s.Assign(s.IVEC4, "", result, s.Cons(s.IVEC4, parts))),
        ],
    )
    program = s.Program([], [], [bump, main])
    given = inputs(0)
    assert evaluate(program, given).colors[0] == (1, 37, -2, -3)
    assert against_evaluator()(program, 0) == ""
