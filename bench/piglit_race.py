"""piglit's own runner on llvmpipe against ours on numpipe, alternating over one list.

    python bench/piglit_race.py tests.txt --shards 20 -o reports/race

The list names .shader_test files of an installed piglit, a path per line. It is cut into shards;
each shard is run by piglit (Mesa's shader cache starts empty), by gallette with an empty compile
cache, and by gallette again, one after the other, so that whatever else the machine does meets all
three alike. Counted: processor time of the runner and everything it started, and the time on the
clock. Finished shards are kept in `race.jsonl`: started again, the race goes on where it was.
"""

from __future__ import annotations

import argparse
import bz2
import contextlib
import ctypes
import gzip
import json
import os
import resource
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as tree
from collections import Counter
from pathlib import Path

RUNNERS = ("piglit", "gallette", "gallette again")
_PR_SET_CHILD_SUBREAPER = 36


def names_of(piglit: Path) -> dict[str, str]:
    """Every shader_test of piglit's list: its file below piglit's folder -> its name."""
    found = {}
    profile = gzip.decompress((piglit / "tests/shader.xml.gz").read_bytes())
    for test in tree.fromstring(profile):
        command = next(o.get("value") or "" for o in test if o.get("name") == "command")
        found[command.rpartition("', '")[2].rstrip("]'")] = test.get("name") or ""
    return found


def processor_time() -> float:
    """Of all processes that have ended, those left behind by their parents too."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Race:
    def __init__(self, tests: list[str], out: Path, piglit: Path, jobs: int):
        self.out, self.piglit, self.jobs = out, piglit, jobs
        self.names = names_of(piglit)
        self.tests = tests
        self.env = {
            **os.environ,
            "EGL_PLATFORM": "surfaceless",
            "LIBGL_ALWAYS_SOFTWARE": "1",
            "GALLIUM_DRIVER": "llvmpipe",
            "MESA_SHADER_CACHE_DIR": str(out / "cache-mesa"),
            "GALLETTE_CACHE": str(out / "cache-gallette"),
        }

    def command(self, runner: str, shard: list[str], folder: Path) -> list[str]:
        listed = folder.with_suffix(".txt")
        if runner == "piglit":
            shard = [self.names[str(Path(path).relative_to(self.piglit))] for path in shard]
            program = ["piglit", "run", "-l", "dummy", "-o", "-p", "surfaceless_egl"]
            options = ["--test-list", str(listed), "shader", str(folder)]
        else:
            program = [sys.executable, "-m", "gallette", "piglit", "run", "--driver", "numpipe"]
            options = ["--tests-list", str(listed), "--overwrite", "-o", str(folder)]
        listed.write_text("".join(f"{line}\n" for line in shard))
        return [*program, "-j", str(self.jobs), *options]

    def run(self, runner: str, number: int, shard: list[str]) -> dict[str, object]:
        folder = self.out / runner.replace(" ", "-") / f"{number:02}"
        folder.parent.mkdir(exist_ok=True)
        command = self.command(runner, shard, folder)
        before, start = processor_time(), time.monotonic()
        with open(folder.with_suffix(".log"), "w") as log:
            subprocess.run(command, env=self.env, stdout=log, stderr=log, check=False)
        wall = time.monotonic() - start
        return {
            "shard": number,
            "runner": runner,
            "cpu": round(processor_time() - before, 2),
            "wall": round(wall, 2),
            "results": dict(Counter(verdicts(folder).values())),
        }


def verdicts(folder: Path) -> dict[str, str]:
    """Name -> result, as the runner wrote it."""
    packed = folder / "results.json.bz2"
    if packed.exists():
        text = bz2.decompress(packed.read_bytes()).decode()
    else:
        text = (folder / "results.json").read_text()
    return {name: test["result"] for name, test in json.loads(text)["tests"].items()}


def show(rows: list[dict[str, object]]) -> None:
    done = [n for n in {r["shard"] for r in rows} if sum(r["shard"] == n for r in rows) == 3]
    print(f"{len(done)} shards")
    print("| runner | processor time | on the clock | results |\n|---|---|---|---|")
    for runner in RUNNERS:
        mine = [r for r in rows if r["runner"] == runner and r["shard"] in done]
        counts: Counter[str] = Counter()
        for row in mine:
            counts.update(row["results"])  # type: ignore[call-overload]
        cpu, wall = (sum(float(str(r[key])) for r in mine) for key in ("cpu", "wall"))
        told = ", ".join(f"{n} {what}" for what, n in counts.most_common())
        print(f"| {runner} | {cpu:.0f} s | {wall:.0f} s | {told} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("list", type=Path)
    parser.add_argument("--shards", type=int, default=20)
    parser.add_argument("--first", type=int, metavar="N", help="run only N shards")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--piglit", type=Path, default=Path("/usr/lib/x86_64-linux-gnu/piglit"))
    parser.add_argument("-o", "--output", type=Path, default=Path("reports/race"))
    options = parser.parse_args()
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    out = options.output.resolve()
    journal = out / "race.jsonl"
    if not journal.exists():
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
    rows = (
        [json.loads(line) for line in journal.read_text().splitlines()] if journal.exists() else []
    )
    tests = [line for line in options.list.read_text().split("\n") if line]
    race = Race(tests, out, options.piglit, options.jobs)
    for number in range(options.first or options.shards):
        for runner in RUNNERS:
            if any(r["shard"] == number and r["runner"] == runner for r in rows):
                continue
            row = race.run(runner, number, tests[number :: options.shards])
            rows.append(row)
            with open(journal, "a") as file:
                file.write(json.dumps(row) + "\n")
            print(json.dumps(row), flush=True)
    show(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
