"""Floats as raw bits and back."""

from __future__ import annotations

import struct

_PACK = {16: "<e", 32: "<f", 64: "<d"}
_UNPACK = {16: "<H", 32: "<I", 64: "<Q"}


def float_bits(value: float, bit_size: int = 32) -> int:
    """Raw bits of `value` as a float of that size (overflow gives infinity)."""
    try:
        packed = struct.pack(_PACK[bit_size], value)
    except OverflowError:
        packed = struct.pack(_PACK[bit_size], float("inf") if value > 0 else float("-inf"))
    return int(struct.unpack(_UNPACK[bit_size], packed)[0])


def bits_to_float(bits: int, bit_size: int = 32) -> float:
    return float(struct.unpack(_PACK[bit_size], struct.pack(_UNPACK[bit_size], bits))[0])
