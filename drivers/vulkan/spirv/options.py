"""What of the bound state is written into a module, beyond what NIR passes lower.

The keys of variants derive from `EmitOptions` and declare what they decide as fields of their own.
"""

from __future__ import annotations

from typing import Any

__all__ = ["EmitOptions"]


class EmitOptions:
    """Options of one variant; what a key does not declare is as it is here."""

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
