"""Keys of sampling code: everything about a texture unit except its texels' addresses and the
numbers of its sampler (levels of detail, the border), which are loaded when a shader runs."""

from __future__ import annotations

import enum
import weakref

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.common.texture.image import Image
from gallette.drivers.common.texture.sampling import Filtering
from gallette.drivers.common.texture.unit import Unit
from gallette.pipe.enums import Target
from gallette.pipe.formats import Format


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


@lazy_dataclass(frozen=True)
class ImageKey:
    """How texels are decoded."""

    format: Format
    swizzle: tuple[str | int, ...]
    stencil: bool

    @classmethod
    def of(cls, image: Image) -> ImageKey:
        return cls(image.format, tuple(image.swizzle), image.stencil)


@lazy_dataclass(frozen=True)
class TexelsKey:
    """Texels read and written with integer coordinates."""

    target: Target
    image: ImageKey


@lazy_dataclass(frozen=True)
class TextureKey:
    """One texture unit."""

    how: Filtering
    image: ImageKey
    packed: tuple[str | int, ...] | None  # the bytes of a word, if filtered in 8 bits
    packed_bits: int  # bits per texel in that case
    biased: bool  # does the sampler move the level of detail?
    bounded: bool  # does it bound the level of detail?

    @property
    def target(self) -> Target:
        return self.how.target


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
    if unit.chooses or not is_known(image.format):
        return Missing.NO_CODE
    packed = unit.packed.image if unit.packed is not None else None
    return TextureKey(
        unit.how,
        ImageKey.of(image),
        None if packed is None else packed.bytes8,
        0 if packed is None else packed.format.block_bytes * 8,
        sampler.lod_bias != 0,
        (sampler.min_lod, sampler.max_lod) != UNBOUNDED,
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
