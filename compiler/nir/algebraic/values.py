"""Raw bits and numbers: how constants in rules meet constants in the IR.

`LoadConst` stores one unsigned integer per component. A rule says `1.0`, `-1` or `True`; what bits
that means depends on the base type and bit size of the place it stands in.
"""

from __future__ import annotations

import struct
from functools import lru_cache

__all__ = ["Number", "as_float", "as_int", "raw_bits"]

Number = bool | int | float
_FLOAT_CODES = {16: ("<e", "<H"), 32: ("<f", "<I"), 64: ("<d", "<Q")}


@lru_cache(maxsize=4096)
def _float_bits(text: str, bit_size: int) -> int:
    code, raw = _FLOAT_CODES[bit_size]
    value = float(text)
    try:
        packed = struct.pack(code, value)
    except OverflowError:
        packed = struct.pack(code, float("inf") if value > 0 else float("-inf"))
    bits: int = struct.unpack(raw, packed)[0]
    return bits


def raw_bits(value: Number, base: str, bit_size: int) -> int:
    """The bits of `value` where a `base` ("float", "int", "uint", "bool") is expected."""
    if base == "float":
        return _float_bits(repr(float(value)), bit_size)
    return int(value) & ((1 << bit_size) - 1)


def as_float(bits: int, bit_size: int) -> float:
    """The number that raw float bits stand for."""
    code, raw = _FLOAT_CODES[bit_size]
    value: float = struct.unpack(code, struct.pack(raw, bits))[0]
    return value


def as_int(bits: int, bit_size: int) -> int:
    """The signed integer that raw bits stand for."""
    sign = 1 << (bit_size - 1)
    return (bits ^ sign) - sign
