"""Double precision: arithmetic and functions of GLSL 4.00, and double attributes, against NumPy.

Arithmetic, square root and the rounding functions are exact in double precision, so equality is
asked for; values are chosen that single precision cannot hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gallette.piglit_subset.generators.common import (
    Test,
    drawn,
    evaluation,
    main,
    rotated,
    vector,
    words,
)

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


def tests() -> Iterator[Test]:
    for name, (text, oracle) in _OPERATORS.items():
        for size in (1, 2, 3, 4):
            yield _exact(name, text, oracle, size)
    for size in (1, 2, 3, 4):
        yield _root(size)
    for columns in range(2, 5):
        for rows in range(2, 5):
            yield _matrix(columns, rows)
    for size in (1, 2, 3, 4):
        yield _attribute(size)


def _exact(name: str, text: str, oracle: Callable[[Any, Any], Any], size: int) -> Test:
    kind = vector("double", size)
    cases, values = [], list(map(np.array, rotated(_VALUES, size)))
    for a, b in zip(values, values[2:] + values[:2], strict=True):
        cases.append({"a": (kind, a), "b": (kind, b), "expected": (kind, oracle(a, b))})
    helper = f"{kind} value()\n{{\n\tprecise {kind} x = {text};\n\treturn x;\n}}"
    extension = "#extension GL_ARB_gpu_shader5 : require"
    return (
        f"glsl-4.00/doubles/{name}-{kind}",
        f"{name} of {kind} values is done in double precision.",
        evaluation(400, "value() == expected", cases, helpers=helper, extension=extension),
    )


def _root(size: int) -> Test:
    kind = vector("double", size)
    near = "abs(sqrt(a) * sqrt(a) - a) <= a * 1.0e-14lf"
    if size > 1:
        near = f"all(lessThanEqual(abs(sqrt(a) * sqrt(a) - a), a * {kind}(1.0e-14lf)))"
    return (
        f"glsl-4.00/doubles/sqrt-{kind}",
        f"sqrt of a {kind} has the accuracy of doubles.",
        evaluation(400, near, [{"a": (kind, given)} for given in rotated(_VALUES, size)[:3]]),
    )


def _matrix(columns: int, rows: int) -> Test:
    kind = f"dmat{columns}x{rows}"
    values = [float(i + 1) + 2.0**-40 for i in range(columns * rows)]
    checks = [
        f"m[{c}][{r}] == double({c * rows + r + 1}) + small"
        for c in range(columns)
        for r in range(rows)
    ]
    case = {"m": (kind, values), "small": ("double", [2.0**-40])}
    return (
        f"glsl-4.00/doubles/uniform-{kind}",
        f"A {kind} uniform keeps every element in double precision, column by column.",
        evaluation(400, "\n\t\t&& ".join(checks), [case]),
    )


def _attribute(size: int) -> Test:
    kind, row = vector("double", size), words(_VALUES[:size])
    vertex = ["in vec2 piglit_vertex;", f"in {kind} a;", f"uniform {kind} expected;"]
    vertex += ["flat out int right;"]
    vertex += main("right = int(a == expected);", "gl_Position = vec4(piglit_vertex, 0.0, 1.0);")
    fragment = ["flat in int right;", "out vec4 color;"]
    fragment += main("color = vec4(1 - right, right, 0.0, 1.0);")
    data = [f"piglit_vertex/float/2 a/double/{kind}"]
    data += [f"{corner}  {row}" for corner in ("-1 -1", "1 -1", "-1 1", "1 1")]
    commands = [f"uniform {kind} expected {row}", "draw arrays GL_TRIANGLE_STRIP 0 4"]
    commands += ["probe all rgba 0.0 1.0 0.0 1.0"]
    return (
        f"glsl-4.10/vertex-attributes/{kind}",
        f"A {kind} attribute arrives in double precision.",
        drawn(410, fragment, commands, vertex=vertex, data=data),
    )
