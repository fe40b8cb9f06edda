"""Keys of sampling code: everything about a texture unit except its texels' addresses."""

from __future__ import annotations

import enum
import weakref
from dataclasses import dataclass

from gallette.drivers.common.texture.anisotropic import AnisotropicUnit
from gallette.drivers.common.texture.floats import axes_of
from gallette.drivers.common.texture.image import Image
from gallette.drivers.common.texture.unit import Unit
from gallette.drivers.common.texture.wrap import Axis
from gallette.pipe.enums import CompareFunc, Filter, MipFilter, Target
from gallette.pipe.formats import Format

__all__ = ["ImageKey", "Missing", "TexelsKey", "TextureKey", "UnitKey", "is_known", "texture_key"]


class Missing(enum.Enum):
    """Why a texture unit has no key."""

    UNBOUND = "nothing is bound, or the binding is not used"
    NO_CODE = "there is no code for these texels: the shared unit is used"


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
    lod_bias: float
    min_lod: float
    max_lod: float
    border: tuple[int, ...]  # bits of the components
    border_depth: tuple[int, ...]
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
    if not is_known(image.format):
        return Missing.NO_CODE
    several = type(unit) is AnisotropicUnit
    if (type(unit) is not Unit and not several) or (several and image.stencil):
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
        float(sampler.lod_bias),
        float(sampler.min_lod),
        float(sampler.max_lod),
        tuple(_bits(p) for p in floats.border),
        tuple(_bits(p) for p in floats.border_depth),
        int(sampler.max_anisotropy) if several else 0,
    )


def _bits(value: object) -> int:
    import numpy as np

    return int(np.asarray(value).reshape(1).view(np.uint32)[0])


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
