"""A sampler view joined with a sampler, as shaders call it (see `lanes.TextureUnit`), with NumPy.

Lookups are those of `sampling`, over arrays by lane. Levels of detail are arrays by quad where
lanes of a quad agree. Lanes that need different filters are filtered apart, by one of two filters:
`packed` for bytes in the simple wrap modes (with llvmpipe's fixed-point arithmetic), `floats` for
everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.fixed.addressing import Taps
from gallette.drivers.common.fixed.arrays import evaluate
from gallette.drivers.common.fixed.levels import weighted_texel
from gallette.drivers.common.fixed.routine import Routine
from gallette.drivers.common.lanes import by_lane
from gallette.pipe.enums import Reduction, Swizzle
from gallette.pipe.state import SamplerState, SamplerView

from .fetch import fetch, size_of
from .floats import ChoosingFilter, FloatFilter
from .image import Image, Planes, image_of_view, of_level
from .packed import PackedFilter, can_filter_packed
from .sampling import Filtering, Kept, Lookup, Place, Sampling

Array = npt.NDArray[Any]
F32 = np.float32
_AT_ONCE = 1 << 15
"""Texels of a grid that are filtered at a time."""


class Unit(Sampling[Any]):
    """One texture unit. It has no state between calls, so several threads may sample at once."""

    first_level = 0

    def __init__(self, view: SamplerView, sampler: SamplerState) -> None:
        self.view = view
        self.sampler = sampler
        self.image: Image = image_of_view(view)
        self.how = Filtering.of(view, self.image, sampler)
        self.needs_lod = self.how.needs_lod
        target = self.how.target  # plain lookups need nothing but coordinates
        self._plain = not (
            self.needs_lod or target.is_array or target.is_cube or self.how.compare is not None
        )
        self.chooses = self.how.reduction is not Reduction.MEAN
        self.floats = (ChoosingFilter if self.chooses else FloatFilter)(self)
        packed = can_filter_packed(view, self.how)
        self.packed = PackedFilter(self, image_of_view(view, as_bytes=True)) if packed else None
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
        kept: Sequence[Kept | None] = (),
    ) -> list[Array]:
        """Four components, or the size or level (see `TextureUnit.sample`). The caller suppresses
        NumPy's floating-point warnings.
        """
        if op == "tex" and self._plain and not offset and coords[0].shape == (lanes,):
            texels = self.filter(op)
            place: Place[Any] = Place([by_lane(c, lanes) for c in coords], (), None, None, 0, kept)
            return texels.planes(texels.run(self.how.min_filter, place))
        if op == "txs":
            return size_of(self.image, lod)
        if op == "query_levels":
            return [np.asarray(np.int32(self.image.levels))]
        if op == "texture_samples":
            return [np.asarray(np.int32(max(1, self.view.resource.desc.samples)))]
        given = (*coords, lod, bias, compare, sample_index, min_lod, *(ddx or ()), *(ddy or ()))
        uniform = not any(np.ndim(c) for c in (*given, *(offset or ())) if c is not None)
        count = lanes if not uniform else 4 if quads else 1
        spread = [by_lane(c, count) for c in coords]
        moved = [np.asarray(o, np.int32) if np.any(o) else None for o in offset or ()]
        if op in ("txf", "txf_ms"):
            found = fetch(self.image, spread, lod, moved, sample_index)
            return _of_one_lane(found) if uniform else found
        lod, bias, min_lod = (v if v is None else np.asarray(v, F32) for v in (lod, bias, min_lod))
        look: Lookup[Any] = Lookup(
            op, spread, lod, bias, min_lod, compare, ddx or (), ddy or (), moved, gather_component,
            quads=quads, kept=kept,
        )  # fmt: skip
        if op == "lod":
            found = [_spread(v, count) for v in self.levels_of(look)]
        elif op == "tg4":
            only = self.reading(1 << gather_component).floats  # decodes no other components
            found = self.gathered(look, only)
        else:
            found = self.looked_up(look)
        return _of_one_lane(found) if uniform else found

    def grid(self, s: Array, t: Array) -> Iterator[tuple[slice, list[Array]]]:
        """Filter the first level linearly in the columns `s` of the rows `t`: some rows at a time,
        so that they stay in the cache, with their filtered texels (see `LevelFilter.planes`).

        Each row of the level is filtered along itself once.
        """
        texels = self.filter("tex")
        place: Place[Any] = Place([s.astype(F32), t.astype(F32)], (), None, None, 0)
        x, y = (Taps(*found) for found in texels.along(texels.linear_taps, place))
        size = max(1, _AT_ONCE // s.size)
        for start in range(0, t.size, size):
            some = slice(start, start + size)
            below, above = (row[some] for row, _ in y.both)
            rows, where = np.unique([below, above], return_inverse=True)
            low, high = texels.row(place, x.both, [(rows[:, None], None)])
            mixed = texels.mix(low, high, x.weight)
            low, high = (
                [part.take(at, 0) if part.ndim else part for part in mixed]
                for at in where.reshape(2, -1)
            )
            yield some, texels.mix(low, high, y.weight[some, None])

    # -- what `Sampling` asks for ------------------------------------------------------------------

    def run(self, routine: Routine, arguments: Sequence[Array | None]) -> list[Array]:
        return evaluate(routine, arguments)

    @staticmethod
    def even(values: list[Array | None]) -> list[Array | None]:
        """Values by quad are repeated where others are by lane."""
        most = max([v.size for v in values if v is not None])
        return [
            np.repeat(v, 4) if v is not None and v.ndim and v.size * 4 == most else v
            for v in values
        ]

    def const(self, value: float) -> Array:
        return np.asarray(value, F32)

    def extent(self, axis: int, level: Any) -> Any:
        image = self.image
        table = (image.width, image.height, image.depth)[axis]
        return of_level(table, 0 if level is None else level)

    def level_count(self) -> Array:
        return np.asarray(self.image.levels, np.int32)

    def lod_numbers(self) -> tuple[Array | None, Array, Array]:
        sampler = self.sampler
        bias = self.const(sampler.lod_bias) if sampler.lod_bias else None
        return bias, self.const(sampler.min_lod), self.const(sampler.max_lod)

    def differences(self, coords: Sequence[Array]) -> tuple[list[Array], list[Array]]:
        """One per quad; for cube maps one per lane, since lanes may be on different faces."""
        return (lane_derivatives if self.how.target.is_cube else quad_derivatives)(coords)

    def filter(self, op: str) -> FloatFilter | PackedFilter:
        if self.packed is not None and self.how.takes_bytes(op):
            return self.packed
        return self.floats

    def at_level(self, place: Place[Any], level: Array) -> Place[Any]:
        """The level is a number if all lanes agree, else it is by lane."""
        return replace(place, level=_level_index(level, place.coords[0].shape[0]))

    def magnified_or_minified(
        self,
        place: Place[Any],
        lod: Array,
        magnified: Callable[[Place[Any]], Planes],
        minified: Callable[[Place[Any], Array], Planes],
    ) -> Planes:
        near = lod <= 0
        if near.all():
            return magnified(place)
        if not near.any():
            return minified(place, lod)
        lanes = place.coords[0].shape[0]
        mask = _spread(near, lanes)
        close, distant = np.flatnonzero(mask), np.flatnonzero(~mask)
        parts = (
            magnified(_some_lanes(place, close)),
            minified(_some_lanes(place, distant), _spread(lod, lanes)[distant]),
        )
        merged = []
        for one, other in zip(*parts, strict=True):
            both = np.empty(lanes, one.dtype)
            both[close] = one
            both[distant] = other
            merged.append(both)
        return merged

    def where_weighted(
        self, place: Place[Any], weight: Array, lower: Planes, mixed: Callable[[Array], Planes]
    ) -> Planes:
        return mixed(_spread(weight, place.coords[0].shape[0])) if weight.any() else lower

    def weighted(self, place: Place[Any], ellipse: list[Array]) -> list[Array]:
        """The first texels of all lanes are taken together, then the second ones, of the lanes in
        whose ellipse they are. A sampler may choose one of them.

        Lanes with more texels come first, so that each step takes a slice of them.
        """
        lanes = place.coords[0].shape[0]
        ellipse = [*ellipse, *(self.extent(axis, place.level) for axis in range(2))]
        ellipse = [_spread(np.asarray(v), lanes) for v in ellipse]
        order = np.argsort(-ellipse[3], kind="stable")
        ellipse, place = [v[order] for v in ellipse], _some_lanes(place, order)
        most = int(ellipse[3][0])
        left = np.searchsorted(-ellipse[3], -np.arange(most)).tolist()
        total: list[Array] = []
        weights = np.zeros(lanes, F32)
        for number, count in enumerate(left):
            given = [self.const(number), *(v[:count] for v in ellipse)]
            *at, weight = evaluate(weighted_texel(), given)
            which = np.flatnonzero(weight > 0)
            if not which.size:
                continue
            some = _some_lanes(place, which)
            some.coords = [c[which] for c in at]
            found = self.floats.nearest(some)
            if not self.chooses:
                found = [plane * weight[which] for plane in found]
            if not total:
                total = [np.full(lanes, np.nan if self.chooses else 0.0, F32) for _ in found]
            for sum_, plane in zip(total, found, strict=True):
                sum_[which] = self.floats.probe(sum_[which], plane)
            weights[which] += weight[which]
        back = np.argsort(order)
        return [(sum_ if self.chooses else sum_ / weights)[back] for sum_ in total]


def quad_derivatives(coords: Sequence[Array]) -> tuple[list[Array], list[Array]]:
    """Per quad, each coordinate's difference to the right and downwards neighbour."""
    quads = [c.reshape(-1, 4) for c in coords]
    return [q[:, 1] - q[:, 0] for q in quads], [q[:, 2] - q[:, 0] for q in quads]


