"""A pytest plugin for the run that finds out which test meets which line.

Each test is a context of the coverage measurement, of its own process and, through an environment
variable the measurement's configuration reads, of every process it starts. A test that fails while
it is measured (it minds the time, say) is not written down: it could notice anything.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator

import coverage
import pytest

VARIABLE = "MUTANTS_TEST"
failed: set[str] = set()


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    measuring = coverage.Coverage.current()
    assert measuring is not None, "run it under coverage"
    os.environ[VARIABLE] = item.nodeid
    measuring.switch_context(item.nodeid)
    before = time.perf_counter()
    yield
    measuring.switch_context("")
    seconds = time.perf_counter() - before
    del os.environ[VARIABLE]
    if item.nodeid not in failed:
        with open(os.environ["MUTANTS_DURATIONS"], "a") as file:
            file.write(json.dumps([item.nodeid, round(seconds, 3)]) + "\n")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed or report.skipped:
        failed.add(report.nodeid)
