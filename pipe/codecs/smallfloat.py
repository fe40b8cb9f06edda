"""Formats with fewer float bits than half precision: R11G11B10 and the shared exponent.

An 11- or 10-bit float is the upper part of a half without its sign, so decoding is a shift.
Encoding truncates, as the specification allows and Mesa does; negative values become 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
F32 = np.float32
U32 = np.uint32

_REBIAS = F32(2.0**-112)  # moves the exponent bias from 15 to 127, denormals included
_MAX_E5 = 511.0 / 512.0 * 2.0**16


def _broadcast(planes: Sequence[Array]) -> tuple[Array, Array, Array]:
    r, g, b = np.broadcast_arrays(*(np.asarray(p, F32) for p in planes[:3]))
    return r, g, b


def _half(bits: Array) -> npt.NDArray[np.float32]:
    return bits.astype(np.uint16).view(np.float16).astype(F32)


def _unpack_r11g11b10(texels: Array) -> list[Array]:
    red = _half((texels & U32(0x7FF)) << U32(4))
    green = _half(((texels >> U32(11)) & U32(0x7FF)) << U32(4))
    blue = _half((texels >> U32(22)) << U32(5))
    return [red, green, blue, np.ones((), F32)]


def _small(value: Array, mantissa: int) -> npt.NDArray[np.uint32]:
    """The bits of an unsigned float with 5 exponent bits."""
    top = F32((2.0 - 2.0**-mantissa) * 2.0**15)
    special = ~np.isfinite(value)
    with np.errstate(invalid="ignore", under="ignore"):
        finite = np.minimum(np.maximum(value, F32(0.0)), top) * _REBIAS
    bits = np.where(special, U32(0), finite.view(U32) >> U32(23 - mantissa))
    infinity = U32(31 << mantissa)
    bits = np.where(value == np.inf, infinity, bits)
    return np.where(np.isnan(value), infinity | U32(1), bits).astype(U32)


def _pack_r11g11b10(planes: Sequence[Array]) -> Array:
    red, green, blue = _broadcast(planes)
    packed = _small(red, 6) | (_small(green, 6) << U32(11))
    return np.asarray(packed | (_small(blue, 5) << U32(22)))


def _unpack_r9g9b9e5(texels: Array) -> list[Array]:
    exponent = (texels >> U32(27)).astype(np.int32)
    scale = np.ldexp(F32(1.0), exponent - 24).astype(F32)
    planes: list[Array] = [
        ((texels >> U32(shift)) & U32(0x1FF)).astype(F32) * scale for shift in (0, 9, 18)
    ]
    return [*planes, np.ones((), F32)]


def _pack_r9g9b9e5(planes: Sequence[Array]) -> Array:
    colours = [np.fmin(np.fmax(p.astype(np.float64), 0.0), _MAX_E5) for p in _broadcast(planes)]
    largest = np.maximum(np.maximum(colours[0], colours[1]), colours[2])
    _, power = np.frexp(np.maximum(largest, 2.0**-16))  # largest = m * 2**power, 0.5 <= m < 1
    exponent = np.maximum(power.astype(np.int32), -15)
    rounded = np.floor(np.ldexp(largest, 9 - exponent) + 0.5)
    exponent = exponent + (rounded == 512)
    mantissas = [np.floor(np.ldexp(c, 9 - exponent) + 0.5).astype(U32) for c in colours]
    packed = mantissas[0] | (mantissas[1] << U32(9)) | (mantissas[2] << U32(18))
    return np.asarray(packed | ((exponent + 15).astype(U32) << U32(27)))


SPECIAL_CODECS: dict[
    str, tuple[Callable[[Array], list[Array]], Callable[[Sequence[Array]], Array]]
] = {
    "small_float": (_unpack_r11g11b10, _pack_r11g11b10),
    "shared_exponent": (_unpack_r9g9b9e5, _pack_r9g9b9e5),
}
