"""Bound state that a module depends on, beyond what NIR passes lower.

The keys of variants derive from `EmitOptions` and override fields.
"""

from __future__ import annotations

from typing import Any

__all__ = ["EmitOptions"]


class EmitOptions:
    """Options of one variant; fields that a key does not override have these values."""

    __slots__ = ()
    clip_mask: Any = 0
    point_size: Any = ""
    clip_points: Any = False
    snap_points: Any = False
    upper_left: Any = True
    color_buffers: Any = 1
    zero_inputs: Any = ()
    sample_shading: Any = False
    alpha_to_red: Any = False
    swizzles: Any = ()
    folds: Any = ()
    smooth_points: Any = False
    stream_output: Any = None
    quads: Any = ""
    block: Any = None
