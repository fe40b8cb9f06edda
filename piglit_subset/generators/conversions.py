"""Constructors that convert: every scalar type to every other, in every vector size.

The oracle is the specification's rules: towards zero from float to integer, not-zero to bool,
bits kept between int and uint.
"""

from __future__ import annotations

from collections.abc import Iterator

from gallette.piglit_subset.generators.common import Test, evaluation, glsl, rotated, vector

_VALUES: dict[str, tuple[float, ...]] = {
    "float": (0.0, 1.0, 2.75, 7.5, 100.0),
    "int": (0, 1, 2, 77, 4096),
    "uint": (0, 1, 3, 255, 65536),
    "bool": (0, 1, 1, 0, 1),
    "double": (0.0, 1.0, 2.75, 7.5, 100.0),
}
_SIGNED = {"float": (-1.0, -2.75), "int": (-1, -77), "double": (-1.0, -2.75)}


def tests() -> Iterator[Test]:
    for source in _VALUES:
        for target in _VALUES:
            for size in (1, 2, 3, 4):
                yield _test(source, target, size)


def _converted(value: float, to: str) -> float:
    if to == "bool":
        return int(value != 0)
    return int(value) if to in ("int", "uint") else float(value)


def _test(source: str, target: str, size: int) -> Test:
    version = 400 if "double" in (source, target) else 130
    values = [*_VALUES[source], *(_SIGNED.get(source, ()) if target != "uint" else ())]
    kind, result = vector(source, size), vector(target, size)
    cases = []
    for given in rotated(values, size):
        expected = [_converted(v, target) for v in given]
        cases.append({"a": (kind, given), "expected": (result, expected)})
    return (
        f"glsl-{glsl(version)}/conversions/{kind}-to-{result}",
        f"{result}(x) of a {kind} converts each component.",
        evaluation(version, f"{result}(a) == expected", cases),
    )
