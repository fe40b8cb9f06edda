"""The sRGB curve: exact tables from 8 bits to linear light and back.

Encoding is exact (the nearest code of the true curve) without evaluating a power per pixel: the
linear value's upper float bits index a table of first guesses; each guess is at most one too small,
which a comparison with the code's threshold decides.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import minmax

__all__ = [
    "LOWEST",
    "SHIFT",
    "decode_table",
    "encode_tables",
    "linear_to_srgb8",
    "srgb8_to_linear",
]

Array = npt.NDArray[Any]

SHIFT = 12  # float bits dropped for the first guess
LOWEST = 2.0**-13  # everything below encodes to 0
_LEAST = np.float32(LOWEST)


def _decode(code: Array) -> Array:
    """The specification's curve, on values 0..1."""
    low = code / 12.92
    high = ((code + 0.055) / 1.055) ** 2.4
    return np.where(code <= 0.04045, low, high)


@cache
def decode_table() -> npt.NDArray[np.float32]:
    """Linear light of the 256 codes."""
    return _decode(np.arange(256) / 255.0).astype(np.float32)


@cache
def encode_tables() -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float32]]:
    """First guesses by shortened float bits, and the least linear value of each code above it."""
    thresholds = np.append(_decode((np.arange(255) + 0.5) / 255.0), np.inf).astype(np.float32)
    first = int(_LEAST.view(np.uint32)) >> SHIFT
    last = int(np.float32(1.0).view(np.uint32)) >> SHIFT
    bucket = (np.arange(first, last + 1, dtype=np.uint32) << SHIFT).view(np.float32)
    guess = np.searchsorted(thresholds[:255], bucket, side="right")
    return guess.astype(np.uint8), thresholds


def srgb8_to_linear(code: Array) -> npt.NDArray[np.float32]:
    """Linear light of 8-bit codes."""
    return decode_table()[code]


def linear_to_srgb8(linear: Array) -> npt.NDArray[np.uint8]:
    """The nearest 8-bit code of linear light; clamped, NaN becomes 0."""
    guesses, thresholds = encode_tables()
    value = np.asarray(linear, np.float32)
    value = minmax.between(value, _LEAST, np.float32(1.0))
    index = (value.view(np.uint32) >> np.uint32(SHIFT)) - (
        _LEAST.view(np.uint32) >> np.uint32(SHIFT)
    )
    guess: npt.NDArray[np.uint8] = guesses[index]
    return guess + (value >= thresholds[guess])
