"""Which tests run which code, measured test file by test file and remembered with the commit.

`measure` runs test files of a tree with probes (see `probes.py`), `CoverageMap` reads what came
out. A later measurement adds to an earlier one: only test files that are new or changed run again,
and lines of files that were edited since are found through the difference of their texts.

Code that runs while a module is imported belongs to no test. What such a line defines has a name,
and the tests that run a mention of that name are the ones to ask.
"""

from __future__ import annotations

import ast
import difflib
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .probes import Probes

BENCH = Path(__file__).resolve().parents[1]
BATCH = 150_000
"""bytes of test files for one process"""


def git(tree: Path, *arguments: str) -> str:
    return subprocess.check_output(["git", "-C", str(tree), *arguments], text=True)


def test_files(tree: Path, places: Sequence[str] = ()) -> list[str]:
    """What pytest collects tests from (in `places`): modules and the textual tests of NIR."""
    listed = git(tree, "ls-files", "--", *(places or ["tests"])).split("\n")
    return [f for f in listed if f.endswith(".nir") or Path(f).match("test_*.py")]


def measure(
    tree: Path,
    folder: Path,
    workers: int,
    again: bool = False,
    seconds: float = 1e9,
    places: Sequence[str] = (),
) -> int:
    """Measure, in `workers` processes, the test files that were not measured as they are (all of
    them with `again`); results go to a part of `folder` named after the commit. No batch begins
    when `seconds` have passed; how many files are left is answered."""
    commit = git(tree, "rev-parse", "--short", "HEAD").strip()
    known = set() if again else _known(tree, folder)
    sizes = {f: (tree / f).stat().st_size for f in test_files(tree, places)}
    files = sorted(sizes.keys() - known, key=lambda f: -sizes[f])
    if not files:
        return 0
    part = folder / commit
    fresh = not (part / "code" / "probes.json").exists()
    probes = Probes.of(tree, part / "code") if fresh else Probes.read(part / "code")
    begun = time.monotonic()
    running: dict[int, tuple[subprocess.Popen[bytes], list[str]]] = {}
    while running or (files and time.monotonic() - begun < seconds):
        for number in range(workers):
            if number in running and running[number][0].poll() is not None:
                # What can never pass while it is measured is not tried again and again.
                with (part / "files").open("a") as file:
                    file.writelines(f"{name}\n" for name in running.pop(number)[1])
            if number not in running and files and time.monotonic() - begun < seconds:
                batch = _batch(files, sizes)
                running[number] = (_start(tree, part, probes.count, number, batch), batch)
        time.sleep(0.2)
    return len(files)


def _batch(files: list[str], sizes: dict[str, int]) -> list[str]:
    """Take the next files for one process."""
    batch = [files.pop(0)]
    while files and sum(sizes[f] for f in batch) + sizes[files[0]] < BATCH:
        batch.append(files.pop(0))
    return batch


def _start(
    tree: Path, part: Path, count: int, number: int, batch: list[str]
) -> subprocess.Popen[bytes]:
    """Begin to measure some files."""
    (part / f"bytes{number}").write_bytes(bytes(count))
    environment = os.environ | {
        "MUTANTS_CODE": str(part / "code"),
        "MUTANTS_BYTES": str(part / f"bytes{number}"),
        "MUTANTS_ROWS": str(part / f"rows{number}"),
        "MUTANTS_JOURNAL": str(part / f"tests{number}.jsonl"),
        "PYTHONPATH": os.pathsep.join(map(str, (BENCH / "mutants" / "runtime", tree, BENCH))),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "mutants.plugin"]
    command += ["-p", "no:cacheprovider", *batch]
    log = (part / f"log{number}").open("a")
    return subprocess.Popen(command, cwd=tree, env=environment, stdout=log, stderr=log)


def _parts(folder: Path) -> list[Path]:
    """Measurements, the latest first."""
    return sorted(folder.glob("*/files"), key=lambda p: p.stat().st_mtime, reverse=True)


