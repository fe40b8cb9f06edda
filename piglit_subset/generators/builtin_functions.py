"""Built-in functions of GLSL over all their types, against NumPy.

Each function is a row: its arguments' values, an oracle in double precision, and how far a result
may be off (absolutely and relative to it). The bounds are what the specification's precision
section asks for where it says something, and a few steps of single precision more for functions
it leaves open. Every row makes two tests per vector size: one with uniforms, and one with
constants, because folding is another implementation of the same function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gallette.piglit_subset.generators.common import evaluation, number, vector

Oracle = Callable[..., Any]
_TINY = 1e-6


@dataclass(frozen=True, slots=True)
class Function:
    """A component-wise function of floats."""

    name: str
    oracle: Oracle
    cases: tuple[tuple[float, ...], ...]
    absolute: float = 0.0
    relative: float = 0.0
    version: int = 130
    scalar_from: int = -1  # this argument (and the following) is scalar in every size


_ANGLES = ((0.0,), (0.5,), (1.25,), (-2.0,), (3.0,))
_UNIT = ((0.0,), (0.5,), (-0.25,), (0.875,), (-0.75,))
_ANY = ((0.0,), (1.5,), (-1.5,), (2.25,), (-7.875,))
_POSITIVE = ((0.5,), (1.0,), (2.0,), (9.0,), (0.03125,))
_PAIRS = ((1.0, 2.0), (-3.0, 2.0), (0.5, -0.25), (7.5, 7.5), (-1.0, -8.0))


def _rounded(oracle: Oracle) -> Oracle:
    """NumPy's results differ in the last digits from one processor to the next: leave these out."""

    def rounded(values: Any) -> Any:
        return np.vectorize(lambda v: float(f"{v:.14g}"))(oracle(values))

    return rounded


FUNCTIONS = (
    Function("radians", np.radians, ((0.0,), (180.0,), (-90.0,), (45.0,)), _TINY, 1e-6),
    Function("degrees", np.degrees, _ANGLES, _TINY, 1e-6),
    Function("sin", np.sin, _ANGLES, 4e-4),
    Function("cos", np.cos, _ANGLES, 4e-4),
    Function("tan", np.tan, ((0.0,), (0.5,), (1.25,), (-1.0,)), 1e-3, 1e-3),
    Function("asin", _rounded(np.arcsin), _UNIT, 1e-3),
    Function("acos", _rounded(np.arccos), _UNIT, 1e-3),
    Function("atan", _rounded(np.arctan), _ANY, 4e-4),
    Function("sinh", np.sinh, _UNIT, 1e-4, 1e-4),
    Function("cosh", np.cosh, _UNIT, 1e-4, 1e-4),
    Function("tanh", np.tanh, _ANY, 1e-4),
    Function("asinh", _rounded(np.arcsinh), _ANY, 1e-3),
    Function("acosh", _rounded(np.arccosh), ((1.5,), (2.0,), (9.0,)), 1e-3),
    Function("atanh", _rounded(np.arctanh), _UNIT, 1e-3),
    Function("exp", np.exp, _UNIT, _TINY, 1e-4),
    Function("exp2", np.exp2, _UNIT, _TINY, 1e-4),
    Function("log", np.log, _POSITIVE, 1e-4, 1e-5),
    Function("log2", np.log2, _POSITIVE, 1e-4, 1e-5),
    Function("sqrt", np.sqrt, _POSITIVE, _TINY, 1e-6),
    Function("inversesqrt", lambda x: 1 / np.sqrt(x), _POSITIVE, _TINY, 1e-5),
    Function("abs", np.abs, _ANY),
    Function("sign", np.sign, _ANY),
    Function("floor", np.floor, _ANY),
    Function("ceil", np.ceil, _ANY),
    Function("trunc", np.trunc, _ANY),
    Function("roundEven", np.round, ((0.5,), (1.5,), (2.5,), (-0.5,), (-1.5,), (3.25,))),
    Function("fract", lambda x: x - np.floor(x), _ANY),
    Function("pow", np.power, ((2.0, 3.0), (9.0, 0.5), (0.5, -2.0), (1.5, 2.5)), 1e-5, 2e-4),
    Function("atan", np.arctan2, ((1.0, 2.0), (-3.0, 2.0), (0.5, -0.25), (-1.0, -8.0)), 4e-4),
    Function("mod", np.mod, ((5.5, 2.0), (-5.5, 2.0), (5.5, -2.0), (0.75, 0.5)), _TINY),
    Function("min", np.minimum, _PAIRS),
    Function("max", np.maximum, _PAIRS),
    Function("step", lambda edge, x: np.where(x < edge, 0.0, 1.0), _PAIRS),
    Function(
        "clamp",
        lambda x, low, high: np.minimum(np.maximum(x, low), high),
        ((0.5, 0.0, 1.0), (-3.0, -1.0, 1.0), (9.0, 2.0, 4.0)),
    ),
    Function(
        "mix",
        lambda x, y, a: x * (1 - a) + y * a,
        ((1.0, 3.0, 0.5), (-2.0, 2.0, 0.25), (4.0, 8.0, 1.0), (4.0, 8.0, 0.0)),
        _TINY,
        1e-6,
    ),
    Function(
        "smoothstep",
        lambda low, high, x: (t := np.clip((x - low) / (high - low), 0, 1)) * t * (3 - 2 * t),
        ((0.0, 1.0, 0.5), (0.0, 4.0, 1.0), (1.0, 2.0, 9.0), (1.0, 2.0, 0.0)),
        1e-5,
    ),
    Function(
        "fma",
        lambda a, b, c: a * b + c,
        ((1.0, 2.0, 3.0), (-0.5, 4.0, 2.0), (1.5, 1.5, -2.25)),
        _TINY,
        1e-6,
        version=400,
    ),
    Function("isnan", np.isnan, ((0.0,), (1.5,), (float("nan"),), (float("inf"),))),
    Function("isinf", np.isinf, ((0.0,), (1.5,), (float("inf"),), (float("-inf"),))),
)


