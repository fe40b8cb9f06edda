"""Plant one fault in a copy of the tree and see who notices.

In turn, stopping at the first that does: the quickest tests that run the line, the type checker,
all other tests that run it. A fault nobody's measured test meets, or one that outlived all of them
where `whole` is asked for, is put before the whole suite. What only offends the style checker (a
`pass` where a call was) does not count as noticed.

With a budget of seconds the other tests end there, and so many of them are left for another day.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .coverage_map import CoverageMap
from .faults import Fault

MEMORY = 8 << 30
"""bytes one run of tests may have: a fault may ask for any amount"""
QUICK_SECONDS = 15.0
WHOLE_SECONDS = 1800.0
USAGE = 4
"""pytest's exit status when a test that was named is not there"""
NOT_FOUND = re.compile(r"^ERROR: not found: \S*?/?(tests/.*)$", re.MULTILINE)

BROKEN = re.compile(r"^ERROR tests/", re.MULTILINE)
"""a module of tests that cannot be read: its tests are not found either, and that is a notice"""


@dataclass(frozen=True)
class Verdict:
    by: str
    """who noticed: a test, mypy, `timeout`; empty for a survivor"""
    tried: int
    """how many tests ran the line"""
    left: int = 0
    """how many of them were not asked"""


@dataclass
class Copy:
    """A clone of the tree that one worker breaks and mends."""

    folder: Path
    python: str = sys.executable

    @classmethod
    def of(cls, tree: Path, folder: Path) -> Copy:
        if folder.exists():
            fetch = ["git", "-C", str(folder), "fetch", "-q", str(tree), "HEAD"]
            subprocess.run(fetch, check=True)
        else:
            subprocess.run(["git", "clone", "-q", str(tree), str(folder)], check=True)
        head = subprocess.check_output(["git", "-C", str(tree), "rev-parse", "HEAD"], text=True)
        checkout = ["git", "-C", str(folder), "checkout", "-q", "--force", "--detach", head.strip()]
        subprocess.run(checkout, check=True)
        return cls(folder)

    def run(self, arguments: Sequence[str], seconds: float) -> tuple[int | None, str]:
        """(exit status, output) of a Python module; None when it took longer or too much."""
        environment = os.environ | {"PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"}
        process = subprocess.Popen(
            [self.python, "-m", *arguments],
            cwd=self.folder,
            env=environment,
            text=True,
            errors="replace",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
        )
        try:
            output, _ = process.communicate(timeout=seconds)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def tests(self, names: Sequence[str], seconds: float) -> str:
        """The first of these tests that fails; empty where all pass."""
        listed = self.folder / ".mutants-tests"
        listed.write_text("\n".join(names))
        arguments = ["pytest", "-x", "-q", "-p", "no:cacheprovider", f"@{listed.name}"]
        status, output = self.run(arguments, 30 + 5 * seconds)
        if status is None:
            return "timeout"
        gone = set(NOT_FOUND.findall(output)) if status == USAGE else set()
        if gone and not BROKEN.search(output):
            kept = [name for name in names if name not in gone]
            return self.tests(kept, seconds) if 0 < len(kept) < len(names) else ""
        return "" if status == 0 else _first_failure(output)


def _first_failure(output: str) -> str:
    for line in output.splitlines():
        if line.startswith(("FAILED ", "ERROR ")):
            return line.split(" ", 2)[1]
    last = output.strip().splitlines()[-1:] or ["crash"]
    return last[0][:100]


def judge(
    copy: Copy, tests: CoverageMap, path: str, fault: Fault, whole: bool, budget: float
) -> Verdict:
    """Who notices this fault of `path` (relative to the tree)?"""
    file = copy.folder / path
    clean = file.read_bytes()
    meeting = tests.tests_of(path, fault.line)
    quick = _within(meeting, tests, QUICK_SECONDS)
    rest = meeting[len(quick) :]
    asked = _within(rest, tests, budget) if budget else rest
    try:
        file.write_bytes(fault.planted(clean))
        by = _noticed_by(copy, tests, quick, asked)
        if not by and (whole or not (meeting or budget)):
            by = copy.tests(["tests"], WHOLE_SECONDS)
        return Verdict(by, len(meeting), 0 if by or whole else len(rest) - len(asked))
    finally:
        file.write_bytes(clean)


def _within(names: list[str], tests: CoverageMap, seconds: float) -> list[str]:
    """The first of these tests: at least one, as many as end in time."""
    some: list[str] = []
    total = 0.0
    for name in names:
        total += tests.seconds[name]
        if some and total > seconds:
            break
        some.append(name)
    return some


def _noticed_by(copy: Copy, tests: CoverageMap, quick: list[str], rest: list[str]) -> str:
    if quick and (failed := copy.tests(quick, QUICK_SECONDS)):
        return failed
    if copy.run(["mypy"], 600)[0]:
        return "mypy"
    return copy.tests(rest, sum(tests.seconds[t] for t in rest)) if rest else ""
