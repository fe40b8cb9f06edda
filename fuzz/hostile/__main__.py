"""Random hostile OpenGL programs, each in a process that it may end.

    python -m fuzz.hostile --driver jit --seconds 60        # as `make fuzz` does
    python -m fuzz.hostile --seed 4711 --count 1            # one again, made small
    python -m fuzz.hostile --seed 4711 --show               # print the program
    python -m fuzz.hostile --driver numpipe --draws 50000   # until so many have been made

A program of which something comes that must not is made small and printed, or saved as a file that
`--replay` runs. Exit status: 0 nothing was found, 1 something was, 2 the request made no sense.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from collections import Counter
from pathlib import Path

from .generate import Written, generate
from .pool import Worker
from .run import Finding, Outcome
from .small import smaller

_TOLD = 30.0
"""Seconds between two lines that say how far it is."""


class Search:
    """What workers have found so far; they take the next seed from here."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.start = self.told = time.monotonic()
        self.next, self.programs, self.draws, self.lost, self.refused = options.seed, 0, 0, 0, 0
        self.kinds: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.largest = 0
        self._lock = threading.Lock()

    def take(self) -> int | None:
        """The seed to run next; None: enough."""
        o = self.options
        with self._lock:
            enough = self.next >= o.seed + o.count or self.draws >= o.draws
            late = time.monotonic() - self.start > o.seconds
            if enough or late or (self.kinds and not o.all):
                return None
            self.next += 1
            return self.next - 1

    def note(self, outcome: Outcome) -> list[Finding]:
        """Counts an outcome; the findings that are new."""
        with self._lock:
            self.programs += 1
            self.draws += outcome.draws
            self.lost += bool(outcome.lost)
            self.refused += len(outcome.refused)
            self.calls += outcome.calls
            self.errors += outcome.errors
            self.largest = max(self.largest, outcome.resident)
            new = [f for f in outcome.findings if f.key not in self.kinds]
            self.kinds.update(f.key for f in outcome.findings)
            if time.monotonic() > self.told + _TOLD:
                self.told = time.monotonic()
                print(self.line(), file=sys.stderr, flush=True)
            return new

    def line(self) -> str:
        """How far it is."""
        seconds = time.monotonic() - self.start
        return (
            f"{self.options.driver}: {self.programs} programs, {self.draws} draws and dispatches, "
            f"{self.lost} lost contexts, {self.refused} shaders refused, "
            f"{sum(self.kinds.values())} findings of {len(self.kinds)} kinds, "
            f"{seconds:.0f} s, at most {self.largest >> 10} MiB"
        )


def work(search: Search) -> None:
    """Run programs until there are enough."""
    o = search.options
    worker = Worker(o.driver, o.limit, not o.unguarded)
    while (seed := search.take()) is not None:
        program = generate(seed, o.steps)
        outcome = worker.run(program, program.profile, program.samples)
        for finding in search.note(outcome):
            report(worker, seed, program, finding, o)
    worker.stop()


def report(
    worker: Worker, seed: int, program: Written, finding: Finding, o: argparse.Namespace
) -> None:
    """Make the program small and print it, or save it."""
    lines: list[str] = list(program)
    if not o.quick:

        def fails(some: list[str]) -> bool:
            found = worker.run(some, program.profile, program.samples)
            return any(f.key == finding.key for f in found.findings)

        if fails(lines):
            lines = smaller(lines, fails, o.shrink)
        else:
            finding = Finding(finding.key + " (not again)", finding.text)
    head = f"# {o.driver}, seed {seed}, {program.profile}, samples {program.samples}: {finding.key}"
    text = "\n#:\n".join([head, *lines]) + "\n"
    shown = "" if o.quick and not o.save else "\n".join([head, *lines])
    if o.save:
        o.save.mkdir(parents=True, exist_ok=True)
        (o.save / f"{o.driver}_{seed}.txt").write_text(text)
    print(f"seed {seed}: {finding.key}\n{finding.text}\n{shown}\n", flush=True)


def replay(path: Path, o: argparse.Namespace) -> int:
    """Run a saved program."""
    head, *lines = path.read_text().rstrip("\n").split("\n#:\n")
    profile = "compat" if ", compat, " in head else "core"
    samples = 4 if "samples 4" in head else 0
    outcome = Worker(o.driver, o.limit, not o.unguarded).run(lines, profile, samples)
    for finding in outcome.findings:
        print(f"{finding.key}\n{finding.text}")
    return int(bool(outcome.findings))


def main() -> int:
    """Run programs until one harms, or time is up."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--driver", default="numpipe")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=1_000_000, help="how many programs")
    parser.add_argument("--draws", type=int, default=1 << 60, help="stop after so many")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--steps", type=int, default=60, help="of a program")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--limit", type=float, default=90.0, help="seconds a program may take")
    parser.add_argument("--shrink", type=float, default=120.0, help="seconds to make one small")
    parser.add_argument("--show", action="store_true", help="print the program of the seed")
    parser.add_argument("--all", action="store_true", help="go on after a finding")
    parser.add_argument("--quick", action="store_true", help="do not make programs small")
    parser.add_argument("--unguarded", action="store_true", help="with ordinary memory")
    parser.add_argument("--save", type=Path, help="write programs into this folder")
    parser.add_argument("--replay", type=Path, help="run a saved program")
    parser.add_argument("--errors", action="store_true", help="tell which calls failed, how often")
    options = parser.parse_args()
    if options.show:
        print("\n".join(generate(options.seed, options.steps)))
        return 0
    if options.replay:
        return replay(options.replay, options)
    search = Search(options)
    threads = [threading.Thread(target=work, args=(search,)) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(search.line())
    for key, count in search.kinds.most_common():
        print(f"  {count:5} {key}")
    if options.errors:
        for key, count in search.errors.most_common(60):
            print(f"  {count:5} {key}")
    return 1 if search.kinds else 0


if __name__ == "__main__":
    sys.exit(main())