def _begun(listed: Path) -> set[str]:
    """Test files of a measurement, including those that did not finish."""
    journals = sorted(listed.parent.glob("tests*.jsonl"))
    lines = (line for journal in journals for line in journal.read_text().splitlines())
    some = {json.loads(line)[0].partition("::")[0] for line in lines}
    return set(listed.read_text().split()) | some


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
    probes: Probes
    tests: list[str]  # which have not been measured later
    bits: NDArray[np.uint8]  # a packed row for each of them
    imported: NDArray[np.uint8]  # what ran between tests

    def running(self, probes: Iterable[int]) -> set[str]:
        """The tests that run any of these stretches."""
        found = np.zeros(len(self.tests), bool)
        for probe in probes:
            found |= (self.bits[:, probe >> 3] >> (7 - (probe & 7)) & 1).astype(bool)
        return {self.tests[i] for i in np.flatnonzero(found)}

    def ran_between(self, probe: int) -> bool:
        return bool(self.imported[probe >> 3] >> (7 - (probe & 7)) & 1)

    def mentions(self, names: set[str], near: str) -> list[int]:
        """Stretches of the same layer that mention one of these names."""
        found = []
        for path, by_probe in self.probes.names.items():
            if path.split("/")[0] == near.split("/")[0]:
                found += [p for p, words in by_probe.items() if not names.isdisjoint(words)]
        return found


@cache
def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


