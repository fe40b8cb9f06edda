"""Raw bits and numbers: how constants in rules meet constants in the IR.

`LoadConst` stores one unsigned integer per component. A rule says `1.0`, `-1` or `True`; what bits
that means depends on the base type and bit size of the place it stands in.
"""

from __future__ import annotations

from gallette.compiler.nir.ir.bits import bits_to_float, float_bits

__all__ = ["Number", "as_float", "as_int", "raw_bits"]

Number = bool | int | float


def raw_bits(value: Number, base: str, bit_size: int) -> int:
    """The bits of `value` where a `base` ("float", "int", "uint", "bool") is expected."""
    if base == "float":
        return float_bits(float(value), bit_size)
    return int(value) & ((1 << bit_size) - 1)


def as_float(bits: int, bit_size: int) -> float:
    """The number that raw float bits stand for."""
    return bits_to_float(bits, bit_size)


def as_int(bits: int, bit_size: int) -> int:
    """The signed integer that raw bits stand for."""
    sign = 1 << (bit_size - 1)
    return (bits ^ sign) - sign
