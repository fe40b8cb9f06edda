"""Operators over all types they are defined for, against Python's exact integers and NumPy's
floats.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gallette.piglit_subset.generators.common import evaluation, number, vector

_BITS = 0xFFFFFFFF
_FLOATS = ((1.5, 0.5), (-2.25, 4.0), (8.0, -0.125), (3.0, 3.0))
_INTS = ((7, 2), (100, 3), (12, 12), (2147483647, 2))
_NEGATIVE = ((-7, 5), (9, -4))
_SHIFTS = ((1, 0), (3, 4), (255, 8), (1, 31))

_ARITHMETIC: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "add": ("+", operator.add),
    "subtract": ("-", operator.sub),
    "multiply": ("*", operator.mul),
    "divide": ("/", lambda a, b: a / b if isinstance(a, float) else _toward_zero(a, b)),
}
_INTEGER: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "and": ("&", operator.and_),
    "or": ("|", operator.or_),
    "exclusive-or": ("^", operator.xor),
}
_COMPARE: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "less": ("<", operator.lt),
    "less-equal": ("<=", operator.le),
    "greater": (">", operator.gt),
    "greater-equal": (">=", operator.ge),
    "equal": ("==", operator.eq),
    "not-equal": ("!=", operator.ne),
}


def _toward_zero(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _wrapped(value: Any, scalar: str) -> Any:
    """What 32 bits keep of an exact result."""
    if scalar == "float":
        return float(np.float32(value))
    bits = int(value) & _BITS
    return bits - (1 << 32) if scalar == "int" and bits >> 31 else bits


def tests() -> Iterator[tuple[str, str, str]]:
    for name, (sign, oracle) in _ARITHMETIC.items():
        for scalar in ("float", "int", "uint"):
            for size in (1, 2, 3, 4):
                yield _binary(name, sign, oracle, scalar, size, _pairs(scalar, name))
    for name, (sign, oracle) in _INTEGER.items():
        for scalar in ("int", "uint"):
            for size in (1, 2, 3, 4):
                yield _binary(name, sign, oracle, scalar, size, _pairs(scalar, name))
    for scalar in ("int", "uint"):
        for size in (1, 4):
            yield _binary("shift-left", "<<", operator.lshift, scalar, size, _SHIFTS)
            yield _binary("shift-right", ">>", operator.rshift, scalar, size, _SHIFTS)
            positive = _INTS
            yield _binary("remainder", "%", operator.mod, scalar, size, positive)
    for name, (sign, compare) in _COMPARE.items():
        for scalar in ("float", "int", "uint"):
            yield _comparison(name, sign, compare, scalar)
    for scalar in ("float", "int", "uint"):
        for size in (1, 2, 3, 4):
            yield _negation(scalar, size)
            yield _assigned(scalar, size)


def _pairs(scalar: str, name: str) -> tuple[tuple[Any, Any], ...]:
    if scalar == "float":
        return _FLOATS
    return _INTS if scalar == "uint" else (*_INTS, *_NEGATIVE)


def _binary(
    name: str,
    sign: str,
    oracle: Callable[[Any, Any], Any],
    scalar: str,
    size: int,
    pairs: tuple[tuple[Any, Any], ...],
) -> tuple[str, str, str]:
    kind = vector(scalar, size)
    cases = []
    for turn in range(len(pairs)):
        given = [pairs[(turn + c) % len(pairs)] for c in range(size)]
        expected = [_wrapped(oracle(a, b), scalar) for a, b in given]
        cases.append(
            [
                f"uniform {kind} a {' '.join(number(a) for a, _ in given)}",
                f"uniform {kind} b {' '.join(number(b) for _, b in given)}",
                f"uniform {kind} expected {' '.join(map(number, expected))}",
            ]
        )
    declared = f"uniform {kind} a;\nuniform {kind} b;\nuniform {kind} expected;"
    body = evaluation(130, declared, f"(a {sign} b) == expected", cases)
    return (
        f"glsl-1.30/operators/{name}-{kind}",
        f"The operator {sign} of two {kind} operands is exact.",
        body,
    )


def _comparison(
    name: str, sign: str, oracle: Callable[[Any, Any], bool], scalar: str
) -> tuple[str, str, str]:
    cases = [
        [
            f"uniform {scalar} a {number(a)}",
            f"uniform {scalar} b {number(b)}",
            f"uniform bool expected {int(oracle(a, b))}",
        ]
        for a, b in _pairs(scalar, name)
    ]
    declared = f"uniform {scalar} a;\nuniform {scalar} b;\nuniform bool expected;"
    return (
        f"glsl-1.30/operators/{name}-{scalar}",
        f"The operator {sign} compares two {scalar} operands.",
        evaluation(130, declared, f"(a {sign} b) == expected", cases),
    )


def _negation(scalar: str, size: int) -> tuple[str, str, str]:
    kind = vector(scalar, size)
    pairs = _pairs(scalar, "negate")
    cases = []
    for turn in range(len(pairs)):
        given = [pairs[(turn + c) % len(pairs)][0] for c in range(size)]
        expected = [_wrapped(-a, scalar) for a in given]
        cases.append(
            [
                f"uniform {kind} a {' '.join(map(number, given))}",
                f"uniform {kind} expected {' '.join(map(number, expected))}",
            ]
        )
    declared = f"uniform {kind} a;\nuniform {kind} expected;"
    body = evaluation(130, declared, "(-a) == expected && +a == a", cases)
    return f"glsl-1.30/operators/negate-{kind}", f"Unary minus of a {kind} is exact.", body


_SIGNS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}


def _assigned(scalar: str, size: int) -> tuple[str, str, str]:
    kind = vector(scalar, size)
    signs = [sign for sign in _SIGNS if scalar != "float" or sign in "+-*"]
    steps = "".join(
        f"\tx = a;\n\tx {sign}= b;\n\tright = right && x == e{i};\n" for i, sign in enumerate(signs)
    )
    helper = f"bool check()\n{{\n\tbool right = true;\n\t{kind} x;\n{steps}\treturn right;\n}}"
    pairs = _pairs(scalar, "assign")
    cases = []
    for turn in range(2):
        given = [pairs[(turn + c) % len(pairs)] for c in range(size)]
        lines = [
            f"uniform {kind} a {' '.join(number(a) for a, _ in given)}",
            f"uniform {kind} b {' '.join(number(b) for _, b in given)}",
        ]
        for i, sign in enumerate(signs):
            expected = [_wrapped(_SIGNS[sign](a, b), scalar) for a, b in given]
            lines.append(f"uniform {kind} e{i} {' '.join(map(number, expected))}")
        cases.append(lines)
    declared = [
        f"uniform {kind} {name};" for name in ("a", "b", *(f"e{i}" for i in range(len(signs))))
    ]
    return (
        f"glsl-1.30/operators/compound-assignment-{kind}",
        f"Compound assignment to a {kind} is the operator and an assignment.",
        evaluation(130, "\n".join(declared), "check()", cases, helpers=helper),
    )
