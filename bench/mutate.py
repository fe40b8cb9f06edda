"""Mutation testing: plant small faults, run the tests that meet them, count who is noticed.

    python bench/mutate.py [--count 400] [--seed 1] [--jobs 2] [--folder reports/mutants]
                           [--only TEXT] [--kinds KIND...] [--tests PATH...]
                           [--budget SECONDS] [--minutes N]
                           [--whole] [--measure] [--show]

A sample is drawn by lines over compiler, pipe, drivers, state_tracker, piglit_subset and gallette,
from the committed tree. The first run measures which test runs which line (as long as the suite
takes); later ones measure the test files that are new or changed, all of them with --measure. A
fault then costs some seconds. A run that was stopped continues when it is started again with
its seed.

    python bench/mutate.py --only drivers/common --count 40     one part, quickly
    python bench/mutate.py --only drivers/common/draw --kinds comparison "forgotten call" \\
        --tests tests/numpipe/draw tests/drivers      some kinds, before some tests: only those are
                                     measured, so this begins within minutes
    python bench/mutate.py --budget 60                          a minute of tests for each fault;
                                     again without it: the rest of the tests for those that survived
    python bench/mutate.py --minutes 8               stops by itself; again: goes on
    python bench/mutate.py --show                               the table and the survivors again
    python bench/mutate.py --count 2000 --whole                 a night: survivors meet every test
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import sys
import threading
import time
import zlib
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from queue import Empty, Queue

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))

from mutants.coverage_map import CoverageMap, measure  # noqa: E402
from mutants.faults import Fault, lines_with_faults  # noqa: E402
from mutants.probes import sources_of  # noqa: E402
from mutants.report import Result, report  # noqa: E402
from mutants.switches import switched  # noqa: E402
from mutants.trial import Copy, judge  # noqa: E402


def main() -> int:
    """Draw, plant, judge, report."""
    summary, _, rest = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=400, help="how many faults (400)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (1)")
    parser.add_argument("--jobs", type=int, default=2, help="copies of the tree at work (2)")
    parser.add_argument("--folder", type=Path, default=ROOT / "reports" / "mutants")
    parser.add_argument("--only", default="", help="paths with this text")
    parser.add_argument("--kinds", nargs="*", default=(), help="faults of these kinds only")
    parser.add_argument("--tests", nargs="*", default=(), help="before these tests only")
    parser.add_argument("--budget", type=float, default=0.0, help="seconds of tests for a fault")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin nothing after these")
    parser.add_argument("--whole", action="store_true", help="survivors meet the whole suite")
    parser.add_argument("--no-types", action="store_true", help="mypy is not asked")
    parser.add_argument("--no-measuring", action="store_true", help="with what was measured")
    parser.add_argument("--measure", action="store_true", help="measure every test file again")
    parser.add_argument("--show", action="store_true", help="only report what is done")
    chosen = parser.parse_args()
    folder: Path = chosen.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    journal = folder / journal_name(chosen.seed, chosen.only, *chosen.kinds, *chosen.tests)
    done = _read(journal)
    if not chosen.show:
        pristine = Copy.of(ROOT, folder / "tree").folder
        print("measuring which test runs which line ...", flush=True)
        end = time.monotonic() + 60 * chosen.minutes
        if not chosen.no_measuring:
            seconds = 60 * chosen.minutes
            places = tuple(chosen.tests)
            left = measure(
                pristine, folder / "coverage", chosen.jobs, chosen.measure, seconds, places
            )
            if left:
                print(f"{left} test files are not measured yet: start it again", flush=True)
        sample = draw(pristine, chosen.count, chosen.seed, chosen.only, set(chosen.kinds))
        known = {r.key for r in done if r.by or chosen.budget or not r.left}
        todo = [(p, f) for p, f in sample if f"{p}:{f.line} {f}" not in known]
        done += _run(todo, folder, journal, chosen, end)
    print(report(done))
    return 0


def journal_name(seed: int, *asked: str) -> str:
    """Another for each part that is asked for, and short enough for a file however much is."""
    some = "-".join(("", *asked)).replace("/", "-").replace(" ", "-") if any(asked) else ""
    if len(some) > 150:
        some = f"{some[:100]}-{zlib.crc32(some.encode()):08x}"
    return f"results-{seed}{some}.jsonl"


def draw(
    tree: Path, count: int, seed: int, only: str, kinds: Collection[str] = ()
) -> list[tuple[str, Fault]]:
    """`count` faults, each of another line, every line with a fault as likely as the next."""
    lines: list[tuple[str, list[Fault]]] = []
    for path in (f for f in sources_of(tree) if only in f):
        source = (tree / path).read_bytes()
        for _, found in lines_with_faults(source):
            faults = [f for f in found if not kinds or f.kind in kinds]
            if faults:
                lines.append((path, faults))
    rng = random.Random(seed)
    rng.shuffle(lines)
    sample: list[tuple[str, Fault]] = []
    for path, faults in lines:
        kind = rng.choice(sorted({f.kind for f in faults}))
        fault = rng.choice([f for f in faults if f.kind == kind])
        if len(sample) < count and _parses(fault.planted((tree / path).read_bytes())):
            sample.append((path, fault))
        if len(sample) == count:
            break
    return sample


def _parses(source: bytes) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def _read(journal: Path) -> list[Result]:
    if not journal.exists():
        return []
    return [Result(**json.loads(line)) for line in journal.read_text().splitlines()]


def _run(
    todo: list[tuple[str, Fault]],
    folder: Path,
    journal: Path,
    chosen: argparse.Namespace,
    end: float,
) -> list[Result]:
    """Judge every fault, some at a time, each written down as it is known."""
    work: Queue[int] = Queue()
    for number in range(len(todo)):
        work.put(number)
    results: list[Result] = []
    lock = threading.Lock()
    begun = time.monotonic()

    def worker(place: int) -> None:
        copy = Copy.of(folder / "tree", folder / f"tree{place}")  # whatever is committed meanwhile
        tests = CoverageMap(folder / "coverage", folder / "tree", tuple(chosen.tests))
        copy.code = folder / f"switches{place}"
        asleep = switched(copy.folder, todo, copy.code)
        copy.warm(not chosen.no_types)
        while True:
            try:
                number = work.get_nowait()
            except Empty:
                break
            if time.monotonic() > end:
                break
            path, fault = todo[number]
            ways = [number] if number in asleep else [-1]
            if number in asleep and tests.runs_early(path, fault.line):
                ways.append(-1)  # with a switch it sleeps while modules are imported
            for planted in ways:
                verdict = judge(
                    copy,
                    tests,
                    path,
                    fault,
                    planted=planted,
                    whole=chosen.whole,
                    types=not chosen.no_types,
                    budget=chosen.budget,
                )
                if verdict.by:
                    break
            result = Result(path, fault.line, str(fault), verdict.by, verdict.tried, verdict.left)
            with lock:
                results.append(result)
                with journal.open("a") as file:
                    file.write(json.dumps(asdict(result)) + "\n")
                minutes = (time.monotonic() - begun) / 60
                mark = f"noticed by {result.by}" if result.by else "SURVIVED"
                print(
                    f"[{len(results)}/{len(todo)} {minutes:.0f} min] {result.key}: {mark}",
                    flush=True,
                )
        copy.close()

    with ThreadPoolExecutor(chosen.jobs) as pool:
        for ended in [pool.submit(worker, number) for number in range(chosen.jobs)]:
            ended.result()
    return results


if __name__ == "__main__":
    sys.exit(main())
