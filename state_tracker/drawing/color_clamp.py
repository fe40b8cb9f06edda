"""glClampColor: where colours are clamped to 0..1, and what queries then answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gallette.state_tracker.entry_points.enums import GL

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

__all__ = ["clamps", "clamps_fragments", "told_color"]


def clamps(ctx: Context, clamp: int) -> bool:
    """A value of glClampColor; GL_FIXED_ONLY: unless some colour buffer holds floats."""
    if clamp == GL.FIXED_ONLY:
        return ctx.framebuffers.draw.is_fixed_point
    return clamp != GL.FALSE


def clamps_fragments(ctx: Context) -> bool:
    """Are a fragment's colours clamped before they meet the buffer, where that would not do it?"""
    clamp = ctx.fragment.clamp_fragment_color
    if clamp == GL.FIXED_ONLY:  # what holds 0..1 clamps by itself
        draw = ctx.framebuffers.draw
        return draw.holds_negative and draw.is_fixed_point
    return clamp == GL.TRUE


def told_color(ctx: Context, color: Sequence[float]) -> list[float]:
    """A colour that queries answer: clamped where those of fragments are (ARB_color_buffer_float).

    Integers (of border colours) stay as they are.
    """
    if ctx.is_compat and clamps(ctx, ctx.fragment.clamp_fragment_color):
        return [min(max(v, 0.0), 1.0) if isinstance(v, float) else v for v in color]
    return list(color)
