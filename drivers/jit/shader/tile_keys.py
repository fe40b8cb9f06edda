"""What a tile function's code depends on besides its shader: formats, tests, blending."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gallette.pipe.enums import CompareFunc, LogicOp
from gallette.pipe.formats import Format
from gallette.pipe.state import RenderTargetBlend, StencilState

from .texture_keys import TexelsKey, UnitKey

Shape = Literal["triangle", "line", "rectangle", "point"]
"""What is drawn: it decides how many edges there are, and along what values change.

A rectangle is what a line is if samples count.
"""

__all__ = ["ColorKey", "DepthKey", "ImageUnitKey", "Shape", "TileKey", "can_store", "is_wide"]


@dataclass(frozen=True, slots=True)
class ColorKey:
    """One colour buffer."""

    format: Format
    blend: RenderTargetBlend
    blends: bool
    logicop: LogicOp | None
    mask: int | None  # bits of a texel that may change; None: all


@dataclass(frozen=True, slots=True)
class DepthKey:
    """The depth and stencil buffer, and the tests against it."""

    word: int  # bits of what is loaded and stored
    step: int  # bits from one pixel to the next
    bits: int  # of depth; 0: none
    shift: int
    is_float: bool
    stencil_shift: int
    func: CompareFunc | None  # None: depth is not tested
    write: bool
    stencil: tuple[StencilState, StencilState] | None


@dataclass(frozen=True, slots=True)
class ImageUnitKey:
    """One image unit."""

    texels: TexelsKey
    readable: bool
    writable: bool


@dataclass(frozen=True, slots=True)
class TileKey:
    """A tile function."""

    colors: tuple[ColorKey | None, ...]
    depth: DepthKey | None
    tests_first: bool
    counting: bool
    half: float  # from a pixel's corner to where it is sampled
    clamp: bool  # depths are clamped to the viewport's
    flat_colors: bool = False
    textures: tuple[UnitKey, ...] = ()
    samples: tuple[tuple[int, int], ...] = ()
    """Where samples are, in 1/256 from the pixel's corner; none: at the centre, one per pixel."""
    layer: bool = False
    """Vertices say which layer; `layered`: there is more than one."""
    layered: bool = False
    offset: str = ""
    """Depth is moved by units that are "fixed", or that follow the exponent of a "float"."""
    offset_clamp: int = 0  # the sign of the limit
    alpha_to_coverage: bool = False
    alpha_to_one: bool = False
    shape: Shape = "triangle"
    upper_left: bool = False  # where in a point coordinates begin
    images: tuple[ImageUnitKey | None, ...] = ()
    per_sample: bool = False  # shaded for each, and not once per pixel
    smooth: tuple[tuple[int, int], ...] = ()
    """Places that count coverage, which alpha is multiplied by."""
    effects: bool = False
    """Fragments write to buffers or images: which of them run can be told."""


def is_wide(format: Format) -> bool:
    """Four channels of 32 bits, each a word of its own."""
    return format.block_bytes == 16 and all(c.bits == 32 for c in format.channels)


def can_store(format: Format) -> bool:
    """Is there code to read and write texels of this format?"""
    return (
        format.codec in ("plain", "small_float")
        and (format.block_bytes in (1, 2, 4, 8) or is_wide(format))
        and all(
            c.type in ("UNORM", "SNORM", "FLOAT", "UINT", "SINT") or c.name == "X"
            for c in format.channels
        )
    )
