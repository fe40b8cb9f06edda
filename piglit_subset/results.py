"""Results on disk, in the JSON format `piglit summary` reads (results version 10).

A run is a folder with one `results.json`. Reading accepts runs of gallette and of piglit itself,
also compressed ones, so the two can be compared.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import platform
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gallette.compiler.errors import InputError
from gallette.piglit_subset.pool import Report

__all__ = ["ORDER", "Entry", "Run", "read_run", "write_run"]

# From best to worst; "skip" says nothing, so it comes after all verdicts.
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


@dataclass(slots=True)
class Run:
    """A whole run: its name (the driver by default), its tests by name, what it ran on."""

    name: str
    tests: dict[str, Entry] = field(default_factory=dict)
    info: dict[str, str] = field(default_factory=dict)
    start: float = 0.0
    end: float = 0.0

    def totals(self) -> Counter[str]:
        return Counter(t.result for t in self.tests.values())


def test_name(path: Path, root: Path) -> str:
    """piglit's way to name a test: its path under the root, `@` between the parts, no suffix."""
    try:
        relative = path.resolve().relative_to(root.resolve())
    except ValueError:
        relative = Path(path.name)
    return SEPARATOR.join(relative.with_suffix("").parts)


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
        # Beyond piglit's format, which readers ignore: the one-line reason and the pictures.
        "gallette": {"reason": test.reason, "images": test.images},
    }


def entry_of(report: Report, driver: str) -> Entry:
    command = f"gallette piglit run --driver {driver} {report.path}"
    return Entry(
        report.result,
        report.reason,
        report.out,
        report.err,
        command,
        report.start,
        report.end,
        report.images,
    )


def write_run(run: Run, folder: Path) -> Path:
    """Write `folder/results.json`; its path."""
    pid = os.getpid()
    document = {
        "__type__": "TestrunResult",
        "results_version": 10,
        "name": run.name,
        "info": {"system": {"uname": " ".join(platform.uname()), **run.info}},
        "options": {"profile": ["gallette"], "dmesg": False, "monitoring": False},
        "time_elapsed": _time(run.start, run.end),
        "tests": {name: _entry(test, pid) for name, test in sorted(run.tests.items())},
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "results.json"
        path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{folder}: cannot write: {error.strerror or error}") from None
    return path


_OPENERS = {".json": open, ".bz2": bz2.open, ".gz": gzip.open, ".xz": lzma.open}


def read_run(path: Path) -> Run:
    """A run from its folder or its results file."""
    file = path
    if path.is_dir():
        found = sorted(path.glob("results.json*"))
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
        )
    return run
