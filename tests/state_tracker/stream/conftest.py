"""Each test has pointers and a context of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.drivers.common.context import HostContext
from gallette.state_tracker.entry_points import abi
from tests.state_tracker.stream.worlds import Recorded, draw, pending


@pytest.fixture(autouse=True)
def nothing_is_forgotten() -> None:
    """What other tests do after draws is not done here: it would flush the ring."""


@pytest.fixture(autouse=True)
def new_pointers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pointers of our own: others may have been made where the stream is off."""
    monkeypatch.setattr(abi, "_ADDRESSES", {})


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many draws, writes and so on the driver took together, each time."""
    found: list[int] = []
    every = HostContext.draw_series

    def counted(self: Any, series: Any) -> int:
        found.append(every(self, series))
        return found[-1]

    monkeypatch.setattr(HostContext, "draw_series", counted)
    return found


@pytest.fixture
def world() -> Iterator[Recorded]:
    """A context whose calls are commands, and that knows some draws."""
    made = Recorded("numpipe", 5)
    made.gl.uniform4fv(made.place, 1, np.array([0, 0, 0, 0.5], np.float32))
    draw(made, 12)
    made.gl.finish()
    yield made
    made.gl.release()
    assert not pending()
