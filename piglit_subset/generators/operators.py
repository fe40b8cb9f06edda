"""Operators over all types they are defined for, against Python's exact integers and NumPy."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gallette.piglit_subset.generators.common import evaluation, rotated, vector
from gallette.piglit_subset.requirements import COMPARE

Pairs = tuple[tuple[Any, Any], ...]
Oracle = Callable[[Any, Any], Any]

_FLOATS = ((1.5, 0.5), (-2.25, 4.0), (8.0, -0.125), (3.0, 3.0))
_INTS = ((7, 2), (100, 3), (12, 12), (2147483647, 2))
_NEGATIVE = ((-7, 5), (9, -4))
_SHIFTS = ((1, 0), (3, 4), (255, 8), (1, 31))
_PAIRS: dict[str, Pairs] = {"float": _FLOATS, "int": (*_INTS, *_NEGATIVE), "uint": _INTS}


def _divided(a: Any, b: Any) -> Any:
    """Division: floats unchanged; integers rounded towards zero."""
    if isinstance(a, float):
        return a / b
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


# Name -> sign, oracle, scalar types, sizes, and operands if they are special.
_BINARY: dict[str, tuple[str, Oracle, tuple[str, ...], tuple[int, ...], Pairs | None]] = {
    "add": ("+", operator.add, ("float", "int", "uint"), (1, 2, 3, 4), None),
    "subtract": ("-", operator.sub, ("float", "int", "uint"), (1, 2, 3, 4), None),
    "multiply": ("*", operator.mul, ("float", "int", "uint"), (1, 2, 3, 4), None),
    "divide": ("/", _divided, ("float", "int", "uint"), (1, 2, 3, 4), None),
    "and": ("&", operator.and_, ("int", "uint"), (1, 2, 3, 4), None),
    "or": ("|", operator.or_, ("int", "uint"), (1, 2, 3, 4), None),
    "exclusive-or": ("^", operator.xor, ("int", "uint"), (1, 2, 3, 4), None),
    "shift-left": ("<<", operator.lshift, ("int", "uint"), (1, 4), _SHIFTS),
    "shift-right": (">>", operator.rshift, ("int", "uint"), (1, 4), _SHIFTS),
    "remainder": ("%", operator.mod, ("int", "uint"), (1, 4), _INTS),
}
_ASSIGNED = ("add", "subtract", "multiply", "and", "or", "exclusive-or")
_COMPARE = {"less": "<", "less-equal": "<=", "greater": ">", "greater-equal": ">=", "equal": "==",
            "not-equal": "!="}  # fmt: skip


def _kept(value: Any, scalar: str) -> Any:
    """An exact result reduced to 32 bits."""
    if scalar == "float":
        return float(np.float32(value))
    bits = int(value) & 0xFFFFFFFF
    return bits - (1 << 32) if scalar == "int" and bits >> 31 else bits


def _results(oracle: Oracle, scalar: str, a: list[Any], b: list[Any]) -> list[Any]:
    return [_kept(oracle(x, y), scalar) for x, y in zip(a, b, strict=True)]


def tests() -> Iterator[str]:
    for name, (sign, oracle, scalars, sizes, pairs) in _BINARY.items():
        for scalar in scalars:
            for size in sizes:
                kind = vector(scalar, size)
                yield evaluation(
                    f"operators/{name}-{kind}",
                    f"The operator {sign} of two {kind} operands is exact.",
                    130,
                    {"a": kind, "b": kind, "expected": kind},
                    f"(a {sign} b) == expected",
                    [
                        (a, b, _results(oracle, scalar, a, b))
                        for a, b in rotated(pairs or _PAIRS[scalar], size)
                    ],
                )
    for name, sign in _COMPARE.items():
        for scalar in _PAIRS:
            yield evaluation(
                f"operators/{name}-{scalar}",
                f"The operator {sign} compares two {scalar} operands.",
                130,
                {"a": scalar, "b": scalar, "expected": "bool"},
                f"(a {sign} b) == expected",
                [(a, b, COMPARE[sign](a, b)) for a, b in _PAIRS[scalar]],
            )
    for scalar in _PAIRS:
        for size in (1, 2, 3, 4):
            kind = vector(scalar, size)
            yield evaluation(
                f"operators/negate-{kind}",
                f"Unary minus of a {kind} is exact.",
                130,
                {"a": kind, "expected": kind},
                "(-a) == expected && +a == a",
                [(a, [_kept(-x, scalar) for x in a]) for a, _ in rotated(_PAIRS[scalar], size)],
            )
            yield _assigned(scalar, size)


def _assigned(scalar: str, size: int) -> str:
    kind = vector(scalar, size)
    rows = [_BINARY[name] for name in _ASSIGNED if scalar in _BINARY[name][2]]
    steps = "".join(
        f"\tx = a;\n\tx {row[0]}= b;\n\tright = right && x == e{i};\n" for i, row in enumerate(rows)
    )
    return evaluation(
        f"operators/compound-assignment-{kind}",
        f"Compound assignment to a {kind} is the operator and an assignment.",
        130,
        {"a": kind, "b": kind, **{f"e{i}": kind for i in range(len(rows))}},
        "check()",
        [
            (a, b, *(_results(row[1], scalar, a, b) for row in rows))
            for a, b in rotated(_PAIRS[scalar], size)[:2]
        ],
        helpers=f"bool check()\n{{\n\tbool right = true;\n\t{kind} x;\n{steps}\treturn right;\n}}",
    )
