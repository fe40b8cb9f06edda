"""The key of a tile function besides its shader: formats, tests, blending."""

from __future__ import annotations

from typing import NamedTuple

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.common.fixed.depth import DepthKey
from gallette.drivers.common.fixed.output import ColorKey
from gallette.pipe.formats import Format

from .texture_keys import TexelsKey, UnitKey


@lazy_dataclass(frozen=True)
class ImageUnitKey:
    """One image unit."""

    texels: TexelsKey
    readable: bool
    writable: bool


class Kind(NamedTuple):
    """The primitives of a tile function."""

    corners: int  # 3: triangles, 2: lines, 1: points
    smooth: tuple[tuple[int, int], ...] = ()  # samples with which alpha's coverage is counted
    falling: bool = False  # a point's texture coordinate t decreases from row to row
    round: bool = False  # smooth points


TRIANGLES = Kind(3)


@lazy_dataclass(frozen=True)
class TileKey:
    """A tile function."""

    colors: tuple[ColorKey | None, ...]
    depth: DepthKey | None
    tests_first: bool
    counting: bool
    half: float  # from a pixel's corner to its centre
    clamp: bool  # depths are clamped to the viewport's
    flat_colors: bool = False
    textures: tuple[UnitKey, ...] = ()
    samples: tuple[tuple[int, int], ...] = ()
    """Sample positions in 1/256 from the pixel's corner; empty: one at the centre."""
    layer: bool = False
    """Vertices select the layer; `layered`: there is more than one."""
    layered: bool = False
    offset: str = ""
    """Depth offset with units that are "fixed", or depend on the exponent of a "float"."""
    offset_clamp: int = 0  # the sign of the clamp
    alpha_to_coverage: bool = False
    alpha_to_one: bool = False
    images: tuple[ImageUnitKey | None, ...] = ()
    per_sample: bool = False  # shaded per sample
    effects: bool = False
    """Fragments write to buffers or images, so that which of them run can be observed."""
    kind: Kind = TRIANGLES

    @property
    def places(self) -> tuple[tuple[int, int], ...]:
        """Positions in a pixel at which coverage is computed; empty: at the centre only."""
        return self.samples or self.kind.smooth

    @property
    def edges(self) -> int:
        """Edges of the polygon that a primitive covers; a point without multisampling covers whole
        pixels, which its box says.
        """
        if self.kind.corners == 1 and not self.places:
            return 0
        return 3 if self.kind.corners == 3 else 4


def is_wide(format: Format) -> bool:
    """Whether a texel has four channels of 32 bits, each a word of its own."""
    return format.block_bytes == 16 and all(c.bits == 32 for c in format.channels)


def can_store(format: Format) -> bool:
    """Whether there is code to read and write texels of this format."""
    return (
        format.codec in ("plain", "small_float")
        and (format.block_bytes in (1, 2, 4, 8) or is_wide(format))
        and all(
            c.type in ("UNORM", "SNORM", "FLOAT", "UINT", "SINT") or c.name == "X"
            for c in format.channels
        )
    )
