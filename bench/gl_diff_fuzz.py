"""Random OpenGL programs on numpipe with queueing, numpipe without, and the machine's llvmpipe.

    python bench/gl_diff_fuzz.py --seconds 60             # as `make fuzz` does
    python bench/gl_diff_fuzz.py --seed 4711 --count 1    # one again
    python bench/gl_diff_fuzz.py --seed 4711 --show       # print the program
    python bench/gl_diff_fuzz.py --count 1000 --save found/

A program that shows a difference the specification does not allow is made small and printed (or
saved) as a script that runs by itself. Exit status 1 if there was one.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

os.environ.setdefault("EGL_PLATFORM", "surfaceless")
os.environ.setdefault("LIBGL_ALWAYS_SOFTWARE", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent))

from gl_diff.compare import difference
from gl_diff.generate import generate
from gl_diff.reduce import reduce_lines
from gl_diff.run import run

PAIRS = (("queued", "native"), ("queued", "immediate"))


def check(lines: list[str], profile: str, pairs: tuple[tuple[str, str], ...] = PAIRS) -> str:
    """What differs between two sides, in words; "" if nothing does."""
    seen = {side: run(lines, side, profile) for side in {s for pair in pairs for s in pair}}
    for one, other in pairs:
        text = difference(seen[one], seen[other])
        if text:
            return f"{one} against {other}: {text}"
    return ""


def kind_of(note: str) -> str:
    """The note without what changes when a program shrinks: the reducer keeps the kind."""
    return re.sub(r"line \d+: |\d+", "", note)[:72]


def smaller(lines: list[str], profile: str, pairs: Any, kind: str) -> tuple[list[str], str]:
    """Fewer lines with the same kind of difference."""
    small = reduce_lines(lines, lambda some: kind_of(check(some, profile, pairs)) == kind)
    return small, check(small, profile, pairs)


def script(lines: list[str], profile: str, note: str, seed: int) -> str:
    """The program as a file that runs from a checkout."""
    body = "\n".join(f"    {line!r}," for line in lines)
    return (
        f'# Seed {seed}: {note}\n\nimport sys\n\nsys.path.insert(0, "bench")\n'
        f"from gl_diff_fuzz import check\n\nLINES = [\n{body}\n]\n\n"
        f"print(check(LINES, {profile!r}) or 'no difference')\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=1_000_000, help="how many programs")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--show", action="store_true", help="print the program of the seed")
    parser.add_argument("--all", action="store_true", help="go on after a difference")
    parser.add_argument("--quick", action="store_true", help="do not make failing programs small")
    parser.add_argument(
        "--without-native", action="store_true", help="only queued against immediate"
    )
    parser.add_argument("--save", type=Path, help="write scripts into this folder")
    options = parser.parse_args()
    pairs = PAIRS[1:] if options.without_native else PAIRS
    start, done, failures = time.monotonic(), 0, 0
    kinds: Counter[str] = Counter()
    for seed in range(options.seed, options.seed + options.count):
        lines, profile = generate(seed, options.steps)
        if options.show:
            print("\n".join(lines))
            return 0
        note = check(lines, profile, pairs)
        done += 1
        if note:
            failures += 1
            kinds[kind_of(note)] += 1
            if not options.quick:
                lines, note = smaller(lines, profile, pairs, kind_of(note))
            text = script(lines, profile, note, seed)
            if options.save:
                options.save.mkdir(parents=True, exist_ok=True)
                (options.save / f"seed_{seed}.py").write_text(text)
            print(f"seed {seed}: {note}" if options.quick else text, flush=True)
            if not options.all:
                break
        if time.monotonic() - start > options.seconds:
            break
    seconds = time.monotonic() - start
    print(f"{done} programs, {failures} differ, {done / seconds:.1f} a second")
    for kind, count in kinds.most_common():
        print(f"  {count:5} {kind}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
