"""Numbers as shaders write them: the value of every form, and what is no number."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from gallette.compiler.glsl.parse.lexer import number_value
from tests.cases import Case, each

SUFFIXES = {"": ("int", 32), "u": ("uint", 32), "l": ("int64_t", 64), "ul": ("uint64_t", 64)}


def integers(bits: int) -> list[int]:
    rng = random.Random(bits)
    edges = {0, 1, 7, 8, 9, 0o1234567, 0o123456707, 1 << 31, 1 << (bits - 1), (1 << bits) - 1}
    around = {n + d for n in edges for d in (-1, 0, 1)}
    return sorted(
        n for n in around | {rng.getrandbits(bits) for _ in range(20)} if 0 <= n < 1 << bits
    )


@pytest.mark.parametrize("suffix", ["", "u", "U", "l", "L", "ul", "UL", "uL", "Ul"])
def test_an_integer_has_its_value_in_every_base(suffix: str) -> None:
    """One that is too large for a signed type is its bit pattern."""
    kind, bits = SUFFIXES[suffix.lower()]
    for n in integers(bits):
        wanted = n - (1 << bits) if kind.startswith("int") and n >> (bits - 1) else n
        for word in (f"{n}", f"0x{n:x}", f"0X{n:X}", f"0{n:o}", f"000{n:o}"):
            assert number_value(word + suffix) == (kind, wanted), word


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_integer_that_does_not_fit_is_refused(suffix: str) -> None:
    bits = SUFFIXES[suffix][1]
    for n in (1 << bits, (1 << bits) + 1, 1 << 80):
        for word in (f"{n}", f"0x{n:x}", f"0{n:o}"):
            assert (
                number_value(word + suffix) == f"integer '{word}{suffix}' does not fit {bits} bits"
            )


@each(Path(__file__).with_name("numbers.txt"))
def test_invalid_numbers_are_reported(case: Case) -> None:
    assert number_value(case.text) == case.answer


def test_long_words_are_reported_in_part() -> None:
    assert number_value("9" * 41) == "integer '999999999999...' is too large"
    assert number_value("9" * 40) == f"integer '{'9' * 40}' does not fit 32 bits"
    assert number_value("1" * 41 + "x") == f"'{'1' * 40}' is not a number"


FRACTIONS = ["1.0", "1.", ".5", "0.1", "1e3", "1E3", "1e+3", "1e-3", "2.5e2", ".25E-1", "010.5"]
FRACTIONS += ["08.5", "16777217.0", "3.4028235e38", "1e39", "1e-46", "1.17549421e-38"]


@pytest.mark.parametrize("word", FRACTIONS)
def test_a_float_is_the_nearest_of_its_size(word: str) -> None:
    with np.errstate(over="ignore"):
        single = float(np.float32(float(word)))
    for suffix in ("", "f", "F"):
        assert number_value(word + suffix) == ("float", single)
    for suffix in ("lf", "LF"):
        assert number_value(word + suffix) == ("double", float(word))


def test_digits_alone_are_an_integer_and_take_no_letter_of_floats() -> None:
    assert number_value("12f") == "'12f' is not a number"
    assert number_value("12") == ("int", 12)
    assert number_value("010f") == "'010f' is not a number"
    assert number_value("0x1f") == ("int", 31)
