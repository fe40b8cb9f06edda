"""Random hostile OpenGL programs: nothing leaves a call but its result or a GL error.

    python -m fuzz hostile --driver jit --seconds 60

Programs draw and dispatch with indices, sizes, offsets and loops that lead anywhere, and call any
function with the arguments of `fuzz/calls/arguments.txt`. Exceptions, processes that die or hang,
memory that is written beside resources and what outlives a context are findings.
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

from fuzz.harness import Finding
from fuzz.programs import Program, ProgramFuzzer

from .generate import generate
from .run import Runner


class Hostile(ProgramFuzzer):
    """Programs on a driver whose memory is guarded."""

    memory = 12 << 30
    limit = 90.0

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--steps", type=int, default=60, help="of a program")
        parser.add_argument("--unguarded", action="store_true", help="with ordinary memory")
        parser.add_argument("--errors", action="store_true", help="count failed calls by name")

    def __init__(self, options: argparse.Namespace, prepared: Any) -> None:
        super().__init__(options, prepared)
        self.runner = Runner(options.driver, not options.unguarded)

    def make(self, number: int) -> Program:
        return generate(number, self.options.steps)

    def attempt(self, given: Program) -> Counter[str]:
        outcome = self.runner.run(given.lines, given.profile, given.samples)
        if outcome.findings:
            raise Finding(outcome.findings[0].key, outcome.findings[0].text)
        counts = Counter(
            {
                "draws and dispatches": outcome.draws,
                "lost contexts": int(bool(outcome.lost)),
                "refused shaders": len(outcome.refused),
            }
        )
        return counts + outcome.errors if self.options.errors else counts


FUZZER = Hostile
