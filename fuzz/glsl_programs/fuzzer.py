"""Whole random GLSL programs against a plain evaluator of their syntax tree.

    python -m fuzz glsl-programs --seconds 60
    python -m fuzz glsl-programs --driver numpipe --native --seconds 60

By default a program runs, compiled and optimised, in the reference interpreter; a driver draws it.
With `--native` the machine's OpenGL draws it, too, and where we are wrong it says so.
"""

from __future__ import annotations

import argparse
from typing import Any

from fuzz.glsl_programs.evaluate import evaluate
from fuzz.glsl_programs.lanes import HEADER, Rejected, Undefined, inputs
from fuzz.glsl_programs.machines import Drawn, Interpreted
from fuzz.glsl_programs.writer import generate
from fuzz.harness import Finding, Fuzzer, shorter

SIZES = (6, 8, 10, 24)
"""statements of a program, by the seed: many small programs, and some large"""


class GLSLPrograms(Fuzzer[tuple[int, str]]):
    """Programs without the header that all have, each with the seed of its inputs."""

    memory = 0
    steps = (shorter,)

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        parser.set_defaults(driver="")
        parser.add_argument("--native", action="store_true", help="ask the machine's OpenGL, too")

    def __init__(self, options: argparse.Namespace, prepared: Any) -> None:
        super().__init__(options, prepared)
        self.machine = Drawn(options.driver) if options.driver else Interpreted()
        self.native = Drawn("native:llvmpipe") if options.native else None

    def make(self, number: int) -> tuple[int, str]:
        # Mesa reads operands late when a later one has side effects: not where Mesa is asked.
        size, effects = SIZES[number % len(SIZES)], self.native is None
        return number, generate(number, inputs(number), size, effects)

    def attempt(self, given: tuple[int, str]) -> str:
        text, numbers = HEADER + given[1], inputs(given[0])
        try:
            wanted = evaluate(text, numbers)
            found = wanted.difference(self.machine.run(text, numbers))
            theirs = wanted.difference(self.native.run(text, numbers)) if self.native else ""
        except Undefined as error:
            return f"are undefined: {error}" if "long" not in str(error) else str(error)
        except Rejected as error:
            raise Finding("rejected", str(error)) from None
        if found:
            asked = f" (native: {theirs or 'as the evaluator'})" if self.native else ""
            raise Finding("difference", found + asked)
        return "the native compiler stands against two" if theirs else "agree"

    @staticmethod
    def text(given: tuple[int, str]) -> str:
        return f"// {given[0]}\n{given[1]}"

    @staticmethod
    def read(saved: bytes) -> tuple[int, str]:
        head, _, text = saved.decode().partition("\n")
        return int(head.removeprefix("// ")), text


FUZZER = GLSLPrograms
