"""Bilinear filtering of 8-bit texels four channels at a time, in integer arithmetic.

A texel is a 32-bit word; its even and odd bytes become two words with 16 bits per channel, so that
one multiplication weights two channels. Weights have 8 bits, and every interpolation rounds to
nearest, as llvmpipe does for unsigned normalised bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.fixed.arrays import evaluate, is_observed
from gallette.drivers.common.fixed.filtering import mix_bytes
from gallette.drivers.common.memory.resource import HostResource
from gallette.pipe.enums import Filter, Target, Wrap
from gallette.pipe.state import SamplerState, SamplerView

from .bilinear import PaddedFilter
from .floats import Level, Place, axes_of
from .image import Image, Planes, fits_bytes
from .padded import Padded, PaddedLayout, lerp16, spread_weight
from .wrap import linear_fixed, nearest_fixed

__all__ = ["PackedFilter", "can_filter_packed"]

Array = npt.NDArray[Any]
Words = list[Array]
F32 = np.float32
I32 = np.int32
U32 = np.uint32

_EVEN = U32(0x00FF00FF)
_EIGHT = U32(8)
_TOP = F32(255.0)


def can_filter_packed(view: SamplerView, image: Image, sampler: SamplerState) -> bool:
    """Whether this is a view of colours that fit bytes, with one of the two simple wrap modes."""
    if not fits_bytes(view.format) or sampler.compare_enabled or image.target is Target.BUFFER:
        return False
    linear = Filter.LINEAR in (sampler.min_img_filter, sampler.mag_img_filter)
    if image.target.is_cube and sampler.seamless_cube_map and linear:
        return False
    return all(axis.mode in (Wrap.REPEAT, Wrap.CLAMP_TO_EDGE) for axis in axes_of(image, sampler))


def _mixed(a: Array, b: Array, weight: Array) -> Array:
    """Two words of two channels each, the second one weighted (of 256)."""
    return evaluate(mix_bytes(), [a, b, weight])[0]


class PackedFilter:
    """Samples one view of 8-bit texels through one sampler.

    Results are even and odd words, or one array of four 16-bit channels per lane (see `padded`).
    """

    def __init__(
        self, view: SamplerView, image: Image, sampler: SamplerState, padded: bool = True
    ) -> None:
        """`padded`: a padded copy of the texture may be made."""
        self.image = image
        self.axes = axes_of(image, sampler)
        self._padded: PaddedFilter | None = None
        if padded and len(self.axes) == 2 and sys.byteorder == "little":
            layout = PaddedLayout(image, self.axes)
            if layout.fits:
                assert isinstance(view.resource, HostResource)
                range_ = view.first_level, view.last_level, view.first_layer, view.last_layer
                key = image.format, view.target, *range_
                self._padded = PaddedFilter(Padded(view.resource, layout, key), self.axes)
        assert image.bytes8 is not None
        used = {b for b in image.bytes8 if not isinstance(b, str)}
        self.even = bool(used & {0, 2})
        self.odd = bool(used & {1, 3})
        self._used = min(used, default=0), max(used, default=-1) + 1

    def _split(self, word: Array) -> Words:
        """Even and odd bytes of gathered texels (only those that the view reads)."""
        if word.dtype != U32:
            word = word.astype(U32)
        parts = []
        if self.even:
            parts.append(word & _EVEN)
        if self.odd:
            parts.append((word >> _EIGHT) & _EVEN)
        return parts

    def _take(self, level: Level, x: Array, y: Array | int, z: Array | int) -> Array:
        image = self.image
        index = x + (y * image.width[level] + z * image.layer_stride[level] + image.base[level])
        found: Array = image.texels().take(index)
        return found

    def _extent(self, axis: int, level: Level) -> Any:
        image = self.image
        table = (image.width, image.height, image.depth)[axis]
        return int(table[level]) if isinstance(level, int) else table[level]

    def nearest(self, place: Place) -> Words:
        """The texel that contains the coordinates."""
        at = [
            nearest_fixed(axis, place.coords[i], self._extent(i, place.level), place.offset[i])
            for i, axis in enumerate(self.axes)
        ]
        y: Array | int = at[1] if len(at) > 1 else 0
        z: Array | int = at[2] if len(at) > 2 else place.z
        return self._split(self._take(place.level, at[0], y, z))

    def linear(self, place: Place) -> Words:
        """The weighted mean of 2, 4 or 8 texels."""
        level = place.level
        if self._padded is not None and not is_observed():
            channels = self._padded.linear(place)
            if channels is not None:
                return [channels]
        taps = [
            linear_fixed(axis, place.coords[i], self._extent(i, level), place.offset[i])
            for i, axis in enumerate(self.axes)
        ]
        x0, x1, wx = taps[0]

        def row(y: Array | int, z: Array | int) -> Words:
            low = self._split(self._take(level, x0, y, z))
            high = self._split(self._take(level, x1, y, z))
            return [_mixed(a, b, wx) for a, b in zip(low, high, strict=True)]

        if len(taps) == 1:
            return row(0, place.z)
        y0, y1, wy = taps[1]

        def layer(z: Array | int) -> Words:
            pairs = zip(row(y0, z), row(y1, z), strict=True)
            return [_mixed(a, b, wy) for a, b in pairs]

        if len(taps) == 2:
            return layer(place.z)
        z0, z1, wz = taps[2]
        pairs = zip(layer(z0), layer(z1), strict=True)
        return [_mixed(a, b, wz) for a, b in pairs]

    def mix(self, a: Words, b: Words, fraction: Array) -> Words:
        """Interpolate between two mipmap levels."""
        weight = (fraction * F32(256.0)).astype(U32)
        if any(word.dtype == np.uint16 for word in (*a[:1], *b[:1])):
            low, high = self._as_channels(a), self._as_channels(b)
            out = np.empty_like(low)
            return [lerp16(low, high, spread_weight(weight), out, np.empty_like(low))]
        return [_mixed(x, y, weight) for x, y in zip(a, b, strict=True)]

    def _as_channels(self, words: Words) -> Array:
        """Even and odd words as four 16-bit channels per lane."""
        if words[0].dtype == np.uint16:
            return words[0]
        wide = np.zeros((len(words[0]), 4), np.uint16)
        first = [k for k, used in enumerate((self.even, self.odd)) if used]
        for k, word in zip(first, words, strict=True):
            wide[:, k::2] = word.view(np.uint16).reshape(-1, 2)
        return wide.reshape(-1)

    def planes(self, words: Sequence[Array]) -> Planes:
        """Float components, swizzled."""
        if words and words[0].dtype == np.uint16:  # no words: a view of constants alone
            return self._channel_planes(words[0])
        parts = {}
        if self.even:
            parts[0] = words[0]
        if self.odd:
            parts[1] = words[-1]
        made: dict[str | int, Array] = {"0": np.zeros((), F32), "1": np.ones((), F32)}
        assert self.image.bytes8 is not None
        for source in self.image.bytes8:
            if source not in made:
                assert isinstance(source, int)
                word = parts[source & 1]
                code = word & U32(255) if source < 2 else word >> U32(16)
                made[source] = np.divide(code.view(I32), _TOP, dtype=F32)
        return [made[source] for source in self.image.bytes8]

    def _channel_planes(self, channels: Array) -> Planes:
        assert self.image.bytes8 is not None
        first, last = self._used
        planes = np.empty((last - first, len(channels) // 4), F32)
        planes[...] = channels.reshape(-1, 4).T[first:last]
        planes /= _TOP
        made: dict[str | int, Array] = {"0": np.zeros((), F32), "1": np.ones((), F32)}
        made |= zip(range(first, last), planes, strict=True)
        return [made[source] for source in self.image.bytes8]
