"""What happens to a fragment after its shader: blending, depth, stencil, masks, as products of
states.

The oracles are the specification's tables, in double precision.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from gallette.piglit_subset.generators.common import Test, drawn, main, slug

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
    "NEVER": lambda a, b: False,
    "LESS": operator.lt,
    "EQUAL": operator.eq,
    "LEQUAL": operator.le,
    "GREATER": operator.gt,
    "NOTEQUAL": operator.ne,
    "GEQUAL": operator.ge,
    "ALWAYS": lambda a, b: True,
}
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
_VERTEX = ["in vec4 piglit_vertex;", "uniform float z = 0.0;"]
_VERTEX += main("gl_Position = vec4(piglit_vertex.xy, z, 1.0);")
_FRAGMENT = ["uniform vec4 c;", "out vec4 color;", *main("color = c;")]
_GREEN, _BLUE, _RED = "0 1 0 1", "0 0 1 1", "1 0 0 1"


def tests() -> Iterator[Test]:
    for source in _FACTORS:
        yield _blend_factors(source)
    for equation in _EQUATIONS:
        yield _blend_equation(equation)
    for function in _COMPARISONS:
        yield _depth(function)
        yield _stencil_function(function)
    for operation in _STENCIL_OPS:
        for place in ("stencil-fails", "depth-fails", "passes"):
            yield _stencil_operation(operation, place)
    for mask in range(16):
        yield _color_mask(mask)


def _test(place: str, purpose: str, commands: list[str]) -> Test:
    return f"gl-3.3/{place}", purpose, drawn(330, _FRAGMENT, commands, vertex=_VERTEX)


def _words(color: Color) -> str:
    return " ".join(f"{v:.6f}" for v in color)


def _blended(pairs: list[tuple[str, str, str]]) -> list[str]:
    """Blending with each source factor, destination factor and equation."""
    lines = [
        f"clear color {_words(_UNDER)}",
        f"uniform vec4 c {_words(_SOURCE)}",
        f"blend color {_words(_CONSTANT)}",
        "enable GL_BLEND",
    ]
    for source, target, equation in pairs:
        fs, fd = _FACTORS[source](_SOURCE, _UNDER), _FACTORS[target](_SOURCE, _UNDER)
        result = np.clip(_EQUATIONS[equation](_SOURCE, _UNDER, fs, fd), 0, 1)
        lines += ["", "clear", f"blend func GL_{source} GL_{target}"]
        lines += [f"blend equation GL_{equation}", "draw rect -1 -1 2 2"]
        lines += [f"probe all rgba {_words(result)}"]
    return lines


def _blend_factors(source: str) -> Test:
    targets = [t for t in _FACTORS if t != "SRC_ALPHA_SATURATE"]
    purpose = f"Blending with the source factor {source} and every destination factor."
    lines = _blended([(source, target, "FUNC_ADD") for target in targets])
    return _test(f"blending/factor-{slug(source)}", purpose, lines)


def _blend_equation(equation: str) -> Test:
    pairs = [("ONE", "ONE"), ("SRC_ALPHA", "ONE_MINUS_SRC_ALPHA"), ("DST_COLOR", "SRC_COLOR")]
    purpose = f"The blend equation {equation} combines source and destination as its table says."
    lines = _blended([(s, t, equation) for s, t in pairs])
    return _test(f"blending/equation-{slug(equation)}", purpose, lines)


def _depth(function: str) -> Test:
    lines = ["clear color 0 0 1 1", "enable GL_DEPTH_TEST", f"depth func GL_{function}"]
    for z in (-0.5, 0.0, 0.5):
        passes = _COMPARISONS[function](z, 0.0)
        lines += [
            "",
            "clear depth 0.5",
            "clear",
            f"uniform vec4 c {_GREEN}",
            f"uniform float z {z}",
        ]
        lines += ["draw rect -1 -1 2 2", f"probe all rgba {_GREEN if passes else _BLUE}"]
        lines += [f"probe depth 4 4 {(z + 1) / 2 if passes else 0.5}"]
    purpose = f"The depth test {function} compares with what is nearer, equal and farther."
    return _test(f"depth/function-{slug(function)}", purpose, lines)


def _stencil_function(function: str) -> Test:
    lines = ["clear color 0 0 1 1", f"uniform vec4 c {_GREEN}", "enable GL_STENCIL_TEST"]
    lines += ["stencil op GL_KEEP GL_KEEP GL_KEEP"]
    for stored, reference, mask in ((4, 3, 255), (4, 4, 255), (4, 5, 255), (6, 3, 2), (8, 1, 7)):
        passes = _COMPARISONS[function](reference & mask, stored & mask)
        lines += ["", f"clear stencil {stored}", "clear"]
        lines += [f"stencil func GL_{function} {reference} {mask}", "draw rect -1 -1 2 2"]
        lines += [f"probe all rgba {_GREEN if passes else _BLUE}"]
    purpose = f"The stencil test {function} compares the masked reference with the masked value."
    return _test(f"stencil/function-{slug(function)}", purpose, lines)


def _stencil_operation(operation: str, place: str) -> Test:
    """The value is found by drawing where it is EQUAL to the expected one."""
    ops = ["KEEP", "KEEP", "KEEP"]
    ops[("stencil-fails", "depth-fails", "passes").index(place)] = operation
    test = "NEVER" if place == "stencil-fails" else "ALWAYS"
    depth = "GL_NEVER" if place == "depth-fails" else "GL_ALWAYS"
    lines = ["clear color 0 0 1 1", "enable GL_STENCIL_TEST", "enable GL_DEPTH_TEST"]
    for old, reference in ((5, 9), (0, 1), (255, 3)):
        lines += [
            "",
            f"clear stencil {old}",
            "clear",
            f"depth func {depth}",
            f"stencil func GL_{test} {reference} 255",
            "stencil op " + " ".join(f"GL_{op}" for op in ops),
            f"uniform vec4 c {_RED}",
            "draw rect -1 -1 2 2",
            "depth func GL_ALWAYS",
            f"stencil func GL_EQUAL {_STENCIL_OPS[operation](old, reference)} 255",
            "stencil op GL_KEEP GL_KEEP GL_KEEP",
            f"uniform vec4 c {_GREEN}",
            "draw rect -1 -1 2 2",
            f"probe all rgba {_GREEN}",
        ]
    purpose = f"The stencil operation {operation}, when the fragment {place.replace('-', ' ')}."
    return _test(f"stencil/operation-{slug(operation)}-{place}", purpose, lines)


def _color_mask(mask: int) -> Test:
    bits = [mask >> i & 1 for i in range(4)]
    under, over = np.array([0.2, 0.4, 0.6, 0.8]), np.array([1.0, 0.0, 1.0, 0.0])
    lines = [f"clear color {_words(under)}", "clear", f"uniform vec4 c {_words(over)}"]
    lines += [f"color mask {' '.join(map(str, bits))}", "draw rect -1 -1 2 2"]
    lines += [f"probe all rgba {_words(np.where(bits, over, under))}"]
    name = "".join(letter for letter, bit in zip("rgba", bits, strict=True) if bit) or "none"
    purpose = f"The colour mask lets exactly these channels be written: {name}."
    return _test(f"color-mask/{name}", purpose, lines)
