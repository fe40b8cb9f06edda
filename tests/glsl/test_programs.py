"""A slice of bench/glsl_program_fuzz.py, and the programs it once found.

Whole random programs against a plain Python evaluator, against native Mesa, and against rewritten
versions of themselves. `make fuzz` does the same for as long as one likes.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gallette.compiler.glsl.lower import operators

PATH = Path(__file__).resolve().parents[2] / "bench" / "glsl_program_fuzz.py"


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    spec = importlib.util.spec_from_file_location("glsl_program_fuzz", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wrong(fuzz: ModuleType, check: Any, against: str, seeds: Iterable[int]) -> str:
    """The first program of some that is wrong, with what is wrong."""
    for seed in seeds:
        program = fuzz.generate(seed, fuzz.style(against, seed))
        found: str = fuzz.verdict(check, program, seed)
        if found not in ("", "-"):
            return f"seed {seed}: {found}\n{program.text}"
    return ""


@pytest.mark.parametrize("start", range(5000, 5040, 10))
def test_programs_compute_what_the_evaluator_says(fuzz: ModuleType, start: int) -> None:
    assert not wrong(fuzz, fuzz.against_evaluator(), "evaluator", range(start, start + 10))


@pytest.mark.native
def test_programs_draw_what_mesa_draws(fuzz: ModuleType) -> None:
    assert not wrong(fuzz, fuzz.against_native(), "native", range(6000, 6010))


@pytest.mark.parametrize(
    "driver,seeds",
    [
        ("jit", (*range(5000, 5008), 800090)),  # 800090: a loop whose end nobody reaches
        ("simd", range(5000, 5004)),
    ],
)
def test_drivers_draw_what_the_evaluator_says(
    fuzz: ModuleType, driver: str, seeds: Iterable[int]
) -> None:
    assert not wrong(fuzz, fuzz.against_evaluator(driver), "evaluator", seeds)


def test_rewritten_programs_draw_the_same(fuzz: ModuleType) -> None:
    assert not wrong(fuzz, fuzz.against_variants(), "variants", range(7000, 7003))


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


@pytest.mark.parametrize("seed", FOUND)
def test_found_programs(fuzz: ModuleType, seed: int) -> None:
    program = fuzz.generate(seed, fuzz.Style(14))
    assert fuzz.verdict(fuzz.against_evaluator(), program, seed) == ""


@pytest.mark.parametrize("seed", FOUND_BY_STYLE)
def test_found_programs_of_any_size(fuzz: ModuleType, seed: int) -> None:
    program = fuzz.generate(seed, fuzz.style("evaluator", seed))
    assert fuzz.verdict(fuzz.against_evaluator(), program, seed) == ""


def test_a_planted_fault_is_found_and_made_small(
    fuzz: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(operators._INT, "-", "iadd")
    check = fuzz.against_evaluator()
    for seed in range(40):
        program = fuzz.generate(seed, fuzz.style("evaluator", seed))
        found = fuzz.verdict(check, program, seed)
        if found not in ("", "-"):
            break
    assert found.startswith("lane")
    small = fuzz.reduced(check, program, seed, found, 20)
    assert fuzz.verdict(check, small, seed) not in ("", "-")
    assert "-" in small.text
    assert len(small.text.splitlines()) <= 14, small.text


def test_the_evaluator_knows_the_language(fuzz: ModuleType) -> None:
    """Copies, evaluation order and wrapping, on a program spelt out by hand."""
    s = fuzz.s
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
    given = fuzz.inputs(0)
    assert fuzz.evaluate(program, given).colors[0] == (1, 37, -2, -3)
    assert fuzz.verdict(fuzz.against_evaluator(), program, 0) == ""
