"""Logic operations on the bits of destination and source; blending with two sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gallette.piglit_subset.generators.common import templates

_SOURCE, _UNDER = (0x35, 0xC3, 0x0F, 0xFF), (0x5A, 0x3C, 0xF1, 0xFF)
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
_FIRST, _SECOND, _DESTINATION = [0.8, 0.2, 0.4, 0.6], [0.25, 0.5, 0.75, 0.4], [0.2, 0.6, 1.0, 0.4]
_FACTORS = {
    "SRC1_COLOR": _SECOND,
    "ONE_MINUS_SRC1_COLOR": [1 - v for v in _SECOND],
    "SRC1_ALPHA": [_SECOND[3]] * 4,
    "ONE_MINUS_SRC1_ALPHA": [1 - _SECOND[3]] * 4,
}


def tests() -> Iterator[str]:
    make = templates("logic_operations")
    for name, meaning in _OPS.items():
        bits = [meaning(s, d) & 255 for s, d in zip(_SOURCE, _UNDER, strict=True)]
        source, under, seen = ([v / 255 for v in color] for color in (_SOURCE, _UNDER, bits))
        yield make.operation(name, source, under, seen[:3])
    for name, factor in _FACTORS.items():
        for side, pair, scaled, other in (
            ("source", f"GL_{name} GL_ONE", _FIRST, _DESTINATION),
            ("destination", f"GL_ONE GL_{name}", _DESTINATION, _FIRST),
        ):
            wanted = [min(1.0, a * f + b) for a, f, b in zip(scaled, factor, other, strict=True)]
            yield make.dual(name, side, pair, _FIRST, _SECOND, _DESTINATION, wanted)
