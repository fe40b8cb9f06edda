"""A draw that the state tracker may request again without setting its state (see `queue`)."""

from __future__ import annotations

from dataclasses import dataclass, field

from gallette.pipe.state import DrawInfo, FramebufferState

from .snapshot import Snapshot

__all__ = ["PreparedDraw"]

_MOST_STARTS = 4096


@dataclass(slots=True, eq=False)
class PreparedDraw:
    """A small draw that was submitted before: its snapshot and its call, to be drawn again."""

    snapshot: Snapshot
    info: DrawInfo
    target: FramebufferState
    epoch: int  # of the bound state when it was submitted
    _moved: dict[int, DrawInfo] = field(default_factory=dict)

    def call(self, start: int) -> DrawInfo:
        """The call, starting at that vertex."""
        if start == self.info.start:
            return self.info
        found = self._moved.get(start)
        if found is None:
            if len(self._moved) >= _MOST_STARTS:
                self._moved.clear()
            found = self._moved[start] = self.info.begun_at(start)
        return found
