"""glClampColor: where colours are clamped to 0..1, and the effect on queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gallette.state_tracker.entry_points.enums import GL

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context


def clamps(ctx: Context, clamp: int) -> bool:
    """Whether a value of glClampColor clamps; GL_FIXED_ONLY: unless some colour buffer holds
    floats.
    """
    if clamp == GL.FIXED_ONLY:
        return ctx.framebuffers.draw.is_fixed_point(ctx)
    return clamp != GL.FALSE


def clamps_fragments(ctx: Context) -> bool:
    """Whether fragment colours need clamping in the shader: the buffer's format does not clamp."""
    clamp = ctx.fragment.clamp_fragment_color
    if clamp == GL.FIXED_ONLY:  # fixed-point formats clamp by themselves
        draw = ctx.framebuffers.draw
        return draw.holds_negative(ctx) and draw.is_fixed_point(ctx)
    return clamp == GL.TRUE


def queried_color(ctx: Context, color: Sequence[float]) -> list[float]:
    """A colour as queries return it: clamped if fragment colours are (ARB_color_buffer_float).

    Integers (of border colours) are returned unchanged.
    """
    if ctx.is_compat and clamps(ctx, ctx.fragment.clamp_fragment_color):
        return [min(max(v, 0.0), 1.0) if isinstance(v, float) else v for v in color]
    return list(color)