class CoverageMap:
    """What `measure` left in `folder`, for a tree at whatever commit it is."""

    def __init__(self, folder: Path, tree: Path, places: Sequence[str] = ()) -> None:
        """`places`: the tests that count."""
        self.tree = tree
        self.parts: list[_Part] = []
        self.seconds: dict[str, float] = {}
        seen: set[str] = set()
        present = set(test_files(tree, places))
        for listed in _parts(folder):
            measured = (present - seen) & _begun(listed)
            seen |= measured
            self.parts.append(self._read(listed.parent, measured))

    def _read(self, place: Path, files: set[str]) -> _Part:
        """One measurement's rows of tests in some files."""
        probes = Probes.read(place / "code")
        width = (probes.count + 7) // 8
        imported = np.zeros(width, np.uint8)
        rows: dict[str, NDArray[np.uint8]] = {}
        for journal in sorted(place.glob("tests*.jsonl")):
            packed = np.fromfile(journal.with_name(f"rows{journal.stem[5:]}"), np.uint8)
            for number, line in enumerate(journal.read_text().splitlines()):
                test, seconds = json.loads(line)
                row = packed[number * width : (number + 1) * width]
                if not test:
                    imported |= row
                elif test.partition("::")[0] in files:
                    rows[test] = row
                    self.seconds[test] = seconds
        bits = np.stack(list(rows.values())) if rows else np.zeros((0, width), np.uint8)
        return _Part(place.name, probes, list(rows), bits, imported)

    def tests_of(self, path: str, line: int) -> list[str]:
        """The tests that could notice a fault of a line (of a file of the tree), in good order.

        First those that run it, then, where it ran before any test (or only in the first of those
        that share what it made), those that run anything else of its file or stand beside an import
        of it; where there are none, of its folder. Of each, those beside an import come first.
        """
        direct: set[str] = set()
        nearby: set[str] = set()
        for part in self.parts:
            lines = part.probes.lines.get(path, {})
            then = self._lines(part.commit, path).get(line, -1)
            own = set(lines.values())
            if then in lines:
                direct |= part.running([lines[then]])
                if part.ran_between(lines[then]):
                    nearby |= part.running(own)
            else:
                names = self._defined(path, line)
                direct |= part.running(part.mentions(names, path))
                nearby |= part.running(own)
        about = self._importing(path)
        if self._is_outside(path, line) or self.runs_early(path, line):
            # Those that run it start processes, and take long: no better than others.
            about = about or self._importing(path.rpartition("/")[0])
            direct, nearby = direct | nearby | about, set()
        if not (direct or nearby):  # a table that others put together while they are imported
            folder = path.rpartition("/")[0]
            for part in self.parts:
                files = (f for f in part.probes.lines if f.rpartition("/")[0] == folder)
                nearby |= part.running({p for f in files for p in part.probes.lines[f].values()})
        nearby -= direct
        some = direct & about, direct - about, nearby & about, nearby - about
        return [test for each in some for test in self._ordered(each)]

    def runs_early(self, path: str, line: int) -> bool:
        """Does a line run before any test, as modules are imported?"""
        for part in self.parts:
            lines, then = part.probes.lines.get(path, {}), self._lines(part.commit, path).get(line)
            if then in lines and part.ran_between(lines[then]):
                return True
        return False

    def _importing(self, path: str) -> set[str]:
        """The tests of files that name a module, or something in a folder.

        They may look at its tables, or keep what it made while they were read, and run nothing.
        """
        dotted = path.removesuffix(".py").removeprefix("gallette/").replace("/", ".")
        package, _, module = f"gallette.{dotted}".rpartition(".")
        named = re.compile(
            rf"\b{re.escape(package)}"
            rf"(\.{module}\b| import (\([^)]*|[^(\n]*)\b{module}\b)"
        )
        files = {test.partition("::")[0] for test in self.seconds}
        some = {f for f in files if named.search(_text(self.tree / f))}
        return {test for test in self.seconds if test.partition("::")[0] in some}

    def _ordered(self, tests: set[str]) -> list[str]:
        """Quick ones first; of each file, and of each test's cases, one before a second."""
        quick = sorted(tests, key=lambda t: (self.seconds[t], t))
        by_test, cost = Counter[str](), {}
        for name in quick:
            test = name.partition("[")[0]
            by_test[test] += 1
            cost[name] = (0.02 + self.seconds[name]) * by_test[test]
        by_file, place = Counter[str](), {}
        for name in sorted(quick, key=cost.__getitem__):
            file = name.partition("::")[0]
            by_file[file] += 1
            place[name] = (0.02 + self.seconds[name]) * by_file[file]
        return sorted(quick, key=place.__getitem__)

    def _is_outside(self, path: str, line: int) -> bool:
        """Is a line part of no function, and runs when its module is imported?"""
        return not any(
            node.body[0].lineno <= line <= (node.end_lineno or 0)
            for node in ast.walk(_parsed(self.tree / path))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        )

    def _defined(self, path: str, line: int) -> set[str]:
        """The names that a line outside functions helps to define."""
        names: set[str] = set()
        for node in ast.walk(_parsed(self.tree / path)):
            if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
                names |= _names_of(node)
            for decorator in getattr(node, "decorator_list", []):
                if decorator.lineno <= line <= decorator.end_lineno:
                    names |= _names_of(node)
        return names

    @cache  # noqa: B019 - one map lives as long as the program
    def _lines(self, commit: str, path: str) -> dict[int, int]:
        """Line now -> line at the commit, for the lines that are equal."""
        now = (self.tree / path).read_text().splitlines()
        try:
            then = git(self.tree, "show", f"{commit}:{path}").splitlines()
        except subprocess.CalledProcessError:  # there was no such file
            return {}
        return same_lines(then, now)


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes())


def _names_of(node: ast.AST) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
    return {n.id for t in targets if t for n in ast.walk(t) if isinstance(n, ast.Name)}


def same_lines(then: Sequence[str], now: Sequence[str]) -> dict[int, int]:
    """Line number now -> line number then, where nothing changed."""
    found: dict[int, int] = {}
    matcher = difflib.SequenceMatcher(None, then, now, autojunk=False)
    for old, new, size in matcher.get_matching_blocks():
        found |= {new + 1 + i: old + 1 + i for i in range(size)}
    return found