def lane_derivatives(coords: Sequence[Array]) -> tuple[list[Array], list[Array]]:
    """Per lane, each coordinate's difference along its own row and column of the quad."""
    ddx, ddy = [], []
    for c in coords:
        quad = c.reshape(-1, 2, 2)
        across, down = quad[:, :, 1] - quad[:, :, 0], quad[:, 1] - quad[:, 0]
        ddx.append(np.repeat(across.reshape(-1), 2))
        ddy.append(np.repeat(down, 2, axis=0).reshape(-1))
    return ddx, ddy


def _some_lanes(place: Place[Any], lanes: Array) -> Place[Any]:
    """Only some of the lanes, by index."""

    def pick(value: Any) -> Any:
        return value[lanes] if isinstance(value, np.ndarray) and value.ndim else value

    return Place(
        [pick(c) for c in place.coords],
        [pick(o) for o in place.offset],
        pick(place.z),
        pick(place.compare),
        pick(place.level),
    )


def _of_one_lane(planes: Planes) -> Planes:
    """Planes of a single lane as numbers, which constant ones already are."""
    return [plane if plane.ndim == 0 else plane[0] for plane in map(np.asarray, planes)]


def _spread(value: Array, lanes: int) -> Array:
    """A value per quad, per lane or for all, by lane."""
    if value.ndim == 0 or value.shape[0] == 1:
        return by_lane(value, lanes)
    return value if value.shape[0] == lanes else np.repeat(value, 4)


def _level_index(level: Array, lanes: int) -> Any:
    """Levels as a number if all lanes agree, else by lane."""
    first = level.reshape(-1)[0]
    if level.ndim == 0 or (level == first).all():
        return int(first)
    return _spread(level.astype(np.int64), lanes)  # indices of lookup tables
