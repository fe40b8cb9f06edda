"""Plant one fault in a copy of the tree and see which test notices it.

The tests that run the line are run in stages (a few quick ones, more, all that end in the time a
fault is given), then the type checker; the first that fails ends the trial. A fault that no
measured test executes, or that survives all of them where `whole` is set, is tried on the whole
suite. A fault that only offends the style checker (a `pass` where a call was) counts as unnoticed.

A test that fails without the fault as well (in a process of so little memory, say) says nothing.

With a budget of seconds some tests are left for another day; the verdict says how many.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .coverage_map import BENCH, CoverageMap
from .faults import Fault

STAGES = ((1.5, 5), (12.0, 40))
"""seconds of tests, files of tests: reading a file of tests costs as much as running some"""
WHOLE_SECONDS = 1800.0
NOTHING = 1 << 30
"""the number of no fault"""


@dataclass(frozen=True)
class Verdict:
    by: str
    """what noticed it: a test, mypy, `timeout`; empty for a survivor"""
    tried: int
    """how many tests could have"""
    left: int = 0
    """how many of them were not asked"""


@dataclass
class Copy:
    """A clone of the tree that one worker breaks and mends."""

    folder: Path
    python: str = sys.executable
    code: Path | None = None
    """where the modules with switches are"""
    servers: dict[bool, subprocess.Popen[str]] = field(default_factory=dict, repr=False)
    sound: dict[tuple[str, bool], bool] = field(default_factory=dict, repr=False)
    """of tests that noticed something: do they pass where nothing is planted?"""

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

    def _environment(self) -> dict[str, str]:
        paths = os.pathsep.join(map(str, (self.folder, BENCH)))
        return os.environ | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}

    def warm(self, types: bool) -> None:
        """Compile every module and fill the type checker's cache, while nothing is planted."""
        every = [sys.executable, "-m", "compileall", "-q", "gallette", "tests"]
        subprocess.run(every, cwd=self.folder, check=False, stdout=subprocess.DEVNULL)
        if types:
            self.accepts_types(900)

    def accepts_types(self, seconds: float = 600) -> bool:
        """Does the type checker find nothing?"""
        command = [self.python, "-m", "mypy"]
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run(
                command,
                cwd=self.folder,
                env=self._environment(),
                timeout=seconds,
                capture_output=True,
            )
            return done.returncode == 0
        return True

    def tests(self, names: Sequence[str], seconds: float, planted: int = -1) -> str:
        """The first of these tests that fails; empty where all pass. `planted` has a switch."""
        everything = planted >= 0
        if everything not in self.servers:
            command = [self.python, "-m", "mutants.server", str(self.folder)]
            environment = self._environment()
            if everything:
                command.append("--all")
                paths = [str(BENCH / "mutants" / "runtime"), environment["PYTHONPATH"]]
                environment["PYTHONPATH"] = os.pathsep.join(paths)
                environment["MUTANTS_CODE"] = str(self.code)
            self.servers[everything] = subprocess.Popen(
                command,
                env=environment,
                text=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        server = self.servers[everything]
        assert server.stdin is not None and server.stdout is not None
        asked = {"tests": list(names), "seconds": 20 + 4 * seconds, "planted": planted}
        print(json.dumps(asked), file=server.stdin, flush=True)
        line = server.stdout.readline()
        if not line:
            raise RuntimeError("tests cannot be collected: `pytest --collect-only` says why")
        answer: str = json.loads(line)
        return answer

    def is_sound(self, name: str, seconds: float, planted: int) -> bool:
        """Is a test that failed one that passes here without a fault? (Call it without any.)"""
        switched = planted >= 0
        if (name, switched) not in self.sound:
            failed = self.tests([name], seconds, NOTHING if switched else -1)
            self.sound[name, switched] = not failed
        return self.sound[name, switched]

    def whole(self) -> str:
        """The first test of the whole suite that fails."""
        process = subprocess.Popen(
            [self.python, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"],
            cwd=self.folder,
            env=self._environment(),
            text=True,
            errors="replace",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=WHOLE_SECONDS)
            return "" if process.returncode == 0 else _first_failure(output)
        except subprocess.TimeoutExpired:
            return "timeout"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def close(self) -> None:
        """End the processes that run tests."""
        while self.servers:
            self.servers.popitem()[1].communicate()

    @contextlib.contextmanager
    def planted(self, path: str, fault: Fault) -> Iterator[None]:
        """The tree with a fault in it, and afterwards as it was (its compiled module too)."""
        file = self.folder / path
        clean, times = file.read_bytes(), file.stat()
        try:
            file.write_bytes(fault.planted(clean))
            # The time of a compiled module is in whole seconds.
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns + 5_000_000_000))
            yield
        finally:
            file.write_bytes(clean)
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


def _first_failure(output: str) -> str:
    for line in output.splitlines():
        if line.startswith(("FAILED ", "ERROR ")):
            return line.split(" ", 2)[1]
    last = output.strip().splitlines()[-1:] or ["crash"]
    return last[0][:100]


def judge(
    copy: Copy,
    tests: CoverageMap,
    path: str,
    fault: Fault,
    *,
    planted: int = -1,
    whole: bool = False,
    types: bool = True,
    budget: float = 0.0,
) -> Verdict:
    """What notices this fault of `path` (relative to the tree), which may have a switch?"""
    meeting = tests.tests_of(path, fault.line)
    asked = 0
    last = (budget or 1e9, 10_000)
    for seconds, files in (last,) if planted >= 0 else (*STAGES, last):
        some = _within(meeting[asked:], tests, min(seconds, budget or 1e9), files)
        asked += len(some)
        while some:
            with contextlib.nullcontext() if planted >= 0 else copy.planted(path, fault):
                by = copy.tests(some, sum(tests.seconds[t] for t in some), planted)
            if by in some and not copy.is_sound(by, tests.seconds[by], planted):
                some = some[some.index(by) + 1 :]  # it says nothing; later ones may
                continue
            if by:
                return Verdict(by, len(meeting))
            break
    with copy.planted(path, fault):
        if types and not copy.accepts_types():
            return Verdict("mypy", len(meeting))
        if whole or not (meeting or budget):
            return Verdict(copy.whole(), len(meeting))
    return Verdict("", len(meeting), len(meeting) - asked)


def _within(names: list[str], tests: CoverageMap, seconds: float, files: int) -> list[str]:
    """The first of these tests: at least one, as many as end in time, of so many files."""
    some: list[str] = []
    total = 0.0
    of: set[str] = set()
    for name in names:
        total += tests.seconds[name]
        of.add(name.partition("::")[0])
        if some and (total > seconds or len(of) > files):
            break
        some.append(name)
    return some
