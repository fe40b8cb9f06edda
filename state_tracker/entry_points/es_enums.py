"""Enumerators that desktop GL takes and OpenGL ES, from version 2 on, does not: by what they say.

Capabilities are marked in their own table (`enables`), formats have one of their own
(`texturing.es_formats`), and what can be asked for is in `limit_queries`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

__all__ = ["check_es"]

_MISSING = {
    what: frozenset(getattr(GL, name) for name in names.split())
    for what, names in {
        "pixel store parameter": """
            PACK_SWAP_BYTES PACK_LSB_FIRST UNPACK_SWAP_BYTES UNPACK_LSB_FIRST PACK_INVERT_MESA""",
        "texture target": """
            TEXTURE_1D TEXTURE_1D_ARRAY TEXTURE_RECTANGLE PROXY_TEXTURE_1D PROXY_TEXTURE_2D
            PROXY_TEXTURE_3D PROXY_TEXTURE_1D_ARRAY PROXY_TEXTURE_2D_ARRAY PROXY_TEXTURE_RECTANGLE
            PROXY_TEXTURE_CUBE_MAP PROXY_TEXTURE_CUBE_MAP_ARRAY PROXY_TEXTURE_2D_MULTISAMPLE
            PROXY_TEXTURE_2D_MULTISAMPLE_ARRAY""",
        "sampler parameter": "TEXTURE_LOD_BIAS TEXTURE_CUBE_MAP_SEAMLESS",
        "wrap mode": "MIRROR_CLAMP_EXT MIRROR_CLAMP_TO_BORDER_EXT",
        "buffer target": "QUERY_BUFFER PARAMETER_BUFFER",
        "attribute type": "DOUBLE UNSIGNED_INT_10F_11F_11F_REV",
        "colour buffer": """
            FRONT LEFT RIGHT FRONT_AND_BACK FRONT_LEFT FRONT_RIGHT BACK_LEFT BACK_RIGHT""",
    }.items()
}


_ONLY = frozenset((int(GL.TEXTURE_EXTERNAL_OES),))


def check_es(ctx: Context, value: int, what: str) -> None:
    """INVALID_ENUM in an ES context for what ES has not, elsewhere for what only ES has."""
    if value in _ONLY and ctx.profile != "es":
        raise invalid_enum(value, what)
    if ctx.profile == "es" and value in _MISSING[what]:
        raise invalid_enum(value, what)
