"""Kill a run with SIGKILL at random moments, resume it each time, compare with an undisturbed run.

    python bench/kill_resume.py --kills 20 --filter 'operators|textures'

Prints every kill and the verdict; exit status 1 if any test's result differs.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gallette.piglit_subset.journal import FILE
from gallette.piglit_subset.results import read_run


def command(*arguments: str) -> list[str]:
    """A run of two jobs. Its tests have time: on a busy machine none may end by being late."""
    run = [sys.executable, "-m", "gallette", "piglit", "run", "-j", "2", *arguments]
    return run if "--resume" in arguments else [*run, "--timeout", "1200"]


def results(folder: Path) -> dict[str, tuple[str, str]]:
    return {name: (test.result, test.reason) for name, test in read_run(folder).tests.items()}


def count(journal: Path | None) -> int:
    if journal is None or not journal.exists():
        return 0
    return journal.read_bytes().count(b'"test":')


def killed(arguments: list[str], seconds: float, growing: Path | None) -> bool:
    """Run a command and kill it, worker processes left to notice by themselves; was it in time?

    The seconds count from the next result in `growing`, if there is one, else from the start.
    """
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lines = count(growing)
    while growing is not None and process.poll() is None and count(growing) <= lines:
        time.sleep(0.05)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        return True
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--filter", default="operators|textures|builtins")
    parser.add_argument("--seed", type=int, default=14)
    options = parser.parse_args()
    random.seed(options.seed)
    home = Path(tempfile.mkdtemp(prefix="kill-resume-"))
    whole, broken = home / "whole", home / "broken"
    start = time.monotonic()
    subprocess.run(command("--filter", options.filter, "-o", str(whole)), check=False)
    length = time.monotonic() - start
    kills = fresh = 0
    while kills < options.kills:
        unfinished = (broken / FILE).exists()
        if not unfinished:
            shutil.rmtree(broken, ignore_errors=True)
            fresh += 1
        begin = ["--resume", str(broken)] if unfinished else ["--filter", options.filter]
        where = [] if unfinished else ["-o", str(broken)]
        # Mostly in the middle of results, now and then while everything starts.
        early = random.random() < 0.2
        moment = random.uniform(0.3, length * 0.3) if early else random.uniform(0.0, length * 0.08)
        growing = None if early else broken / FILE
        if not killed(command(*begin, *where), moment, growing):
            print(f"finished before {moment:.2f} s")
        else:
            kills += 1
            left = (
                sum(t[0] == "notrun" for t in results(broken).values())
                if (broken / FILE).exists() and (broken / FILE).stat().st_size
                else "all"
            )
            print(f"kill {kills} after {moment:.2f} s: {left} tests left")
    if (broken / FILE).exists():
        subprocess.run(command("--resume", str(broken)), check=False)
    same = results(broken) == results(whole)
    verdict = "the same" if same else "DIFFERENT"
    print(f"{kills} kills over {fresh} runs of {len(results(whole))} tests: {verdict}")
    shutil.rmtree(home)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
