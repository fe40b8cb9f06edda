"""Double precision: arithmetic and functions of GLSL 4.00, and double attributes, against NumPy.

Arithmetic, square root and the rounding functions are exact in double precision, so results must be
equal; values are chosen that single precision cannot represent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gallette.piglit_subset.generators.common import evaluation, rotated, templates, vector

_VALUES = (1.0 + 2.0**-40, 3.1415926535897931, 1e-300, 123456789.125, 0.1)
_OPERATORS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "add": ("a + b", lambda a, b: a + b),
    "subtract": ("a - b", lambda a, b: a - b),
    "multiply": ("a * b", lambda a, b: a * b),
    "min": ("min(a, b)", np.minimum),
    "max": ("max(a, b)", np.maximum),
    "abs": ("abs(-a) + b", lambda a, b: a + b),
    "floor": ("floor(a) + b", lambda a, b: np.floor(a) + b),
    "ceil": ("ceil(a) + b", lambda a, b: np.ceil(a) + b),
    "trunc": ("trunc(-a) + b", lambda a, b: np.trunc(-a) + b),
    "fract": ("fract(a) + b", lambda a, b: (a - np.floor(a)) + b),
    "sign": ("sign(-a) * b", lambda a, b: -b),
    "negate": ("-a + b", lambda a, b: -a + b),
}


def tests() -> Iterator[str]:
    for name, (text, oracle) in _OPERATORS.items():
        for size in (1, 2, 3, 4):
            yield _exact(name, text, oracle, size)
    for size in (1, 2, 3, 4):
        yield _root(size)
    for columns in range(2, 5):
        for rows in range(2, 5):
            yield _matrix(columns, rows)
    for size in (1, 2, 3, 4):
        yield templates("doubles").attribute(vector("double", size), _VALUES[:size])


def _exact(name: str, text: str, oracle: Callable[[Any, Any], Any], size: int) -> str:
    kind = vector("double", size)
    pairs = list(zip(_VALUES, (*_VALUES[2:], *_VALUES[:2]), strict=True))
    return evaluation(
        f"doubles/{name}-{kind}",
        f"{name} of {kind} values is done in double precision.",
        400,
        {"a": kind, "b": kind, "expected": kind},
        "value() == expected",
        [(a, b, oracle(np.array(a), np.array(b)).tolist()) for a, b in rotated(pairs, size)],
        helpers=f"{kind} value()\n{{\n\tprecise {kind} x = {text};\n\treturn x;\n}}",
        extension="#extension GL_ARB_gpu_shader5 : require",
    )


def _root(size: int) -> str:
    kind = vector("double", size)
    near = "abs(sqrt(a) * sqrt(a) - a) <= a * 1.0e-14lf"
    if size > 1:
        near = f"all(lessThanEqual(abs(sqrt(a) * sqrt(a) - a), a * {kind}(1.0e-14lf)))"
    return evaluation(
        f"doubles/sqrt-{kind}",
        f"sqrt of a {kind} has the accuracy of doubles.",
        400,
        {"a": kind},
        near,
        rotated([(v,) for v in _VALUES], size)[:3],
    )


def _matrix(columns: int, rows: int) -> str:
    kind = f"dmat{columns}x{rows}"
    places = [(c, r) for c in range(columns) for r in range(rows)]
    checks = [f"m[{c}][{r}] == double({c * rows + r + 1}) + small" for c, r in places]
    return evaluation(
        f"doubles/uniform-{kind}",
        f"A {kind} uniform keeps every element in double precision, column by column.",
        400,
        {"m": kind, "small": "double"},
        "\n\t\t&& ".join(checks),
        [([i + 1 + 2.0**-40 for i in range(columns * rows)], 2.0**-40)],
    )
