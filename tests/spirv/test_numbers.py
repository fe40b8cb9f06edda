"""Literals of SPIR-V text at the ends of what each type holds, against Python's own packing."""

from __future__ import annotations

import pytest

from gallette.compiler.spirv.literals import parse_number
from gallette.compiler.spirv.operands import NumberType

WIDTHS = (8, 16, 32, 64)
WORDS = {8: 32, 16: 32, 32: 32, 64: 64}
"""bits of the words a literal of a width takes: narrow signed ones are sign-extended"""


def edges(low: int, high: int) -> list[int]:
    return sorted({n + d for n in (low, 0, high) for d in (-1, 0, 1)})


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_integers_at_the_ends_of_their_type(width: int, signed: bool) -> None:
    type = NumberType(False, width, signed)
    low = -(1 << (width - 1)) if signed else 0
    high = (1 << (width - signed)) - 1
    for value in edges(low, high):
        wanted = value % (1 << WORDS[width]) if low <= value <= high else None
        assert parse_number(str(value), type) == wanted, value


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_hexadecimal_integers_are_bits(width: int, signed: bool) -> None:
    type = NumberType(False, width, signed)
    for bits in edges(1 << (width - 1), (1 << width) - 1):
        if bits < 0:
            continue
        negative = signed and bits >> (width - 1) & 1
        extended = bits - (1 << width) if negative else bits
        wanted = extended % (1 << WORDS[width]) if bits < 1 << width else None
        if bits < 1 << 64:
            assert parse_number(f"0x{bits:X}", type) == wanted, hex(bits)
    assert parse_number("-0x1", type) == ((1 << WORDS[width]) - 1 if signed else None)
