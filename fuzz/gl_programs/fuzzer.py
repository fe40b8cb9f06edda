"""Random OpenGL programs on numpipe with queueing, numpipe without, and the machine's llvmpipe.

    python -m fuzz gl --kind fixed --seconds 60     # programs without shaders
    python -m fuzz gl --driver jit --seconds 60     # another driver against numpipe

Programs run one after the other on contexts that they share; one that shows a difference that the
specification does not allow is tried again on contexts of its own, then together with what ran
before it.
"""

from __future__ import annotations

import argparse
import re
from typing import Any

from fuzz.gl_programs.compare import Seen, difference
from fuzz.gl_programs.generate import FAMILY, generate
from fuzz.gl_programs.run import Side, marks_of, run
from fuzz.harness import Finding
from fuzz.programs import Program, ProgramFuzzer

Pairs = tuple[tuple[str, str], ...]
PAIRS: Pairs = (("queued", "native"), ("queued", "immediate"), ("queued", "streamed"))
TWO: Pairs = (("together", "apart"),)
"""of two programs whose calls alternate, or that run in threads"""
_SMOOTH = re.compile(r"enable\(GL\.(POINT|LINE)_SMOOTH\)")
KINDS = {
    "": "programs with vertex and fragment shaders",
    "es": "programs for OpenGL ES",
    "fixed": "programs without shaders",
    "modern": "programs of all stages, with images and storage",
    "beside": "two programs in turns, whose contexts share objects, and one by one",
    "threads": "two programs at once in threads, and one by one",
    "shared": "programs of two contexts that use the same objects",
}
TOGETHER = 80
"""programs of one context before a fresh one takes over"""


def differs(seen: dict[str, list[Seen]], pairs: Pairs) -> str:
    """What differs between two sides, in words; "" if nothing does."""
    for one, other in pairs:
        same = not any(side.startswith("native") for side in (one, other))
        text = difference(seen[one], seen[other], same)
        if text:
            return f"{one} against {other}: {text}"
    return ""


def sides_of(pairs: Pairs) -> set[str]:
    return {side for pair in pairs for side in pair}


def pairs_for(lines: list[str], pairs: Pairs) -> Pairs:
    """The pairs that have to agree on a program: where edges of points or lines are smooth, which
    pixels they touch is the implementation's.
    """
    if not any(_SMOOTH.search(line) for line in lines):
        return pairs
    return tuple(pair for pair in pairs if "native" not in pair)


class Contexts:
    """One context of each side and profile, renewed now and then, and what ran on them."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        self.sides: dict[str, dict[str, Side]] = {}
        self.before: dict[str, list[list[str]]] = {}

    def check(self, lines: list[str], profile: str) -> str:
        """What differs when the program runs on the shared contexts."""
        if len(self.before.get(profile, ())) >= TOGETHER:
            self.drop(profile)
        if profile not in self.sides:
            self.sides[profile] = {side: Side(side, profile) for side in sides_of(self.pairs)}
            self.before[profile] = []
        seen = {name: side.run(lines) for name, side in self.sides[profile].items()}
        self.before[profile].append(lines)
        return differs(seen, pairs_for(lines, self.pairs))

    def together(self, profile: str) -> list[str]:
        """Everything that ran on the contexts of a profile, as one program."""
        lines: list[str] = []
        for one in self.before[profile]:
            lines += [*one, *(f"{mark}w.reset()" for mark in marks_of(profile))]
        return lines[:-1]

    def drop(self, profile: str) -> None:
        for side in self.sides.pop(profile, {}).values():
            side.release()


def check(lines: list[str], profile: str, pairs: Pairs = PAIRS) -> str:
    """What differs when the program runs on contexts of its own."""
    pairs = pairs_for(lines, pairs)
    return differs({side: run(lines, side, profile) for side in sides_of(pairs)}, pairs)


def kind_of(note: str) -> str:
    """The note without what changes while a program shrinks."""
    return re.sub(r"line \d+: |\d+", "", note)[:72]


class GLPrograms(ProgramFuzzer):
    """Programs of one kind, and the contexts that they share."""

    memory = 0  # llvmpipe reserves more than it uses
    batch = FAMILY
    limit = 600.0

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        what = "; ".join(f"{name}: {text}" for name, text in KINDS.items() if name)
        parser.add_argument("--kind", choices=KINDS, default="", help=what)
        parser.add_argument("--steps", type=int, default=20, help="of a program")
        parser.add_argument(
            "--without-native", action="store_true", help="only numpipe's ways to draw"
        )

    def __init__(self, options: argparse.Namespace, prepared: Any) -> None:
        super().__init__(options, prepared)
        pairs = PAIRS[1:] if options.without_native else PAIRS
        if options.driver != "numpipe":
            pairs = (("queued", options.driver),)
        self.contexts = Contexts(TWO if options.kind in ("beside", "threads") else pairs)

    def make(self, number: int) -> Program:
        return Program(*generate(number, self.options.steps, self.options.kind))

    def attempt(self, given: Program) -> str:
        note = check(given.lines, given.profile, self.contexts.pairs)
        if note:
            raise Finding(kind_of(note), note)
        return "agree"

    def case(self, number: int) -> str:
        program = self.make(number)
        self.say(f"program {number}, {program.profile}")
        note = self.contexts.check(program.lines, program.profile)
        if note:
            together = Program(self.contexts.together(program.profile), program.profile)
            self.contexts.drop(program.profile)
            raise Finding(kind_of(note), note, [program, together])
        return "agree"

    def release(self) -> None:
        for profile in list(self.contexts.sides):
            self.contexts.drop(profile)


FUZZER = GLPrograms
