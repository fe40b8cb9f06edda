"""Whole random GLSL programs against independent oracles.

    python -m fuzz glsl-programs --against variants --seconds 60

`--against` says with what each program is compared:

    evaluator   a plain Python evaluator of the syntax tree; the program runs, compiled and
                optimised, in the reference interpreter
    native      the machine's OpenGL (`native:llvmpipe`), both drawn; where they differ, the
                evaluator says who is wrong
    variants    rewritten versions of itself, all drawn by numpipe: a family has one image

`--driver` names who draws; with the evaluator it draws in place of the interpreter.
A number always makes one program, so a found one becomes a test in `tests/glsl/test_programs.py`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from fuzz.glsl_programs import syntax as s
from fuzz.glsl_programs.backends import Drawn, Interpreted, Rejected
from fuzz.glsl_programs.evaluate import TooLong, Undefined, evaluate
from fuzz.glsl_programs.generate import generate, inputs
from fuzz.glsl_programs.scope import Style
from fuzz.glsl_programs.shrink import STEPS
from fuzz.glsl_programs.variants import vary
from fuzz.harness import Finding, Fuzzer

__all__ = ["CHECKS", "FUZZER"]

VARIANTS = 3
"""members of a family besides the program itself"""
SIZES = {"evaluator": (6, 8, 10, 24), "native": (6, 8, 10, 24), "variants": (5, 6, 8, 12)}
"""statements of a program, by the seed: many small programs, and some large"""


def style(against: str, seed: int) -> Style:
    """What kind of program a seed is."""
    sizes = SIZES[against]
    # Mesa reads operands late when a later one has side effects: not where Mesa is asked.
    return Style(sizes[seed % len(sizes)], effects=against != "native")


Check = Callable[[s.Program, int], str]
"""(program, seed) -> what is wrong with it, or "" """


def against_evaluator(driver: str = "") -> Check:
    """With the reference interpreter, or drawn by a driver."""
    machine = Drawn(driver) if driver else Interpreted()

    def check(program: s.Program, seed: int) -> str:
        given = inputs(seed)
        return evaluate(program, given).difference(machine.run(program.text, given))

    return check


def against_native(driver: str = "") -> Check:
    ours, theirs = Drawn(driver or "numpipe"), Drawn("native:llvmpipe")

    def check(program: s.Program, seed: int) -> str:
        given = inputs(seed)
        wanted = evaluate(program, given)
        mine, other = ours.run(program.text, given), theirs.run(program.text, given)
        found = mine.difference(other)
        wrong = wanted.difference(mine)
        if found and not wrong:
            return "-the native compiler stands against two"
        return (
            f"{wrong} (native: {wanted.difference(other) or 'as the evaluator'})" if wrong else ""
        )

    return check


def against_variants(driver: str = "") -> Check:
    machine = Drawn(driver or "numpipe")

    def check(program: s.Program, seed: int) -> str:
        given = inputs(seed)
        evaluate(program, given)  # only to leave out what runs for too long
        first = machine.run(program.text, given)
        for i in range(VARIANTS):
            other = vary(program, given, seed * 16 + i)
            found = first.difference(machine.run(other.text, given))
            if found:
                return f"variant {i}: {found}\n{other.text}"
        return ""

    return check


CHECKS: dict[str, Callable[[str], Check]] = {
    "evaluator": against_evaluator,
    "native": against_native,
    "variants": against_variants,
}


class GLSLPrograms(Fuzzer[tuple[s.Program, int]]):
    """Programs, each with the seed of its inputs."""

    memory = 0
    steps = STEPS

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        parser.set_defaults(driver="")
        parser.add_argument("--against", choices=sorted(CHECKS), default="evaluator")

    def __init__(self, options: argparse.Namespace, prepared: Any) -> None:
        super().__init__(options, prepared)
        self.check = CHECKS[options.against](options.driver)

    def make(self, number: int) -> tuple[s.Program, int]:
        return generate(number, style(self.options.against, number)), number

    def attempt(self, given: tuple[s.Program, int]) -> str:
        try:
            found = self.check(*given)
        except (TooLong, Undefined):
            return "run for too long"
        except Rejected as error:
            raise Finding("rejected", str(error)) from None
        if found.startswith("-"):
            return found[1:]
        if found:
            raise Finding("difference", found)
        return "agree"

    @staticmethod
    def key(given: tuple[s.Program, int]) -> str:
        return given[0].text

    @staticmethod
    def text(given: tuple[s.Program, int]) -> str:
        return given[0].text


FUZZER = GLSLPrograms
