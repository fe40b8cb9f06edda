"""Which tests run which line, measured once for a state of the tree.

`measure` runs the whole suite under coverage, `CoverageMap` reads what came out. A line that runs
while a module is imported belongs to no test: it is met by every test that runs anything in its
file.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
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


def measure(tree: Path, folder: Path, workers: int) -> None:
    """Run the suite of `tree` under coverage in `workers` processes; results go to `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    settings = folder / "settings"
    sources = ", ".join(str(tree / f) for f in FOLDERS)
    settings.write_text(SETTINGS.format(sources=sources, data=folder / "data"))
    files = sorted((tree / "tests").rglob("test_*.py"), key=lambda p: -p.stat().st_size)
    environment = os.environ | {
        "MUTANTS_DURATIONS": str(folder / "durations.jsonl"),
        "PYTHONPATH": f"{tree}{os.pathsep}{tree / 'bench'}",
    }
    command = [sys.executable, "-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest"]
    command += ["-q", "-p", "mutants.plugin", "-p", "no:cacheprovider", "-p", "no:randomly"]
    running = [
        subprocess.Popen(
            command + [str(f.relative_to(tree)) for f in files[number::workers]],
            cwd=tree,
            env=environment,
            stdout=(folder / f"log{number}").open("w"),
        )
        for number in range(workers)
    ]
    for process in running:
        process.wait()
    measured = coverage.Coverage(config_file=str(settings))
    measured.combine([str(folder)])
    measured.save()


class CoverageMap:
    """What `measure` left in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.data = coverage.CoverageData(str(folder / "data"))
        self.data.read()
        self.files = {_beside(name): name for name in self.data.measured_files()}
        lines = (folder / "durations.jsonl").read_text().splitlines()
        self.seconds: dict[str, float] = dict(json.loads(line) for line in lines)

    def tests_of(self, path: str, line: int) -> list[str]:
        """The tests that run a line of a file (relative to the tree), the quickest first."""
        by_line = self._contexts(path)
        tests = {t for t in by_line.get(line, ()) if t}
        if not tests:
            tests = {t for contexts in by_line.values() for t in contexts if t}
        return sorted(tests & self.seconds.keys(), key=lambda t: self.seconds[t])

    @cache  # noqa: B019 - one map lives as long as the program
    def _contexts(self, path: str) -> dict[int, list[str]]:
        name = self.files.get(path)
        return self.data.contexts_by_lineno(name) if name else {}


def _beside(name: str) -> str:
    """`/x/gallette/compiler/a.py` and `/x/compiler/a.py` are both `compiler/a.py`."""
    parts = Path(os.path.realpath(name)).parts
    for index in range(len(parts) - 1, 0, -1):
        rest = parts[index + 1 :]
        if parts[index] in FOLDERS and not any(f in FOLDERS for f in parts[:index]):
            return "/".join((parts[index], *rest))
    return name
