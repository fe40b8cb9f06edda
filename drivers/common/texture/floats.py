"""Filtering inside one level in floating point: any format, any wrap mode, comparison, cube edges.

`level` is a number when all lanes agree, else an array by lane; `z` is the layer, face or slice
index where the target has one. Results are four component arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import minmax
from gallette.drivers.common.fixed import addressing
from gallette.drivers.common.fixed.addressing import Axis, Taps
from gallette.drivers.common.fixed.arrays import evaluate
from gallette.drivers.common.fixed.filtering import compared, mix
from gallette.drivers.common.fixed.routine import Routine
from gallette.pipe.enums import Reduction, Target, Wrap
from gallette.pipe.formats import Channel
from gallette.pipe.state import SamplerState, SamplerView

from .image import Image, Planes

__all__ = ["ChoosingFilter", "FloatFilter", "Place", "along", "axes_of"]

Array = npt.NDArray[Any]
F32 = np.float32
Level = int | Array

_DIMENSIONS = {Target.TEXTURE_1D: 1, Target.TEXTURE_1D_ARRAY: 1, Target.TEXTURE_3D: 3}


@dataclass(slots=True)
class Place:
    """The sample positions of lanes: filtered coordinates, layer or face, level, offsets, reference
    value.
    """

    coords: list[Array]
    z: Array | int
    level: Level
    offset: Sequence[Array | int]
    compare: Array | None = None

    def subset(self, lanes: Array) -> Place:
        """Only some of the lanes, by index."""

        def pick(value: Any) -> Any:
            return value[lanes] if isinstance(value, np.ndarray) and value.ndim else value

        return Place(
            [pick(c) for c in self.coords],
            pick(self.z),
            pick(self.level),
            [pick(o) for o in self.offset],
            pick(self.compare),
        )


def along(
    make: Callable[..., Routine], axis: Axis, s: Array, n: Any, offset: Array | int
) -> list[Array]:
    """Evaluate one of the routines along an axis (`fixed.addressing`); the coordinate, the extent
    and the offset are numbers, or arrays by lane.
    """
    given = [s, np.asarray(n, np.int32)]
    if moved := not isinstance(offset, int) or offset != 0:
        given.append(np.asarray(offset, np.int32))
    return evaluate(make(axis, moved), given)


def axes_of(image: Image, sampler: SamplerState) -> list[Axis]:
    """The filtered axes of a target and how each is wrapped."""
    scaled = sampler.unnormalized_coords or image.target is Target.TEXTURE_RECT
    modes = [sampler.wrap_s, sampler.wrap_t, sampler.wrap_r]
    if image.target.is_cube:
        modes = [Wrap.CLAMP_TO_EDGE] * 2
    count = _DIMENSIONS.get(image.target, 2)
    return [Axis(modes[i], image.pot[i], scaled) for i in range(count)]


def _lerp(a: Array, b: Array, weight: Array) -> Array:
    if a.ndim == 0 and b.ndim == 0 and a == b:
        return a
    return evaluate(mix(), [a, b, np.asarray(weight, F32)])[0]


class FloatFilter:
    """Samples one view through one sampler."""

    chooses: ClassVar[bool] = False  # selects one of the texels, which works for integers too

    def __init__(self, view: SamplerView, image: Image, sampler: SamplerState) -> None:
        self.image = image
        self.axes = axes_of(image, sampler)
        self.compare = sampler.compare_func if sampler.compare_enabled else None
        self.seamless = image.target.is_cube and sampler.seamless_cube_map
        self.format = format = view.format
        self.clamp_reference = format.has_depth and not format.is_float
        self._sampler = sampler
        # Depth comparison reads the depth itself, before the view's swizzle.
        self.depths = replace(image, swizzle=(0, 1, 2, 3))

    @cached_property
    def border(self) -> Planes:
        return self._border(self.image, self._sampler)

    @cached_property
    def border_depth(self) -> Planes:
        return self._border(self.depths, self._sampler)

    def _border(self, image: Image, sampler: SamplerState) -> Planes:
        """The border colour as components of the view, like a decoded texel."""
        format = self.format
        dtype = np.dtype(np.uint32) if image.stencil else format.rgba_dtype
        color = np.asarray(sampler.border_color)
        if format.is_normalized and not image.is_integer:
            signed = any(c.type == "SNORM" for c in format.channels)
            color = np.clip(color, -1.0 if signed else 0.0, 1.0)
        elif format.codec in ("small_float", "shared_exponent"):
            color = np.fmax(color, 0.0)  # these floats have no sign
        if format.is_depth_stencil:
            planes = [color[0], 0, 0, 1]
        else:
            planes = [
                float(s) if isinstance(s, str) else color[3 if s == format.swizzle[3] else c]
                for c, s in enumerate(format.swizzle)
            ]
            letters = {c.name for c in format.channels}
            if "L" in letters:
                planes[:3] = [color[0]] * 3
            elif "I" in letters:
                planes = [color[0]] * 4
            if format.is_pure_integer:
                planes = [
                    _in_range(p, format.channels[s]) if isinstance(s, int) else p
                    for p, s in zip(planes, format.swizzle, strict=True)
                ]
        return image.select([np.asarray(p).astype(dtype) for p in planes])

    # -- gathering -----------------------------------------------------------------------------

    def _extent(self, axis: int, level: Level) -> Any:
        image = self.image
        table = (image.width, image.height, image.depth)[axis]
        return int(table[level]) if isinstance(level, int) else table[level]

    def _row(self, place: Place, y: Array | int, z: Array | int) -> Array:
        """The index at which rows begin in the level."""
        image, level = self.image, place.level
        width, stride, base = image.width[level], image.layer_stride[level], image.base[level]
        return np.asarray(y * width + (z * stride + base)).astype(np.int64)

    def _compares(self, place: Place) -> bool:
        return self.compare is not None and place.compare is not None

    def _texel(self, place: Place, indices: Sequence[Array], out: Sequence[Array | None]) -> Planes:
        """One tap: decoded (and compared) texels, border colour where any axis is outside."""
        y: Array | int = indices[1] if len(indices) > 1 else 0
        z: Array | int = indices[2] if len(indices) > 2 else place.z
        return self._tap(place, indices[0] + self._row(place, y, z), out)

    def _tap(self, place: Place, index: Array, out: Sequence[Array | None]) -> Planes:
        """One tap at an index into all texels: decoded (and compared)."""
        compares = self._compares(place)
        planes = (self.depths if compares else self.image).gather(index)
        outside: Array | None = None
        for mask in out:
            if mask is not None:
                outside = mask if outside is None else outside | mask
        if outside is not None and outside.any():
            border = self.border_depth if compares else self.border
            planes = [np.where(outside, b, p) for p, b in zip(planes, border, strict=True)]
        return self._compared(place, planes)

    def _compared(self, place: Place, planes: Planes) -> Planes:
        """The result of the depth comparison, as 0 or 1, in place of the texel."""
        if self.compare is None or place.compare is None:
            return planes
        routine = compared(self.compare, self.clamp_reference)
        passed = evaluate(routine, [place.compare, planes[0]])[0]
        passed = np.broadcast_to(passed, planes[0].shape)  # a constant function has one result
        one = np.ones((), F32)
        return self.image.select([passed, passed, passed, one])

    # -- filters -------------------------------------------------------------------------------

    def nearest(self, place: Place) -> Planes:
        """The texel that contains the coordinates."""
        indices, out = [], []
        for i, axis in enumerate(self.axes):
            extent = self._extent(i, place.level)
            found = along(addressing.nearest_tap, axis, place.coords[i], extent, place.offset[i])
            indices.append(found[0])
            out.append(found[1] if len(found) > 1 else None)
        return self._texel(place, indices, out)

    def taps(self, make: Callable[..., Routine], place: Place) -> list[Taps[Array]]:
        """The two texels and the weight along each filtered axis."""
        extents = [self._extent(i, place.level) for i in range(len(self.axes))]
        given = zip(self.axes, place.coords, extents, place.offset, strict=False)
        return [Taps(*along(make, *values)) for values in given]

    def linear(self, place: Place) -> Planes:
        """The weighted mean of 2, 4 or 8 texels."""
        if self.image.is_integer and not self.chooses:
            return self.nearest(place)
        if self.seamless:
            corners, wx, wy = self._seamless_corners(place)
            return self._mix2(corners, wx, wy)
        taps = self.taps(addressing.linear_taps, place)
        if len(taps) == 1:
            (x,) = taps
            low = self._texel(place, [x.i0], [x.out0])
            high = self._texel(place, [x.i1], [x.out1])
            return [self.between(a, b, x.weight) for a, b in zip(low, high, strict=True)]
        if len(taps) == 2:
            return self._mix2(self._corners(place, taps), taps[0].weight, taps[1].weight)
        x, y, r = taps
        slices = []
        for z, out in ((r.i0, r.out0), (r.i1, r.out1)):
            corners = self._corners(place, [x, y], z, out)
            slices.append(self._mix2(corners, x.weight, y.weight))
        return [self.between(a, b, r.weight) for a, b in zip(*slices, strict=True)]

    def _corners(
        self,
        place: Place,
        taps: list[Taps[Array]],
        z: Array | None = None,
        z_out: Array | None = None,
    ) -> list[Planes]:
        """The four texels around a point: (0,0) (1,0) (0,1) (1,1)."""
        x, y = taps
        layer = place.z if z is None else z
        columns = [(i.astype(np.int64), out) for i, out in ((x.i0, x.out0), (x.i1, x.out1))]
        corners = []
        for j, j_out in ((y.i0, y.out0), (y.i1, y.out1)):
            row = self._row(place, j, layer)
            corners += [self._tap(place, i + row, [i_out, j_out, z_out]) for i, i_out in columns]
        return corners

    def between(self, a: Array, b: Array, weight: Array) -> Array:
        """Combine two texels or intermediate results by weight."""
        return _lerp(a, b, weight)

    def _mix2(self, corners: list[Planes], wx: Array, wy: Array) -> Planes:
        mixed = []
        for a, b, c, d in zip(*corners, strict=True):
            mixed.append(self.between(self.between(a, b, wx), self.between(c, d, wx), wy))
        return mixed

    def probes(self, total: Array, found: Array) -> Array:
        """Take one more probe of anisotropic filtering into account."""
        added: Array = total + found
        return added

    @staticmethod
    def planes(planes: Planes) -> Planes:
        """Float components, swizzled, which the filters already return."""
        return planes

    def mix(self, a: Planes, b: Planes, fraction: Array) -> Planes:
        """Interpolate between two mipmap levels."""
        return [self.between(x, y, fraction) for x, y in zip(a, b, strict=True)]

    def _seamless_corners(self, place: Place) -> tuple[list[Planes], Array, Array]:
        """Four texels around a point of a cube face, taken from neighbouring faces at its edges."""
        n = self._extent(0, place.level)
        nf = np.asarray(n, F32)
        u = minmax.limited(place.coords[0], F32(0.0), F32(1.0)) * nf - F32(0.5)
        v = minmax.limited(place.coords[1], F32(0.0), F32(1.0)) * nf - F32(0.5)
        fu, fv = np.floor(u), np.floor(v)
        i, j = fu.astype(np.int32), fv.astype(np.int32)
        wx, wy = u - fu, v - fv  # floats minus int32 would be doubles
        z = np.broadcast_to(np.asarray(place.z, np.int32), i.shape)
        image, level = self.image, place.level
        width, stride, base = image.width[level], image.layer_stride[level], image.base[level]
        index = i + (j * width + z * stride + base)
        last = np.asarray(n - 1, np.int32)
        seams = np.flatnonzero((i < 0) | (i >= last) | (j < 0) | (j >= last))
        indices = [index, index + 1, index + width, index + (width + 1)]
        lone: list[Array] = []
        if len(seams):
            some = [
                part.take(seams) if isinstance(part, np.ndarray) and part.ndim else part
                for part in (z, i, j, n, width, stride, base)
            ]
            over, lone = _around_seams(*some)
            for corner, there in zip(indices, over, strict=True):
                corner[seams] = there
        compares = self._compares(place)
        corners = [
            self._compared(place, (self.depths if compares else image).gather(corner))
            for corner in indices
        ]
        for k, alone in enumerate(lone):
            if alone.any():
                self._average_others(corners, k, seams[alone])
        return corners, wx, wy

    @staticmethod
    def _average_others(corners: list[Planes], k: int, lanes: Array) -> None:
        """The mean of three texels, which replaces the fourth at a corner of the cube, where three
        faces meet.
        """
        others = [corners[m] for m in range(4) if m != k]
        for i, (plane, *three) in enumerate(zip(corners[k], *others, strict=True)):
            if plane.ndim and plane.dtype.kind == "f":  # gathered integers have no mean
                first, second, third = (other[lanes] for other in three)
                corners[k][i] = plane.copy()  # the result of a comparison may be a broadcast
                corners[k][i][lanes] = (first + second + third) / F32(3.0)

    def gather(self, place: Place, component: int) -> Planes:
        """One component of the four texels a linear filter would use, counter-clockwise."""
        if self.seamless:
            corners, _, _ = self._seamless_corners(place)
        else:
            corners = self._corners(place, self.taps(addressing.gather_taps, place))
        return [corners[k][component] for k in (2, 3, 1, 0)]


class ChoosingFilter(FloatFilter):
    """Returns the smallest or largest of the texels that would be averaged, or of their results of
    a depth comparison (ARB_texture_filter_minmax); those with zero weight do not count.
    """

    chooses = True

    def __init__(self, view: SamplerView, image: Image, sampler: SamplerState) -> None:
        super().__init__(view, image, sampler)
        self._choose = np.fmin if sampler.reduction is Reduction.MIN else np.fmax

    def between(self, a: Array, b: Array, weight: Array) -> Array:
        return np.where(weight == 0, a, self.probes(a, b))

    def probes(self, total: Array, found: Array) -> Array:
        chosen: Array = self._choose(total, found)
        return chosen


def _around_seams(
    z: Array, i: Array, j: Array, n: Any, width: Any, stride: Any, base: Any
) -> tuple[list[Array], list[Array]]:
    """The indices of texels (0,0) (1,0) (0,1) (1,1) from i and j of face (and cube) z, some of
    which are beyond the face's edges, and in which lanes each of them is beyond two.
    """
    low = [(i + d, (i + d < 0) | (i + d >= n)) for d in (0, 1)]
    high = [(j + d, (j + d < 0) | (j + d >= n)) for d in (0, 1)]
    pairs = [(column, row) for row in high for column in low]
    lanes = [np.flatnonzero(out_i ^ out_j) for (_, out_i), (_, out_j) in pairs]
    every = np.concatenate(lanes)
    columns, rows = (
        np.concatenate([pair[axis][0].take(some) for pair, some in zip(pairs, lanes, strict=True)])
        for axis in (0, 1)
    )
    cube, face = np.divmod(z.take(every), 6)
    size = n.take(every) if isinstance(n, np.ndarray) else n
    over = addressing.across_the_seam()
    face, columns, rows = evaluate(over, [face, columns, rows, np.asarray(size, np.int32)])
    face, columns, rows = face + cube * 6, _inside(columns, size), _inside(rows, size)
    found, end = [], 0
    for ((column, _), (row, _)), some in zip(pairs, lanes, strict=True):
        start, end = end, end + len(some)
        layer, column, row = z.copy(), _inside(column, n), _inside(row, n)
        for part, moved in ((layer, face), (column, columns), (row, rows)):
            part[some] = moved[start:end]
        found.append(column + (row * width + layer * stride + base))
    return found, [out_i & out_j for (_, out_i), (_, out_j) in pairs]


def _inside(i: Array, n: Any) -> Array:
    """An index limited to 0..n-1."""
    return minmax.minimum(minmax.maximum(i, 0), n - 1)


def _in_range(value: Any, channel: Channel) -> Any:
    """A whole number clamped to the channel's range."""
    low, high = 0, (1 << channel.bits) - 1
    if channel.type == "SINT":
        low, high = -(1 << (channel.bits - 1)), (1 << (channel.bits - 1)) - 1
    return np.clip(np.asarray(value).astype(np.int64), low, high)
