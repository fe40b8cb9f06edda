"""A sampler view joined with a sampler, as shaders call it (see `lanes.TextureUnit`).

`sample` computes the layer or face, the level of detail, and which filters are needed at which
levels, and passes the lanes to one of two filters: `packed` for bytes in the simple wrap modes
(with llvmpipe's fixed-point arithmetic), `floats` for everything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import minmax
from gallette.drivers.common.fixed.addressing import face_derivative, project
from gallette.drivers.common.fixed.arrays import evaluate
from gallette.drivers.common.fixed.filtering import layer
from gallette.drivers.common.lanes import by_lane
from gallette.pipe.enums import Filter, MipFilter, Reduction, Swizzle, Target
from gallette.pipe.state import SamplerState, SamplerView

from .fetch import fetch, size_of
from .floats import ChoosingFilter, FloatFilter, Level, Place
from .image import Image, Planes, image_of_view
from .lod import lane_derivatives, lod_of_derivatives, quad_derivatives
from .packed import PackedFilter, can_filter_packed

__all__ = ["Unit"]

Array = npt.NDArray[Any]
F32 = np.float32
_NO_OFFSET = (0, 0, 0)


class Unit:
    """One texture unit. It has no state between calls, so several threads may sample at once."""

    def __init__(self, view: SamplerView, sampler: SamplerState) -> None:
        self.view = view
        self.sampler = sampler
        self.image: Image = image_of_view(view)
        self.same_filters = sampler.min_img_filter is sampler.mag_img_filter
        mipmapped = sampler.min_mip_filter is not MipFilter.NONE and self.image.levels > 1
        self.mip = sampler.min_mip_filter if mipmapped else MipFilter.NONE
        self.needs_lod = mipmapped or not self.same_filters
        self.chooses = sampler.reduction is not Reduction.MEAN
        kind = ChoosingFilter if self.chooses else FloatFilter
        self.floats = kind(view, self.image, sampler)
        packed = not self.chooses and can_filter_packed(view, self.image, sampler)
        self.packed = (
            PackedFilter(view, image_of_view(view, as_bytes=True), sampler) if packed else None
        )
        self.axes = len(self.floats.axes)
        self._reading: dict[int, Unit] = {}

    def reading(self, wanted: int) -> Unit:
        """A unit for a reader of only the components in the mask `wanted`; the others are 0 and
        cost no time.
        """
        found = self._reading.get(wanted)
        if found is None:
            r, g, b, a = (
                source if wanted >> number & 1 else Swizzle.ZERO
                for number, source in enumerate(self.view.swizzle)
            )
            view = replace(self.view, swizzle=(r, g, b, a))
            found = self._reading[wanted] = type(self)(view, self.sampler)
        return found

    # -- the interface -------------------------------------------------------------------------

    def sample(
        self,
        op: str,
        coords: Sequence[Array],
        lanes: int,
        *,
        lod: Array | None = None,
        bias: Array | None = None,
        ddx: Sequence[Array] | None = None,
        ddy: Sequence[Array] | None = None,
        quads: bool = False,
        compare: Array | None = None,
        offset: Sequence[Array] | None = None,
        sample_index: Array | None = None,
        min_lod: Array | None = None,
        gather_component: int = 0,
    ) -> list[Array]:
        """Four components, or the size or level (see `TextureUnit.sample`)."""
        if op == "txs":
            return size_of(self.image, lod)
        if op == "query_levels":
            return [np.asarray(np.int32(self.image.levels))]
        if op == "texture_samples":
            return [np.asarray(np.int32(max(1, self.view.resource.desc.samples)))]
        given = (*coords, lod, bias, compare, sample_index, min_lod, *(ddx or ()), *(ddy or ()))
        uniform = not any(np.ndim(c) for c in (*given, *(offset or ())) if c is not None)
        count = lanes if not uniform else 4 if quads else 1
        spread = [c if np.ndim(c) else by_lane(c, count) for c in coords]
        moved = _NO_OFFSET if offset is None else (*map(_plain_offset, offset), 0, 0)
        if op in ("txf", "txf_ms"):
            found = fetch(self.image, spread, lod, moved, sample_index)
            return _of_one_lane(found) if uniform else found
        with np.errstate(invalid="ignore", over="ignore", divide="ignore", under="ignore"):
            if op == "lod":  # its coordinates have no layer
                at = _directions(spread) if self.image.target.is_cube else None
                found = self._lod_query(spread, at, quads, bias)
                return _of_one_lane(found) if uniform else found
            place, at = self._place(spread, moved, compare)
            if op == "tg4":
                only = self.reading(1 << gather_component).floats  # decodes no other components
                found = only.gather(place, gather_component)
            else:
                level_of_detail = None
                if self.needs_lod:
                    level_of_detail = self._lod(op, spread, at, lod, bias, ddx, ddy, quads, min_lod)
                found = self._filtered(place, level_of_detail, op)
        return _of_one_lane(found) if uniform else found

    # -- addressing --------------------------------------------------------------------------------

    def _place(
        self, coords: list[Array], offset: Sequence[Array | int], compare: Array | None
    ) -> tuple[Place, list[Array] | None]:
        """Split coordinates into filtered ones and a layer; directions become face coordinates, and
        are returned, too.
        """
        target = self.image.target
        if target.is_cube:
            at = _directions(coords)
            z, s, t = evaluate(project(), at)
            if target is Target.TEXTURE_CUBE_ARRAY:
                cubes = int(self.image.depth[0]) // 6
                z = z + 6 * _layer(coords[3], cubes)
            return Place([s, t], z, 0, offset, compare), at
        if target.is_array:
            z = _layer(coords[self.axes], int(self.image.depth[0]))
            return Place(coords[: self.axes], z, 0, offset, compare), None
        return Place(coords[: self.axes], 0, 0, offset, compare), None

    # -- level of detail -----------------------------------------------------------------------

    def _sizes(self) -> list[int]:
        if self.floats.axes[0].scaled:
            return [1] * self.axes
        image = self.image
        return [int(t[0]) for t in (image.width, image.height, image.depth)][: self.axes]

    def _base_lod(
        self, at: list[Array] | None, ddx: Sequence[Array], ddy: Sequence[Array]
    ) -> Array:
        """The level of detail of coordinate derivatives."""
        if at is not None:
            ddx, ddy = (evaluate(face_derivative(), [*at, *d[:3]]) for d in (ddx, ddy))
        return lod_of_derivatives(ddx[: self.axes], ddy[: self.axes], self._sizes())

    def _implicit_lod(self, coords: list[Array], at: list[Array] | None) -> Array:
        """One value per quad; for cube maps one per lane, since lanes may be on different faces."""
        if at is None:
            ddx, ddy = quad_derivatives(coords[: self.axes])
        else:
            ddx, ddy = lane_derivatives(at)
        return np.atleast_1d(self._base_lod(at, ddx, ddy))

    def _lod(
        self,
        op: str,
        coords: list[Array],
        at: list[Array] | None,
        lod: Array | None,
        bias: Array | None,
        ddx: Sequence[Array] | None,
        ddy: Sequence[Array] | None,
        quads: bool,
        min_lod: Array | None,
    ) -> Array:
        """The level of detail, biased and clamped: an array by lane or by quad, or a scalar."""
        value: Array
        if op == "txl" and lod is not None:
            value = np.asarray(lod, F32)
        elif op == "txd" and ddx is not None and ddy is not None:
            value = np.asarray(self._base_lod(at, ddx, ddy))
        elif quads:
            value = self._implicit_lod(coords, at)
        else:
            value = np.zeros((), F32)
        if bias is not None:
            value = _repeated(value, bias) + bias
        sampler = self.sampler
        if sampler.lod_bias:
            value = value + F32(sampler.lod_bias)
        value = minmax.limited(value, F32(sampler.min_lod), F32(sampler.max_lod))
        return value if min_lod is None else np.maximum(_repeated(value, min_lod), min_lod)

    def _lod_query(
        self, coords: list[Array], at: list[Array] | None, quads: bool, bias: Array | None
    ) -> Planes:
        """The level that would be accessed, and the level of detail before clamping."""
        raw = self._implicit_lod(coords, at) if quads else np.zeros(1, F32)
        raw = raw + F32(self.sampler.lod_bias)
        sampler = self.sampler
        clamped = minmax.limited(raw, F32(sampler.min_lod), F32(sampler.max_lod))
        level = minmax.limited(clamped, F32(0.0), F32(self.image.levels - 1))
        if self.mip is MipFilter.NEAREST:
            level = np.rint(level)
        elif self.mip is MipFilter.NONE:
            level = np.zeros_like(level)
        lanes = coords[0].shape[0]
        return [_spread(level, lanes), _spread(raw, lanes)]

    # -- filtering -----------------------------------------------------------------------------

    def _filtered(self, place: Place, lod: Array | None, op: str) -> Planes:
        """Select magnification or minification per lane and run the filters."""
        sampler = self.sampler
        lanes = place.coords[0].shape[0]
        kit: FloatFilter | PackedFilter = self.floats
        if self.packed is not None and (self.same_filters or op == "tex"):
            kit = self.packed
        finish = kit.planes
        if lod is None or self.same_filters:
            return finish(self._levels(kit, sampler.min_img_filter, place, lod))
        magnified = lod <= 0
        if magnified.all():
            return finish(self._level(kit, sampler.mag_img_filter, place))
        if not magnified.any():
            return finish(self._levels(kit, sampler.min_img_filter, place, lod))
        mask = _spread(magnified, lanes)
        near, far = np.nonzero(mask)[0], np.nonzero(~mask)[0]
        parts = (
            finish(self._level(kit, sampler.mag_img_filter, place.subset(near))),
            finish(
                self._levels(
                    kit, sampler.min_img_filter, place.subset(far), _spread(lod, lanes)[far]
                )
            ),
        )
        merged = []
        for close, distant in zip(*parts, strict=True):
            both = np.empty(lanes, close.dtype)
            both[near] = close
            both[far] = distant
            merged.append(both)
        return merged

    @staticmethod
    def _level(kit: FloatFilter | PackedFilter, filter: Filter, place: Place) -> Planes:
        """Filter inside one mipmap level, that of `place`."""
        planes: Planes = kit.linear(place) if filter is Filter.LINEAR else kit.nearest(place)
        return planes

    def _levels(
        self, kit: FloatFilter | PackedFilter, filter: Filter, place: Place, lod: Array | None
    ) -> Planes:
        """Filter inside and between mipmap levels."""
        if self.mip is MipFilter.NONE or lod is None:
            return self._level(kit, filter, place)
        lanes = place.coords[0].shape[0]
        last = self.image.levels - 1
        inside = minmax.between(lod, F32(0.0), F32(last))
        if self.mip is MipFilter.NEAREST:
            place.level = _level_index(np.rint(inside), lanes)
            return self._level(kit, filter, place)
        whole = np.floor(inside)
        fraction = inside - whole
        place.level = level = _level_index(whole, lanes)
        lower = self._level(kit, filter, place)
        if not fraction.any():
            return lower
        above = np.minimum(level + 1, last)
        place.level = int(above) if isinstance(level, int) else above
        upper = self._level(kit, filter, place)
        weight = _spread(fraction, lanes)
        return kit.mix(lower, upper, weight)


def _of_one_lane(planes: Planes) -> Planes:
    """Planes of a single lane as numbers, which constant ones already are."""
    return [plane if plane.ndim == 0 else plane[0] for plane in map(np.asarray, planes)]


def _plain_offset(offset: Array) -> Array | int:
    """An offset that is equal for all lanes as a number."""
    value = np.asarray(offset)
    return int(value) if value.ndim == 0 else value


def _directions(coords: Sequence[Array]) -> list[Array]:
    return list(np.broadcast_arrays(*coords[:3]))


def _layer(coordinate: Array, layers: int) -> Array:
    """The array layer that a coordinate selects."""
    found = evaluate(layer(), [np.asarray(coordinate, F32), np.asarray(layers, np.int32)])
    return found[0]


def _repeated(value: Array, other: Array) -> Array:
    """A value per quad, repeated for its lanes if the other operand is per lane."""
    if np.ndim(other) == 1 and value.ndim == 1 and value.shape[0] * 4 == np.shape(other)[0]:
        return np.repeat(value, 4)
    return value


def _spread(value: Array, lanes: int) -> Array:
    """A value per quad, per lane or for all, by lane."""
    if value.ndim == 0 or value.shape[0] == 1:
        return by_lane(value, lanes)
    return value if value.shape[0] == lanes else np.repeat(value, 4)


def _level_index(level: Array, lanes: int) -> Level:
    """Levels as a number if all lanes agree, else by lane."""
    first = level.reshape(-1)[0]
    if level.ndim == 0 or (level == first).all():
        return int(first)
    return _spread(level.astype(np.int64), lanes)  # indices of lookup tables
