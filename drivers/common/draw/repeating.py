"""Draws that are made again, and what may happen between them (see `queue`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gallette.pipe.state import BufferWrite, ClearCall, DrawInfo, FramebufferState

from .snapshot import Plan, Snapshot

__all__ = ["Between", "Repeatable", "write_now"]

Between = BufferWrite | ClearCall
"""What may happen between draws that are repeated together, but for queries."""

_MOST_STARTS = 4096


@dataclass(slots=True, eq=False)
class Repeatable:
    """A draw that waited, or was made the quick way, to be made again."""

    snapshot: Snapshot
    info: DrawInfo
    target: FramebufferState
    epoch: int  # of what was bound when it was made
    waits: bool
    lanes: int
    plan: Plan | None = None  # of the quick way, once that was asked for

    _moved: dict[int, DrawInfo] = field(default_factory=dict)

    def made_plan(self) -> Plan | None:
        """The quick way, if it is there by now."""
        if self.plan is None:
            self.plan = self.snapshot.made_plan(self.info.mode)
        return self.plan

    def call(self, start: int) -> DrawInfo:
        """The call, from that vertex on."""
        if start == self.info.start:
            return self.info
        found = self._moved.get(start)
        if found is None:
            if len(self._moved) >= _MOST_STARTS:
                self._moved.clear()
            found = self._moved[start] = self.info.begun_at(start)
        return found


def write_now(write: BufferWrite, offset: int, data: bytes) -> None:
    """Nobody who waits minds."""
    buffer: Any = write.buffer
    buffer.memory[offset : offset + len(data)] = data
    buffer.touch()
