"""Operators over all types they are defined for, against Python's exact integers and NumPy's
floats.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gallette.piglit_subset.generators.common import Test, evaluation, rotated, vector

_BITS = 0xFFFFFFFF
_FLOATS = ((1.5, 0.5), (-2.25, 4.0), (8.0, -0.125), (3.0, 3.0))
_INTS = ((7, 2), (100, 3), (12, 12), (2147483647, 2))
_NEGATIVE = ((-7, 5), (9, -4))
_SHIFTS = ((1, 0), (3, 4), (255, 8), (1, 31))

Oracle = Callable[[Any, Any], Any]
Pairs = tuple[tuple[Any, Any], ...]


def _divided(a: Any, b: Any) -> Any:
    """Integers are divided towards zero."""
    if isinstance(a, float):
        return a / b
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


_ARITHMETIC: dict[str, tuple[str, Oracle]] = {
    "add": ("+", operator.add),
    "subtract": ("-", operator.sub),
    "multiply": ("*", operator.mul),
    "divide": ("/", _divided),
}
_INTEGER: dict[str, tuple[str, Oracle]] = {
    "and": ("&", operator.and_),
    "or": ("|", operator.or_),
    "exclusive-or": ("^", operator.xor),
}
_COMPARE: dict[str, tuple[str, Oracle]] = {
    "less": ("<", operator.lt),
    "less-equal": ("<=", operator.le),
    "greater": (">", operator.gt),
    "greater-equal": (">=", operator.ge),
    "equal": ("==", operator.eq),
    "not-equal": ("!=", operator.ne),
}


def _wrapped(value: Any, scalar: str) -> Any:
    """What 32 bits keep of an exact result."""
    if scalar == "float":
        return float(np.float32(value))
    bits = int(value) & _BITS
    return bits - (1 << 32) if scalar == "int" and bits >> 31 else bits


def tests() -> Iterator[Test]:
    for table, scalars in ((_ARITHMETIC, ("float", "int", "uint")), (_INTEGER, ("int", "uint"))):
        for name, (sign, oracle) in table.items():
            for scalar in scalars:
                for size in (1, 2, 3, 4):
                    yield _binary(name, sign, oracle, scalar, size, _pairs(scalar))
    for scalar in ("int", "uint"):
        for size in (1, 4):
            yield _binary("shift-left", "<<", operator.lshift, scalar, size, _SHIFTS)
            yield _binary("shift-right", ">>", operator.rshift, scalar, size, _SHIFTS)
            yield _binary("remainder", "%", operator.mod, scalar, size, _INTS)
    for name, (sign, compare) in _COMPARE.items():
        for scalar in ("float", "int", "uint"):
            yield _comparison(name, sign, compare, scalar)
    for scalar in ("float", "int", "uint"):
        for size in (1, 2, 3, 4):
            yield _negation(scalar, size)
            yield _assigned(scalar, size)


def _pairs(scalar: str) -> Pairs:
    if scalar == "float":
        return _FLOATS
    return _INTS if scalar == "uint" else (*_INTS, *_NEGATIVE)


def _binary(name: str, sign: str, oracle: Oracle, scalar: str, size: int, pairs: Pairs) -> Test:
    kind = vector(scalar, size)
    cases = [
        {
            "a": (kind, [a for a, _ in given]),
            "b": (kind, [b for _, b in given]),
            "expected": (kind, [_wrapped(oracle(a, b), scalar) for a, b in given]),
        }
        for given in rotated(pairs, size)
    ]
    return (
        f"glsl-1.30/operators/{name}-{kind}",
        f"The operator {sign} of two {kind} operands is exact.",
        evaluation(130, f"(a {sign} b) == expected", cases),
    )


def _comparison(name: str, sign: str, oracle: Oracle, scalar: str) -> Test:
    cases = [
        {"a": (scalar, [a]), "b": (scalar, [b]), "expected": ("bool", [oracle(a, b)])}
        for a, b in _pairs(scalar)
    ]
    return (
        f"glsl-1.30/operators/{name}-{scalar}",
        f"The operator {sign} compares two {scalar} operands.",
        evaluation(130, f"(a {sign} b) == expected", cases),
    )


def _negation(scalar: str, size: int) -> Test:
    kind = vector(scalar, size)
    cases = [
        {
            "a": (kind, [a for a, _ in given]),
            "expected": (kind, [_wrapped(-a, scalar) for a, _ in given]),
        }
        for given in rotated(_pairs(scalar), size)
    ]
    body = evaluation(130, "(-a) == expected && +a == a", cases)
    return f"glsl-1.30/operators/negate-{kind}", f"Unary minus of a {kind} is exact.", body


def _assigned(scalar: str, size: int) -> Test:
    kind = vector(scalar, size)
    signs = [("+", operator.add), ("-", operator.sub), ("*", operator.mul)]
    if scalar != "float":
        signs += _INTEGER.values()
    steps = "".join(
        f"\tx = a;\n\tx {sign}= b;\n\tright = right && x == e{i};\n"
        for i, (sign, _) in enumerate(signs)
    )
    helper = f"bool check()\n{{\n\tbool right = true;\n\t{kind} x;\n{steps}\treturn right;\n}}"
    cases = []
    for given in rotated(_pairs(scalar), size)[:2]:
        case = {"a": (kind, [a for a, _ in given]), "b": (kind, [b for _, b in given])}
        for i, (_, oracle) in enumerate(signs):
            case[f"e{i}"] = (kind, [_wrapped(oracle(a, b), scalar) for a, b in given])
        cases.append(case)
    return (
        f"glsl-1.30/operators/compound-assignment-{kind}",
        f"Compound assignment to a {kind} is the operator and an assignment.",
        evaluation(130, "check()", cases, helpers=helper),
    )
