"""Floats as raw bits and back."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

_FLOATS = {bits: struct.Struct(f"<{letter}") for bits, letter in ((16, "e"), (32, "f"), (64, "d"))}
_WORDS = {bits: struct.Struct(f"<{letter}") for bits, letter in ((16, "H"), (32, "I"), (64, "Q"))}
_PACK = {bits: form.pack for bits, form in _FLOATS.items()}
_UNPACK = {bits: form.unpack for bits, form in _WORDS.items()}
_PACK_WORD = {bits: form.pack for bits, form in _WORDS.items()}
_UNPACK_FLOAT = {bits: form.unpack for bits, form in _FLOATS.items()}


def float_bits(value: float, bit_size: int = 32) -> int:
    """Raw bits of `value` as a float of that size (overflow gives infinity)."""
    try:
        packed = _PACK[bit_size](value)
    except OverflowError:
        packed = _PACK[bit_size](math.inf if value > 0 else -math.inf)
    bits: int = _UNPACK[bit_size](packed)[0]
    return bits


def bits_to_float(bits: int, bit_size: int = 32) -> float:
    value: float = _UNPACK_FLOAT[bit_size](_PACK_WORD[bit_size](bits))[0]
    return value


_FOURS = {n: (struct.Struct(f"<{n}f").pack, struct.Struct(f"<{n}I").unpack) for n in range(1, 17)}


def floats_bits(values: Sequence[float], bit_size: int = 32) -> tuple[int, ...]:
    """Raw bits of several floats of one size."""
    if bit_size == 32 and len(values) in _FOURS:
        pack, unpack = _FOURS[len(values)]
        try:
            return unpack(pack(*values))
        except OverflowError:
            pass
    return tuple([float_bits(x, bit_size) for x in values])
