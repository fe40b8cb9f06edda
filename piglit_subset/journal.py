"""The journal of a run: results are on disk as soon as they are known, so an interrupted run can
resume.

During a run its folder contains `results.jsonl`: a head line that describes the run, then one line
per finished test. At the end `results.json` (piglit's format) replaces it. A run that ends early
(Ctrl-C, a kill, a full disk, a power cut) leaves the head and whole lines; at most the last line is
incomplete, and is removed when the file is opened again.

    {"gallette": 1, "driver": "numpipe", "tests": [["a@b", "/a/b.shader_test"], ...], ...}
    {"session": 1700000000.0}
    {"test": "a@b", "result": "pass", ...}
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gallette.compiler.errors import InputError
from gallette.piglit_subset.results import Entry, Run, read_run, write_run, write_synced
from gallette.piglit_subset.suite import located_again

FILE = "results.jsonl"
_SYNC_SECONDS = 2.0


@dataclass(slots=True)
class Head:
    """The description of a run, from which it can be resumed."""

    driver: str
    tests: list[tuple[str, Path]]
    timeout: float = 60.0
    repeat: int = 1
    info: dict[str, str] = field(default_factory=dict)

    def line(self) -> dict[str, Any]:
        tests = [[name, str(path)] for name, path in self.tests]
        return {"gallette": 1, **asdict(self), "tests": tests}

    @classmethod
    def read(cls, line: dict[str, Any]) -> Head:
        tests = [(str(name), Path(path)) for name, path in line["tests"]]
        return cls(line["driver"], tests, line["timeout"], line["repeat"], line["info"])


class Journal:
    """The open journal of a run. `run` has all results recorded so far."""

    def __init__(self, folder: Path, head: Head, run: Run, fd: int):
        self.folder, self.head, self.run = folder, head, run
        self._fd = fd
        self._size = os.fstat(fd).st_size
        self._synced = time.monotonic()

    @classmethod
    def create(cls, folder: Path, head: Head, overwrite: bool = False) -> Journal:
        """Start a run: create and lock the folder, and write the head before the first test."""
        fd = _open(folder, make=True)
        try:
            if os.fstat(fd).st_size and not overwrite:
                raise InputError(
                    f"{folder}: holds a run that was not finished; go on with it "
                    f"(--resume {folder}) or give it up (--overwrite)"
                )
            os.ftruncate(fd, 0)
            journal = cls(folder, head, Run(head.driver, info=dict(head.info)), fd)
            journal.run.start = time.time()
            journal._write({**head.line()})
            journal._write({"session": journal.run.start})
        except BaseException:
            os.close(fd)
            raise
        return journal

    @classmethod
    def resume(cls, folder: Path, rerun: frozenset[str] = frozenset()) -> Journal:
        """Resume an unfinished run, or a finished one some of whose tests run again."""
        if not (folder / FILE).exists():
            _reopen_finished(folder)
        fd = _open(folder)
        try:
            head, run, good = _read(folder / FILE)
            head.tests = located_again(head.tests)
            if os.fstat(fd).st_size != good:
                os.ftruncate(fd, good)
            journal = cls(folder, head, run, fd)
            for name in [n for n, t in run.tests.items() if t.result in rerun]:
                journal._write({"again": name})
                del run.tests[name]
            elapsed, run.end = run.end - run.start, time.time()
            run.start = run.end - elapsed
            journal._write({"session": time.time()})
        except BaseException:
            os.close(fd)
            raise
        return journal

    def todo(self) -> list[tuple[str, Path]]:
        """The remaining tests, each as often as it still has to run."""
        left = []
        for name, path in self.head.tests:
            seen = self.run.tests.get(name)
            left += [(name, path)] * (self.head.repeat - (seen.runs if seen else 0))
        return left

    def add(self, name: str, entry: Entry) -> Entry:
        """Record one result; returns the test's combined result."""
        self._write({"test": name, **asdict(entry)})
        return self.run.add(name, entry)

    def finish(self) -> Path:
        """Write `results.json` atomically, then remove the journal."""
        self.run.end = time.time()
        path = write_run(self.run, self.folder, self.head.line())
        (self.folder / FILE).unlink()
        self.close()
        return path

    def close(self) -> None:
        if self._fd >= 0:
            with contextlib.suppress(OSError):
                os.fsync(self._fd)
            os.close(self._fd)
            self._fd = -1

    def _write(self, line: dict[str, Any]) -> None:
        data = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        try:
            written = 0
            while written < len(data):
                written += os.write(self._fd, data[written:])
            now = time.monotonic()
            if now - self._synced > _SYNC_SECONDS:
                os.fsync(self._fd)
                self._synced = now
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, self._size)
            kept = len(self.run.tests)
            raise InputError(
                f"{self.folder / FILE}: cannot write: {error.strerror or error}; {kept} results "
                f"are kept, and --resume {self.folder} goes on from them"
            ) from None
        self._size += len(data)


