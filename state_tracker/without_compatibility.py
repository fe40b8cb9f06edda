"""The answers of a context without the compatibility profile to what every call asks.

Any call may have to know whether a primitive of glBegin, a display list or selection is active.
These states say that none is; the topic `compatibility` replaces them. All other states of that
topic are used only where `Context.is_compat` holds, which implies that the topic is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.entry_points.functions import Function


class Primitives:
    """Primitives of glBegin: none is being specified, and none is pending."""

    active = busy = False

    def __init__(self, ctx: Context | None = None):
        pass

    def before(self, function: Function) -> Any:
        """What a call of this function must end first."""
        return self

    def leave(self) -> None:
        """Do nothing: there is no primitive to leave."""

    def draw_pending(self) -> None:
        """Do nothing: no primitive is pending."""


NO_PRIMITIVES = Primitives()


class Lists:
    """Display lists: none is being compiled."""

    recorder = None

    def __init__(self, ctx: Context):
        pass


class Rendering:
    """The mode of glRenderMode: always GL_RENDER."""

    active = False

    def __init__(self, ctx: Context):
        pass
