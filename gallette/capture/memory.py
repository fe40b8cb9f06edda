"""Memory of a replay: the data that calls of a capture read from their caller, at new addresses.

A capture has what each call read, and where. A *client array* is an address that one call sets and
later draws read from, so ranges that draws read get memory for the whole replay. Ranges close
together are one piece, and addresses in or just before a piece are translated with it. The data of
an argument gets memory for the duration of its call.

The file is not trusted. While a replay runs, `Arena` checks every address that the state
tracker is about to follow on the replay's thread, and refuses addresses outside of both kinds.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.capture.container import CaptureError
from gallette.state_tracker.entry_points.memory import LISTENERS

if TYPE_CHECKING:
    from gallette.capture.story import Call, Capture

NEAR = 1 << 16  # bytes between ranges of one piece, and before its first
MOST = 1 << 30  # bytes of client arrays in all


def zeros(size: int) -> npt.NDArray[np.uint8]:
    """Memory for client arrays."""
    return np.zeros(size, np.uint8)


class Arena:
    """All client memory of a capture."""

    def __init__(self, capture: Capture):
        self._capture = capture
        self._thread = 0
        self._lent: list[Any] = []
        ranges = []
        for call in capture.calls:
            for address, name in call.more.get("m", ()):
                ranges.append((address, address + len(capture.blob(name))))
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(ranges):
            if self._ends and start - self._ends[-1] < NEAR:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)
        total = sum(self._ends) - sum(self._starts) + NEAR * len(self._ends)
        if total > MOST:
            raise CaptureError(
                f"{capture.path}: the calls read {total} bytes of client arrays; {MOST} are allowed"
            )
        self._memory: list[Any] = [
            zeros(end - start + NEAR) for start, end in zip(self._starts, self._ends, strict=True)
        ]
        self._pieces = sorted((int(m.ctypes.data), m.size) for m in self._memory)

    # -- from the capture's addresses to those here ------------------------------------------------

    def find(self, recorded: int) -> int | None:
        """The present address of a recorded address of client memory; None if it is not one."""
        at = bisect.bisect_right(self._starts, recorded + NEAR) - 1
        if at < 0 or recorded > self._ends[at] or recorded < self._starts[at] - NEAR:
            return None
        here: int = self._memory[at].ctypes.data
        return here + NEAR + recorded - self._starts[at]

    def address(self, recorded: int) -> int:
        """The present address; offsets into buffers are returned unchanged."""
        found = self.find(recorded)
        return recorded if found is None else found

    def load(self, call: Call) -> None:
        """Store the data that the call is about to read."""
        for address, name in call.more.get("m", ()):
            data = np.frombuffer(self._capture.blob(name), np.uint8)
            at = bisect.bisect_right(self._starts, address) - 1
            offset = NEAR + address - self._starts[at]
            self._memory[at][offset : offset + len(data)] = data

    def lend(self, data: Any) -> int:
        """The address of an argument's bytes, valid until `call_done`."""
        flat = np.frombuffer(data, np.uint8) if len(data) else np.zeros(1, np.uint8)
        address = int(flat.ctypes.data)
        self._lent.append(flat)
        return address

    def call_done(self) -> list[Any]:
        """End the call that memory was lent for; returns that memory."""
        lent, self._lent = self._lent, []
        return lent

    # -- which addresses may be followed -----------------------------------------------------------

    @contextmanager
    def guarding(self) -> Iterator[None]:
        """A block in which the state tracker follows only addresses of this arena on this
        thread.
        """
        self._thread = get_ident()
        LISTENERS.append(self)
        try:
            yield
        finally:
            LISTENERS.remove(self)

    def touched(self, address: int, size: int, lasting: bool) -> None:
        """Raise an error if the capture has no memory at an address that OpenGL is about to use."""
        if get_ident() != self._thread:
            return
        at = bisect.bisect_right(self._pieces, (address, MOST)) - 1
        if at >= 0 and address + size <= sum(self._pieces[at]):
            return
        raise CaptureError(
            f"OpenGL would use {size} bytes at {address:#x}, where the capture has no memory"
        )

    def read(self, address: int, data: bytes) -> None:
        """Do nothing, because the checks of the arena are in `touched`."""

    def wrote(self, pointer: Any, data: Any) -> None:
        """Do nothing, as for reads."""