def _open(folder: Path, make: bool = False) -> int:
    try:
        if make:
            folder.mkdir(parents=True, exist_ok=True)
        fd = os.open(folder / FILE, os.O_RDWR | os.O_APPEND | (os.O_CREAT if make else 0), 0o666)
    except OSError as error:
        raise InputError(f"{folder}: cannot write: {error.strerror or error}") from None
    try:
        _lock(fd)
    except OSError:
        os.close(fd)
        raise InputError(f"{folder}: another run is writing into this folder") from None
    return fd


def _lock(fd: int) -> None:
    """Keep other processes from writing until the file is closed."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        locking, mode = getattr(msvcrt, "locking"), getattr(msvcrt, "LK_NBLCK")  # noqa: B009
        locking(fd, mode, 1)
    else:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _read(path: Path) -> tuple[Head, Run, int]:
    """The head, the results so far, and the end of the last whole line."""
    head: Head | None = None
    run, good, session = Run(path.parent.name), 0, 0.0
    try:
        with path.open("rb") as stream:
            for raw in stream:
                try:
                    line = json.loads(raw) if raw.endswith(b"\n") else None
                except ValueError:
                    line = None
                if not isinstance(line, dict):
                    break
                good += len(raw)
                if head is None:
                    head = Head.read(line)
                    run = Run(head.driver, info=dict(head.info))
                elif "session" in line:
                    session = float(line["session"])
                    elapsed = run.end - run.start
                    run.start, run.end = session - elapsed, session
                elif "again" in line:
                    run.tests.pop(line["again"], None)
                else:
                    entry = Entry(**{k: v for k, v in line.items() if k != "test"})
                    run.add(line["test"], entry)
                    run.end = max(run.end, entry.end)
    except OSError as error:
        raise InputError(f"{path}: cannot read: {error.strerror or error}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: not the journal of a run: {error!r}") from None
    if head is None:
        raise InputError(f"{path}: not the journal of a run: it has no head")
    return head, run, good


def read_unfinished(folder: Path) -> Run | None:
    """The results so far of a running or interrupted run; the other tests are "notrun"."""
    path = folder / FILE
    if not path.exists() or not path.stat().st_size:
        return None
    head, run, _ = _read(path)
    for name, _ in head.tests:
        run.tests.setdefault(name, Entry("notrun"))
    return run


def _reopen_finished(folder: Path) -> None:
    """Turn a finished run back into a journal, so that some of its tests can run again."""
    run = read_run(folder)
    if run.head is None:
        raise InputError(f"{folder}: this run does not say which files it ran; it cannot go on")
    lines = [run.head, {"session": run.start}]
    lines += [{"test": name, **asdict(entry)} for name, entry in run.tests.items()]
    write_synced(folder / FILE, "".join(json.dumps(line) + "\n" for line in lines))