def tests() -> Iterator[tuple[str, str, str]]:
    for function in FUNCTIONS:
        for size in (1, 2, 3, 4):
            yield _with_uniforms(function, size)
            if not any(np.isnan(v) or np.isinf(v) for case in function.cases for v in case):
                yield _with_constants(function, size)
    yield from _geometric()
    yield from _relational()


def _place(function: Function, kind: str, size: int) -> str:
    folder = f"glsl-{function.version // 100}.{function.version % 100:02}"
    arguments = "-".join(["float" if size == 1 else f"vec{size}"] * len(function.cases[0]))
    return f"{folder}/builtin-functions/{kind}{function.name}-{arguments}"


def _rotated(function: Function, size: int) -> list[list[list[float]]]:
    """Per case and argument, a value per component: the cases that follow, going round."""
    cases = function.cases
    return [
        [[cases[(i + c) % len(cases)][a] for c in range(size)] for a in range(len(cases[0]))]
        for i in range(len(cases))
    ]


def _expected(function: Function, arguments: list[list[float]]) -> list[Any]:
    values = [np.asarray(a, np.float64) for a in arguments]
    return [v.item() for v in np.atleast_1d(function.oracle(*values))]


def _bounds(function: Function, expected: list[Any]) -> list[float]:
    return [function.absolute + function.relative * abs(float(e)) for e in expected]


def _condition(function: Function, call: str, size: int, expected: str, bound: str) -> str:
    if function.name in ("isnan", "isinf"):
        return f"{call} == {expected}" if size == 1 else f"all(equal({call}, {expected}))"
    exact = not (function.absolute or function.relative)
    if exact:
        return f"{call} == {expected}"
    if size == 1:
        return f"abs({call} - {expected}) <= {bound}"
    return f"all(lessThanEqual(abs({call} - {expected}), {bound}))"


def _with_uniforms(function: Function, size: int) -> tuple[str, str, str]:
    kind = vector("float", size)
    count = len(function.cases[0])
    names = "abc"[:count]
    result = vector("bool", size) if function.name in ("isnan", "isinf") else kind
    declared = [f"uniform {kind} {name};" for name in names]
    declared.append(f"uniform {result} expected;")
    exact = not (function.absolute or function.relative)
    if not exact:
        declared.append(f"uniform {kind} bound;")
    cases = []
    for arguments in _rotated(function, size):
        expected = _expected(function, arguments)
        lines = [
            f"uniform {kind} {name} {' '.join(map(number, values))}"
            for name, values in zip(names, arguments, strict=True)
        ]
        lines.append(f"uniform {result} expected {' '.join(map(number, expected))}")
        if not exact:
            bounds = _bounds(function, expected)
            lines.append(f"uniform {kind} bound {' '.join(map(number, bounds))}")
        cases.append(lines)
    call = f"{function.name}({', '.join(names)})"
    body = evaluation(
        function.version,
        "\n".join(declared),
        _condition(function, call, size, "expected", "bound"),
        cases,
    )
    purpose = f"{function.name} of {kind} arguments gives what the specification defines."
    return _place(function, "", size), purpose, body


def _literal(values: list[Any], kind: str) -> str:
    numbers = ", ".join(repr(float(v)) for v in values)
    return numbers if kind == "float" else f"{kind}({numbers})"


