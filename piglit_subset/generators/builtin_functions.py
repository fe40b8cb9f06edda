"""Built-in functions of GLSL over all their types, against NumPy.

Each function is a row: its arguments' values, an oracle in double precision, and the tolerance of
the result (absolute and relative). The tolerances are those of the specification's precision
section, and a few units in the last place of single precision for functions without a stated
precision. Every row makes two tests per vector size: one with uniforms, and one with constants,
because folding is a separate implementation of the function.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gallette.piglit_subset.generators.common import evaluation, rotated, vector

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

    @property
    def exact(self) -> bool:
        return not (self.absolute or self.relative)

    @property
    def result(self) -> str:
        return "bool" if self.name in ("isnan", "isinf") else "float"


_ANGLES = ((0.0,), (0.5,), (1.25,), (-2.0,), (3.0,))
_UNIT = ((0.0,), (0.5,), (-0.25,), (0.875,), (-0.75,))
_ANY = ((0.0,), (1.5,), (-1.5,), (2.25,), (-7.875,))
_POSITIVE = ((0.5,), (1.0,), (2.0,), (9.0,), (0.03125,))
_PAIRS = ((1.0, 2.0), (-3.0, 2.0), (0.5, -0.25), (7.5, 7.5), (-1.0, -8.0))


def _rounded(oracle: Oracle) -> Oracle:
    """Drop the last digits of NumPy's results, which differ between processors."""

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
    Function("clamp", lambda x, low, high: np.minimum(np.maximum(x, low), high),
             ((0.5, 0.0, 1.0), (-3.0, -1.0, 1.0), (9.0, 2.0, 4.0))),
    Function("mix", lambda x, y, a: x * (1 - a) + y * a,
             ((1.0, 3.0, 0.5), (-2.0, 2.0, 0.25), (4.0, 8.0, 1.0), (4.0, 8.0, 0.0)), _TINY, 1e-6),
    Function("smoothstep",
             lambda low, high, x: (t := np.clip((x - low) / (high - low), 0, 1)) * t * (3 - 2 * t),
             ((0.0, 1.0, 0.5), (0.0, 4.0, 1.0), (1.0, 2.0, 9.0), (1.0, 2.0, 0.0)), 1e-5),
    Function("fma", lambda a, b, c: a * b + c,
             ((1.0, 2.0, 3.0), (-0.5, 4.0, 2.0), (1.5, 1.5, -2.25)), _TINY, 1e-6, version=400),
    Function("isnan", np.isnan, ((0.0,), (1.5,), (float("nan"),), (float("inf"),))),
    Function("isinf", np.isinf, ((0.0,), (1.5,), (float("inf"),), (float("-inf"),))),
)  # fmt: skip


def tests() -> Iterator[str]:
    for function in FUNCTIONS:
        for size in (1, 2, 3, 4):
            yield _with_uniforms(function, size)
            if function.result == "float":
                yield _with_constants(function, size)
    yield from _geometric()
    yield from _relational()


def _place(function: Function, kind: str, size: int) -> str:
    arguments = "-".join([vector("float", size)] * len(function.cases[0]))
    return f"builtin-functions/{kind}{function.name}-{arguments}"


def _expected(function: Function, arguments: list[list[float]]) -> tuple[list[Any], list[float]]:
    """The results, and the tolerance of each."""
    values = [np.asarray(a, np.float64) for a in arguments]
    expected = [v.item() for v in np.atleast_1d(function.oracle(*values))]
    return expected, [function.absolute + function.relative * abs(float(e)) for e in expected]


def _condition(function: Function, call: str, size: int, expected: str, bound: str) -> str:
    if function.result == "bool" and size > 1:
        return f"all(equal({call}, {expected}))"
    if function.exact:
        return f"{call} == {expected}"
    if size == 1:
        return f"abs({call} - {expected}) <= {bound}"
    return f"all(lessThanEqual(abs({call} - {expected}), {bound}))"


def _with_uniforms(function: Function, size: int) -> str:
    kind = vector("float", size)
    names = "abc"[: len(function.cases[0])]
    uniforms = {**dict.fromkeys(names, kind), "expected": vector(function.result, size)}
    if not function.exact:
        uniforms["bound"] = kind
    return evaluation(
        _place(function, "", size),
        f"{function.name} of {kind} arguments gives what the specification defines.",
        function.version,
        uniforms,
        _condition(function, f"{function.name}({', '.join(names)})", size, "expected", "bound"),
        [
            (*arguments, *_expected(function, arguments))[: len(uniforms)]
            for arguments in rotated(function.cases, size)
        ],
    )


