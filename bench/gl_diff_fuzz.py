"""Random OpenGL programs on numpipe with queueing, numpipe without, and the machine's llvmpipe.

    python bench/gl_diff_fuzz.py --seconds 60             # as `make fuzz` does
    python bench/gl_diff_fuzz.py --seed 4711 --count 1    # one again
    python bench/gl_diff_fuzz.py --seed 4711 --show       # print the program
    python bench/gl_diff_fuzz.py --count 1000 --save found/
    python bench/gl_diff_fuzz.py --driver jit --seconds 60   # another driver against numpipe
    python bench/gl_diff_fuzz.py --es --seconds 60        # in OpenGL ES contexts
    python bench/gl_diff_fuzz.py --fixed --seconds 60     # without shaders
    python bench/gl_diff_fuzz.py --modern --seconds 60    # all stages, images, storage
    python bench/gl_diff_fuzz.py --beside --seconds 60    # two in turns, against one by one
    python bench/gl_diff_fuzz.py --threads --seconds 60   # two at once, each in a thread
    python bench/gl_diff_fuzz.py --shared --seconds 60    # one of two contexts

Programs run one after the other on contexts they share, as many at a time as there are cores. One
that shows a difference the specification does not allow is tried again alone, made small (with what
ran before it, where it needs that) and printed or saved as a script that runs by itself. Exit
status 1 if there was one.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("EGL_PLATFORM", "surfaceless")
os.environ.setdefault("LIBGL_ALWAYS_SOFTWARE", "1")
os.environ.setdefault("LP_NUM_THREADS", "0")
os.environ.setdefault("GALLIVM_PERF", "nopt")  # llvmpipe compiles more than it draws here
sys.path.insert(0, str(Path(__file__).resolve().parent))

from gl_diff.beside import BESIDE, MARKS, Both
from gl_diff.compare import Seen, difference
from gl_diff.generate import FAMILY, generate
from gl_diff.run import Side, run
from gl_diff.shared import Sharing
from gl_diff.threads import WHILE, Threads

from gallette.compiler.reduce import reduce_lines

Pairs = tuple[tuple[str, str], ...]
PAIRS: Pairs = (("queued", "native"), ("queued", "immediate"), ("queued", "streamed"))
BOTH: Pairs = (("beside", "apart"),)
"""of two programs that run in turns"""
AT_ONCE: Pairs = (("at once", "one by one"),)
"""of two programs in threads"""
PAIRS_OF = {"beside": BOTH, "threads": AT_ONCE}
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


def check(lines: list[str], profile: str, pairs: Pairs = PAIRS) -> str:
    """What differs when the program runs on contexts of its own."""
    if kind_of_sides(profile) is not Side:
        contexts = Contexts(pairs)
        found = contexts.check(lines, profile)
        contexts.drop(profile)
        return found
    return differs({side: run(lines, side, profile) for side in sides_of(pairs)}, pairs)


def kind_of_sides(profile: str) -> type[Side | Both | Sharing | Threads]:
    """What runs programs of a profile: one context, or two."""
    if WHILE in profile:
        return Threads
    return Both if BESIDE in profile else Sharing if profile == "shared" else Side


class Contexts:
    """One context of each side and profile, renewed now and then, and what ran on them."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        self.sides: dict[str, dict[str, Side | Both | Sharing | Threads]] = {}
        self.before: dict[str, list[list[str]]] = {}

    def check(self, lines: list[str], profile: str) -> str:
        """As `check`, on the shared contexts."""
        if len(self.before.get(profile, ())) >= TOGETHER:
            self.drop(profile)
        if profile not in self.sides:
            kind = kind_of_sides(profile)
            self.sides[profile] = {side: kind(side, profile) for side in sides_of(self.pairs)}
            self.before[profile] = []
        seen = {name: side.run(lines) for name, side in self.sides[profile].items()}
        self.before[profile].append(lines)
        return differs(seen, self.pairs)

    def together(self, profile: str) -> list[str]:
        """Everything that ran on the contexts of a profile, as one program."""
        lines: list[str] = []
        for one in self.before[profile]:
            marks = ("",) if kind_of_sides(profile) is Side else MARKS
            lines += [*one, *(f"{mark}w.reset()" for mark in marks)]
        return lines[:-1]

    def drop(self, profile: str) -> None:
        for side in self.sides.pop(profile, {}).values():
            side.release()


def kind_of(note: str) -> str:
    """The note without what changes when a program shrinks: the reducer keeps the kind."""
    return re.sub(r"line \d+: |\d+", "", note)[:72]


def smaller(lines: list[str], profile: str, pairs: Pairs, kind: str) -> tuple[list[str], str]:
    """Fewer lines with the same kind of difference."""
    small = reduce_lines(lines, lambda some: kind_of(check(some, profile, pairs)) == kind)
    return small, check(small, profile, pairs)


