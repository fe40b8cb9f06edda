"""Filters that return the smallest or largest texel instead of a mean (ARB_texture_filter_minmax).

The texels are those that the sampler's filters would have averaged; those with zero weight do not
count. The rest of a unit, such as coordinates and levels, is unchanged: a filter of this kind
replaces only the operation that combines two values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.pipe.enums import Reduction
from gallette.pipe.state import SamplerState, SamplerView

from .anisotropic import AnisotropicUnit
from .floats import FloatFilter
from .image import Image
from .unit import Unit

__all__ = ["AnisotropicMinmaxUnit", "MinmaxUnit"]

Array = npt.NDArray[Any]


class _MinmaxFilter(FloatFilter):
    """A filter that selects; with depth comparison it selects among the results."""

    chooses = True

    def __init__(self, view: SamplerView, image: Image, sampler: SamplerState) -> None:
        super().__init__(view, image, sampler)
        self._choose = np.fmin if sampler.reduction is Reduction.MIN else np.fmax

    def between(self, a: Array, b: Array, weight: Array) -> Array:
        chosen: Array = self._choose(a, b)
        return np.where(weight == 0, a, chosen)

    def probes(self, total: Array, found: Array) -> Array:
        chosen: Array = self._choose(total, found)
        return chosen


class MinmaxUnit(Unit):
    """A texture unit with minmax filters."""

    filter_class = _MinmaxFilter
    may_pack = False


class AnisotropicMinmaxUnit(AnisotropicUnit):
    """An anisotropic texture unit that selects one of the probes."""

    filter_class = _MinmaxFilter
    may_pack = False

    def gathered(self, total: Array, found: Array) -> Array:
        assert isinstance(self.floats, _MinmaxFilter)
        return self.floats.probes(total, found)

    def result(self, total: Array, probes: Array) -> Array:
        return total
