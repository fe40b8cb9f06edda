"""The lesson: a driver in three steps, the last of which draws real scenes."""

from __future__ import annotations

from typing import Any

from gallette.drivers.noop import NoopContext, NoopScreen
from gallette.pipe.state import DrawInfo

SCENES = ("shadow_map", "depth_prepass", "transparency")


class CountingContext(NoopContext):  # type: ignore[misc]
    """Accepts everything, draws nothing, and counts."""

    def __init__(self, screen: NoopScreen) -> None:
        super().__init__(screen)
        self.draws = self.vertices = 0

    def draw_vbo(self, info: DrawInfo) -> None:
        self.draws += 1
        self.vertices += info.count


class CountingScreen(NoopScreen):
    """A screen that claims every capability, because it draws nothing."""

    name = "counting"

    def context_create(self) -> Any:
        return CountingContext(self)
