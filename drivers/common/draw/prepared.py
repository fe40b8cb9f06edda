"""A draw that the state tracker may request again without setting its state (see `queue`)."""

from __future__ import annotations

from dataclasses import dataclass, field

from gallette.pipe.state import DrawInfo, FramebufferState

from .snapshot import Plan, Snapshot

__all__ = ["PreparedDraw"]

_MOST_STARTS = 4096


@dataclass(slots=True, eq=False)
class PreparedDraw:
    """A small draw that was submitted before: its snapshot and its call, to be drawn again."""

    snapshot: Snapshot
    info: DrawInfo
    target: FramebufferState
    epoch: int  # of the bound state when it was submitted
    waits: bool  # it can be pending; otherwise it needs a plan
    plan: Plan | None = None  # of its snapshot, once that was asked for

    _moved: dict[int, DrawInfo] = field(default_factory=dict)

    def made_plan(self) -> Plan | None:
        """The plan of its snapshot, if there is one already."""
        if self.plan is None:
            self.plan = self.snapshot.made_plan(self.info.mode)
        return self.plan

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
