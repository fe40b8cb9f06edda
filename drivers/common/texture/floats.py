"""Filters of decoded texels with NumPy (`sampling.DecodedFilter`).

A level is a number when all lanes agree, else an array by lane.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.fixed.addressing import seamless_corner
from gallette.drivers.common.fixed.arrays import evaluate
from gallette.pipe.enums import Reduction
from gallette.pipe.formats import Channel
from gallette.pipe.state import SamplerState

from .image import Image, Planes
from .sampling import DecodedFilter, Place

if TYPE_CHECKING:
    from .unit import Unit

Array = npt.NDArray[Any]
_CORNERS = ((0, 0), (1, 0), (0, 1), (1, 1))


class FloatFilter(DecodedFilter[Any]):
    """Samples one view through one sampler."""

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit)
        self.image = unit.image
        self.swizzle = unit.image.swizzle
        self.format = unit.view.format
        self._sampler = unit.sampler
        # Depth comparison reads the depth itself, before the view's swizzle.
        self.depths = replace(unit.image, swizzle=(0, 1, 2, 3))

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

    # -- texels --------------------------------------------------------------------------------

    def texels(
        self, place: Place[Any], columns: Sequence[Array], others: Sequence[Array], z: Any
    ) -> list[Planes]:
        image = self.image if place.compare is None else self.depths
        row = image.row(place.level, others, z)
        return [image.gather(x + row) for x in columns]

    def bordered(self, place: Place[Any], texel: Planes, outside: Array) -> Planes:
        if not outside.any():
            return texel
        border = self.border if place.compare is None else self.border_depth
        return [np.where(outside, b, p) for p, b in zip(texel, border, strict=True)]

    def is_constant(self, a: Array, b: Array) -> bool:
        return bool(a.ndim == 0 and b.ndim == 0 and a == b)

    def spread(self, value: Array, like: Array) -> Array:
        return value if value.shape == like.shape else np.broadcast_to(value, like.shape)

    def beyond_edges(
        self, z: Array, i: Array, j: Array, n: Any
    ) -> list[tuple[Array, Array, Array, Array | None]]:
        """Few lanes are at an edge: only there, neighbouring faces are looked at."""
        last = n - 1
        seams = np.flatnonzero((i < 0) | (i >= last) | (j < 0) | (j >= last))
        corners = [(z.copy(), i + di, j + dj) for di, dj in _CORNERS]
        if not seams.size:
            return [(*corner, None) for corner in corners]
        given = [
            np.concatenate([part.take(seams) for part in parts])
            for parts in zip(*corners, strict=True)
        ]
        sizes = np.tile(n.take(seams), len(corners)) if n.ndim else n
        found = []
        for corner, *moved, lone in zip(
            corners,
            *(v.reshape(len(corners), -1) for v in evaluate(seamless_corner(), [*given, sizes])),
            strict=True,
        ):
            for part, some in zip(corner, moved, strict=True):
                part[seams] = some
            alone = None
            if lone.any():
                alone = np.zeros(i.shape, np.bool_)
                alone[seams] = lone
            found.append((*corner, alone))
        return found

    def probe(self, total: Array, found: Array) -> Array:
        """Take one more texel of an anisotropic filter into account."""
        added: Array = total + found
        return added


class ChoosingFilter(FloatFilter):
    """Returns the smallest or largest of the texels that would be averaged, or of their results of
    a depth comparison (ARB_texture_filter_minmax); those with zero weight do not count.
    """

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit)
        self._choose = np.fmin if unit.how.reduction is Reduction.MIN else np.fmax

    def mix(self, low: Planes, high: Planes, weight: Array) -> Planes:
        return [np.where(weight == 0, a, self.probe(a, b)) for a, b in zip(low, high, strict=True)]

    def mix_levels(self, low: Planes, high: Planes, weight: Array) -> Planes:
        return self.mix(low, high, weight)

    def probe(self, total: Array, found: Array) -> Array:
        chosen: Array = self._choose(total, found)
        return chosen


def _in_range(value: Any, channel: Channel) -> Any:
    """A whole number clamped to the channel's range."""
    low, high = 0, (1 << channel.bits) - 1
    if channel.type == "SINT":
        low, high = -(1 << (channel.bits - 1)), (1 << (channel.bits - 1)) - 1
    return np.clip(np.asarray(value).astype(np.int64), low, high)
