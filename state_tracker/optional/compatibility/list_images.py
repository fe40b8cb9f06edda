"""The size of the client memory that an image command reads, for display lists to copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gallette.state_tracker.entry_points.functions import Function
from gallette.state_tracker.optional.compatibility.pixel_ops.bitmaps import bitmap_layout
from gallette.state_tracker.pixel_data.pixel_store import item_bytes
from gallette.state_tracker.pixel_data.pixels import (
    COMPONENTS,
    PACKED_TYPES,
    PLAIN_TYPES,
    image_layout,
    pixel_bytes,
)

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context


def image_bytes(ctx: Context, function: Function, args: tuple[Any, ...]) -> int:
    """Bytes from the pointer to the end of the image's last row; 0 if the call is an error."""
    named = dict(zip((p.name for p in function.params), args, strict=False))
    if "imageSize" in named:
        return max(int(named["imageSize"]), 0)
    if function.name == "PolygonStipple":
        return bitmap_layout(ctx.unpack, 32, 32)[2]
    width, height = int(named["width"]), int(named.get("height", 1))
    depth = int(named.get("depth", 1))
    if min(width, height, depth) < 0:
        return 0
    if function.name == "Bitmap":
        return bitmap_layout(ctx.unpack, width, height)[2]
    format, type = named["format"], named["type"]
    if type not in PLAIN_TYPES and type not in PACKED_TYPES:
        return bitmap_layout(ctx.unpack, width, height)[2]
    if format not in COMPONENTS:
        return 0
    pixel = pixel_bytes(format, type)
    return image_layout(ctx.unpack, width, height, depth, pixel, item_bytes(type)).end
