"""Which draws of a run the driver executes together.

The inspector flushes after every draw to read its result, so no draws are merged while it
observes a run. This module replays the run without flushes, and taps the executor of pending draws.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from gallette.capture.replay import Replayer
from gallette.capture.story import Call, Capture
from gallette.pipe.taps import PipeCall, tap


def executed_draws(capture: Capture, driver: str) -> list[list[int]]:
    """For each executed draw, the numbers of the calls merged into it, in order; empty for a driver
    without pending draws.
    """
    watched = _Watched()
    player = Replayer(capture, driver, after_create=watched.created)
    with np.errstate(all="ignore"):
        player.run(None, watched.after, watched.before)
    return watched.executed()


class _Watched:
    """Records calls when they are made and merged draws when they are executed."""

    def __init__(self) -> None:
        self.number = 0
        self.pending: dict[int, deque[int]] = defaultdict(deque)  # calls by their DrawInfo
        self.infos: list[Any] = []  # keeps these objects, so that no two have one identity
        self.groups: list[list[int]] = []
        self.calls: list[int] = []
        self.tapped = False

    def created(self, gl: Any) -> None:
        if hasattr(gl.pipe, "taps"):
            self.tapped = True
            gl.pipe.taps.append(self._executed)
            tap(gl.pipe, ["draw_vbo"], self._submitted)

    def before(self, call: Call, gl: Any) -> None:
        self.number = call.number

    def after(self, call: Call, gl: Any) -> None:
        """Read nothing after a call, because that would execute the pending draws."""

    def _submitted(self, call: PipeCall) -> None:
        info = call.arguments["info"]
        self.infos.append(info)
        self.pending[id(info)].append(self.number)
        self.calls.append(self.number)
        call.run()

    def _executed(self, merged: Sequence[Any]) -> None:
        for draws in merged:
            numbers = [self.pending[id(info)].popleft() for _, info, _ in draws.entries
                       if self.pending[id(info)]]  # fmt: skip
            if numbers:
                self.groups.append(sorted(set(numbers)))

    def executed(self) -> list[list[int]]:
        """The merged draws, and those that were executed alone, by their first call."""
        if not self.tapped:
            return []
        found = {n for group in self.groups for n in group}
        alone = [[n] for n in dict.fromkeys(self.calls) if n not in found]
        return sorted(self.groups + alone)
