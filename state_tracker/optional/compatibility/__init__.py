"""The compatibility profile: matrices, lights, immediate mode, fixed function, display lists, pixel
rectangles, selection, and EXT_direct_state_access, which only this profile lists.
"""

from . import (
    fixed_uniforms,
    half_floats,
    legacy_queries,
    older_extensions,
    packed_attribs,
    switches,
)
from .attrib_stack import AttribStack
from .color_index import IndexState
from .direct_access import entries
from .display_lists import ListState
from .fixed_function import FixedFunction
from .immediate import ImmediateState
from .lighting import LightingState
from .matrices import MatrixState
from .pixel_ops import bitmaps, draw_pixels
from .pixel_ops.pixel_rectangles import PixelDrawer
from .pixel_ops.pixel_transfer import PixelTransfer
from .pixel_ops.raster_position import RasterPosition
from .pixel_ops.render_mode import RenderMode

__all__ = [
    "STATES",
    "bitmaps",
    "draw_pixels",
    "entries",
    "fixed_uniforms",
    "half_floats",
    "legacy_queries",
    "older_extensions",
    "packed_attribs",
    "switches",
]

STATES = {
    "lists": ListState,
    "immediate": ImmediateState,
    "lighting": LightingState,
    "matrices": MatrixState,
    "attrib_stack": AttribStack,
    "raster_position": RasterPosition,
    "transfer": PixelTransfer,
    "pixel_drawer": PixelDrawer,
    "rendering": RenderMode,
    "color_index": IndexState,
    "fixed_function": FixedFunction,
}
