"""Bilinear filtering of 8-bit texels four channels at a time, in integer arithmetic.

A texel is a 32-bit word; its even and odd bytes become two words with 16 bits per channel, so that
one multiplication weights two channels. Weights have 8 bits, and every interpolation rounds to
nearest, as llvmpipe does for unsigned normalised bytes.

Once more lanes have sampled a texture than it has texels, a padded copy pays: one index, four
gathers. The copy holds a texel as four 16-bit channels in a 64-bit word, in rows and layers with
one more texel on every side, as the wrap mode defines it. So the four texels around a point are at
one index and at fixed distances from it, nothing wraps, and nothing has to be unpacked. Sums stay
below 2**16, so 16-bit arithmetic serves four channels of every lane at a time, with the same
results, bit for bit. Channels are stored times 256 plus 128, as rounding needs them, and each texel
is stored with its difference to the next.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import minmax
from gallette.drivers.common.fixed import addressing
from gallette.drivers.common.fixed.addressing import Axis
from gallette.drivers.common.fixed.arrays import evaluate, is_observed
from gallette.drivers.common.fixed.filtering import mix_bytes, unpacked
from gallette.drivers.common.memory.resource import HostResource
from gallette.pipe.enums import Filter, Reduction, Target, Wrap
from gallette.pipe.state import SamplerView

from .image import Image, PayingCopy, Planes, fits_bytes
from .sampling import Filtering, LevelFilter, Place

if TYPE_CHECKING:
    from .unit import Unit

__all__ = [
    "Copies",
    "PackedFilter",
    "Padded",
    "PaddedFilter",
    "PaddedLayout",
    "can_filter_packed",
    "lerp16",
    "lerp_up",
    "spread_weight",
]

Array = npt.NDArray[Any]

_REPEATED = np.uint64(0x0001000100010001)
_EIGHT16 = np.uint16(8)
_ROUND = np.uint16(128)


class PaddedLayout:
    """The offsets of a view's levels in its padded copy, by level."""

    __slots__ = ("base", "image", "layers", "row", "size", "texels", "wraps")

    def __init__(self, image: Image, axes: Sequence[Axis]) -> None:
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


class Padded(PayingCopy):
    """The padded copy of a view."""

    __slots__ = ("layout",)

    def __init__(self, resource: HostResource, layout: PaddedLayout, key: Any) -> None:
        super().__init__(resource, layout.texels, ("padded", key, layout.wraps), self._made)
        self.layout = layout

    def _made(self) -> Copies:
        words = self.layout.copy()
        channels = words.view(np.uint16)
        steps: Array | None = None
        if len(words) <= _MOST_STEPS:
            steps = np.zeros_like(words)
            np.subtract(channels[4:], channels[:-4], out=steps.view(np.uint16)[:-4])
        channels <<= _EIGHT16
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
    np.left_shift(a, _EIGHT16, out=scratch)
    np.add(out, scratch, out=out)
    np.add(out, _ROUND, out=out)
    np.right_shift(out, _EIGHT16, out=out)
    return out


def lerp_up(words: Array, index: Array, weight: Array) -> Array:
    """Pairs of texels at an index, weighted: times 256, with fractional bits below."""
    a, b = words.take(index).view(np.uint16), words[1:].take(index).view(np.uint16)
    b >>= _EIGHT16
    b -= a >> _EIGHT16
    b *= weight
    a += b
    return a


_HIGH = np.uint16(0xFF00)
_HALF = np.uint16(0x80)


class PaddedFilter:
    """Filters one view through one sampler, from its padded copy."""

    __slots__ = ("_axes", "_padded")

    def __init__(self, padded: Padded, axes: Sequence[Axis]) -> None:
        self._padded = padded
        self._axes = axes

    def linear(self, place: Place[Any]) -> Array | None:
        """The mean of four texels, as four 16-bit channels per lane; None without a copy."""
        copies: Copies | None = self._padded.get(place.coords[0].shape[0])
        if copies is None:
            return None
        layout, level = self._padded.layout, place.level
        row: Any = layout.row[level]
        index, column_weight = self._first(0, place, layout.image.width[level])
        y, row_weight = self._first(1, place, layout.image.height[level])
        y *= row
        index += y
        index += layout.base[level] + (row + 1)  # the texel at 0, 0
        if place.z is not None:
            index += np.asarray(place.z, np.int64) * layout.layers[level]
        low = _between(copies, index, column_weight)
        index += row
        return _mean(low, _between(copies, index, column_weight), row_weight)

    def _first(self, axis: int, place: Place[Any], extent: Any) -> tuple[Array, Array]:
        """The first texel of each pair along an axis, and the weights of the second ones."""
        coords, offset = place.coords[axis], place.offset[axis] if place.offset else None
        first, weight = _linear_first(self._axes[axis], coords, extent, offset)
        return first.astype(np.int64), spread_weight(weight)


def _between(copies: Copies, index: Array, weight: Array) -> Array:
    """Pairs of texels at an index, weighted: times 256, with fractional bits below."""
    words, steps = copies
    if steps is None:
        return lerp_up(words, index, weight)
    found, step = words.take(index).view(np.uint16), steps.take(index).view(np.uint16)
    step *= weight
    found += step
    return found


def _mean(low: Array, high: Array, weight: Array) -> Array:
    """Two rows weighted: `lerp16` of `lerp16`s, without the shifts that cancel out."""
    mean = high >> _EIGHT16
    mean -= low >> _EIGHT16
    mean *= weight
    rounded = low & _HIGH
    rounded |= _HALF
    mean += rounded
    mean >>= _EIGHT16
    return mean


