"""A pytest plugin for the run that finds out which test meets which stretch of code.

Before a test all probes are cleared, after it a row of bits is written down: what ran in its
process and in those it started. Code that a fixture of several tests ran counts for each of them,
whichever came first. What runs between tests (imports) goes into the row `""`. A test
that fails while it is measured (it minds the time, say) is not written down: it could notice
anything.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from mutants_probes import PROBES  # type: ignore[import-not-found]

failed: set[str] = set()
BYTES = np.frombuffer(PROBES, np.uint8)
fixtures: dict[Any, Any] = {}
"""What ran when a fixture of several tests was made."""


_NONE = SimpleNamespace(name2fixturedefs={})


def _write(test: str, seconds: float) -> None:
    rows, journal = (Path(os.environ[f"MUTANTS_{name}"]) for name in ("ROWS", "JOURNAL"))
    with rows.open("ab") as file:
        file.write(np.packbits(BYTES).tobytes())
    with journal.open("a") as text:
        text.write(json.dumps([test, round(seconds, 4)]) + "\n")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    if BYTES.any():
        _write("", 0.0)
    BYTES[:] = 0
    before = time.process_time() + sum(os.times()[2:4])
    yield
    seconds = time.process_time() + sum(os.times()[2:4]) - before
    if item.nodeid not in failed:
        for found in getattr(item, "_fixtureinfo", _NONE).name2fixturedefs.values():
            for fixture in found:
                BYTES[:] |= fixtures.get(fixture, 0)
        _write(item.nodeid, seconds)
    BYTES[:] = 0


@pytest.hookimpl(hookwrapper=True)
def pytest_fixture_setup(fixturedef: Any) -> Iterator[None]:
    if fixturedef.scope == "function":
        yield
        return
    before = BYTES.copy()
    BYTES[:] = 0
    yield
    fixtures[fixturedef] = BYTES.copy()
    BYTES[:] |= before


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed or report.skipped:
        failed.add(report.nodeid)
