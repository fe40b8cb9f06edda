"""Handles of textures and images (ARB_bindless_texture): created once, valid in a whole share
group.

A handle's low word is a place: the slot of its view in the driver, after the units of every stage
(`FIRST_HANDLE`). Its high word distinguishes handles that had one place at different times. A
handle is *resident* in a context or not; only resident handles are bound for that context's
shaders (`optional.bindless`).

A sampler uniform that may be set to a handle has one even if it is set to a texture unit: the
unit's own handle, which is not visible to applications.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.state_tracker.texturing.images import ImageUnit

if TYPE_CHECKING:
    from gallette.compiler.nir.ir.types import Type
    from gallette.state_tracker.texturing.texture_objects import SamplerObject
    from gallette.state_tracker.texturing.textures import TextureObject

UNIT_SERIAL = 0xFFFFFFFF
"""The high word of handles that stand for units."""


@lazy_dataclass(frozen=True, eq=False)
class TextureHandle:
    """A texture with its own sampler state, or with a sampler object's."""

    value: int
    texture: TextureObject
    sampler: SamplerObject | None

    @property
    def place(self) -> int:
        return self.value & 0xFFFFFFFF


@lazy_dataclass(frozen=True, eq=False)
class ImageHandle:
    """A level of a texture, or one layer of it, in a format."""

    value: int
    texture: TextureObject
    level: int
    layered: bool
    layer: int
    format: int

    @property
    def place(self) -> int:
        return self.value & 0xFFFFFFFF

    def unit(self, access: int) -> ImageUnit:
        """An image unit with equal contents."""
        unit = ImageUnit()
        unit.texture, unit.level, unit.layered = self.texture, self.level, self.layered
        unit.layer, unit.access, unit.format = self.layer, access, self.format
        return unit


class Places:
    """Numbers of places, allocated and reused. 0 is reserved for the null handle."""

    def __init__(self) -> None:
        self.count = 1
        self._free: list[int] = []

    def take(self) -> int:
        if self._free:
            return self._free.pop()
        self.count += 1
        return self.count - 1

    def give_back(self, place: int) -> None:
        self._free.append(place)


class HandleTable:
    """All handles of a share group."""

    def __init__(self) -> None:
        self.textures: dict[int, TextureHandle] = {}
        self.images: dict[int, ImageHandle] = {}
        self.texture_places, self.image_places = Places(), Places()
        self._known: dict[tuple[object, ...], TextureHandle | ImageHandle] = {}
        self._units: dict[tuple[int, Type], int] = {}
        self._serials = itertools.count(1)

    def texture(self, texture: TextureObject, sampler: SamplerObject | None) -> TextureHandle:
        """The unique handle of a texture and sampler."""
        key = (texture, sampler)
        found = self._known.get(key)
        if found is None:
            value = next(self._serials) << 32 | self.texture_places.take()
            found = self._known[key] = TextureHandle(value, texture, sampler)
            self.textures[value] = found
            texture.pin()
            if sampler is not None:
                sampler.pinned = True
        assert isinstance(found, TextureHandle)
        return found

    def image(
        self, texture: TextureObject, level: int, layered: bool, layer: int, format: int
    ) -> ImageHandle:
        """The unique handle of a texture's level or layer in a format."""
        key = (texture, level, layered, 0 if layered else layer, format)
        found = self._known.get(key)
        if found is None:
            value = next(self._serials) << 32 | self.image_places.take()
            found = self._known[key] = ImageHandle(value, texture, level, layered, layer, format)
            self.images[value] = found
            texture.pin()
        assert isinstance(found, ImageHandle)
        return found

    def of_unit(self, kind: Type, unit: int) -> int:
        """The handle of a sampler or image of that type while it is set to a unit."""
        place = self._units.get((unit, kind))
        if place is None:
            places = self.image_places if kind.is_image else self.texture_places
            place = self._units[unit, kind] = places.take()
        return UNIT_SERIAL << 32 | place

    def forget(self, owner: object) -> None:
        """Drop the handles of a deleted texture or sampler."""
        for key, handle in list(self._known.items()):
            if owner not in (key[0], key[1] if isinstance(handle, TextureHandle) else None):
                continue
            del self._known[key]
            if isinstance(handle, TextureHandle):
                del self.textures[handle.value]
                self.texture_places.give_back(handle.place)
            else:
                del self.images[handle.value]
                self.image_places.give_back(handle.place)