def _linear_first(axis: Axis, s: Array, n: Any, offset: Array | None) -> tuple[Array, Array]:
    """The first texel, -1 to n - 1 (the second is the next), and the second one's weight of 256."""
    fixed = _fixed(axis, s, n, offset)
    first = fixed >> np.int32(8)
    fixed &= np.int32(255)
    if axis.mode is Wrap.REPEAT and axis.pot:
        first &= n - 1
    else:
        minmax.minimum(minmax.maximum(first, np.int32(-1), first), n - 1, first)
    return first, fixed


def _fixed(axis: Axis, s: Array, n: Any, offset: Array | None) -> Array:
    """The coordinate minus half a texel, in 256ths of a texel."""
    nf = np.asarray(n, np.float32)
    s = _offset_coordinate(s, offset, nf, axis.scaled)
    repeat = axis.mode is Wrap.REPEAT
    if repeat and not axis.pot:
        s = s - np.floor(s)
    u = np.asarray(s * np.float32(256.0) if axis.scaled else s * (nf * np.float32(256.0)))
    if not repeat:
        minmax.maximum(u, np.float32(0.0), u)
        minmax.minimum(u, nf * np.float32(256.0), u)
    fixed: Array = np.rint(u, out=u).astype(np.int32)
    fixed -= np.int32(128)
    return fixed


def _offset_coordinate(s: Array, offset: Array | None, nf: Array, scaled: bool) -> Array:
    if offset is None:
        return s
    return s + offset if scaled else s + offset / nf


Words = list[Array]
F32 = np.float32
U32 = np.uint32

_EVEN = U32(0x00FF00FF)
_EIGHT = U32(8)
_TOP = F32(255.0)


def can_filter_packed(view: SamplerView, how: Filtering) -> bool:
    """Whether this is a view of colours that fit bytes, with one of the two simple wrap modes."""
    if not fits_bytes(view.format) or how.compare is not None or how.target is Target.BUFFER:
        return False
    if how.reduction is not Reduction.MEAN:
        return False
    if how.seamless and Filter.LINEAR in (how.min_filter, how.mag_filter):
        return False
    return all(axis.mode in (Wrap.REPEAT, Wrap.CLAMP_TO_EDGE) for axis in how.axes)


class PackedFilter(LevelFilter[Any]):
    """Samples one view of 8-bit texels through one sampler.

    Results are even and odd words, or one array of four 16-bit channels per lane, if there is a
    padded copy.
    """

    nearest_tap = staticmethod(addressing.nearest_fixed)
    linear_taps = staticmethod(addressing.linear_fixed)

    def __init__(self, unit: Unit, image: Image) -> None:
        super().__init__(unit)
        self.image = image
        self._padded: PaddedFilter | None = None
        view, axes = unit.view, unit.how.axes
        if len(axes) == 2 and sys.byteorder == "little":
            layout = PaddedLayout(image, axes)
            if layout.fits:
                assert isinstance(view.resource, HostResource)
                range_ = view.first_level, view.last_level, view.first_layer, view.last_layer
                key = image.format, view.target, *range_
                self._padded = PaddedFilter(Padded(view.resource, layout, key), axes)
        assert image.bytes8 is not None
        self.sources = image.bytes8
        used = {b for b in image.bytes8 if not isinstance(b, str)}
        self.parities = [p for p in (0, 1) if used & {p, p + 2}]
        self._used = min(used, default=0), max(used, default=-1) + 1

    def row(self, place: Place[Any], columns: Sequence[Any], others: Sequence[Any]) -> list[Words]:
        """Even and odd bytes of texels (only those that the view reads)."""
        image = self.image
        start = image.row(place.level, [i for i, _ in others], place.z)
        found = []
        for x, _ in columns:
            word = image.texels().take(x + start).astype(U32, copy=False)
            found.append([(word >> _EIGHT if odd else word) & _EVEN for odd in self.parities])
        return found

    def linear(self, place: Place[Any]) -> Words:
        if self._padded is not None and not is_observed():
            channels = self._padded.linear(place)
            if channels is not None:
                return [channels]
        return super().linear(place)

    def mix(self, low: Words, high: Words, weight: Array) -> Words:
        return [evaluate(mix_bytes(), [a, b, weight])[0] for a, b in zip(low, high, strict=True)]

    def mix_levels(self, low: Words, high: Words, weight: Array) -> Words:
        weight = (weight * F32(256.0)).astype(U32)
        if any(word.dtype == np.uint16 for word in (*low[:1], *high[:1])):
            first, second = self._as_channels(low), self._as_channels(high)
            out = np.empty_like(first)
            return [lerp16(first, second, spread_weight(weight), out, np.empty_like(first))]
        return self.mix(low, high, weight)

    def _as_channels(self, words: Words) -> Array:
        """Even and odd words as four 16-bit channels per lane."""
        if words[0].dtype == np.uint16:
            return words[0]
        wide = np.zeros((len(words[0]), 4), np.uint16)
        for parity, word in zip(self.parities, words, strict=True):
            wide[:, parity::2] = word.view(np.uint16).reshape(-1, 2)
        return wide.reshape(-1)

    def planes(self, texel: Words) -> Planes:
        """Float components, swizzled."""
        if not texel or texel[0].dtype != np.uint16:  # no words: a view of constants alone
            words = dict(zip(self.parities, texel, strict=True))
            return evaluate(unpacked(self.sources), [words.get(0), words.get(1)])
        first, last = self._used
        planes = np.empty((last - first, len(texel[0]) // 4), F32)
        planes[...] = texel[0].reshape(-1, 4).T[first:last]
        planes /= _TOP
        made: dict[str | int, Array] = {"0": np.zeros((), F32), "1": np.ones((), F32)}
        made |= zip(range(first, last), planes, strict=True)
        return [made[source] for source in self.sources]
