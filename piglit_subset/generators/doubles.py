"""Double precision: arithmetic and functions of GLSL 4.00, and double attributes, against NumPy.

Arithmetic, square root and the rounding functions are exact in double precision, so equality is
asked for; values are chosen that single precision cannot hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gallette.piglit_subset.generators.common import evaluation, number, vector

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


def tests() -> Iterator[tuple[str, str, str]]:
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


def _exact(
    name: str, text: str, oracle: Callable[[Any, Any], Any], size: int
) -> tuple[str, str, str]:
    kind = vector("double", size)
    cases = []
    for turn in range(len(_VALUES)):
        a = np.array([_VALUES[(turn + c) % len(_VALUES)] for c in range(size)])
        b = np.array([_VALUES[(turn + c + 2) % len(_VALUES)] for c in range(size)])
        cases.append(
            [
                f"uniform {kind} a {' '.join(map(number, a.tolist()))}",
                f"uniform {kind} b {' '.join(map(number, b.tolist()))}",
                f"uniform {kind} expected {' '.join(map(number, oracle(a, b).tolist()))}",
            ]
        )
    declared = f"uniform {kind} a;\nuniform {kind} b;\nuniform {kind} expected;"
    helper = f"{kind} value()\n{{\n\tprecise {kind} x = {text};\n\treturn x;\n}}"
    body = evaluation(
        400,
        declared,
        "value() == expected",
        cases,
        helpers=helper,
        extension="#extension GL_ARB_gpu_shader5 : require",
    )
    return (
        f"glsl-4.00/doubles/{name}-{kind}",
        f"{name} of {kind} values is done in double precision.",
        body,
    )


def _root(size: int) -> tuple[str, str, str]:
    kind = vector("double", size)
    cases = []
    for turn in range(3):
        a = np.array([_VALUES[(turn + c) % len(_VALUES)] for c in range(size)])
        cases.append([f"uniform {kind} a {' '.join(map(number, a.tolist()))}"])
    near = "abs(sqrt(a) * sqrt(a) - a) <= a * 1.0e-14lf"
    if size > 1:
        near = f"all(lessThanEqual(abs(sqrt(a) * sqrt(a) - a), a * {kind}(1.0e-14lf)))"
    return (
        f"glsl-4.00/doubles/sqrt-{kind}",
        f"sqrt of a {kind} has the accuracy of doubles.",
        evaluation(400, f"uniform {kind} a;", near, cases),
    )


def _matrix(columns: int, rows: int) -> tuple[str, str, str]:
    kind = f"dmat{columns}x{rows}"
    values = [float(i + 1) + 2.0**-40 for i in range(columns * rows)]
    checks = [
        f"m[{c}][{r}] == double({c * rows + r + 1}) + small"
        for c in range(columns)
        for r in range(rows)
    ]
    case = [
        f"uniform {kind} m {' '.join(map(number, values))}",
        f"uniform double small {number(2.0**-40)}",
    ]
    body = evaluation(
        400, f"uniform {kind} m;\nuniform double small;", "\n\t\t&& ".join(checks), [case]
    )
    return (
        f"glsl-4.00/doubles/uniform-{kind}",
        f"A {kind} uniform keeps every element in double precision, column by column.",
        body,
    )


def _attribute(size: int) -> tuple[str, str, str]:
    kind = vector("double", size)
    values = [_VALUES[c] for c in range(size)]
    row = " ".join(map(number, values))
    corners = ("-1 -1", "1 -1", "-1 1", "1 1")
    rows = "\n".join(f"{corner}  {row}" for corner in corners)
    body = f"""[require]
GLSL >= 4.10
SIZE 8 8

[vertex shader]
#version 410
in vec2 piglit_vertex;
in {kind} a;
uniform {kind} expected;
flat out int right;

void main()
{{
	right = int(a == expected);
	gl_Position = vec4(piglit_vertex, 0.0, 1.0);
}}

[fragment shader]
#version 410
flat in int right;
out vec4 color;

void main()
{{
	color = vec4(1 - right, right, 0.0, 1.0);
}}

[vertex data]
piglit_vertex/float/2 a/double/{kind}
{rows}

[test]
uniform {kind} expected {row}
draw arrays GL_TRIANGLE_STRIP 0 4
probe all rgba 0.0 1.0 0.0 1.0
"""
    return (
        f"glsl-4.10/vertex-attributes/{kind}",
        f"A {kind} attribute arrives in double precision.",
        body,
    )
