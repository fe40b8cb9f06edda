"""A process that has everything but gallette imported, and forks itself for each run of tests.

`python -m mutants.server TREE` reads lines of JSON: `{"tests": [...], "seconds": n}`; for each it
answers with a line: the first test that failed, `""` where all passed, `"timeout"`. pytest runs in
a fork, so that a planted fault is imported afresh and NumPy, Hypothesis and LLVM are not.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
import time
from pathlib import Path

import numpy  # noqa: F401 - imported for the forks, as those below are
import pytest

for _name in ("hypothesis", "PIL.Image", "moderngl", "llvmlite.binding", "jinja2", "pygments"):
    __import__(_name)

MEMORY = 8 << 30
"""bytes one run of tests may have: a fault may ask for any amount"""


class Chosen:
    """A pytest plugin: these tests in this order, and which of them fails first."""

    def __init__(self, tests: list[str]) -> None:
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


def _run(tests: list[str], answer: Path) -> None:
    """In the fork: run them; the answer goes to a file."""
    chosen = Chosen(tests)
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    status = pytest.main(["-x", "-q", "-p", "no:cacheprovider", *files], plugins=[chosen])
    nothing = status in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    answer.write_text(chosen.failed or ("" if nothing else f"pytest: {status!r}"))


def _forked(tests: list[str], seconds: float, answer: Path) -> str:
    """Run tests in a fork of this process."""
    answer.unlink(missing_ok=True)
    child = os.fork()
    if not child:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nowhere, number)
        try:
            _run(tests, answer)
        except BaseException as error:
            answer.write_text(f"crash: {type(error).__name__}")
        finally:
            os._exit(0)
    end = time.monotonic() + seconds
    while not os.waitpid(child, os.WNOHANG)[0]:
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "timeout"
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what it left running
    return answer.read_text() if answer.exists() else "crash"


def main() -> None:
    """Serve until the input ends."""
    tree = Path(sys.argv[1]).resolve()
    os.chdir(tree)
    sys.path[:] = [str(tree), *(p for p in sys.path if p)]
    out = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        asked = json.loads(line)
        found = _forked(asked["tests"], asked["seconds"], tree / ".mutants-answer")
        print(json.dumps(found), file=out, flush=True)


if __name__ == "__main__":
    main()
