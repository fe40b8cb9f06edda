"""Bilinear filtering of 8-bit texels from a padded copy: one index, four gathers.

The copy holds a texel as four 16-bit channels in a 64-bit word, in rows and layers with one more
texel on every side, as the wrap mode defines it. So the four texels around a point are at one index
and at fixed distances from it, nothing wraps, and nothing has to be unpacked. Sums stay below
2**16, so 16-bit arithmetic serves four channels of every lane at a time, with the results of
`packed`, bit for bit. Channels are stored times 256 plus 128, as rounding needs them, and each
texel is stored with its difference to the next.

A copy pays once more lanes have sampled a texture than it has texels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.fixed.addressing import Axis
from gallette.drivers.common.memory.resource import HostResource
from gallette.pipe.enums import Wrap

from .image import Image

__all__ = ["Copies", "Padded", "PaddedLayout", "lerp16", "lerp_up", "spread_weight"]

Array = npt.NDArray[Any]

_REPEATED = np.uint64(0x0001000100010001)
_EIGHT = np.uint16(8)
_ROUND = np.uint16(128)


class PaddedLayout:
    """The offsets of a view's levels in its padded copy, by level."""

    __slots__ = ("base", "image", "layers", "row", "size", "texels", "wraps")

    def __init__(self, image: Image, axes: list[Axis]) -> None:
        self.image = image
        self.wraps = tuple(axis.mode is Wrap.REPEAT for axis in axes)
        self.row = image.width + np.int32(2)
        self.layers = self.row * (image.height + np.int32(2))
        sizes = self.layers.astype(np.int64) * image.depth
        ends = np.cumsum(sizes)
        self.base = ends - sizes
        self.size = int(ends[-1])
        self.texels = int((image.width.astype(np.int64) * image.height * image.depth).sum())

    @property
    def fits(self) -> bool:
        """Whether indices fit into 31 bits."""
        return self.size < 1 << 31

    def copy(self) -> Array:
        """The texels, padded, as 64-bit words."""
        image = self.image
        source = image.texels()
        out = np.empty(self.size, np.uint64)
        for level in range(image.levels):
            width, height = int(image.width[level]), int(image.height[level])
            depth, base = int(image.depth[level]), int(image.base[level])
            stride = int(image.layer_stride[level])
            texels = np.lib.stride_tricks.as_strided(
                source[base:],
                (depth, height, width),
                (stride * source.itemsize, width * source.itemsize, source.itemsize),
            )
            start = int(self.base[level])
            rows = out[start : start + depth * (height + 2) * (width + 2)]
            inside = rows.reshape(depth, height + 2, width + 2)
            inside[:, 1:-1, 1:-1] = _widened(np.ascontiguousarray(texels))
            left, right = (-2, 1) if self.wraps[0] else (1, -2)
            inside[:, :, 0], inside[:, :, -1] = inside[:, :, left], inside[:, :, right]
            bottom, top = (-2, 1) if self.wraps[1] else (1, -2)
            inside[:, 0], inside[:, -1] = inside[:, bottom], inside[:, top]
        return out


def _widened(texels: Array) -> Array:
    """Words of bytes as words of four 16-bit channels."""
    if texels.dtype != np.uint32:
        texels = texels.astype(np.uint32)
    channels = texels.view(np.uint8).astype(np.uint16)
    words: Array = channels.view(np.uint64)
    return words


Copies = tuple[Array, Array | None]
"""Texels, each channel times 256 plus 128, and (for small textures) differences to the
next texel.
"""

_MOST_STEPS = 1 << 18
"""The largest number of texels for which differences are stored."""


class Padded:
    """The padded copy of a view, remade after the texture was written, once that pays again."""

    __slots__ = ("_key", "_resource", "_sampled", "_writes", "layout")

    def __init__(self, resource: HostResource, layout: PaddedLayout, key: Any) -> None:
        self._resource = resource
        self.layout = layout
        self._key = ("padded", key, layout.wraps)
        self._writes = -1
        self._sampled = 0

    def copies(self, lanes: int) -> Copies | None:
        """The copy, if it exists or making it pays for `lanes` more."""
        if self._writes != self._resource.writes:
            self._writes, self._sampled = self._resource.writes, 0
        self._sampled += lanes
        if self._sampled < self.layout.texels:
            return None
        found: Copies = self._resource.derive(self._key, self._made)
        return found

    def _made(self) -> Copies:
        words = self.layout.copy()
        channels = words.view(np.uint16)
        steps: Array | None = None
        if len(words) <= _MOST_STEPS:
            steps = np.zeros_like(words)
            np.subtract(channels[4:], channels[:-4], out=steps.view(np.uint16)[:-4])
        channels <<= _EIGHT
        channels += _ROUND
        return words, steps


def spread_weight(weight: Array) -> Array:
    """A weight repeated for each of the four channels, as 16-bit numbers."""
    wide = weight.astype(np.uint64)
    wide *= _REPEATED
    return wide.view(np.uint16)


def lerp16(a: Array, b: Array, weight: Array, out: Array, scratch: Array) -> Array:
    """`(256 - w) a + w b`, rounded to 8 bits: channels as 16-bit numbers, modulo 2**16."""
    np.subtract(b, a, out=out)
    np.multiply(out, weight, out=out)
    np.left_shift(a, _EIGHT, out=scratch)
    np.add(out, scratch, out=out)
    np.add(out, _ROUND, out=out)
    np.right_shift(out, _EIGHT, out=out)
    return out


def lerp_up(words: Array, index: Array, weight: Array) -> Array:
    """Pairs of texels at an index, weighted: times 256, with fractional bits below."""
    a, b = words.take(index).view(np.uint16), words[1:].take(index).view(np.uint16)
    b >>= _EIGHT
    b -= a >> _EIGHT
    b *= weight
    a += b
    return a
