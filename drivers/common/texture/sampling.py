"""How a lookup is put together, once for both machines: arrays of NumPy and values of LLVM.

`Sampling` finds the layer or face, the level of detail, and the filters that are needed at which
levels; `LevelFilter` combines the texels of one level. The arithmetic is that of routines
(`drivers.common.fixed`). What a machine does its own way it overrides: reading texels and tables,
and lanes that need different filters or levels.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, Generic, TypeVar

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.common.fixed import addressing, levels
from gallette.drivers.common.fixed.addressing import Axis, Taps
from gallette.drivers.common.fixed.filtering import (
    array_layer,
    clamped,
    compared,
    mean_of_others,
    mix,
)
from gallette.drivers.common.fixed.routine import Routine
from gallette.pipe.enums import CompareFunc, Filter, MipFilter, Reduction, Target, Wrap
from gallette.pipe.state import SamplerState, SamplerView

from .image import Image

T = TypeVar("T")
"""A number in all lanes, or one that is equal in all of them."""

_DIMENSIONS = {Target.TEXTURE_1D: 1, Target.TEXTURE_1D_ARRAY: 1, Target.TEXTURE_3D: 3}
_ANISOTROPIC = (Target.TEXTURE_2D, Target.TEXTURE_2D_ARRAY)


@lazy_dataclass(frozen=True)
class Filtering:
    """What a view and a sampler determine, apart from texels and numbers."""

    target: Target
    axes: tuple[Axis, ...]
    min_filter: Filter
    mag_filter: Filter
    mip: MipFilter
    compare: CompareFunc | None
    clamp_reference: bool
    seamless: bool
    is_integer: bool
    reduction: Reduction
    anisotropic: bool

    @classmethod
    def of(cls, view: SamplerView, image: Image, sampler: SamplerState) -> Filtering:
        target, format = image.target, view.format
        scaled = sampler.unnormalized_coords or target is Target.TEXTURE_RECT
        modes = [sampler.wrap_s, sampler.wrap_t, sampler.wrap_r]
        if target.is_cube:
            modes = [Wrap.CLAMP_TO_EDGE] * 2
        count = _DIMENSIONS.get(target, 2)
        anisotropic = (
            sampler.max_anisotropy >= 2.0 and target in _ANISOTROPIC and not image.is_integer
        )
        return cls(
            target,
            tuple([Axis(modes[i], image.pot[i], scaled) for i in range(count)]),
            sampler.min_img_filter,
            sampler.mag_img_filter,
            sampler.min_mip_filter if image.levels > 1 else MipFilter.NONE,
            sampler.compare_func if sampler.compare_enabled else None,
            format.has_depth and not format.is_float,
            target.is_cube and sampler.seamless_cube_map,
            image.is_integer,
            sampler.reduction,
            anisotropic,
        )

    @property
    def same_filters(self) -> bool:
        return self.min_filter is self.mag_filter

    @property
    def needs_lod(self) -> bool:
        return self.mip is not MipFilter.NONE or not self.same_filters or self.anisotropic

    def takes_bytes(self, op: str) -> bool:
        """Whether an operation filters the bytes of a view that has them: llvmpipe filters floats
        where a level of detail that the shader computes chooses between two filters.
        """
        return self.same_filters or op == "tex"


@lazy_dataclass()
class Lookup(Generic[T]):
    """The sources of a texture operation."""

    op: str
    coords: Sequence[T]
    lod: T | None = None
    bias: T | None = None
    min_lod: T | None = None
    compare: T | None = None
    ddx: Sequence[T] = ()
    ddy: Sequence[T] = ()
    offset: Sequence[T | None] = ()
    component: int = 0  # the one that a gather reads
    sample: T | None = None
    quads: bool = False
    """Whether lanes come in quads, from which the level of detail is derived."""
    kept: Sequence[Kept | None] = ()


Kept = dict[Any, Any]
"""What was computed of a coordinate."""


@lazy_dataclass()
class Place(Generic[T]):
    """Where lanes sample: filtered coordinates, offsets, layer or face, level, and the reference
    value of a comparison. `kept`: where results that depend on one coordinate are kept for other
    lookups with it (None: nowhere), for each of them.
    """

    coords: list[T]
    offset: Sequence[T | None]
    z: T | None
    compare: T | None
    level: T | None
    kept: Sequence[Kept | None] = ()

    def kept_along(self, axis: int, n: Any) -> Kept | None:
        """Where the results for an axis of `n` texels are kept."""
        kept = self.kept[axis] if self.kept else None
        if kept is None or n.ndim or (self.offset and self.offset[axis] is not None):
            return None
        found: Kept = kept.setdefault(int(n), {})
        return found


class Sampling(ABC, Generic[T]):
    """A view and a sampler."""

    how: Filtering
    first_level: T | None = None

    # -- what a machine brings ---------------------------------------------------------------------

    @abstractmethod
    def run(self, routine: Routine, arguments: Sequence[T | None]) -> list[T]:
        """The results of a routine."""

    @staticmethod
    def even(values: list[T | None]) -> list[T | None]:
        """The values in as many lanes each."""
        return values

    @abstractmethod
    def const(self, value: float) -> T:
        """A float."""

    @abstractmethod
    def extent(self, axis: int, level: T | None) -> T:
        """The extent of a level; that of axis 2 may be the number of layers or faces."""

    @abstractmethod
    def level_count(self) -> T:
        """The number of levels."""

    @abstractmethod
    def lod_numbers(self) -> tuple[T | None, T, T]:
        """The sampler's bias (None: 0), least and greatest level of detail."""

    @abstractmethod
    def differences(self, coords: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
        """How coordinates change across their quad and down."""

    @abstractmethod
    def filter(self, op: str) -> LevelFilter[T]:
        """The filter of texels for an operation."""

    @abstractmethod
    def at_level(self, place: Place[T], level: T) -> Place[T]: ...

    @abstractmethod
    def magnified_or_minified(
        self,
        place: Place[T],
        lod: T,
        magnified: Callable[[Place[T]], list[T]],
        minified: Callable[[Place[T], T], list[T]],
    ) -> list[T]:
        """Magnify where the level of detail is not positive, minify elsewhere."""

    @abstractmethod
    def where_weighted(
        self, place: Place[T], weight: T, lower: list[T], mixed: Callable[[T], list[T]]
    ) -> list[T]:
        """`mixed(weight)`, which equals `lower` where the weight is zero."""

    @abstractmethod
    def weighted(self, place: Place[T], ellipse: list[T]) -> list[T]:
        """The weighted mean of the texels in an ellipse (`levels.ellipse`)."""

    # -- lookups -----------------------------------------------------------------------------------

    def looked_up(self, look: Lookup[T]) -> list[T]:
        """The components of `tex`, `txb`, `txl` or `txd`."""
        how, place = self.how, self.place(look)
        if not how.needs_lod:
            return self.filtered(look.op, place, None)
        derivatives = None if look.lod is not None else self._derivatives(look)
        if derivatives is not None and how.anisotropic:
            *both, lod = self.run(levels.footprint(how.axes[0].scaled), derivatives)
            extents = [self.extent(axis, None) for axis in range(2)]
            given: list[T | None] = [*both, *place.coords, *extents]
            if how.mip is not MipFilter.NONE:
                selected = levels.selected(MipFilter.LINEAR)
                level = self.run(selected, [self._limited(look, lod), self.level_count()])[0]
                place = self.at_level(place, level)
                given.append(level)
            routine = levels.ellipse(how.mip is not MipFilter.NONE)
            return self.weighted(place, self.run(routine, self.even(given)))
        if look.lod is not None:
            lod = look.lod
        else:
            lod = self.const(0.0) if derivatives is None else self._of_derivatives(derivatives)
        return self.filtered(look.op, place, self._limited(look, lod))

    def gathered(self, look: Lookup[T], texels: DecodedFilter[T]) -> list[T]:
        """The component of `tg4` in the four texels of a linear filter, counter-clockwise."""
        corners, _, _ = texels.corners(self.place(look), addressing.gather_taps)
        return [corners[k][look.component] for k in (2, 3, 1, 0)]

    def levels_of(self, look: Lookup[T]) -> list[T]:
        """The level that `lod` would access, and the level of detail before clamping."""
        derivatives = self._derivatives(look)
        raw = self.const(0.0) if derivatives is None else self._of_derivatives(derivatives)
        bias, low, high = self.lod_numbers()
        routine = levels.queried(self.how.mip, bias is not None)
        return self.run(routine, [raw, bias, low, high, self.level_count()])

    def place(self, look: Lookup[T]) -> Place[T]:
        """Split coordinates into those on the image or face, and the layer or face."""
        target, coords, axes = self.how.target, look.coords, len(self.how.axes)
        z: T | None = None
        if target.is_cube:
            z, *on_face = self.run(addressing.project(), coords[:3])
            if target is Target.TEXTURE_CUBE_ARRAY:
                (z,) = self.run(array_layer(6), [coords[3], self.extent(2, None), z])
            coords = on_face
        elif target.is_array:
            (z,) = self.run(array_layer(1), [coords[axes], self.extent(2, None)])
        compare = None if self.how.compare is None else look.compare
        if compare is not None and self.how.clamp_reference:
            (compare,) = self.run(clamped(), [compare])
        kept = () if target.is_cube else look.kept
        return Place(list(coords[:axes]), look.offset, z, compare, self.first_level, kept)

    # -- level of detail ---------------------------------------------------------------------------

    def _derivatives(self, look: Lookup[T]) -> list[T] | None:
        """Derivatives on the image or face by axis, then extents; None if there are none."""
        count, is_cube = len(self.how.axes), self.how.target.is_cube
        if look.ddx:
            both = look.ddx, look.ddy
        elif look.quads:
            both = self.differences(look.coords[: 3 if is_cube else count])
        else:
            return None
        if is_cube:
            routine = addressing.face_derivative()
            ddx, ddy = (self.run(routine, [*look.coords[:3], *d[:3]]) for d in both)
            both = ddx, ddy
        scaled = self.how.axes[0].scaled
        extents = [] if scaled else [self.extent(axis, None) for axis in range(count)]
        return [*both[0][:count], *both[1][:count], *extents]

    def _of_derivatives(self, derivatives: list[T]) -> T:
        routine = levels.of_derivatives(len(self.how.axes), self.how.axes[0].scaled)
        return self.run(routine, derivatives)[0]

    def _limited(self, look: Lookup[T], lod: T) -> T:
        """The level of detail, biased and clamped."""
        bias, low, high = self.lod_numbers()
        routine = levels.limited(look.bias is not None, bias is not None, look.min_lod is not None)
        return self.run(routine, self.even([lod, look.bias, bias, low, high, look.min_lod]))[0]

    # -- filters and levels ------------------------------------------------------------------------

    def filtered(self, op: str, place: Place[T], lod: T | None) -> list[T]:
        """Select magnification or minification, and run the filters."""
        how, texels = self.how, self.filter(op)

        def minified(place: Place[T], lod: T | None) -> list[T]:
            return texels.planes(self._minified(texels, place, lod))

        if lod is None or how.same_filters:
            return minified(place, lod)
        return self.magnified_or_minified(
            place, lod, lambda place: texels.planes(texels.run(how.mag_filter, place)), minified
        )

    def _minified(self, texels: LevelFilter[T], place: Place[T], lod: T | None) -> list[T]:
        """Filter inside levels and between them."""
        how = self.how
        if how.mip is MipFilter.NONE or lod is None:
            return texels.run(how.min_filter, place)
        level, *between = self.run(levels.selected(how.mip), [lod, self.level_count()])
        lower = texels.run(how.min_filter, self.at_level(place, level))
        if not between:
            return lower
        above, fraction = between

        def mixed(weight: T) -> list[T]:
            upper = texels.run(how.min_filter, self.at_level(place, above))
            return texels.mix_levels(lower, upper, weight)

        return self.where_weighted(place, fraction, lower, mixed)


Tap = tuple[T, T | None]
"""A texel's position along an axis, and where it is on the border."""


class LevelFilter(ABC, Generic[T]):
    """Filters the texels of one level. A texel is a list of components, or of words of bytes."""

    nearest_tap: Callable[..., Routine]
    linear_taps: Callable[..., Routine]

    def __init__(self, sampling: Sampling[T]) -> None:
        self.sampling = sampling
        self.how = sampling.how

    @abstractmethod
    def row(self, place: Place[T], columns: Sequence[Tap[T]], others: Sequence[Tap[T]]) -> Any:
        """The texels in some columns of a row: the other axes have one tap each."""

    @abstractmethod
    def mix(self, low: list[T], high: list[T], weight: T) -> list[T]:
        """Two texels, the second one weighted."""

    def mix_levels(self, low: list[T], high: list[T], weight: T) -> list[T]:
        return self.mix(low, high, weight)

    def planes(self, texel: list[T]) -> list[T]:
        """The components of a filtered texel."""
        return texel

    def run(self, filter: Filter, place: Place[T]) -> list[T]:
        return self.linear(place) if filter is Filter.LINEAR else self.nearest(place)

    def along(self, make: Callable[..., Routine], place: Place[T]) -> list[list[T]]:
        """The results of a routine (`fixed.addressing`) along each axis."""
        found = []
        offsets = [*place.offset, None, None, None]
        for i, (axis, s, offset) in enumerate(
            zip(self.how.axes, place.coords, offsets, strict=False)
        ):
            n = self.sampling.extent(i, place.level)
            kept = place.kept_along(i, n)
            if kept is None or (make, axis) not in kept:
                given = [s, n] if offset is None else [s, n, offset]
                found.append(self.sampling.run(make(axis, offset is not None), given))
                if kept is not None:
                    kept[make, axis] = found[-1]
            else:
                found.append(kept[make, axis])
        return found

    def nearest(self, place: Place[T]) -> list[T]:
        """The texel that contains the coordinates."""
        found = self.along(self.nearest_tap, place)
        x, *others = [(tap[0], tap[1] if len(tap) > 1 else None) for tap in found]
        texel: list[T] = self.row(place, [x], others)[0]
        return texel

    def linear(self, place: Place[T]) -> list[T]:
        """The weighted mean of 2, 4 or 8 texels."""
        taps = [Taps(*found) for found in self.along(self.linear_taps, place)]

        def mean(axis: int, others: list[Tap[T]]) -> list[T]:
            both = taps[axis].both
            if axis:
                low, high = (mean(axis - 1, [tap, *others]) for tap in both)
            else:
                low, high = self.row(place, both, others)
            return self.mix(low, high, taps[axis].weight)

        return mean(len(taps) - 1, [])


class DecodedFilter(LevelFilter[T]):
    """Filters decoded texels: any format, wrap mode and comparison, cube maps across edges."""

    nearest_tap = staticmethod(addressing.nearest_tap)
    linear_taps = staticmethod(addressing.linear_taps)
    swizzle: tuple[str | int, ...]

    @abstractmethod
    def texels(
        self, place: Place[T], columns: Sequence[T], others: Sequence[T], z: T | None
    ) -> list[list[T]]:
        """The texels in some columns of a row, `z` being a layer or face."""

    @abstractmethod
    def bordered(self, place: Place[T], texel: list[T], outside: T) -> list[T]:
        """The texel, or the border colour where it is outside."""

    @abstractmethod
    def is_constant(self, a: T, b: T) -> bool:
        """Whether both are the same constant."""

    @abstractmethod
    def spread(self, value: T, like: T) -> T:
        """The value by lane, if `like` is."""

    @abstractmethod
    def beyond_edges(self, z: T, i: T, j: T, n: T) -> list[tuple[T, T, T, T | None]]:
        """`addressing.seamless_corner` of each corner: face (and cube), i, j, and where three faces
        meet (None: nowhere).
        """

    def row(
        self, place: Place[T], columns: Sequence[Tap[T]], others: Sequence[Tap[T]]
    ) -> list[list[T]]:
        found = self.texels(place, [i for i, _ in columns], [i for i, _ in others], place.z)
        return [
            self._seen(place, texel, [out, *(out for _, out in others)])
            for texel, (_, out) in zip(found, columns, strict=True)
        ]

    def _seen(self, place: Place[T], texel: list[T], masks: Sequence[T | None]) -> list[T]:
        """The texel, or the border; or the result of its comparison."""
        outside = [mask for mask in masks if mask is not None]
        if outside:
            texel = self.bordered(place, texel, reduce(operator.or_, outside))
        if place.compare is None or self.how.compare is None:
            return texel
        routine, const = compared(self.how.compare), self.sampling.const
        passed = self.spread(self.sampling.run(routine, [place.compare, texel[0]])[0], texel[0])
        made = {"0": const(0.0), "1": const(1.0), 3: const(1.0)}
        return [made.get(source, passed) for source in self.swizzle]

    def mix(self, low: list[T], high: list[T], weight: T) -> list[T]:
        """Components that are the same constant in both remain constants."""
        return self._mixed(mix(), low, high, weight)

    def mix_levels(self, low: list[T], high: list[T], weight: T) -> list[T]:
        return self._mixed(mix(True), low, high, weight)

    def _mixed(self, routine: Routine, low: list[T], high: list[T], weight: T) -> list[T]:
        return [
            a if self.is_constant(a, b) else self.sampling.run(routine, [a, b, weight])[0]
            for a, b in zip(low, high, strict=True)
        ]

    def linear(self, place: Place[T]) -> list[T]:
        if self.how.is_integer and self.how.reduction is Reduction.MEAN:
            return self.nearest(place)
        if not self.how.seamless:
            return super().linear(place)
        corners, wx, wy = self.corners(place)
        low, high = (self.mix(corners[k], corners[k + 1], wx) for k in (0, 2))
        return self.mix(low, high, wy)

    def corners(
        self, place: Place[T], make: Callable[..., Routine] = addressing.linear_taps
    ) -> tuple[list[list[T]], T, T]:
        """The four texels around a point, and the weights of the second ones along both axes."""
        if self.how.seamless:
            return self._seamless_corners(place)
        x, y = (Taps(*found) for found in self.along(make, place))
        return [t for tap in y.both for t in self.row(place, x.both, [tap])], x.weight, y.weight

    def _seamless_corners(self, place: Place[T]) -> tuple[list[list[T]], T, T]:
        """At the edges of a face, texels are those of neighbouring faces."""
        sampling, n = self.sampling, self.sampling.extent(0, place.level)
        taps = [sampling.run(addressing.seamless_taps(), [at, n]) for at in place.coords]
        (i, wx), (j, wy) = taps
        assert place.z is not None
        at = self.beyond_edges(place.z, i, j, n)
        corners = [self._seen(place, self.texels(place, [x], [y], z)[0], []) for z, x, y, _ in at]
        if self.how.is_integer:  # gathered integers have no mean
            return corners, wx, wy
        averaged = []
        for k, (own, (*_, alone)) in enumerate(zip(corners, at, strict=True)):
            if alone is not None:
                others = zip(*(corners[m] for m in range(4) if m != k), strict=True)
                own = [
                    part
                    if self.is_constant(part, other[0])
                    else sampling.run(mean_of_others(), [alone, part, *other])[0]
                    for part, other in zip(own, others, strict=True)
                ]
            averaged.append(own)
        return averaged, wx, wy
