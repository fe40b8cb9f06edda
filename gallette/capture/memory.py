"""Client memory of a replay: what draws read of their caller's arrays, at addresses of our own.

A client array is an address that a call leaves behind and that later draws read from. A capture has
what each draw read, and where. Ranges that lie close together are one piece of memory here, and
addresses in or just before one move with it.
"""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from gallette.capture.story import Call, Capture

__all__ = ["Arena"]

NEAR = 1 << 16  # bytes between ranges of one piece, and before its first


class Arena:
    """All client memory of a capture."""

    def __init__(self, capture: Capture):
        self._capture = capture
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
        self._memory: list[Any] = [
            np.zeros(end - start + NEAR, np.uint8)
            for start, end in zip(self._starts, self._ends, strict=True)
        ]

    def address(self, recorded: int) -> int:
        """Where that address is now; offsets into buffers stay what they are."""
        at = bisect.bisect_right(self._starts, recorded + NEAR) - 1
        if at < 0 or recorded > self._ends[at] or recorded < self._starts[at] - NEAR:
            return recorded
        here: int = self._memory[at].ctypes.data
        return here + NEAR + recorded - self._starts[at]

    def load(self, call: Call) -> None:
        """Put what the call is going to read where it will look."""
        for address, name in call.more.get("m", ()):
            data = np.frombuffer(self._capture.blob(name), np.uint8)
            at = bisect.bisect_right(self._starts, address) - 1
            offset = NEAR + address - self._starts[at]
            self._memory[at][offset : offset + len(data)] = data