def _with_constants(function: Function, size: int) -> tuple[str, str, str]:
    kind = vector("float", size)
    terms = []
    for arguments in _rotated(function, size):
        expected = _expected(function, arguments)
        literals = ", ".join(_literal(a, kind) for a in arguments)
        want, bound = _literal(expected, kind), _literal(_bounds(function, expected), kind)
        call = f"{function.name}({literals})"
        terms.append(f"({_condition(function, call, size, want, bound)})")
    body = evaluation(function.version, "", "\n\t\t&& ".join(terms), [[]])
    purpose = f"{function.name} of constant {kind} arguments is folded to the right value."
    return _place(function, "constant-", size), purpose, body


# -- functions that mix components
# -------------------------------------------------------------------

_VECTORS = (
    ((1.0, 2.0, 3.0, 4.0), (0.5, -1.0, 2.0, 0.25)),
    ((-3.0, 0.0, 4.0, 1.0), (1.0, 1.0, 1.0, 1.0)),
    ((0.125, 8.0, -0.5, 2.0), (-2.0, 0.5, 4.0, -1.0)),
)


def _reflect(i: Any, n: Any) -> Any:
    return i - 2 * np.dot(n, i) * n


def _faceforward(n: Any, i: Any) -> Any:
    return n if np.dot(n, i) < 0 else -n


_GEOMETRIC: tuple[tuple[str, str, Callable[[Any, Any], Any], bool, float], ...] = (
    ("length", "length(a)", lambda a, b: np.linalg.norm(a), True, 1e-5),
    ("distance", "distance(a, b)", lambda a, b: np.linalg.norm(a - b), True, 1e-5),
    ("dot", "dot(a, b)", np.dot, True, 1e-5),
    ("normalize", "normalize(a)", lambda a, b: a / np.linalg.norm(a), False, 1e-5),
    ("reflect", "reflect(a, b)", _reflect, False, 1e-5),
    ("faceforward", "faceforward(a, b, a)", _faceforward, False, 0.0),
)


def _geometric() -> Iterator[tuple[str, str, str]]:
    for name, call, oracle, is_scalar, relative in _GEOMETRIC:
        for size in (1, 2, 3, 4):
            kind = vector("float", size)
            result = "float" if is_scalar else kind
            takes_two = "b" in call.partition("(")[2]
            cases = []
            for left, right in _VECTORS:
                a, b = np.array(left[:size]), np.array(right[:size])
                expected = np.atleast_1d(oracle(a, b))
                bound = 1e-5 + relative * float(np.abs(expected).max() + np.abs(a).max())
                lines = [f"uniform {kind} a {' '.join(map(number, a.tolist()))}"]
                if takes_two:
                    lines.append(f"uniform {kind} b {' '.join(map(number, b.tolist()))}")
                lines.append(
                    f"uniform {result} expected {' '.join(map(number, expected.tolist()))}"
                )
                lines.append(f"uniform float bound {number(bound)}")
                cases.append(lines)
            difference = f"abs({call} - expected)"
            condition = (
                f"{difference} <= bound"
                if result == "float"
                else f"all(lessThanEqual({difference}, {result}(bound)))"
            )
            declared = (
                f"uniform {kind} a;\n"
                + (f"uniform {kind} b;\n" if takes_two else "")
                + f"uniform {result} expected;\nuniform float bound;"
            )
            body = evaluation(130, declared, condition, cases)
            yield (
                f"glsl-1.30/builtin-functions/{name}-{kind}",
                f"{name} of {kind} vectors gives what the specification defines.",
                body,
            )


_COMPARISONS = {
    "lessThan": np.less,
    "lessThanEqual": np.less_equal,
    "greaterThan": np.greater,
    "greaterThanEqual": np.greater_equal,
    "equal": np.equal,
    "notEqual": np.not_equal,
}
_LEFT, _RIGHT = (1, 2, 3, 4), (2, 2, 1, 4)


def _relational() -> Iterator[tuple[str, str, str]]:
    for name, oracle in _COMPARISONS.items():
        for scalar in ("float", "int", "uint"):
            for size in (2, 3, 4):
                kind = vector(scalar, size)
                cases = []
                for turn in range(4):
                    left = [_LEFT[(i + turn) % 4] for i in range(size)]
                    right = [_RIGHT[(i + turn) % 4] for i in range(size)]
                    expected = [bool(oracle(a, b)) for a, b in zip(left, right, strict=True)]
                    cases.append(
                        [
                            f"uniform {kind} a {' '.join(map(str, left))}",
                            f"uniform {kind} b {' '.join(map(str, right))}",
                            f"uniform bvec{size} expected {' '.join(map(number, expected))}",
                        ]
                    )
                declared = f"uniform {kind} a;\nuniform {kind} b;\nuniform bvec{size} expected;"
                body = evaluation(130, declared, f"{name}(a, b) == expected", cases)
                yield (
                    f"glsl-1.30/builtin-functions/{name}-{kind}",
                    f"{name} compares {kind} vectors component by component.",
                    body,
                )
