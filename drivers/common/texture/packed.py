"""Bilinear filtering of 8-bit texels four channels at a time, in integer arithmetic.

A texel is a 32-bit word; its even and odd bytes become two words with 16 bits per channel, so that
one multiplication weights two channels. Weights have 8 bits, and every interpolation rounds to
nearest, as llvmpipe does for unsigned normalised bytes.

Once more lanes have sampled a texture than it has texels, a padded copy pays: one index, two
gathers. The copy holds a texel and its right neighbour in a 64-bit word, channel by channel, in
rows and layers with one more texel on every side, as the wrap mode defines it. So the four texels
around a point are in two words at a fixed distance, and nothing wraps. Sums stay below 2**16, so
16-bit arithmetic serves four channels of every lane at a time, with the same results, bit for bit.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import reduce
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

from .image import Image, PayingCopy, Planes, fits_bytes, of_level
from .sampling import Filtering, LevelFilter, Place

if TYPE_CHECKING:
    from .unit import Unit

Array = npt.NDArray[Any]

_REPEATED = np.array(0x0001_0001_0001_0001, np.uint64)
_REPEATED_257 = np.array(0x0101_0101_0101_0101, np.uint64)
_ALL_256 = np.array(0x0100_0100_0100_0100, np.uint64)
_ONE, _TWO = np.array(1, np.int32), np.array(2, np.int32)
_HALF_TEXEL, _FRACTION = np.array(128, np.int32), np.array(255, np.int32)
_ZERO, _STEPS = np.array(0.0, np.float32), np.array(256.0, np.float32)
_EIGHT16 = np.array(8, np.uint16)
_HIGH, _ROUND = np.array(0xFF00, np.uint16), np.array(0x80, np.uint16)


class PaddedLayout:
    """The offsets of a view's levels in its padded copy, by level."""

    __slots__ = ("base", "image", "layers", "size", "square", "texels", "wraps")

    def __init__(self, image: Image, axes: Sequence[Axis]) -> None:
        self.image = image
        self.wraps = tuple(axis.mode is Wrap.REPEAT for axis in axes)
        self.square = np.array_equal(image.width, image.height)
        self.layers = (image.width + _TWO) * (image.height + _TWO)
        sizes = self.layers.astype(np.int64) * image.depth
        ends = np.cumsum(sizes)
        self.base = (ends - sizes).astype(np.int32)
        self.size = int(ends[-1])
        self.texels = int((image.width.astype(np.int64) * image.height * image.depth).sum())

    @property
    def fits(self) -> bool:
        """Whether indices fit into 31 bits."""
        return self.size < 1 << 31

    def copy(self) -> Array:
        """The texels, padded; in a word, four times a channel and that of the next texel."""
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
        out[:-1] |= out[1:] << np.uint64(8)
        return out


def _widened(texels: Array) -> Array:
    """Words of bytes as words of four 16-bit channels."""
    if texels.dtype != np.uint32:
        texels = texels.astype(np.uint32)
    channels = texels.view(np.uint8).astype(np.uint16)
    words: Array = channels.view(np.uint64)
    return words


class Padded(PayingCopy):
    """The padded copy of a view."""

    __slots__ = ("layout",)

    def __init__(self, resource: HostResource, layout: PaddedLayout, key: Any) -> None:
        super().__init__(resource, layout.texels, ("padded", key, layout.wraps), layout.copy)
        self.layout = layout


_BLOCK = 3 << 12
"""Lanes that are filtered at a time."""


