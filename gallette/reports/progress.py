"""Progress of a long job: a live bar on a terminal, a line now and then everywhere else.

>>> hms(3725)
'1:02:05'
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import AbstractContextManager
from typing import Any

from rich.console import Console

from gallette.terminal import progress_bar

_LINE_SECONDS = 10.0


def hms(seconds: float) -> str:
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


class RunProgress(AbstractContextManager["RunProgress"]):
    """Counts tests and their expected cost, which both determine the time left: long tests come
    first, but starting one takes the same time for all.
    """

    def __init__(self, out: Console, title: str, costs: list[float], done: int = 0):
        self.out, self.title = out, title
        self.total, self.done, self.before = len(costs) + done, done, done
        self.start_cost = sum(costs) / max(1, len(costs))  # of each test: a guess
        self.cost, self.spent = 2 * sum(costs), 0.0
        self.start = self.last_line = time.monotonic()
        self.live = out.is_terminal
        self._bar: Any = progress_bar(out) if self.live else None
        self._task: Any = None

    def __enter__(self) -> RunProgress:
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task(
                self.title, total=self.total, completed=self.done, note=""
            )
        return self

    def __exit__(self, *exc: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def step(self, cost: float, totals: Counter[str]) -> None:
        self.done += 1
        self.spent += self.start_cost + cost
        note = f"{self.rate()}  " + "  ".join(f"{r} {n}" for r, n in sorted(totals.items()))
        if self._bar is not None:
            self._bar.update(self._task, advance=1, note=note)
        elif time.monotonic() - self.last_line >= _LINE_SECONDS:
            self.last_line = time.monotonic()
            self.out.print(f"{self.title}: {self.done} of {self.total}, {note}", highlight=False)

    def rate(self) -> str:
        """Tests per second, and the time left."""
        seconds = time.monotonic() - self.start
        if seconds < 1 or not self.spent:
            return ""
        left = (self.cost - self.spent) * seconds / self.spent
        return f"{(self.done - self.before) / seconds:.1f}/s, {hms(left)} left"
