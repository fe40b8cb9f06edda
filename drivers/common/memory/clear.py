"""Clears: a raw texel, computed once and written over a rectangle of every layer."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.pipe.codecs import clear_texel, texel_layout
from gallette.pipe.enums import ClearFlags
from gallette.pipe.formats import Channel, Format
from gallette.pipe.interface import EVERY_CHANNEL, Color, ColorMask
from gallette.pipe.state import FramebufferState, ScissorState, Surface

from .resource import surface_texels

_Texels = npt.NDArray[Any]
_COLOR0, _DEPTH_STENCIL = int(ClearFlags.COLOR0), int(ClearFlags.DEPTH | ClearFlags.STENCIL)


_EVERYTHING = slice(None)


def _window(rect: ScissorState | None) -> tuple[slice, slice, slice]:
    """The texels of a surface inside a rectangle."""
    if rect is None:
        return _EVERYTHING, _EVERYTHING, _EVERYTHING
    rows = slice(max(rect.miny, 0), max(rect.maxy, 0))
    return _EVERYTHING, rows, slice(max(rect.minx, 0), max(rect.maxx, 0))


@lazy_dataclass(frozen=True)
class ClearValues:
    """The values attachments are cleared to, and a mask of the bits to clear."""

    color: Color
    depth: float
    stencil: int
    color_mask: ColorMask = EVERY_CHANNEL
    stencil_mask: int = 0xFF


@lazy_dataclass(frozen=True)
class Texel:
    """The cleared value of a surface's texels, and the bits that a clear keeps."""

    surface: Surface
    value: npt.NDArray[Any]
    kept: npt.NDArray[Any] | None = None  # None: all bits are cleared

    def fill(self, rect: ScissorState | None) -> None:
        """Clear a rectangle of the surface."""
        texels = surface_texels(self.surface)
        window = _window(rect)
        value = self.value
        if self.kept is not None:
            value = (texels[window] & self.kept) | (value & ~self.kept)
        texels[window] = value
        self.surface.resource.touch()  # type: ignore[attr-defined]


def cleared_rect(framebuffer: FramebufferState, scissor: ScissorState | None) -> ScissorState:
    """The rectangle that a clear covers: the framebuffer intersected with the scissor."""
    if scissor is None:
        return ScissorState(0, 0, framebuffer.width, framebuffer.height)
    return ScissorState(
        max(scissor.minx, 0),
        max(scissor.miny, 0),
        min(scissor.maxx, framebuffer.width),
        min(scissor.maxy, framebuffer.height),
    )


def cleared_texels(
    framebuffer: FramebufferState, flags: ClearFlags, values: ClearValues
) -> Iterator[Texel]:
    """The cleared texels of the attachments that `flags` names."""
    wanted = int(flags)  # arithmetic on plain integers is much faster
    for index, surface in enumerate(framebuffer.cbufs):
        if surface is not None and wanted & _COLOR0 << index:
            yield _color_texel(surface, values.color, values.color_mask)
    zsbuf = framebuffer.zsbuf
    if zsbuf is not None and wanted & _DEPTH_STENCIL:
        yield _depth_stencil_texel(zsbuf, flags, values.depth, values.stencil, values.stencil_mask)


def clear(
    framebuffer: FramebufferState,
    flags: ClearFlags,
    values: ClearValues,
    scissor: ScissorState | None,
) -> None:
    """Clear the attachments that `flags` names, inside the framebuffer and the scissor."""
    rect = cleared_rect(framebuffer, scissor)
    for texel in cleared_texels(framebuffer, flags, values):
        texel.fill(rect)


def clear_color(
    surface: Surface,
    color: Color,
    rect: ScissorState | None,
    mask: ColorMask = EVERY_CHANNEL,
) -> None:
    """Fill a rectangle of a colour surface, keeping the channels outside the mask."""
    _color_texel(surface, color, mask).fill(rect)


def _color_texel(surface: Surface, color: Color, mask: ColorMask) -> Texel:
    kept = None if all(mask) else _kept_channels(surface.format, mask)
    return Texel(surface, clear_texel(surface.format, color), kept)


def _channel_mask(channel: Channel) -> int:
    return ((1 << channel.bits) - 1) << channel.shift


def _kept_channels(format: Format, mask: ColorMask) -> npt.NDArray[Any]:
    """The bits of a colour texel, in its words, that a masked clear keeps."""
    written = {name for name, on in zip("RGBA", mask, strict=True) if on}
    kept = sum(_channel_mask(c) for c in format.channels if c.name not in written)
    word, count = texel_layout(format)
    return np.frombuffer(kept.to_bytes(word.itemsize * count, "little"), word)


@functools.lru_cache
def _kept_bits(format: Format, flags: ClearFlags, stencil_writemask: int) -> _Texels | None:
    """The bits of a depth-stencil texel that a clear keeps, or None."""
    kept = 0
    for channel in format.channels:
        if channel.name == "Z" and not flags & ClearFlags.DEPTH:
            kept |= _channel_mask(channel)
        elif channel.name == "S":
            written = stencil_writemask & 0xFF if flags & ClearFlags.STENCIL else 0
            kept |= (~written & 0xFF) << channel.shift
    return np.array(kept, texel_layout(format)[0]) if kept else None


def clear_depth_stencil(
    surface: Surface,
    flags: ClearFlags,
    depth: float,
    stencil: int,
    rect: ScissorState | None,
    stencil_writemask: int,
) -> None:
    """Fill a rectangle of a depth-stencil surface, keeping the bits that are not cleared."""
    _depth_stencil_texel(surface, flags, depth, stencil, stencil_writemask).fill(rect)


def _depth_stencil_texel(
    surface: Surface, flags: ClearFlags, depth: float, stencil: int, stencil_writemask: int
) -> Texel:
    format = surface.format
    value = clear_texel(format, depth=min(max(depth, 0.0), 1.0), stencil=stencil & 0xFF)
    return Texel(surface, value, _kept_bits(format, flags, stencil_writemask))
