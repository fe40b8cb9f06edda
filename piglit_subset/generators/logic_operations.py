"""Logic operations on the bits of what is there and what is drawn; blending with two sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator

_SOURCE, _UNDER = (0x35, 0xC3, 0x0F), (0x5A, 0x3C, 0xF1)
_OPS: dict[str, Callable[[int, int], int]] = {
    "CLEAR": lambda s, d: 0,
    "NOR": lambda s, d: ~(s | d),
    "AND_INVERTED": lambda s, d: ~s & d,
    "COPY_INVERTED": lambda s, d: ~s,
    "AND_REVERSE": lambda s, d: s & ~d,
    "INVERT": lambda s, d: ~d,
    "XOR": lambda s, d: s ^ d,
    "NAND": lambda s, d: ~(s & d),
    "AND": lambda s, d: s & d,
    "EQUIV": lambda s, d: ~(s ^ d),
    "NOOP": lambda s, d: d,
    "OR_INVERTED": lambda s, d: ~s | d,
    "COPY": lambda s, d: s,
    "OR_REVERSE": lambda s, d: s | ~d,
    "OR": lambda s, d: s | d,
    "SET": lambda s, d: 255,
}
_FACTORS: dict[str, Callable[[list[float], list[float]], list[float]]] = {
    "SRC1_COLOR": lambda first, second: second,
    "ONE_MINUS_SRC1_COLOR": lambda first, second: [1 - v for v in second],
    "SRC1_ALPHA": lambda first, second: [second[3]] * 4,
    "ONE_MINUS_SRC1_ALPHA": lambda first, second: [1 - second[3]] * 4,
}
_HEAD = """[require]
GLSL >= 3.30
SIZE 8 8

[vertex shader passthrough]

[fragment shader]
#version 330
"""


def _color(values: tuple[int, ...]) -> str:
    return " ".join(f"{v / 255:.9f}" for v in (*values, 255))


def tests() -> Iterator[tuple[str, str, str]]:
    for name, meaning in _OPS.items():
        wanted = tuple(meaning(s, d) & 255 for s, d in zip(_SOURCE, _UNDER, strict=True))
        body = [
            _HEAD + "uniform vec4 c;\nout vec4 color;\n\nvoid main()\n{\n\tcolor = c;\n}",
            "",
            "[test]",
            f"clear color {_color(_UNDER)}",
            "clear",
            "enable GL_COLOR_LOGIC_OP",
            f"logic op GL_{name}",
            f"uniform vec4 c {_color(_SOURCE)}",
            "draw rect -1 -1 2 2",
            "tolerance 0.001 0.001 0.001 1",
            f"probe all rgb {' '.join(_color(wanted).split()[:3])}",
        ]
        place = f"gl-3.3/logic-ops/{name.lower().replace('_', '-')}"
        yield place, f"The logic operation {name}, bit by bit.", "\n".join(body)
    yield from _dual()


def _dual() -> Iterator[tuple[str, str, str]]:
    first, second, under = [0.8, 0.2, 0.4, 0.6], [0.25, 0.5, 0.75, 0.4], [0.2, 0.6, 1.0, 0.4]
    for name, factor in _FACTORS.items():
        for side in ("source", "destination"):
            found = factor(first, second)
            scaled, other = (first, under) if side == "source" else (under, first)
            wanted = [min(1.0, a * f + b) for a, f, b in zip(scaled, found, other, strict=True)]
            pair = f"GL_{name} GL_ONE" if side == "source" else f"GL_ONE GL_{name}"
            body = [
                _HEAD + "layout(location = 0, index = 0) out vec4 first;\n"
                "layout(location = 0, index = 1) out vec4 second;\n\n"
                "void main()\n{\n"
                f"\tfirst = vec4({', '.join(map(str, first))});\n"
                f"\tsecond = vec4({', '.join(map(str, second))});\n}}",
                "",
                "[test]",
                f"clear color {' '.join(map(str, under))}",
                "clear",
                "enable GL_BLEND",
                f"blend func {pair}",
                "draw rect -1 -1 2 2",
                f"probe all rgba {' '.join(f'{v:.6g}' for v in wanted)}",
            ]
            place = f"gl-3.3/dual-source/{side}-{name.lower().replace('_', '-')}"
            yield place, f"Blending: the {side} scaled by {name}.", "\n".join(body)
