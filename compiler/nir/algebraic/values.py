"""Conversion between constants in rules and raw bits of constants in the IR.

`LoadConst` stores one unsigned integer per component. A rule has `1.0`, `-1` or `True`; the bits of
that depend on the base type and bit size of the operand.
"""

from __future__ import annotations

from gallette.compiler.nir.ir.bits import bits_to_float, float_bits

Number = bool | int | float


def raw_bits(value: Number, base: str, bit_size: int) -> int:
    """The bits of `value` as an operand of type `base` ("float", "int", "uint", "bool")."""
    if base == "float":
        return float_bits(float(value), bit_size)
    return int(value) & ((1 << bit_size) - 1)


def as_float(bits: int, bit_size: int) -> float:
    """The number with these raw float bits."""
    return bits_to_float(bits, bit_size)


def as_int(bits: int, bit_size: int) -> int:
    """The signed integer with these raw bits."""
    sign = 1 << (bit_size - 1)
    return (bits ^ sign) - sign
