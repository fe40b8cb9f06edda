"""Blending of four 8-bit channels at a time: source and factors are worked out once per batch.

Where the factors do not depend on the destination, a pixel becomes `added + factor x destination`,
limited to 255. Both are kept as four 16-bit channels in a 64-bit word, in the order of the texel's
bytes, so that lanes are picked with one gather and all channels go through the same operations.
Multiplication rounds as in `blend`, so the bytes are the same.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import limits
from gallette.pipe.enums import BlendFactor, BlendFunc
from gallette.pipe.state import RenderTargetBlend

from .blend import BYTES, Operands

__all__ = ["Folded", "can_fold", "fold"]

Array = npt.NDArray[Any]
Planes = Sequence[Array]

_F = BlendFactor
_OF_THE_DESTINATION = frozenset(
    {_F.DST_COLOR, _F.DST_ALPHA, _F.INV_DST_COLOR, _F.INV_DST_ALPHA, _F.SRC_ALPHA_SATURATE}
)
_FULL = np.uint16(255)
_EIGHT, _HALF = np.uint16(8), np.uint16(128)


def can_fold(state: RenderTargetBlend) -> bool:
    """Sums whose factors are known before the destination is."""
    factors = {
        state.rgb_src_factor,
        state.rgb_dst_factor,
        state.alpha_src_factor,
        state.alpha_dst_factor,
    }
    return (
        state.rgb_func is state.alpha_func is BlendFunc.ADD
        and not factors & _OF_THE_DESTINATION
        and sys.byteorder == "little"
    )


@dataclass(frozen=True, slots=True)
class Folded:
    """What lanes add, and by how much they weaken what is there (None: not at all)."""

    added: Array  # [n] words of four 16-bit channels
    factor: Array | None

    def over(self, current: Array, which: Any) -> Array:
        """The texels of some lanes (or all), given what is there."""
        added, factor = self.added, self.factor
        if which is not None:
            added = added.take(which)
            factor = None if factor is None else factor.take(which)
        mixed = current.view(np.uint8).astype(np.uint16)
        if factor is not None:
            mixed *= factor.view(np.uint16)
            mixed += mixed >> _EIGHT
            mixed += _HALF
            mixed >>= _EIGHT
        mixed += added.view(np.uint16)
        limits.minimum(mixed, _FULL, mixed)
        return mixed.astype(np.uint8).view(current.dtype)


def fold(
    state: RenderTargetBlend,
    source: Planes,
    constant: Planes,
    second: Planes,
    shifts: Sequence[int],
    count: int,
) -> Folded:
    """Fold the source of `count` lanes; `shifts` say where R, G, B, A are in a texel."""
    operands = Operands(source, source, constant, second, BYTES)
    added = np.empty((count, 4), np.uint16)
    factor = np.empty((count, 4), np.uint16)
    whole = True
    for channel, shift in enumerate(shifts):
        alpha = channel == 3
        ours = state.alpha_src_factor if alpha else state.rgb_src_factor
        theirs = state.alpha_dst_factor if alpha else state.rgb_dst_factor
        value, weight = source[channel], operands.factor(ours, channel)
        if weight is not None:
            value = BYTES.multiply(value, weight)
        added[:, shift // 8] = value
        kept = operands.factor(theirs, channel)
        whole &= kept is None
        factor[:, shift // 8] = _FULL if kept is None else kept
    words = added.view(np.uint64).reshape(-1)
    return Folded(words, None if whole else factor.view(np.uint64).reshape(-1))
