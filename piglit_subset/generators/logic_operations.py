"""Logic operations on the bits of what is there and what is drawn; blending with two sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gallette.piglit_subset.generators.common import Test, drawn, main, slug

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


def _color(values: tuple[int, ...]) -> str:
    return " ".join(f"{v / 255:.9f}" for v in (*values, 255))


def tests() -> Iterator[Test]:
    fragment = ["uniform vec4 c;", "out vec4 color;", *main("color = c;")]
    for name, meaning in _OPS.items():
        wanted = tuple(meaning(s, d) & 255 for s, d in zip(_SOURCE, _UNDER, strict=True))
        commands = [f"clear color {_color(_UNDER)}", "clear", "enable GL_COLOR_LOGIC_OP"]
        commands += [f"logic op GL_{name}", f"uniform vec4 c {_color(_SOURCE)}"]
        commands += ["draw rect -1 -1 2 2", "tolerance 0.001 0.001 0.001 1"]
        commands += [f"probe all rgb {' '.join(_color(wanted).split()[:3])}"]
        place = f"gl-3.3/logic-ops/{slug(name)}"
        yield place, f"The logic operation {name}, bit by bit.", drawn(330, fragment, commands)
    yield from _dual()


def _dual() -> Iterator[Test]:
    first, second, under = [0.8, 0.2, 0.4, 0.6], [0.25, 0.5, 0.75, 0.4], [0.2, 0.6, 1.0, 0.4]
    fragment = ["layout(location = 0, index = 0) out vec4 first;"]
    fragment += ["layout(location = 0, index = 1) out vec4 second;"]
    colors = (("first", first), ("second", second))
    fragment += main(*(f"{name} = vec4({', '.join(map(str, color))});" for name, color in colors))
    for name, factor in _FACTORS.items():
        for side in ("source", "destination"):
            found = factor(first, second)
            scaled, other = (first, under) if side == "source" else (under, first)
            wanted = [min(1.0, a * f + b) for a, f, b in zip(scaled, found, other, strict=True)]
            pair = f"GL_{name} GL_ONE" if side == "source" else f"GL_ONE GL_{name}"
            commands = [f"clear color {' '.join(map(str, under))}", "clear", "enable GL_BLEND"]
            commands += [f"blend func {pair}", "draw rect -1 -1 2 2"]
            commands += [f"probe all rgba {' '.join(f'{v:.6g}' for v in wanted)}"]
            place = f"gl-3.3/dual-source/{side}-{slug(name)}"
            purpose = f"Blending: the {side} scaled by {name}."
            yield place, purpose, drawn(330, fragment, commands)
