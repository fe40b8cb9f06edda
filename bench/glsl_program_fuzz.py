"""Whole random GLSL programs against independent oracles.

    python bench/glsl_program_fuzz.py [--count N] [--seconds S] [--seed N] [--against WHAT]

`--against` says with what each program is compared:

    evaluator   a plain Python evaluator of the syntax tree; the program runs, compiled and
                optimised, in the reference interpreter
    native      the machine's OpenGL (`native:llvmpipe`), both drawn; where they differ, the
                evaluator says who is wrong
    variants    rewritten versions of itself, all drawn by numpipe: a family has one image

`--driver` names who draws; with the evaluator it draws in place of the interpreter.

A program that differs is made small and printed with its seed; the exit status is 1. The same seed
is the same program, so a found one becomes a test in `tests/glsl/test_programs.py`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
for folder in (ROOT, ROOT / "bench"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
os.environ.setdefault("EGL_PLATFORM", "surfaceless")
os.environ.setdefault("GALLETTE_DEBUG", "nir:validate")  # what the linker makes, too
os.environ.setdefault("LIBGL_ALWAYS_SOFTWARE", "1")

from glsl_programs import syntax as s  # noqa: E402
from glsl_programs.backends import Drawn, Interpreted, Rejected  # noqa: E402
from glsl_programs.evaluate import TooLong, Undefined, evaluate  # noqa: E402
from glsl_programs.generate import generate, inputs  # noqa: E402
from glsl_programs.scope import Style  # noqa: E402
from glsl_programs.shrink import shrink  # noqa: E402
from glsl_programs.variants import vary  # noqa: E402

VARIANTS = 3
"""members of a family besides the program itself"""
SIZES = {"evaluator": (6, 8, 10, 24), "native": (6, 8, 10, 24), "variants": (5, 6, 8, 12)}
"""statements of a program, in turn: many small ones, and some large"""


def style(against: str, seed: int) -> Style:
    """What kind of program a seed is."""
    sizes = SIZES[against]
    # Mesa reads operands late when a later one has side effects: not where Mesa is asked.
    return Style(sizes[seed % len(sizes)], effects=against != "native")


ALONE: list[int] = []
"""seeds where the native OpenGL differs from both gallette and the evaluator"""

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
            ALONE.append(seed)  # the native compiler stands against two
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


def verdict(check: Check, program: s.Program, seed: int) -> str:
    """What is wrong, a crash included; "-" if the program is no test."""
    try:
        return check(program, seed)
    except (TooLong, Undefined):
        return "-"
    except Rejected as error:
        return f"rejected: {error}"
    except RecursionError:
        raise
    except Exception as error:  # whatever a compiler does wrong is what we are here for
        return f"{type(error).__name__}: {error}"


def reduced(check: Check, program: s.Program, seed: int, found: str, seconds: float) -> s.Program:
    """The program made small; what is wrong stays of the same kind."""

    def kind(text: str) -> str:
        head = text.partition(":")[0]
        return head if head.isidentifier() else "difference"

    def fails(candidate: s.Program) -> bool:
        try:
            evaluate(candidate, inputs(seed))
        except Exception:  # a candidate that makes no sense
            return False
        answer = verdict(check, candidate, seed)
        return answer not in ("", "-") and kind(answer) == kind(found)

    return shrink(program, fails, seconds)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--against", choices=sorted(CHECKS), default="evaluator")
    parser.add_argument("--driver", default="", help="draws (numpipe unless told)")
    parser.add_argument("--shrink", type=float, default=60, help="seconds per failing program")
    parser.add_argument("--failures", type=int, default=5, help="stop after so many")
    options = parser.parse_args()
    check = CHECKS[options.against](options.driver)
    start = time.monotonic()
    done = skipped = 0
    bad: list[int] = []
    for seed in range(options.seed, options.seed + options.count):
        if time.monotonic() - start > options.seconds:
            break
        program = generate(seed, style(options.against, seed))
        found = verdict(check, program, seed)
        done += 1
        skipped += found == "-"
        if found in ("", "-"):
            continue
        bad.append(seed)
        small = reduced(check, program, seed, found, options.shrink)
        print(f"seed {seed}: {found}\n\nreduced:\n{small.text}")
        print(f"{verdict(check, small, seed)}\n{'-' * 80}", flush=True)
        if len(bad) >= options.failures:
            break
    seconds = time.monotonic() - start
    print(
        f"{done} programs against {options.against}, seeds {options.seed} to "
        f"{options.seed + done - 1}, {seconds:.0f} s: {len(bad)} failed {bad or ''}, "
        f"{skipped} ran for too long"
    )
    if ALONE:
        print(f"the native OpenGL alone differs at seeds {ALONE}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
