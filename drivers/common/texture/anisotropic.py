"""Anisotropic filtering: several probes along the longest axis of a pixel's footprint.

A pixel seen at a grazing angle covers a long, thin area of the texture. A single level of detail
either blurs it (chosen by the long side) or aliases (by the short one). Here the level follows the
length divided by the number of probes, and as many probes as the two sides differ by are averaged:

    N = min(ceil(longer / shorter), the sampler's limit), level = log2(longer / N)

The logarithm is that of `lod`, so that a single probe gives the isotropic result. The first probes
of all lanes are taken together, then the second ones; a lane with fewer probes drops out early.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.lanes import by_lane
from gallette.pipe.enums import Filter, Target
from gallette.pipe.state import SamplerState, SamplerView

from .lod import fast_log2, quad_derivatives, squared_lengths
from .unit import Unit

__all__ = ["AnisotropicUnit", "is_anisotropic"]

Array = npt.NDArray[Any]
F32 = np.float32

_TARGETS = (Target.TEXTURE_2D, Target.TEXTURE_2D_ARRAY)


def is_anisotropic(view: SamplerView, sampler: SamplerState) -> bool:
    """Whether the sampler requests more than one probe, of a texture that supports it."""
    return (
        sampler.max_anisotropy > 1.0
        and view.target in _TARGETS
        and sampler.min_img_filter is Filter.LINEAR
        and not (view.sample_stencil or view.format.is_pure_integer)
    )


class AnisotropicUnit(Unit):
    """A texture unit that takes several probes where derivatives are known."""

    def __init__(self, view: SamplerView, sampler: SamplerState) -> None:
        super().__init__(view, sampler)
        self.needs_lod = True

    def sample(
        self,
        op: str,
        coords: Sequence[Array],
        lanes: int,
        *,
        ddx: Sequence[Array] | None = None,
        ddy: Sequence[Array] | None = None,
        quads: bool = False,
        **other: Any,
    ) -> list[Array]:
        """Four components, or the size or level (see `TextureUnit.sample`)."""
        spread = [by_lane(c, lanes) for c in coords[:2]]
        if op in ("tex", "txb") and quads:
            x, y = quad_derivatives(spread)
            along = [np.repeat(d, 4) for d in x], [np.repeat(d, 4) for d in y]
        elif op == "txd" and ddx is not None and ddy is not None:
            along = (
                [by_lane(np.asarray(d, F32), lanes) for d in ddx[:2]],
                [by_lane(np.asarray(d, F32), lanes) for d in ddy[:2]],
            )
        else:
            return super().sample(op, coords, lanes, ddx=ddx, ddy=ddy, quads=quads, **other)
        with np.errstate(all="ignore"):
            axis, level, probes = self._footprint(*along)
        return self._probed(coords, spread, axis, level, probes, other)

    def _footprint(self, ddx: list[Array], ddy: list[Array]) -> tuple[list[Array], Array, Array]:
        """Per lane: the longer derivative, its level of detail, and the number of probes."""
        squares = squared_lengths(ddx, ddy, self._sizes())
        length = [np.sqrt(square) for square in squares]
        longer, shorter = np.maximum(*length), np.minimum(*length)
        ratio = np.where(shorter > 0, longer / shorter, np.where(longer > 0, np.inf, 1))
        limit = np.floor(self.sampler.max_anisotropy)
        probes = np.ceil(np.fmin(np.fmax(ratio, 1), limit)).astype(np.int32)
        probes[~(longer > 1)] = 1  # magnified: nothing to average
        count = probes.astype(F32)
        level = fast_log2(np.maximum(*squares) / (count * count)) * F32(0.5)
        across = length[0] >= length[1]
        axis = [np.where(across, x, y) for x, y in zip(ddx, ddy, strict=True)]
        return axis, level, probes

    def _probed(
        self,
        coords: Sequence[Array],
        spread: list[Array],
        axis: list[Array],
        level: Array,
        probes: Array,
        other: dict[str, Any],
    ) -> list[Array]:
        """The mean of the probes, or the one that the sampler chooses."""
        lanes = len(probes)
        bias = other.pop("bias", None)
        if bias is not None:
            level = level + bias
        other.pop("lod", None)
        total: list[Array] = []
        for number in range(1, int(probes.max()) + 1):
            which = np.flatnonzero(probes >= number)
            share = F32(number) / (probes[which] + 1).astype(F32) - F32(0.5)
            at = [
                (c[which] + a[which] * share).astype(F32) for c, a in zip(spread, axis, strict=True)
            ]
            at += [_lanes_of(c, which) for c in coords[2:]]
            rest = {key: _taken(value, which, lanes) for key, value in other.items()}
            found = super().sample("txl", at, len(which), lod=level[which], **rest)
            if not total:  # every lane has a first probe
                total = [np.zeros(lanes, F32) + plane for plane in found]
                continue
            for sum_, plane in zip(total, found, strict=True):
                sum_[which] = self.floats.probes(sum_[which], plane)
        return total if self.chooses else [sum_ / probes.astype(F32) for sum_ in total]


def _lanes_of(value: Array, which: Array) -> Array:
    value = np.asarray(value)
    return value[which] if value.ndim else value


def _taken(value: Any, which: Array, lanes: int) -> Any:
    """An operand for some lanes: a scalar, an array by lane, or a sequence of such."""
    if isinstance(value, list | tuple):
        return [_taken(v, which, lanes) for v in value]
    if isinstance(value, np.ndarray) and value.ndim == 1 and len(value) == lanes:
        return value[which]
    return value
