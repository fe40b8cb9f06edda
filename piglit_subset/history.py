"""Durations of tests in earlier runs, so that long tests start first.

A run whose last test is its longest leaves the other workers idle at the end. Durations are kept
per driver in the user's cache folder; only the order of tests (and `--cluster`'s batches) depends
on them.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from gallette.compiler.cache_home import cache_home
from gallette.compiler.output_files import atomic_write
from gallette.piglit_subset.results import Run

# A test without a recorded duration is cheap, estimated by its size.
_BASE_SECONDS, _SECONDS_PER_BYTE = 0.03, 1e-5
_KEPT = 200_000


class Costs:
    """Seconds per test on one driver."""

    def __init__(self, driver: str, folder: Path | None = None):
        home = folder or cache_home()
        self.path = home / "times" / f"{driver.replace(':', '-')}.json" if home else None
        self.seconds: dict[str, float] = {}
        if self.path is not None:
            with contextlib.suppress(OSError, ValueError, RecursionError):
                found = json.loads(self.path.read_text(encoding="utf-8"))
                if isinstance(found, dict):
                    known = ((k, v) for k, v in found.items() if isinstance(v, int | float))
                    self.seconds = {k: float(v) for k, v in known if 0 <= v < 1e9}

    def of(self, name: str, path: Path) -> float:
        known = self.seconds.get(name)
        if known is not None:
            return known
        try:
            return _BASE_SECONDS + _SECONDS_PER_BYTE * path.stat().st_size
        except OSError:
            return _BASE_SECONDS

    def longest_first(self, tests: list[tuple[str, Path]]) -> list[tuple[str, Path]]:
        return sorted(tests, key=lambda t: (-self.of(*t), t[0]))

    def learn(self, run: Run) -> None:
        """Record a run's durations. Losing them costs nothing, so errors are ignored."""
        if self.path is None:
            return
        fresh = {n: round(t.seconds, 4) for n, t in run.tests.items() if t.seconds > 0}
        merged = {**self.seconds, **fresh}
        while len(merged) > _KEPT:
            del merged[next(iter(merged))]
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(self.path) as file:
                file.write(json.dumps(merged, separators=(",", ":")).encode())
