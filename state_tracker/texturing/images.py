"""Image units (glBindImageTexture). Drivers without shader images have none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.getters import gets_indexed
from gallette.state_tracker.objects import swap
from gallette.state_tracker.texturing.format_classes import IMAGE_FORMATS

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.texturing.textures import TextureObject


class ImageUnit:
    """The binding of one image unit."""

    __slots__ = ("access", "format", "initial_format", "layer", "layered", "level", "texture")

    def __init__(self, initial_format: int = GL.R8) -> None:
        self.texture: TextureObject | None = None
        self.initial_format = initial_format
        self.clear()

    def clear(self) -> None:
        self.texture = swap(self.texture, None)
        self.level, self.layer, self.layered = 0, 0, False
        self.access: int = GL.READ_ONLY
        self.format = self.initial_format


def _fixed(texture: TextureObject) -> bool:
    """Whether the texture's images are immutable: ES requires that of textures in image units."""
    return bool(texture.immutable_levels) or texture.target.value == GL.TEXTURE_BUFFER


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
    if format not in IMAGE_FORMATS:
        raise invalid_value(f"{GL.name_of(format)} is not a format of image units")
    found = ctx.textures.names.get(texture) if texture else None
    if texture and found is None:
        raise invalid_value(f"{texture} is not the name of a texture")
    if found is not None and ctx.profile == "es" and not _fixed(found):
        raise invalid_operation(f"texture {texture} has no immutable storage")
    slot = ctx.images[unit]
    slot.texture = swap(slot.texture, found)
    # A texture without layers is always bound as a whole.
    has_layers = found is not None and found.target.has_layers
    slot.level, slot.layered = level, bool(layered) and has_layers
    slot.layer = layer if has_layers else 0
    slot.access, slot.format = access, format
    ctx.dirty |= Dirty.IMAGES


gets_indexed(
    lambda c: len(c.images),
    {
        "IMAGE_BINDING_NAME": lambda c, i: t.name if (t := c.images[i].texture) else 0,
        "IMAGE_BINDING_LEVEL": lambda c, i: c.images[i].level,
        "IMAGE_BINDING_LAYERED": lambda c, i: int(c.images[i].layered),
        "IMAGE_BINDING_LAYER": lambda c, i: c.images[i].layer,
        "IMAGE_BINDING_ACCESS": lambda c, i: c.images[i].access,
        "IMAGE_BINDING_FORMAT": lambda c, i: c.images[i].format,
    },
)
