"""Which tests run which line, measured test file by test file and remembered with the commit.

`measure` runs test files of a tree under coverage, `CoverageMap` reads what came out. A later
measurement adds to an earlier one: only test files that are new or changed run again, and lines of
files that were edited since are found through the difference of their texts. A line that runs while
a module is imported belongs to no test: it is met by every test that runs anything in its file.
"""

from __future__ import annotations

import difflib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import coverage

SETTINGS = """[run]
source = {sources}
parallel = true
data_file = {data}
context = ${{MUTANTS_TEST-}}
patch = subprocess, fork, _exit
disable_warnings = no-data-collected, module-not-measured, module-not-imported
"""
FOLDERS = ("compiler", "pipe", "drivers", "state_tracker", "piglit_subset", "gallette")


def git(tree: Path, *arguments: str) -> str:
    return subprocess.check_output(["git", "-C", str(tree), *arguments], text=True)


def test_files(tree: Path) -> list[str]:
    """What pytest collects tests from: modules and the textual tests of NIR."""
    listed = git(tree, "ls-files", "--", "tests").split("\n")
    return [f for f in listed if f.endswith(".nir") or Path(f).match("test_*.py")]


def measure(tree: Path, folder: Path, workers: int, again: bool = False) -> None:
    """Run under coverage, in `workers` processes, the test files that were not measured as they
    are (all of them with `again`); results go to a part of `folder` named after the commit."""
    commit = git(tree, "rev-parse", "--short", "HEAD").strip()
    known = set() if again else _known(tree, folder)
    sizes = {f: (tree / f).stat().st_size for f in test_files(tree)}
    files = sorted(sizes.keys() - known, key=lambda f: -sizes[f])
    if not files:
        return
    part = folder / commit
    part.mkdir(parents=True, exist_ok=True)
    settings = part / "settings"
    sources = ", ".join(str(tree / f) for f in FOLDERS)
    settings.write_text(SETTINGS.format(sources=sources, data=part / "data"))
    environment = os.environ | {
        "MUTANTS_DURATIONS": str(part / "durations.jsonl"),
        "PYTHONPATH": f"{tree}{os.pathsep}{tree / 'bench'}",
    }
    command = [sys.executable, "-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest"]
    command += ["-q", "-p", "mutants.plugin", "-p", "no:cacheprovider", "-p", "no:randomly"]
    running = [
        subprocess.Popen(
            command + files[number::workers],
            cwd=tree,
            env=environment,
            stdout=(part / f"log{number}").open("w"),
        )
        for number in range(min(workers, len(files)))
    ]
    for process in running:
        process.wait()
    measured = coverage.Coverage(config_file=str(settings))
    measured.combine([str(part)])
    measured.save()
    # What can never pass while it is measured is not tried again and again.
    with (part / "files").open("a") as file:
        file.writelines(f"{name}\n" for name in files)


def _parts(folder: Path) -> list[Path]:
    """Measurements that came to their end, the latest first."""
    return sorted(folder.glob("*/files"), key=lambda p: p.stat().st_mtime, reverse=True)


def _changed_since(tree: Path, commit: str) -> set[str]:
    return set(git(tree, "diff", "--name-only", "--no-renames", commit, "HEAD").split("\n"))


def _known(tree: Path, folder: Path) -> set[str]:
    """Test files that some measurement saw as they are."""
    known: set[str] = set()
    for files in _parts(folder):
        known |= set(files.read_text().split()) - _changed_since(tree, files.parent.name)
    return known


@dataclass(eq=False)
class _Part:
    """One measurement: of a commit, some test files."""

    commit: str
    data: coverage.CoverageData
    files: dict[str, str]  # path in the tree -> as it was measured
    tests: set[str]  # which nobody has measured later

    @cache  # noqa: B019 - parts live as long as the program
    def contexts(self, path: str) -> dict[int, list[str]]:
        name = self.files.get(path)
        return self.data.contexts_by_lineno(name) if name else {}


class CoverageMap:
    """What `measure` left in `folder`, for a tree at whatever commit it is."""

    def __init__(self, folder: Path, tree: Path) -> None:
        self.tree = tree
        self.parts: list[_Part] = []
        self.seconds: dict[str, float] = {}
        seen: set[str] = set()
        present = set(test_files(tree))
        for listed in _parts(folder):
            place = listed.parent
            data = coverage.CoverageData(str(place / "data"))
            data.read()
            files = {_beside(name): name for name in data.measured_files()}
            tests: set[str] = set()
            measured = set(listed.read_text().split()) - seen
            for line in (place / "durations.jsonl").read_text().splitlines():
                test, seconds = json.loads(line)
                if test.partition("::")[0] in measured & present:
                    tests.add(test)
                    self.seconds[test] = seconds
            seen |= measured
            self.parts.append(_Part(place.name, data, files, tests))

    def tests_of(self, path: str, line: int) -> list[str]:
        """The tests that run a line of a file (relative to the tree), the quickest first."""
        found: set[str] = set()
        nearby: set[str] = set()
        for part in self.parts:
            by_line = part.contexts(path)
            then = self._lines(part.commit, path).get(line)
            found |= part.tests.intersection(by_line.get(then, ()) if then else ())
            nearby |= part.tests & {test for tests in by_line.values() for test in tests}
        return sorted(found or nearby, key=lambda t: self.seconds[t])

    @cache  # noqa: B019 - one map lives as long as the program
    def _lines(self, commit: str, path: str) -> dict[int, int]:
        """Line now -> line at the commit, of what is the same."""
        now = (self.tree / path).read_text().splitlines()
        try:
            then = git(self.tree, "show", f"{commit}:{path}").splitlines()
        except subprocess.CalledProcessError:  # there was no such file
            return {}
        return same_lines(then, now)


def same_lines(then: Sequence[str], now: Sequence[str]) -> dict[int, int]:
    """Line number now -> line number then, where nothing changed."""
    found = {}
    matcher = difflib.SequenceMatcher(None, then, now, autojunk=False)
    for old, new, size in matcher.get_matching_blocks():
        found |= {new + 1 + i: old + 1 + i for i in range(size)}
    return found


def _beside(name: str) -> str:
    """`/x/gallette/compiler/a.py` and `/x/compiler/a.py` are both `compiler/a.py`."""
    parts = Path(os.path.realpath(name)).parts
    for index in range(len(parts) - 1, 0, -1):
        rest = parts[index + 1 :]
        if parts[index] in FOLDERS and not any(f in FOLDERS for f in parts[:index]):
            return "/".join((parts[index], *rest))
    return name
