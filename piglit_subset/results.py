"""Results on disk, in the JSON format that `piglit summary` reads (results version 10).

A run is a folder with one `results.json` (until it ends, `journal.py`'s file instead). Runs of
gallette and of piglit itself, also compressed ones, can be read, and so compared.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import platform
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gallette.compiler.errors import InputError

# From best to worst; "skip" is no verdict, so it comes last.
ORDER = ("pass", "warn", "fail", "timeout", "crash", "incomplete", "skip", "notrun")
SEPARATOR = "@"


@dataclass(slots=True)
class Entry:
    """One test of a run."""

    result: str
    reason: str = ""
    out: str = ""
    err: str = ""
    command: str = ""
    start: float = 0.0
    end: float = 0.0
    images: dict[str, str] = field(default_factory=dict)
    path: str = ""
    # How often each result occurred, for a test that ran more than once.
    attempts: dict[str, int] = field(default_factory=dict)
    name: str = ""

    @property
    def runs(self) -> int:
        return sum(self.attempts.values()) or 1

    @property
    def seconds(self) -> float:
        return self.end - self.start

    @property
    def flaky(self) -> bool:
        return len(self.attempts) > 1

    def with_another(self, other: Entry) -> Entry:
        """Two runs of the same test combined: the worse result, with both counted."""
        counts = Counter(self.attempts or {self.result: 1})
        counts.update(other.attempts or {other.result: 1})
        worse = max(self, other, key=lambda e: ORDER.index(e.result))
        reason = worse.reason.partition(_FLAKY_END)[2] or worse.reason
        if len(counts) > 1:
            seen = ", ".join(f"{r} {counts[r]}" for r in ORDER if counts[r])
            reason = f"flaky: {seen}{_FLAKY_END}{reason}"
        return replace(worse, reason=reason, attempts=dict(counts))


_FLAKY_END = " times; "


@dataclass(slots=True)
class Run:
    """A whole run: its name (the driver by default), its tests by name, what it ran on."""

    name: str
    tests: dict[str, Entry] = field(default_factory=dict)
    info: dict[str, str] = field(default_factory=dict)
    start: float = 0.0
    end: float = 0.0
    # The journal's head line, from which a finished run can be resumed; piglit's runs have none.
    head: dict[str, Any] | None = None

    def add(self, name: str, entry: Entry) -> Entry:
        """Record a result (another one, if the test ran before); returns the combined result."""
        known = self.tests.get(name)
        self.tests[name] = entry if known is None else known.with_another(entry)
        return self.tests[name]

    def totals(self) -> Counter[str]:
        return Counter(t.result for t in self.tests.values())


def test_name(path: Path, root: Path) -> str:
    """A test's name in piglit: its path under the root, with `@` between the parts,
    without suffix.
    """
    try:
        relative = path.resolve().relative_to(root.resolve())
    except ValueError:
        relative = Path(path.name)
    return SEPARATOR.join(relative.with_suffix("").parts)


def again(driver: str, path: Path | str) -> str:
    """The command that runs one test."""
    return f"gallette piglit run --driver {driver} {path}"


def _time(start: float, end: float) -> dict[str, Any]:
    return {"start": start, "end": end, "__type__": "TimeAttribute"}


def _entry(test: Entry, pid: int) -> dict[str, Any]:
    return {
        "result": test.result,
        "out": test.out,
        "err": test.err,
        "command": test.command,
        "environment": "",
        "exception": None,
        "traceback": None,
        "dmesg": "",
        "images": None,
        "returncode": 0 if test.result in ("pass", "skip", "warn") else 1,
        "pid": [pid],
        "subtests": {"__type__": "Subtests"},
        "time": _time(test.start, test.end),
        "__type__": "TestResult",
        # Additional keys, which piglit's readers ignore: the one-line reason and the pictures.
        "gallette": {
            "reason": test.reason,
            "images": test.images,
            "path": test.path,
            "attempts": test.attempts,
        },
    }


def write_run(run: Run, folder: Path, head: dict[str, Any] | None = None) -> Path:
    """Write `folder/results.json` atomically; returns its path."""
    pid = os.getpid()
    document = {
        "__type__": "TestrunResult",
        "results_version": 10,
        "name": run.name,
        "info": {"system": {"uname": " ".join(platform.uname()), **run.info}},
        "options": {
            "profile": ["gallette"],
            "dmesg": False,
            "monitoring": False,
            "gallette": head,
        },
        "time_elapsed": _time(run.start, run.end),
        "tests": {name: _entry(test, pid) for name, test in sorted(run.tests.items())},
    }
    return write_synced(folder / "results.json", json.dumps(document, indent=1))


def write_synced(path: Path, text: str) -> Path:
    """Write a file in a run's folder atomically and durably; returns its path."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f"{path.name}.new")
        with temporary.open("w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        return temporary.replace(path)
    except OSError as error:
        raise InputError(f"{path.parent}: cannot write: {error.strerror or error}") from None


_OPENERS = {".json": open, ".bz2": bz2.open, ".gz": gzip.open, ".xz": lzma.open}


def read_run(path: Path) -> Run:
    """Read a run from its folder or its results file."""
    file = path
    if path.is_dir():
        from gallette.piglit_subset.journal import read_unfinished

        unfinished = read_unfinished(path)
        if unfinished is not None:
            return unfinished
        found = sorted(path.glob("results.json")) or sorted(path.glob("results.json.?z*"))
        if not found:
            raise InputError(f"{path}: no results.json in this folder")
        file = found[0]
    opener: Any = _OPENERS.get(file.suffix, open)
    try:
        with opener(file, "rt", encoding="utf-8") as stream:
            document = json.load(stream)
    except OSError as error:
        raise InputError(f"{file}: cannot read: {error.strerror or error}") from None
    except (ValueError, EOFError) as error:
        raise InputError(f"{file}: not a results file: {error}") from None
    if not isinstance(document, dict) or not isinstance(document.get("tests"), dict):
        raise InputError(f"{file}: not a results file: no table of tests")
    run = Run(str(document.get("name") or path.name))
    elapsed = document.get("time_elapsed") or {}
    run.start, run.end = float(elapsed.get("start", 0)), float(elapsed.get("end", 0))
    system = (document.get("info") or {}).get("system") or {}
    run.head = (document.get("options") or {}).get("gallette")
    run.info = {str(k): str(v) for k, v in system.items()}
    for name, test in document["tests"].items():
        extra, times = test.get("gallette") or {}, test.get("time") or {}
        run.tests[name] = Entry(
            str(test.get("result", "incomplete")),
            str(extra.get("reason", "")),
            str(test.get("out") or ""),
            str(test.get("err") or ""),
            str(test.get("command") or ""),
            float(times.get("start", 0)),
            float(times.get("end", 0)),
            dict(extra.get("images") or {}),
            str(extra.get("path", "")),
            dict(extra.get("attempts") or {}),
        )
    return run


def merge(runs: list[Run]) -> tuple[Run, dict[str, Any] | None]:
    """Merge shards of one suite into one run, with its head; a test in two shards is an error."""
    whole = Run(runs[0].name, info=dict(runs[0].info), start=min(r.start for r in runs))
    for run in runs:
        if run.name != whole.name:
            raise InputError(f"cannot merge runs of {whole.name} and of {run.name}")
        for name, test in run.tests.items():
            if name in whole.tests:
                raise InputError(f"cannot merge: two of the runs have {name.replace('@', '/')}")
            whole.tests[name] = test
    whole.end = whole.start + sum(r.end - r.start for r in runs)
    heads = [run.head for run in runs]
    head: dict[str, Any] | None = None
    if all(heads):
        tests = sorted(test for h in heads if h is not None for test in h["tests"])
        head = {**(heads[0] or {}), "tests": tests}
    return whole, head