def script(lines: list[str], profile: str, pairs: Pairs, note: str, seed: int) -> str:
    """The program as a file that runs from a checkout."""
    body = "\n".join(f"    {line!r}," for line in lines)
    return (
        f'# Seed {seed}: {note}\n\nimport sys\n\nsys.path.insert(0, "bench")\n'
        f"from gl_diff_fuzz import check\n\nLINES = [\n{body}\n]\n\n"
        f"PAIRS = {pairs!r}\nprint(check(LINES, {profile!r}, PAIRS) or 'no difference')\n"
    )


def explained(note: str, lines: list[str], contexts: Contexts, profile: str) -> tuple[Any, str]:
    """The program that shows a difference on contexts of its own, and the difference."""
    alone = check(lines, profile, contexts.pairs)
    if alone:
        return lines, alone
    together = contexts.together(profile)
    return together, check(together, profile, contexts.pairs) or f"not again: {note}"


def search(options: argparse.Namespace, first: int, by: int) -> Iterator[tuple[int, str, str]]:
    """(seed, what differs or "", the small program) for every `by`-th family of seeds."""
    pairs = PAIRS[1:] if options.without_native else PAIRS
    if options.driver:
        pairs = (("queued", options.driver),)
    pairs = PAIRS_OF.get(options.kind, pairs)
    contexts = Contexts(pairs)
    start = time.monotonic()
    for seed in range(options.seed, options.seed + options.count):
        if seed // FAMILY % by != first:
            continue
        lines, profile = generate(seed, options.steps, options.kind)
        note, text = contexts.check(lines, profile), ""
        if note:
            if not options.quick:
                lines, note = explained(note, lines, contexts, profile)
                if not note.startswith("not again"):
                    lines, note = smaller(lines, profile, pairs, kind_of(note))
                text = script(lines, profile, pairs, note, seed)
            contexts.drop(profile)
        yield seed, note, text
        if time.monotonic() - start > options.seconds:
            break
    for profile in list(contexts.sides):
        contexts.drop(profile)


def _work(options: argparse.Namespace, first: int, by: int, found: Any) -> None:
    try:
        for result in search(options, first, by):
            found.put(result)
    except KeyboardInterrupt:
        pass
    finally:
        found.put(None)


def results(options: argparse.Namespace) -> Iterator[tuple[int, str, str]]:
    """What all workers find, as it comes."""
    if options.jobs == 1:
        yield from search(options, 0, 1)
        return
    method = multiprocessing.get_context("spawn")
    found = method.Queue()
    workers = [
        method.Process(target=_work, args=(options, number, options.jobs, found))
        for number in range(options.jobs)
    ]
    for worker in workers:
        worker.start()
    try:
        ended = 0
        while ended < len(workers):
            result = found.get()
            if result is None:
                ended += 1
            else:
                yield result
    finally:
        for worker in workers:
            worker.terminate()


_TOLD = 60.0
"""Seconds between two lines that say how far it is."""


def main() -> int:
    """Run programs until one differs or time is up."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=1_000_000, help="how many programs")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--show", action="store_true", help="print the program of the seed")
    parser.add_argument("--all", action="store_true", help="go on after a difference")
    parser.add_argument("--quick", action="store_true", help="do not make failing programs small")
    parser.add_argument(
        "--without-native", action="store_true", help="only queued against immediate"
    )
    for kind, what in (
        ("es", "programs for OpenGL ES"),
        ("fixed", "programs without shaders"),
        ("modern", "programs of all stages, with images and storage"),
        ("beside", "two programs in turns, whose contexts share objects, and one by one"),
        ("threads", "two programs at once in threads, and one by one"),
        ("shared", "programs of two contexts that use the same objects"),
    ):
        parser.add_argument(
            f"--{kind}", action="store_const", dest="kind", const=kind, default="", help=what
        )
    parser.add_argument("--driver", help="compare this driver with numpipe")
    parser.add_argument("--save", type=Path, help="write scripts into this folder")
    options = parser.parse_args()
    if options.show:
        print("\n".join(generate(options.seed, options.steps, options.kind)[0]))
        return 0
    start = told = time.monotonic()
    done = failures = 0
    kinds: Counter[str] = Counter()
    for seed, note, text in results(options):
        done += 1
        if time.monotonic() > told + _TOLD:
            told = time.monotonic()
            print(f"{done} programs, {failures} differ", file=sys.stderr, flush=True)
        if not note:
            continue
        failures += 1
        kinds[kind_of(note)] += 1
        if options.save:
            options.save.mkdir(parents=True, exist_ok=True)
            (options.save / f"seed_{seed}.py").write_text(text)
        print(text or f"seed {seed}: {note}", flush=True)
        if not options.all:
            break
    seconds = time.monotonic() - start
    print(f"{done} programs, {failures} differ, {done / seconds:.1f} a second")
    for kind, count in kinds.most_common():
        print(f"  {count:5} {kind}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
