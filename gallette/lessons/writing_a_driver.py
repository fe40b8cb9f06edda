"""The lesson: a driver in three steps, the last of which draws real scenes."""

from __future__ import annotations

from typing import Any

from gallette.drivers.noop import NoopContext, NoopScreen
from gallette.pipe.interface import Screen
from gallette.pipe.state import DrawInfo
from gallette.scenes.common import Pass

__all__ = ["CountingScreen", "draw_with"]

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


def draw_with(screen: Screen, scene: str) -> tuple[list[Pass], Any]:
    """A scene drawn on a screen in this process: its passes, and its pipe context."""
    import moderngl

    from gallette.scenes import SCENES as ALL
    from gallette.state_tracker.context import Context

    gl: Any = Context(screen=screen)
    try:
        ctx = moderngl.create_context(standalone=True, context=gl)
        ctx.extra = gl  # for scenes that call OpenGL itself
        return list(ALL[scene].render(ctx, ALL[scene].size)), gl.pipe
    finally:
        gl.release()
