"""Enums that desktop GL accepts and OpenGL ES, from version 2 on, does not, by topic.

Capabilities are marked in their own table (`enables`), formats in `texturing.es_formats`, and
queries in `limit_queries`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.compiler.nir.ir.modes import GL_NAMES
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

MISSING = {
    what: frozenset(getattr(GL, name) for name in names.split())
    for what, names in {
        "texture target": """
            TEXTURE_1D TEXTURE_1D_ARRAY TEXTURE_RECTANGLE PROXY_TEXTURE_1D PROXY_TEXTURE_2D
            PROXY_TEXTURE_3D PROXY_TEXTURE_1D_ARRAY PROXY_TEXTURE_2D_ARRAY PROXY_TEXTURE_RECTANGLE
            PROXY_TEXTURE_CUBE_MAP PROXY_TEXTURE_CUBE_MAP_ARRAY PROXY_TEXTURE_2D_MULTISAMPLE
            PROXY_TEXTURE_2D_MULTISAMPLE_ARRAY""",
        "texture target with images": "TEXTURE_BUFFER",
        "sampler parameter": "TEXTURE_LOD_BIAS TEXTURE_CUBE_MAP_SEAMLESS",
        "texture parameter": "TEXTURE_TARGET TEXTURE_LOD_BIAS TEXTURE_CUBE_MAP_SEAMLESS",
        "texture level parameter": """
            TEXTURE_BORDER TEXTURE_LUMINANCE_SIZE TEXTURE_INTENSITY_SIZE TEXTURE_LUMINANCE_TYPE_ARB
            TEXTURE_INTENSITY_TYPE_ARB""",
        "wrap mode": "MIRROR_CLAMP_EXT MIRROR_CLAMP_TO_BORDER_EXT",
        "buffer target": "QUERY_BUFFER PARAMETER_BUFFER EXTERNAL_VIRTUAL_MEMORY_BUFFER_AMD",
        "attribute type": "DOUBLE UNSIGNED_INT_10F_11F_11F_REV",
        "vertex attribute parameter": "VERTEX_ATTRIB_ARRAY_LONG",
        "query object parameter": "QUERY_TARGET QUERY_RESULT_NO_WAIT",
        "framebuffer parameter": """
            FRAMEBUFFER_PROGRAMMABLE_SAMPLE_LOCATIONS_ARB
            FRAMEBUFFER_SAMPLE_LOCATION_PIXEL_GRID_ARB""",
        "multisample parameter": "PROGRAMMABLE_SAMPLE_LOCATION_ARB",
        "indexed query": """
            PROGRAM_MATRIX_EXT TRANSPOSE_PROGRAM_MATRIX_EXT PROGRAM_MATRIX_STACK_DEPTH_EXT
            MAX_COMPUTE_VARIABLE_GROUP_SIZE_ARB""",
        "program interface": " ".join(
            f"{stage}_SUBROUTINE{kind}" for stage in GL_NAMES.values() for kind in ("", "_UNIFORM")
        ),
        "program interface property": "MAX_NUM_COMPATIBLE_SUBROUTINES",
        "property of program resources": """
            COMPATIBLE_SUBROUTINES NUM_COMPATIBLE_SUBROUTINES LOCATION_COMPONENT
            TRANSFORM_FEEDBACK_BUFFER_INDEX TRANSFORM_FEEDBACK_BUFFER_STRIDE""",
        "colour buffer": """
            FRONT LEFT RIGHT FRONT_AND_BACK FRONT_LEFT FRONT_RIGHT BACK_LEFT BACK_RIGHT""",
    }.items()
}


_ONLY = frozenset((int(GL.TEXTURE_EXTERNAL_OES),))


def check_es(ctx: Context, value: int, what: str) -> None:
    """Raise INVALID_ENUM in an ES context for desktop-only enums, elsewhere for ES-only enums."""
    if value in _ONLY and ctx.profile != "es":
        raise invalid_enum(value, what)
    if ctx.profile == "es" and value in MISSING[what]:
        raise invalid_enum(value, what)
