"""Fragment operations: blending, depth, stencil, masks, as products of states.

The oracles are the specification's tables, in double precision.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.piglit_subset.generators.common import templates

Color = npt.NDArray[np.float64]

_SOURCE = np.array([0.8, 0.2, 0.4, 0.6])
_UNDER = np.array([0.2, 0.6, 1.0, 0.4])
_CONSTANT = np.array([0.6, 0.4, 0.2, 0.8])

Factor = Callable[[Color, Color], Color]
_FACTORS: dict[str, Factor] = {
    "ZERO": lambda s, d: np.zeros(4),
    "ONE": lambda s, d: np.ones(4),
    "SRC_COLOR": lambda s, d: s,
    "ONE_MINUS_SRC_COLOR": lambda s, d: 1 - s,
    "DST_COLOR": lambda s, d: d,
    "ONE_MINUS_DST_COLOR": lambda s, d: 1 - d,
    "SRC_ALPHA": lambda s, d: np.full(4, s[3]),
    "ONE_MINUS_SRC_ALPHA": lambda s, d: np.full(4, 1 - s[3]),
    "DST_ALPHA": lambda s, d: np.full(4, d[3]),
    "ONE_MINUS_DST_ALPHA": lambda s, d: np.full(4, 1 - d[3]),
    "CONSTANT_COLOR": lambda s, d: _CONSTANT,
    "ONE_MINUS_CONSTANT_COLOR": lambda s, d: 1 - _CONSTANT,
    "CONSTANT_ALPHA": lambda s, d: np.full(4, _CONSTANT[3]),
    "ONE_MINUS_CONSTANT_ALPHA": lambda s, d: np.full(4, 1 - _CONSTANT[3]),
    "SRC_ALPHA_SATURATE": lambda s, d: np.array([*[min(s[3], 1 - d[3])] * 3, 1.0]),
}
_EQUATIONS: dict[str, Callable[[Color, Color, Color, Color], Color]] = {
    "FUNC_ADD": lambda s, d, fs, fd: s * fs + d * fd,
    "FUNC_SUBTRACT": lambda s, d, fs, fd: s * fs - d * fd,
    "FUNC_REVERSE_SUBTRACT": lambda s, d, fs, fd: d * fd - s * fs,
    "MIN": lambda s, d, fs, fd: np.minimum(s, d),
    "MAX": lambda s, d, fs, fd: np.maximum(s, d),
}
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "NEVER": lambda a, b: False, "LESS": operator.lt, "EQUAL": operator.eq, "LEQUAL": operator.le,
    "GREATER": operator.gt, "NOTEQUAL": operator.ne, "GEQUAL": operator.ge,
    "ALWAYS": lambda a, b: True,
}  # fmt: skip
_STENCIL_OPS: dict[str, Callable[[int, int], int]] = {
    "KEEP": lambda old, ref: old,
    "ZERO": lambda old, ref: 0,
    "REPLACE": lambda old, ref: ref,
    "INCR": lambda old, ref: min(old + 1, 255),
    "DECR": lambda old, ref: max(old - 1, 0),
    "INVERT": lambda old, ref: ~old & 255,
    "INCR_WRAP": lambda old, ref: (old + 1) & 255,
    "DECR_WRAP": lambda old, ref: (old - 1) & 255,
}


def tests() -> Iterator[str]:
    make = templates("output_state")
    targets = [t for t in _FACTORS if t != "SRC_ALPHA_SATURATE"]
    for source in _FACTORS:
        yield make.factor(source, *_blending([(source, t, "FUNC_ADD") for t in targets]))
    pairs = [("ONE", "ONE"), ("SRC_ALPHA", "ONE_MINUS_SRC_ALPHA"), ("DST_COLOR", "SRC_COLOR")]
    for equation in _EQUATIONS:
        yield make.equation(equation, *_blending([(s, t, equation) for s, t in pairs]))
    for function, compare in _COMPARISONS.items():
        yield make.depth(function, [(z, compare(z, 0.0)) for z in (-0.5, 0.0, 0.5)])
        stencils = [(4, 3, 255), (4, 4, 255), (4, 5, 255), (6, 3, 2), (8, 1, 7)]
        yield make.stencil_function(
            function, [(old, new, m, compare(new & m, old & m)) for old, new, m in stencils]
        )
    for operation, result in _STENCIL_OPS.items():
        for number, place in enumerate(("stencil-fails", "depth-fails", "passes")):
            ops = ["KEEP", "KEEP", "KEEP"]
            ops[number] = operation
            cases = [(old, ref, result(old, ref)) for old, ref in ((5, 9), (0, 1), (255, 3))]
            yield make.stencil_operation(operation, place, ops, cases)
    under, over = (0.2, 0.4, 0.6, 0.8), (1.0, 0.0, 1.0, 0.0)
    for mask in range(16):
        bits = [mask >> i & 1 for i in range(4)]
        name = "".join(letter for letter, bit in zip("rgba", bits, strict=True) if bit) or "none"
        yield make.color_mask(name, bits, under, over, np.where(bits, over, under))


def _blending(triples: list[tuple[str, str, str]]) -> tuple[Any, ...]:
    """The colours, and per (source factor, destination factor, equation) the result."""
    cases = []
    for source, target, equation in triples:
        fs, fd = _FACTORS[source](_SOURCE, _UNDER), _FACTORS[target](_SOURCE, _UNDER)
        result = np.clip(_EQUATIONS[equation](_SOURCE, _UNDER, fs, fd), 0, 1)
        cases.append((source, target, equation, result))
    return _UNDER, _SOURCE, _CONSTANT, cases
