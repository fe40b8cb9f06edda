"""Coordinates in 256ths of a texel with 8-bit weights, as in llvmpipe's filters of 8-bit texels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import minmax
from gallette.pipe.enums import Wrap

from .wrap import Axis, clamp

__all__ = ["linear_first", "linear_pair", "nearest"]

Array = npt.NDArray[Any]
F32 = np.float32
I32 = np.int32
U32 = np.uint32


def nearest(axis: Axis, s: Array, n: Any, offset: Array | int) -> Array:
    """The texel that contains the coordinates."""
    nf = np.asarray(n, F32)
    s = _offset_coordinate(s, offset, nf, axis.scaled)
    if axis.mode is Wrap.REPEAT and not axis.pot:
        s = s - np.floor(s)
        return clamp((s * nf).astype(I32), n)
    u = np.floor(s if axis.scaled else s * nf)
    if axis.mode is Wrap.CLAMP_TO_EDGE:
        u = minmax.between(np.asarray(u), F32(0.0), nf - F32(1.0))
    i: Array = u.astype(I32)
    return i & (n - 1) if axis.mode is Wrap.REPEAT else i


def linear_first(axis: Axis, s: Array, n: Any, offset: Array | int) -> tuple[Array, Array]:
    """The first texel, -1 to n - 1 (the second is the next), and the second one's weight of 256."""
    fixed = _fixed(axis, s, n, offset)
    first = fixed >> I32(8)
    fixed &= I32(255)
    if axis.mode is Wrap.REPEAT and axis.pot:
        first &= n - 1
    else:
        minmax.minimum(minmax.maximum(first, I32(-1), first), n - 1, first)
    return first, fixed


def linear_pair(axis: Axis, s: Array, n: Any, offset: Array | int) -> tuple[Array, Array, Array]:
    """Both texels and the second one's weight of 256."""
    fixed = _fixed(axis, s, n, offset)
    i0 = fixed >> I32(8)
    weight = (fixed & I32(255)).view(U32)
    i1 = i0 + I32(1)
    if axis.mode is not Wrap.REPEAT:
        return clamp(i0, n), clamp(i1, n), weight
    if axis.pot:
        return i0 & (n - 1), i1 & (n - 1), weight
    i0 = np.where(i0 < 0, n - 1, minmax.minimum(i0, n - 1))
    i1 = i0 + I32(1)
    return i0, np.where(i1 >= n, I32(0), i1), weight


def _fixed(axis: Axis, s: Array, n: Any, offset: Array | int) -> Array:
    """The coordinate minus half a texel, in 256ths of a texel."""
    nf = np.asarray(n, F32)
    s = _offset_coordinate(s, offset, nf, axis.scaled)
    repeat = axis.mode is Wrap.REPEAT
    if repeat and not axis.pot:
        s = s - np.floor(s)
    u = np.asarray(s * F32(256.0) if axis.scaled else s * (nf * F32(256.0)))
    if not repeat:
        minmax.maximum(u, F32(0.0), u)
        minmax.minimum(u, nf * F32(256.0), u)
    fixed: Array = np.rint(u, out=u).astype(I32)
    fixed -= I32(128)
    return fixed


def _offset_coordinate(s: Array, offset: Array | int, nf: Array, scaled: bool) -> Array:
    if isinstance(offset, int) and offset == 0:
        return s
    return s + offset if scaled else s + offset / nf
