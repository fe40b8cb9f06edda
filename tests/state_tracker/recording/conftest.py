"""Each test has pointers and a context of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker.drawing import replaying
from gallette.state_tracker.entry_points import abi, recording
from tests.state_tracker.recording.worlds import Recorded, draw


@pytest.fixture(autouse=True)
def nothing_is_forgotten() -> None:
    """What other tests do behind draws is not done here: it would end the recording."""


@pytest.fixture(autouse=True)
def new_pointers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pointers of our own: others may have been made for somebody else."""
    monkeypatch.setattr(abi, "_ADDRESSES", {})


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many draws were replayed, each time."""
    found: list[int] = []
    every = replaying.Replay.all

    def counted(self: Any) -> None:
        found.append(len(self._log) // self._stride)
        every(self)

    monkeypatch.setattr(replaying.Replay, "all", counted)
    return found


@pytest.fixture
def world() -> Iterator[Recorded]:
    """One of whose draws the next will be recorded."""
    made = Recorded("numpipe", 5)
    made.gl.uniform4fv(made.place, 1, np.array([0, 0, 0, 0.5], np.float32))
    draw(made, 4)
    yield made
    made.gl.release()
    assert recording.is_free()
