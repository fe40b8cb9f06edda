"""glRenderMode's state: drawing, selecting or feeding back."""

from __future__ import annotations

__all__ = ["RenderMode"]


class RenderMode:
    """What primitives become."""

    def draw_pixels(self, *, copy: bool = False, bitmap: bool = False) -> bool:
        """A pixel rectangle is drawn: True if it becomes something other than fragments."""
        return False
