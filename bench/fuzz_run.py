"""What fuzzers share: numbered cases, a time limit for each, runs that go on where they stopped.

A case is made of its number alone, so any of a million can be had again, and parts of the million
can run one after the other or side by side:

    python bench/spirv_fuzz.py --first 0 --count 250000 --progress a.json
    python bench/spirv_fuzz.py --first 250000 --count 250000 --progress b.json --minutes 10

With `--progress` a stopped run goes on behind the last case it noted.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

__all__ = ["add_options", "run"]

MEMORY = 4 << 30
EVERY = 500
"""cases between two notes of where a run is"""


class Stuck(BaseException):
    """A case that takes too long; no handler of errors may take it for one."""


def _stuck(number: int, frame: FrameType | None) -> None:
    raise Stuck


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def add_options(parser: argparse.ArgumentParser, count: int) -> None:
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--minutes", type=float, default=0.0, help="stop after so long")
    parser.add_argument("--limit", type=float, default=5.0, help="seconds a case may take")
    parser.add_argument("--progress", type=Path, help="file that says how far the run is")


def run(case: Callable[[int], str], options: argparse.Namespace) -> int:
    """Run the cases; what `case` returns is counted, anything it raises is a finding."""
    signal.signal(signal.SIGVTALRM, _stuck)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    state: dict[str, Any] = {"next": options.first, "seconds": 0.0, "results": {}, "findings": {}}
    if options.progress is not None and options.progress.exists():
        state = json.loads(options.progress.read_text())
    results: Counter[str] = Counter(state["results"])
    findings: dict[str, list[int]] = state["findings"]
    gc.freeze()
    end = options.first + options.count
    stop = time.monotonic() + 60 * options.minutes if options.minutes else float("inf")
    start, before, slowest = time.process_time(), state["seconds"], (0.0, -1)
    number = state["next"]
    while number < end and time.monotonic() < stop:
        began = time.process_time()
        try:
            with _limited(options.limit):
                results[case(number)] += 1
        except (Exception, Stuck) as error:
            results["findings"] += 1
            key = f"{type(error).__name__}: {str(error)[:100]}"
            if key not in findings:
                print(f"case {number}: {key}", flush=True)
                traceback.print_exc(limit=-4)
            findings.setdefault(key, []).append(number)
        took = time.process_time() - began
        slowest = max(slowest, (took, number))
        number += 1
        if number % EVERY == 0 or number == end:
            _note(options, state, number, before + time.process_time() - start, results)
    seconds = before + time.process_time() - start
    _note(options, state, number, seconds, results)
    done = sum(results.values())
    print(
        f"{done} cases in {seconds:.0f} s of processor time, {done / max(seconds, 1e-9):.0f} a "
        f"second; the next is {number}; slowest {slowest[0]:.2f} s (case {slowest[1]}): "
        f"{dict(results)}"
    )
    for key, numbers in findings.items():
        print(f"  {len(numbers)} x {key}: cases {numbers[:5]}")
    return int(bool(results["findings"]))


def _note(
    options: argparse.Namespace,
    state: dict[str, Any],
    number: int,
    seconds: float,
    results: Counter[str],
) -> None:
    if options.progress is not None:
        state.update(next=number, seconds=seconds, results=dict(results))
        scratch = options.progress.with_suffix(".new")
        scratch.write_text(json.dumps(state))
        scratch.replace(options.progress)