def _literal(values: list[Any], kind: str) -> str:
    numbers = ", ".join(repr(float(v)) for v in values)
    return numbers if kind == "float" else f"{kind}({numbers})"


def _with_constants(function: Function, size: int) -> str:
    kind = vector("float", size)
    terms = []
    for arguments in rotated(function.cases, size):
        literals = ", ".join(_literal(a, kind) for a in arguments)
        want, bound = (_literal(values, kind) for values in _expected(function, arguments))
        call = f"{function.name}({literals})"
        terms.append(f"({_condition(function, call, size, want, bound)})")
    return evaluation(
        _place(function, "constant-", size),
        f"{function.name} of constant {kind} arguments is folded to the right value.",
        function.version,
        {},
        "\n\t\t&& ".join(terms),
        [()],
    )


# -- functions that mix components -----------------------------------------------------------------

_VECTORS = (
    ((1.0, 2.0, 3.0, 4.0), (0.5, -1.0, 2.0, 0.25)),
    ((-3.0, 0.0, 4.0, 1.0), (1.0, 1.0, 1.0, 1.0)),
    ((0.125, 8.0, -0.5, 2.0), (-2.0, 0.5, 4.0, -1.0)),
)
_GEOMETRIC: tuple[tuple[str, str, Callable[[Any, Any], Any], bool, float], ...] = (
    ("length", "length(a)", lambda a, b: np.linalg.norm(a), True, 1e-5),
    ("distance", "distance(a, b)", lambda a, b: np.linalg.norm(a - b), True, 1e-5),
    ("dot", "dot(a, b)", np.dot, True, 1e-5),
    ("normalize", "normalize(a)", lambda a, b: a / np.linalg.norm(a), False, 1e-5),
    ("reflect", "reflect(a, b)", lambda i, n: i - 2 * np.dot(n, i) * n, False, 1e-5),
    ("faceforward", "faceforward(a, b, a)", lambda n, i: n if np.dot(n, i) < 0 else -n, False, 0.0),
)


def _geometric() -> Iterator[str]:
    for name, call, oracle, is_scalar, relative in _GEOMETRIC:
        for size in (1, 2, 3, 4):
            kind = vector("float", size)
            result = "float" if is_scalar else kind
            names = "ab" if "b" in call.partition("(")[2] else "a"
            cases = []
            for vectors in _VECTORS:
                a, b = (np.array(values[:size]) for values in vectors)
                expected = np.atleast_1d(oracle(a, b))
                bound = 1e-5 + relative * float(np.abs(expected).max() + np.abs(a).max())
                given = [values.tolist() for values in (a, b)[: len(names)]]
                cases.append((*given, expected.tolist(), bound))
            difference = f"abs({call} - expected)"
            near = f"all(lessThanEqual({difference}, {result}(bound)))"
            yield evaluation(
                f"builtin-functions/{name}-{kind}",
                f"{name} of {kind} vectors gives what the specification defines.",
                130,
                {**dict.fromkeys(names, kind), "expected": result, "bound": "float"},
                f"{difference} <= bound" if result == "float" else near,
                cases,
            )


_COMPARISONS = {
    "lessThan": operator.lt,
    "lessThanEqual": operator.le,
    "greaterThan": operator.gt,
    "greaterThanEqual": operator.ge,
    "equal": operator.eq,
    "notEqual": operator.ne,
}
_COMPARED = ((1, 2), (2, 2), (3, 1), (4, 4))


def _relational() -> Iterator[str]:
    for name, oracle in _COMPARISONS.items():
        for scalar in ("float", "int", "uint"):
            for size in (2, 3, 4):
                kind = vector(scalar, size)
                yield evaluation(
                    f"builtin-functions/{name}-{kind}",
                    f"{name} compares {kind} vectors component by component.",
                    130,
                    {"a": kind, "b": kind, "expected": vector("bool", size)},
                    f"{name}(a, b) == expected",
                    [(a, b, list(map(oracle, a, b))) for a, b in rotated(_COMPARED, size)],
                )
