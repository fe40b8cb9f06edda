"""Image units (glBindImageTexture). Drivers without shader images have none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum, invalid_value
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.objects import swap

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.texturing.textures import TextureObject

__all__ = ["ImageUnit"]


class ImageUnit:
    """What is bound to one image unit."""

    __slots__ = ("access", "format", "layer", "layered", "level", "texture")

    def __init__(self) -> None:
        self.texture: TextureObject | None = None
        self.clear()

    def clear(self) -> None:
        self.texture = swap(self.texture, None)
        self.level, self.layer, self.layered = 0, 0, False
        self.access: int = GL.READ_ONLY
        self.format: int = GL.R8


@entry
def bind_image_texture(
    ctx: Context, unit: int, texture: int, level: int, layered: int, layer: int,
    access: int, format: int,
) -> None:  # fmt: skip
    if unit >= len(ctx.images):
        raise invalid_value(f"there is no image unit {unit}")
    if level < 0 or layer < 0:
        raise invalid_value("negative level or layer")
    if access not in (GL.READ_ONLY, GL.WRITE_ONLY, GL.READ_WRITE):
        raise invalid_enum(access, "image access")
    found = ctx.textures.names.get(texture) if texture else None
    if texture and found is None:
        raise invalid_value(f"{texture} is not the name of a texture")
    slot = ctx.images[unit]
    slot.texture = swap(slot.texture, found)
    slot.level, slot.layer, slot.layered = level, layer, bool(layered)
    slot.access, slot.format = access, format
    ctx.dirty |= Dirty.IMAGES
