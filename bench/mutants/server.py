"""Processes that have everything ready and fork themselves for each run of tests.

    python -m mutants.server TREE            all but gallette is imported
    python -m mutants.server TREE --all [TESTS ...]
                                             gallette (with switches) and all tests are collected

Both read lines of JSON, `{"tests": [...], "seconds": n, "planted": n}`, and answer with a line:
the first test that failed, `""` where all passed, `"timeout"`. The first kind is for faults written
into a file, which must be imported afresh; the second for those with a switch (`switches.py`).
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy  # noqa: F401 - imported for the forks, as those below are
import pytest

for _name in ("hypothesis", "PIL.Image", "moderngl", "llvmlite.binding", "jinja2", "pygments"):
    __import__(_name)

WAITING = 40
"""times its processor time a run may take on a busy machine"""
IDLE = 180
"""seconds a run may do next to nothing: it waits for what does not come"""
MEMORY = 8 << 30
"""bytes one run of tests may have: a fault may ask for any amount"""
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist")


class Chosen:
    """A pytest plugin: these tests in this order, and which of them fails first."""

    def __init__(self, tests: Sequence[str]) -> None:
        self.order = {test: number for number, test in enumerate(tests)}
        self.failed = ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self.order]
        items.sort(key=lambda item: self.order[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and not self.failed:
            self.failed = f"{report.nodeid} (not collected)"


class Everything:
    """A pytest plugin: instead of running the tests it collected it serves."""

    def __init__(self, answers: TextIO, answer: Path) -> None:
        self.answers, self.answer = answers, answer
        self.failed = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items: dict[str, list[pytest.Item]] = {}
        for item in session.items:
            items[item.nodeid] = [item]
            items.setdefault(item.nodeid.partition("::")[0], []).append(item)

        def run(asked: dict[str, Any]) -> str:
            from mutants_probes import PLANTED  # type: ignore[import-not-found]

            PLANTED[0] = asked["planted"]
            os.environ["MUTANTS_PLANTED"] = str(asked["planted"])
            some = [item for test in asked["tests"] for item in items.get(test, ())]
            for item, following in zip(some, [*some[1:], None], strict=True):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self.failed:
                    break
            return self.failed

        serve(run, self.answers, self.answer)
        return True


def _afresh(asked: dict[str, Any]) -> str:
    """In the fork: collect and run."""
    chosen = Chosen(asked["tests"])
    files = list(dict.fromkeys(test.partition("::")[0] for test in asked["tests"]))
    status = pytest.main([*OPTIONS, *files], plugins=[chosen])
    nothing = status in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    return chosen.failed or ("" if nothing else f"pytest: {status!r}")


def _used(process: int) -> float:
    """Processor time of a process and of the children it waited for."""
    try:
        times = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:15]
    except OSError:  # gone, or no such thing on this system: then the clock alone decides
        return 0.0
    return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


def _forked(run: Callable[[dict[str, Any]], str], asked: dict[str, Any], answer: Path) -> str:
    """Run tests in a fork of this process, which has so many seconds of processor time."""
    answer.unlink(missing_ok=True)
    child = os.fork()
    if not child:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nowhere, number)
        try:
            answer.write_text(run(asked))
        except BaseException as error:
            answer.write_text(f"crash: {type(error).__name__}")
        finally:
            os._exit(0)
    end = time.monotonic() + WAITING * asked["seconds"]
    busy, before = time.monotonic(), 0.0  # when it was seen to work, and how much it had by then
    while not os.waitpid(child, os.WNOHANG)[0]:
        now, used = time.monotonic(), _used(child)
        if used > before + 0.05 * IDLE:
            busy, before = now, used
        if used > asked["seconds"] or now > min(end, busy + IDLE):
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "timeout"
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what it left running
    return answer.read_text() if answer.exists() else "crash"


def serve(run: Callable[[dict[str, Any]], str], answers: TextIO, answer: Path) -> None:
    """Answer until the input ends."""
    for line in iter(INPUT.readline, ""):
        print(json.dumps(_forked(run, json.loads(line), answer)), file=answers, flush=True)


INPUT = os.fdopen(os.dup(0), closefd=True)
"""the input as it was: pytest takes the standard one away"""


def main() -> None:
    """Serve until the input ends."""
    tree = Path(sys.argv[1]).resolve()
    os.chdir(tree)
    sys.path[:] = [str(tree), *(p for p in sys.path if p)]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if "--all" in sys.argv:
        everything = Everything(answers, tree / ".mutants-answer-all")
        pytest.main([*OPTIONS, *(sys.argv[3:] or ["tests"])], plugins=[everything])
    else:
        serve(_afresh, answers, tree / ".mutants-answer")


if __name__ == "__main__":
    main()
