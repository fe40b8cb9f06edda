"""How long a run of tests will still take, estimated from recorded times."""

from __future__ import annotations

import io
from collections import Counter

import pytest
from rich.console import Console

from gallette.reports import progress
from gallette.reports.progress import RunProgress


def test_time_left_counts_tests_and_what_they_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    run = RunProgress(Console(file=io.StringIO()), "tests", [9.0, 1.0, 1.0, 1.0])
    assert run.rate() == ""
    now[0] += 60
    run.step(9.0, Counter())  # the long one is half of it, with what starting each takes
    assert run.rate() == "0.0/s, 1:00 left"
    now[0] += 20
    run.step(1.0, Counter())
    assert run.rate() == "0.0/s, 0:40 left"
    for _ in range(2):
        now[0] += 20
        run.step(1.0, Counter())
    assert run.rate() == "0.0/s, 0:00 left"
