"""The sRGB curve: exact tables from 8 bits to linear light and back.

Encoding is exact (the nearest code of the true curve) without evaluating a power per pixel. The
upper bits of a linear value (its exponent and three bits of its fraction) select one of 105 pieces,
in each of which a straight line below the curve gives a guess that is at most one too small. A
comparison with the least linear value of the next code decides.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import minmax
from gallette.compiler.nir.ir.tables import TABLES

Array = npt.NDArray[Any]

LOWEST = 2.0**-13  # everything below encodes to 0
_LEAST = np.float32(LOWEST)
FIRST = int(_LEAST.view(np.uint32)) >> 20
"""The number of the first piece, before it is subtracted."""


def _decode(code: Array) -> Array:
    """The specification's curve, on values 0..1."""
    low = code / 12.92
    high = ((code + 0.055) / 1.055) ** 2.4
    return np.where(code <= 0.04045, low, high)


def _encode(linear: Array) -> Array:
    return np.where(linear <= 0.04045 / 12.92, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)


@cache
def decode_table() -> npt.NDArray[np.float32]:
    """Linear light of the 256 codes."""
    return _decode(np.arange(256) / 255.0).astype(np.float32)


@cache
def limit_table() -> npt.NDArray[np.float32]:
    """The least linear value whose code is greater than this one."""
    return np.append(_decode((np.arange(255) + 0.5) / 255.0), np.inf).astype(np.float32)


@cache
def line_table() -> npt.NDArray[np.uint32]:
    """The line of each piece: in the upper half its first value in 128ths of a code, in the lower
    half the slope, in 65536ths of a code for each of 256 steps.
    """
    last = int(np.float32(1.0).view(np.uint32)) >> 20
    ends = (np.arange(FIRST, last + 2, dtype=np.uint32) << 20).view(np.float32).astype(np.float64)
    codes = _encode(np.minimum(ends, 1.0)) * 255.0 + 0.5
    first = np.floor(codes[:-1] * 128.0)
    slope = np.floor((codes[1:] * 65536.0 - first * 512.0) / 256.0)
    slope[-1] = 0.0  # only 1.0 is in the last piece
    return (first.astype(np.uint32) << np.uint32(16)) | slope.astype(np.uint32)


TABLES["srgb_decode"] = decode_table
TABLES["srgb_limit"] = limit_table
TABLES["srgb_line"] = line_table


def srgb8_to_linear(code: Array) -> npt.NDArray[np.float32]:
    """Linear light of 8-bit codes."""
    return decode_table()[code]


def linear_to_srgb8(linear: Array) -> npt.NDArray[np.uint8]:
    """The nearest 8-bit code of linear light; clamped, NaN becomes 0."""
    value = minmax.between(np.asarray(linear, np.float32), _LEAST, np.float32(1.0))
    bits = value.view(np.uint32)
    line = line_table().take((bits >> np.uint32(20)) - np.uint32(FIRST))
    step = (bits >> np.uint32(12)) & np.uint32(0xFF)
    start, slope = line >> np.uint32(16), line & np.uint32(0xFFFF)
    guess = ((start << np.uint32(9)) + slope * step) >> np.uint32(16)
    more = value >= limit_table().take(guess)
    return np.asarray(guess.astype(np.uint8) + more)