class PaddedFilter:
    """Filters one view through one sampler, from its padded copy."""

    __slots__ = ("_axes", "_padded")

    def __init__(self, padded: Padded, axes: Sequence[Axis]) -> None:
        self._padded = padded
        self._axes = axes

    def linear(self, place: Place[Any]) -> Array | None:
        """The mean of four texels, as four 16-bit channels per lane; None without a copy. The lower
        bytes of channels are fractions.

        Lanes are filtered in blocks, so that what is computed on the way stays in the cache.
        """
        lanes, level = place.coords[0].shape[0], place.level
        pairs: Array | None = self._padded.get(lanes)
        if pairs is None:
            return None
        layout = self._padded.layout
        width = of_level(layout.image.width, level)
        height = width if layout.square else of_level(layout.image.height, level)
        column, across = self._first(place, 0, width)
        row, down = self._first(place, 1, height)
        step = np.add(width, _TWO)
        index = row * step
        index += column
        index += of_level(layout.base, level)
        if place.z is not None:
            index += np.asarray(place.z, np.int32) * of_level(layout.layers, level)
        out = np.empty(4 * lanes, np.uint16)
        size = -(-lanes // max(1, round(lanes / _BLOCK)))
        for start in range(0, lanes, size):
            some = slice(start, start + size)
            steps = step[some] if step.ndim else step
            means = out[4 * start : 4 * (start + size)]
            _weighted(pairs, index[some], steps, across[some], down[some], means)
        return out

    def _first(self, place: Place[Any], number: int, n: Array) -> tuple[Array, Array]:
        """Where along an axis the first texel of each pair is in the copy, and the weight of the
        second one of 256; kept for other lookups with the coordinate.
        """
        axis, coordinate = self._axes[number], place.coords[number]
        kept = place.kept_along(number, n)
        if kept is None:
            offset = place.offset[number] if place.offset else None
            return _first_texel(axis, coordinate, n, offset)
        if axis not in kept:
            kept[axis] = _first_texel(axis, coordinate, n, None)
        found: tuple[Array, Array] = kept[axis]
        return found


def _first_texel(axis: Axis, s: Array, n: Array, offset: Array | None) -> tuple[Array, Array]:
    u = _in_256ths(axis, s, n, offset)
    fixed = np.rint(u, out=u).astype(np.int32)
    fixed += _HALF_TEXEL
    weight = (fixed & _FRACTION).astype(np.uint16)
    bits = fixed.view(U32)
    bits >>= _EIGHT
    # Where coordinates wrap, n - 1 and -1 are the same pair.
    if axis.mode is Wrap.REPEAT and axis.pot:
        fixed &= np.subtract(n, _ONE)
    else:
        minmax.minimum(fixed, n, fixed)
    return fixed, weight


def _weighted(
    pairs: Array, index: Array, step: Array, across: Array, down: Array, out: Array
) -> None:
    """The means of the texels in pairs and in those `step` after them. Both rows are in one array,
    so that NumPy is called half as often.
    """
    at = np.empty((2, len(index)), np.int64)
    at[0] = index
    np.add(at[0], step, out=at[1])
    rows = pairs.take(at).view(np.uint16)
    # A pair is a + 256 b. Modulo 2**16, (a + 256 b) (256 - w) is a (256 - w) - 256 b w, so b has
    # to be added 257 w times.
    weight = across.astype(np.uint64)
    upper = rows >> _EIGHT16
    upper *= (weight * _REPEATED_257).view(np.uint16)
    weight *= _REPEATED
    rows *= np.subtract(_ALL_256, weight, out=weight).view(np.uint16)
    rows += upper
    rows += _ROUND
    _mean(rows[0], rows[1], _spread(down), out)


def _spread(weight: Array) -> Array:
    """A weight repeated for each of the four channels, as 16-bit numbers."""
    wide = weight.astype(np.uint64)
    wide *= _REPEATED
    return wide.view(np.uint16)


def _mean(low: Array, high: Array, weight: Array, out: Array | None = None) -> Array:
    """Channels in upper bytes, weighted and rounded; the lower bytes are fractions."""
    step = high >> _EIGHT16
    step -= low >> _EIGHT16
    step *= weight
    mean: Array = np.bitwise_and(low, _HIGH, out=out)
    mean |= _ROUND
    mean += step
    return mean


def _nearest(axis: Axis, s: Array, n: Array, offset: Array | None) -> Array:
    """The texel that contains the coordinate."""
    nf = np.asarray(n, np.float32)
    s = _offset_coordinate(s, offset, nf, axis.scaled)
    repeat = axis.mode is Wrap.REPEAT
    if repeat and not axis.pot:
        u = s - np.floor(s)
        u *= nf
    else:
        u = np.floor(s if axis.scaled else s * nf)
    if not repeat:
        minmax.maximum(u, np.float32(0.0), u)
        minmax.minimum(u, nf - np.float32(1.0), u)
    texel: Array = u.astype(np.int32)
    if repeat and axis.pot:
        texel &= n - np.int32(1)
    elif repeat:
        minmax.minimum(texel, n - np.int32(1), texel)
    return texel if repeat and axis.pot else minmax.maximum(texel, np.int32(0), texel)


def _in_256ths(axis: Axis, s: Array, n: Array, offset: Array | None) -> Array:
    """The coordinate in 256ths of a texel."""
    nf = np.asarray(n, np.float32)
    s = _offset_coordinate(s, offset, nf, axis.scaled)
    repeat = axis.mode is Wrap.REPEAT
    if repeat and not axis.pot:
        s = s - np.floor(s)
    steps = np.asarray(nf * _STEPS)
    found: Array = np.multiply(s, _STEPS if axis.scaled else steps)
    if not repeat:
        minmax.maximum(found, _ZERO, found)
        minmax.minimum(found, steps, found)
    return found


def _offset_coordinate(s: Array, offset: Array | None, nf: Array, scaled: bool) -> Array:
    if offset is None:
        return s
    return s + offset if scaled else s + offset / nf


Words = list[Array]
F32 = np.float32
U32 = np.uint32

_EVEN = np.array(0x00FF00FF, U32)
_LOW, _EIGHT, _SIXTEEN = (np.array(number, U32) for number in (0xFF, 8, 16))
_SECOND_BYTE, _THREE_BYTES = np.array(0xFF00, U32), np.array(24, U32)
_CONSTANT: dict[str | int, Array] = {"0": np.zeros((), F32), "1": np.ones((), F32)}
_TOP, _TOP_256 = np.array(255.0, F32), np.array(255.0 * 256.0, F32)


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
        self._used = sorted({b for b in image.bytes8 if not isinstance(b, str)})
        self.parities = sorted({b & 1 for b in self._used})
        # Of each parity, the first byte that is read and the one after the last, halved.
        halves = {p: [b >> 1 for b in self._used if b & 1 == p] for p in self.parities}
        self._halves = [(p, (found[0], found[-1] + 1)) for p, found in halves.items()]

    def row(self, place: Place[Any], columns: Sequence[Any], others: Sequence[Any]) -> list[Words]:
        """Even and odd bytes of texels (only those that the view reads)."""
        image = self.image
        start = image.row(place.level, [i for i, _ in others], place.z)
        return [self._words(x + start) for x, _ in columns]

    def _words(self, index: Array) -> Words:
        word = self.image.texels().take(index).astype(U32, copy=False)
        return [(word >> _EIGHT if odd else word) & _EVEN for odd in self.parities]

    def nearest(self, place: Place[Any]) -> Words:
        """The routines' results, in fewer operations."""
        if len(self.how.axes) != 2 or is_observed():
            return super().nearest(place)
        image, level = self.image, place.level
        width = of_level(image.width, level)
        x, y = (
            _nearest(axis, s, n, offset)
            for axis, s, n, offset in zip(
                self.how.axes,
                place.coords,
                (width, of_level(image.height, level)),
                place.offset or (None, None),
                strict=False,
            )
        )
        y *= width
        y += x
        y += of_level(image.base, level)
        if place.z is not None:
            y += np.asarray(place.z, np.int32) * of_level(image.layer_stride, level)
        return self._words(y.astype(np.int64))

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
            return [_mean(self._as_channels(low), self._as_channels(high), _spread(weight))]
        return self.mix(low, high, weight)

    def _as_channels(self, words: Words) -> Array:
        """Even and odd words as four 16-bit channels per lane, in upper bytes."""
        if words[0].dtype == np.uint16:
            return words[0]
        wide = np.zeros((len(words[0]), 4), np.uint16)
        for parity, word in zip(self.parities, words, strict=True):
            wide[:, parity::2] = (word << _EIGHT).view(np.uint16).reshape(-1, 2)
        return wide.reshape(-1)

    def stored(self, texel: Words) -> Array:
        """Even and odd words as texels of the image's format."""
        parts = [w << _EIGHT if odd else w for odd, w in zip(self.parities, texel, strict=True)]
        return reduce(np.bitwise_or, parts).astype(self.image.texels().dtype)

    def planes(self, texel: Words) -> Planes:
        """Float components, swizzled."""
        made = dict(_CONSTANT)
        if not texel or texel[0].dtype != np.uint16:
            words = dict(zip(self.parities, texel, strict=True))
            if is_observed():
                return evaluate(unpacked(self.sources), [words.get(0), words.get(1)])
            for source in self._used:
                word = words[source & 1]
                byte = word >> _SIXTEEN if source > 1 else word & _LOW
                made[source] = plane = byte.view(np.int32).astype(F32)  # NumPy's fastest conversion
                plane /= _TOP
            return [made[source] for source in self.sources]
        halves = np.ascontiguousarray(texel[0].view(U32).reshape(-1, 2).T)
        for parity, (start, stop) in self._halves:
            some = halves[start:stop]
            # Bytes 0 and 2 stay where they are, since 255 * 256 is 1.
            some, top = (some >> _THREE_BYTES, _TOP) if parity else (some & _SECOND_BYTE, _TOP_256)
            planes = some.view(np.int32).astype(F32)
            planes /= top
            made |= zip(range(2 * start + parity, 4, 2), planes, strict=False)
        return [made[source] for source in self.sources]
