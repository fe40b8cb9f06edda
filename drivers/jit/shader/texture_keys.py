"""Keys of sampling code: everything about a texture unit except its texels' addresses and the
numbers of its sampler (levels of detail, the border), which are loaded when a shader runs."""

from __future__ import annotations

import enum
import weakref
from dataclasses import dataclass

from gallette.drivers.common.fixed.addressing import Axis
from gallette.drivers.common.texture.anisotropic import AnisotropicUnit
from gallette.drivers.common.texture.floats import axes_of
from gallette.drivers.common.texture.image import Image
from gallette.drivers.common.texture.unit import Unit
from gallette.pipe.enums import CompareFunc, Filter, MipFilter, Target
from gallette.pipe.formats import Format

__all__ = [
    "Description",
    "ImageKey",
    "Missing",
    "TexelsKey",
    "TextureKey",
    "UnitKey",
    "is_known",
    "texture_key",
]


class Description:
    """Words of a texture's description."""

    TEXELS = 0
    PACKED = 1
    LEVELS = 2
    BASE = 3  # addresses of tables by level
    WIDTH = 4
    HEIGHT = 5
    DEPTH = 6
    STRIDE = 7
    PACKED_BASE = 8
    LODS = 9  # three floats: the sampler's bias, the least and the greatest level of detail
    BORDER = 11  # bits of four components, and of those that a comparison sees
    BORDER_DEPTH = 13
    SIZE = 15


class Missing(enum.Enum):
    """Why a texture unit has no key."""

    UNBOUND = "nothing is bound, or the binding is not used"
    NO_CODE = "there is no code for these texels: the shared unit is used"


UNBOUNDED = (-1000.0, 1000.0)
"""The least and the greatest level of detail of a sampler that OpenGL begins with."""


@dataclass(frozen=True, slots=True)
class ImageKey:
    """How texels are decoded."""

    format: Format
    swizzle: tuple[str | int, ...]
    stencil: bool

    @classmethod
    def of(cls, image: Image) -> ImageKey:
        return cls(image.format, tuple(image.swizzle), image.stencil)


@dataclass(frozen=True, slots=True)
class TexelsKey:
    """Texels read and written with integer coordinates."""

    target: Target
    image: ImageKey


@dataclass(frozen=True, slots=True)
class TextureKey:
    """One texture unit."""

    target: Target
    image: ImageKey
    packed: tuple[str | int, ...] | None  # the bytes of a word, if filtered in 8 bits
    packed_bits: int  # bits per texel in that case
    axes: tuple[Axis, ...]
    min_filter: Filter
    mag_filter: Filter
    mip: MipFilter
    compare: CompareFunc | None
    clamp_reference: bool
    seamless: bool
    biased: bool  # does the sampler move the level of detail?
    bounded: bool  # does it bound the level of detail?
    probes: int = 0  # the limit of an anisotropic filter; 0: none

    @property
    def same_filters(self) -> bool:
        return self.min_filter is self.mag_filter

    @property
    def needs_lod(self) -> bool:
        return self.mip is not MipFilter.NONE or not self.same_filters or self.probes > 0


UnitKey = TextureKey | Missing

_known: weakref.WeakKeyDictionary[Unit, UnitKey] = weakref.WeakKeyDictionary()


def texture_key(unit: Unit) -> UnitKey:
    """The key of a unit."""
    try:
        return _known[unit]
    except KeyError:
        return _known.setdefault(unit, _texture_key(unit))


def _texture_key(unit: Unit) -> UnitKey:
    image, sampler = unit.image, unit.sampler
    several = isinstance(unit, AnisotropicUnit)
    if unit.chooses or (several and image.stencil) or not is_known(image.format):
        return Missing.NO_CODE
    packed = unit.packed.image if unit.packed is not None else None
    floats = unit.floats
    return TextureKey(
        image.target,
        ImageKey.of(image),
        None if packed is None else packed.bytes8,
        0 if packed is None else packed.format.block_bytes * 8,
        tuple(axes_of(image, sampler)),
        sampler.min_img_filter,
        sampler.mag_img_filter,
        unit.mip,
        floats.compare,
        floats.clamp_reference,
        floats.seamless,
        sampler.lod_bias != 0,
        (sampler.min_lod, sampler.max_lod) != UNBOUNDED,
        int(sampler.max_anisotropy) if several else 0,
    )


def is_known(format: Format) -> bool:
    """Whether there is code to gather and decode a format."""
    if format.codec not in ("plain", "small_float", "shared_exponent") or format.is_compressed:
        return False
    if format.is_depth_stencil:
        return format.block_bytes in (2, 4, 8)
    kinds = {c.type for c in format.channels if c.name != "X"}
    if not kinds <= {"UNORM", "SNORM", "FLOAT", "UINT", "SINT"}:
        return False
    return (format.is_array and format.channels[0].bits <= 32) or format.block_bytes in (1, 2, 4)
